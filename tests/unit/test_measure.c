/* The probe and the digestion of its samples on networks that are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "base/arena.h"
#include "measure/measured.h"
#include "measure/probe.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/fake_network.h"
#include "support/seed.h"

#define MBIT 125e3

/* Of the values of one transfer; what comes of several is rarely off by more. */
#define NOISE     0.015
#define TOLERANCE (6 * NOISE)

/* ---- networks ---- */

enum { UPLINKS = 1, SITE_LINKS = 2, CORE = 4, FLOW_LIMITS = 8 };

/* Hosts of sites are mixed, so that no order helps. */
static void draw(struct fake_network *net, uint64_t seed, int n, int sites, int clusters,
                 int with)
{
    struct espi_rng *r = &net->rng;
    int order[FAKE_HOSTS];
    memset(net, 0, sizeof *net);
    espi_rng_seed(r, test_seed(seed));
    net->n = n;
    net->n_sites = sites;
    net->n_clusters = sites * clusters;
    net->noise = NOISE;
    net->blunders = 0.01;
    for (int h = 0; h < n; h++)
        order[h] = h;
    espi_rng_shuffle(r, order, n);
    int near = (int)espi_rng_below(r, 2); /* no latency worth mentioning */
    double lan = espi_rng_log_range(r, 50, near ? 200 : 2000) * MBIT;
    for (int h = 0; h < n; h++) {
        net->cluster[order[h]] = h % net->n_clusters;
        net->site[order[h]] = h % net->n_clusters / clusters;
        net->out_Bps[h] = net->in_Bps[h] = lan;
    }
    net->lan_s = espi_rng_log_range(r, 20e-6, 200e-6);
    for (int a = 0; a < sites; a++)
        for (int b = 0; b < sites; b++) {
            net->wan_Bps[a][b] = lan * espi_rng_log_range(r, 0.1, near ? 0.42 : 0.6);
            net->wan_s[a][b] = net->wan_s[b][a] =
                near ? net->lan_s : espi_rng_log_range(r, 5e-3, 50e-3);
        }
    /* of two clusters, the way out of one is the way into the other: they are alike */
    for (int a = 0; a < sites && (with & UPLINKS); a++) {
        double Bps = lan * espi_rng_range(r, 0.8, 1.2);
        for (int c = a * clusters; c < (a + 1) * clusters; c++)
            net->uplink_Bps[c] = net->downlink_Bps[c] = Bps;
    }
    for (int a = 0; a < sites && (with & SITE_LINKS); a++) {
        net->site_out_Bps[a] = lan * espi_rng_range(r, 0.3, 0.5);
        net->site_in_Bps[a] = lan * espi_rng_range(r, 0.3, 0.5);
    }
    for (int a = 0; a < sites && (with & (SITE_LINKS | CORE)); a++)
        for (int b = 0; b < sites; b++)
            net->wan_Bps[a][b] = lan * 0.3;
    if (with & CORE)
        net->core_Bps = lan * 0.3 * espi_rng_range(r, 1.2, 1.8);
}

/* ---- checks ---- */

struct measured {
    struct espi_samples samples;
    struct espi_measured net;
    struct espi_arena arena;
};

static void measure(struct measured *m, struct fake_network *truth, double budget_s)
{
    struct espi_probe_driver prober = fake_prober(truth, budget_s);
    struct esp_err err = {0};
    memset(m, 0, sizeof *m);
    espi_arena_init(&m->arena);
    fake_hosts(truth, &m->samples);
    esp_status status = espi_probe(&prober, &m->samples, &err);
    if (!status)
        status = espi_measured_init(&m->net, &m->samples, &m->arena, &err);
    if (status)
        fail_msg("%s", err.text);
}

static void forget(struct measured *m)
{
    espi_measured_done(&m->net);
    espi_arena_done(&m->arena);
    espi_samples_done(&m->samples);
}

static void assert_sites(const struct measured *m, const struct fake_network *truth,
                         uint64_t seed)
{
    for (int a = 0; a < truth->n; a++)
        for (int b = 0; b < a; b++)
            if ((m->net.site[a] == m->net.site[b]) != (truth->site[a] == truth->site[b]))
                fail_msg("seed %d: h%d and h%d: %d sites, should be %d", (int)seed, a, b,
                         m->net.n_sites, truth->n_sites);
}

static void assert_areas(const struct measured *m, const struct fake_network *truth,
                         uint64_t seed)
{
    for (int a = 0; a < truth->n; a++)
        for (int b = 0; b < a; b++)
            if ((m->net.subsite[a] == m->net.subsite[b]) !=
                (truth->cluster[a] == truth->cluster[b]))
                fail_msg("seed %d: h%d and h%d: %d areas, should be %d", (int)seed, a, b,
                         m->net.n_subsites, truth->n_clusters);
}

static void assert_near(double got, double want, double part, const char *what,
                        uint64_t seed)
{
    if (!(fabs(got - want) <= part * want))
        fail_msg("seed %d: %s is %g, should be %g", (int)seed, what, got, want);
}

static void assert_ports(const struct measured *m, const struct fake_network *truth,
                         uint64_t seed)
{
    for (int h = 0; h < truth->n; h++) {
        assert_near(m->net.out_Bps[h], truth->out_Bps[h], TOLERANCE, "a send port", seed);
        assert_near(m->net.in_Bps[h], truth->in_Bps[h], TOLERANCE, "a receive port",
                    seed);
    }
}

/* The tightest that is shared by the two hosts' link alone with its like; or 0. */
static double shared_Bps(const struct measured *m, int from, int to)
{
    double least = INFINITY;
    for (size_t c = 0; c < m->net.n_shared; c++) {
        const struct espi_shared *s = &m->net.shared[c];
        for (int k = s->first; k < s->first + s->n_pairs; k++)
            if (m->net.subsite_pairs[k].from == m->net.subsite[from] &&
                m->net.subsite_pairs[k].to == m->net.subsite[to])
                least = fmin(least, s->Bps);
    }
    return isinf(least) ? 0 : least;
}

/* By how much a cable is off at most; infinitely where one is made up, or missing. */
static double worst_cable(const struct measured *m, const struct fake_network *truth)
{
    double worst = 0;
    for (int i = 0; i < truth->n; i++)
        for (int j = 0; j < truth->n; j++) {
            int a = truth->site[i], b = truth->site[j];
            double got = i == j ? 0 : shared_Bps(m, i, j);
            if (a != b)
                worst = fmax(worst, fabs(got / truth->wan_Bps[a][b] - 1));
            else if (got > 0)
                worst = INFINITY;
        }
    return worst;
}

/* Any flows at once: the measured network gives them what the true one does. By how much
 * their rates together are off at most. */
static double worst_prediction(struct measured *m, struct fake_network *truth)
{
    double worst = 0;
    for (int times = 0; times < 20; times++) {
        struct espi_trial_flow flows[24];
        double got[24], want[24], sum_got = 0, sum_want = 0;
        int n = 1 + (int)espi_rng_below(&truth->rng, 24);
        for (int i = 0; i < n; i++) {
            int from = (int)espi_rng_below(&truth->rng, (uint32_t)truth->n);
            int to = (int)espi_rng_below(&truth->rng, (uint32_t)truth->n - 1);
            flows[i] = (struct espi_trial_flow){from, to + (to >= from), 0};
        }
        fake_rates(truth, flows, n, want);
        assert_int_equal(espi_measured_predict(&m->net, flows, n, got, &m->arena), 0);
        for (int i = 0; i < n; i++) {
            sum_got += got[i];
            sum_want += want[i];
        }
        worst = fmax(worst, fabs(sum_got / sum_want - 1));
    }
    return worst;
}

static void assert_predicts(struct measured *m, struct fake_network *truth, double part,
                            uint64_t seed)
{
    double off = worst_prediction(m, truth);
    if (!(off <= part))
        fail_msg("seed %d: the rate of flows together is off by %g", (int)seed, off);
}

/* ---- tests ---- */

static void test_grids(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fake_network truth;
        struct measured m;
        int sites = 1 + (int)(seed % 5), per_site = 2 + (int)(seed / 5 % 16);
        draw(&truth, seed, sites * per_site, sites, 1, 0);
        measure(&m, &truth, 60);
        assert_sites(&m, &truth, seed);
        assert_ports(&m, &truth, seed);
        assert_near(1 + worst_cable(&m, &truth), 1, TOLERANCE, "a cable", seed);
        assert_predicts(&m, &truth, TOLERANCE, seed);
        assert_true(truth.flows_most <= 24);
        forget(&m);
    }
}

static void test_clusters(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fake_network truth;
        struct measured m;
        int sites = 1 + (int)(seed % 4), clusters = 2 + (int)(seed / 4 % 2);
        int size = 4 + (int)(seed / 12 % 4);
        draw(&truth, 1000 + seed, sites * clusters * size, sites, clusters, UPLINKS);
        measure(&m, &truth, 90);
        assert_sites(&m, &truth, seed);
        assert_areas(&m, &truth, seed);
        assert_predicts(&m, &truth, 0.1, seed);
        forget(&m);
    }
}

static void test_uplinks_of_sites(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fake_network truth;
        struct measured m;
        int sites = 3 + (int)(seed % 3), with = seed % 2 ? SITE_LINKS : CORE;
        draw(&truth, 2000 + seed, sites * 8, sites, 1, with);
        measure(&m, &truth, 120);
        assert_sites(&m, &truth, seed);
        assert_predicts(&m, &truth, 0.1, seed);
        forget(&m);
    }
}

/* Many values far off: the sites are found all the same, and rates are not far off where
 * not several of the few values of one were (in one network of thousands). */
static void test_blunders(void **state)
{
    (void)state;
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fake_network truth;
        struct measured m;
        int sites = 2 + (int)(seed % 4);
        draw(&truth, 3000 + seed, sites * (2 + (int)(seed % 13)), sites, 1, 0);
        truth.blunders = 0.05;
        truth.noise = 0.03;
        measure(&m, &truth, 60);
        assert_sites(&m, &truth, seed);
        wrong += worst_prediction(&m, &truth) > 0.3;
        forget(&m);
    }
    assert_true(wrong <= 2);
}

/* Rounds in which everything was slow: nothing is found in the middle that is not there,
 * and what is there is found, in time. But a fifth of the rounds is so many that now and
 * then several which should bear each other out are disturbed alike: in one network of a
 * hundred, of 60 in more than 6 hardly ever. */
static void test_stalls(void **state)
{
    (void)state;
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fake_network truth;
        struct measured m;
        int sites = 3 + (int)(seed % 3), with = seed % 2 ? 0 : CORE;
        draw(&truth, 6000 + seed, sites * 4, sites, 1, with);
        truth.stalls = 0.2;
        measure(&m, &truth, 120);
        assert_sites(&m, &truth, seed);
        wrong += worst_prediction(&m, &truth) > 0.1 ||
                 (!with && worst_cable(&m, &truth) > TOLERANCE);
        forget(&m);
    }
    assert_true(wrong <= 6);
}

/* One site, and hosts far from it and from each other: they stay alone. */
static void test_lone_hosts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fake_network truth;
        struct measured m;
        draw(&truth, 4000 + seed, 9, 4, 1, 0);
        for (int h = 0; h < truth.n; h++)
            truth.cluster[h] = truth.site[h] = h < 3 ? 1 + h : 0;
        for (int k = 0; k < FAKE_SITES * FAKE_SITES; k++) { /* all equally far */
            truth.wan_s[k / FAKE_SITES][k % FAKE_SITES] = 5e-3;
            truth.wan_Bps[k / FAKE_SITES][k % FAKE_SITES] = 0.3 * truth.out_Bps[0];
        }
        measure(&m, &truth, 60);
        assert_sites(&m, &truth, seed);
        forget(&m);
    }
}

/* With little time there is an answer, too, and not much later than it should be. */
static void test_budget(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct fake_network truth;
        struct measured m;
        struct esp_platform *p = NULL;
        draw(&truth, 5000 + seed, 64, 4, 2, UPLINKS);
        measure(&m, &truth, 3);
        assert_true(truth.now_s < 6);
        assert_int_equal(espi_measured_platform(&m.net, "short", 128, &p, &m.arena, NULL),
                         ESP_OK);
        esp_platform_free(p);
        forget(&m);
    }
}

/* ---- platforms ---- */

static void test_direct_platform(void **state)
{
    (void)state;
    struct fake_network truth;
    struct measured m;
    struct esp_platform *p = NULL;
    draw(&truth, 7, 20, 3, 1, 0);
    measure(&m, &truth, 60);
    assert_int_equal(espi_measured_platform(&m.net, "x", 128, &p, &m.arena, NULL),
                     ESP_OK);
    assert_int_equal(esp_platform_node_count(p), 20);
    assert_int_equal(esp_platform_link_count(p), 20 * 19);
    assert_int_equal(esp_platform_cable_count(p), 2 * 20 + 3 * 2);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_CAPACITY);
    for (int e = 0; e < 20 * 19; e++) {
        int i = esp_platform_link_from(p, e), j = esp_platform_link_to(p, e);
        int a = truth.site[i], b = truth.site[j];
        double s = a == b ? truth.lan_s : truth.wan_s[a][b];
        assert_true(esp_platform_link_latency_s(p, e) >= 0.9 * s);
        assert_near(esp_platform_link_bandwidth_Bps(p, e),
                    a == b ? truth.out_Bps[i] : truth.wan_Bps[a][b], TOLERANCE, "a link",
                    7);
        assert_int_equal(
            strcmp(esp_platform_node_site(p, i), esp_platform_node_site(p, j)) == 0,
            a == b);
    }
    esp_platform_free(p);
    forget(&m);
}

/* The same network with switches: every host reaches every other, cables are there. */
static void test_switched_platform(void **state)
{
    (void)state;
    struct fake_network truth;
    struct measured m;
    struct esp_platform *p = NULL;
    draw(&truth, 1007, 24, 3, 2, UPLINKS);
    measure(&m, &truth, 60);
    assert_int_equal(espi_measured_platform(&m.net, "x", 10, &p, &m.arena, NULL), ESP_OK);
    assert_int_equal(esp_platform_host_count(p), 24);
    assert_int_equal(esp_platform_node_count(p), 24 + m.net.n_subsites + 3);
    assert_int_equal(esp_platform_check_root(p, 0, NULL), ESP_OK);
    assert_int_equal(esp_platform_cable_count(p), 6);
    esp_platform_free(p);
    forget(&m);
}

/* ---- samples ---- */

static void test_samples_round_trip(void **state)
{
    (void)state;
    struct fake_network truth;
    struct measured m;
    struct espi_samples again = {.n = 0};
    char *text = NULL;
    size_t length = 0;
    draw(&truth, 11, 12, 2, 1, 0);
    measure(&m, &truth, 60);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(espi_samples_write_stream(&m.samples, out, NULL), ESP_OK);
    fclose(out);
    assert_int_equal(espi_samples_parse(&again, text, length, "again", NULL), ESP_OK);
    assert_int_equal(again.n, m.samples.n);
    for (size_t i = 0; i < again.n; i++) {
        assert_int_equal(again.at[i].kind, m.samples.at[i].kind);
        assert_int_equal(again.at[i].round, m.samples.at[i].round);
        assert_true(again.at[i].value == m.samples.at[i].value);
    }
    free(text);
    espi_samples_done(&again);
    forget(&m);
}

#define HEAD ESPI_SAMPLES_FORMAT "\nhost a 1\nhost b 2\n"

static void test_bad_samples(void **state)
{
    (void)state;
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        {"", "x: there is nothing in it"},
        {"host a 1\n", "x:1: this is no file of samples"},
        {HEAD "host a 1\n", "x:4: host 'a' is there twice"},
        {HEAD "host c\n", "x:4: a host is 'host NAME RANKS'"},
        {HEAD "host c 0\n", "x:4: host 'c' has no ranks"},
        {HEAD "host c 1.5\n", "x:4: the number of ranks '1.5' is not a whole number"},
        {HEAD "speed 0 0 1 5\n", "x:4: no kind of sample 'speed'"},
        {HEAD "rate 0 0 1\n", "x:4: a sample is 'rate ROUND FROM TO VALUE'"},
        {HEAD "rate 0 0 1 5 6\n", "x:4: a sample is 'rate ROUND FROM TO VALUE'"},
        {HEAD "rate 0 0 2 5\n", "x:4: there is no host number 2 (of 2)"},
        {HEAD "rate 0 1 1 5\n", "x:4: a rate sample is of two hosts"},
        {HEAD "bus 0 0 1 5\n", "x:4: a bus sample is of one host"},
        {HEAD "rate 0 0 1 0\n", "x:4: a rate of 0 is not between"},
        {HEAD "rate 0 0 1 nan\n", "x:4: 'nan' is not a number"},
        {HEAD "latency -1 0 1 5\n", "x:4: round '-1' is not a whole number"},
        {HEAD "latency 0 0 1 1e300\n", "x:4: a latency of 1e+300 is not between"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct espi_samples s = {.n = 0};
        struct esp_err err = {0};
        assert_int_equal(
            espi_samples_parse(&s, cases[i].text, strlen(cases[i].text), "x", &err),
            ESP_EINPUT);
        assert_int_equal(
            strncmp(err.text, cases[i].complaint, strlen(cases[i].complaint)), 0);
        assert_null(s.at);
    }
}

/* Samples from which nothing follows are refused, a lone host is a platform. */
static void test_poor_samples(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        esp_status status;
    } cases[] = {
        {ESPI_SAMPLES_FORMAT "\n", ESP_EINPUT},
        {ESPI_SAMPLES_FORMAT "\nhost a 4\nbus 0 0 0 1e9\n", ESP_OK},
        {HEAD, ESP_EINPUT},
        {HEAD "latency 0 0 1 0.001\n", ESP_EINPUT},
        {HEAD "quick 0 0 1 1000\n", ESP_OK},
        {HEAD "rate 0 0 1 1000\n", ESP_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct espi_samples s = {.n = 0};
        struct espi_measured net;
        struct espi_arena arena;
        struct esp_platform *p = NULL;
        espi_arena_init(&arena);
        assert_int_equal(
            espi_samples_parse(&s, cases[i].text, strlen(cases[i].text), "x", NULL),
            ESP_OK);
        esp_status status = espi_measured_init(&net, &s, &arena, NULL);
        if (!status) {
            status = espi_measured_platform(&net, "x", 128, &p, &arena, NULL);
            espi_measured_done(&net);
        }
        assert_int_equal(status, cases[i].status);
        esp_platform_free(p);
        espi_arena_done(&arena);
        espi_samples_done(&s);
    }
}

/* ---- memory ---- */

static esp_status measure_all(void *arg)
{
    struct fake_network truth;
    struct espi_samples samples = {.n = 0};
    struct espi_measured net;
    struct espi_arena arena;
    struct esp_platform *p = NULL;
    (void)arg;
    draw(&truth, 21, 8, 2, 1, 0);
    struct espi_probe_driver prober = fake_prober(&truth, 1);
    espi_arena_init(&arena);
    esp_status status = ESP_OK;
    for (int h = 0; h < truth.n && !status; h++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", h);
        status = espi_samples_add_host(&samples, name, 1, NULL);
    }
    if (!status)
        status = espi_probe(&prober, &samples, NULL);
    if (!status)
        status = espi_measured_init(&net, &samples, &arena, NULL);
    if (!status) {
        status = espi_measured_platform(&net, "x", 4, &p, &arena, NULL);
        espi_measured_done(&net);
    }
    esp_platform_free(p);
    espi_arena_done(&arena);
    espi_samples_done(&samples);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(alloc_fail_some(measure_all, NULL, 40) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_uplinks_of_sites),
        cmocka_unit_test(test_blunders),
        cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_lone_hosts),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_direct_platform),
        cmocka_unit_test(test_switched_platform),
        cmocka_unit_test(test_samples_round_trip),
        cmocka_unit_test(test_bad_samples),
        cmocka_unit_test(test_poor_samples),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
