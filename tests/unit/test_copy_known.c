/* What copies learn of a network: sites by names and latencies, rates by transfers that
 * ran side by side, and what is kept of that in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "copy/known.h"
#include "measure/max_min_fair.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { HOSTS_MAX = 12, SITES_MAX = 3, FLOWS_MAX = 40, LOOKS = 30 };

/* ---- names ---- */

static void names_have_stems(void **state)
{
    (void)state;
    const struct {
        const char *a, *b;
        int same;
    } cases[] = {{"n1", "n22", 1},
                 {"n1", "m1", 0},
                 {"s1-c1-h1", "s1-c1-h9", 1},
                 {"s1-c1-h1", "s1-c2-h1", 0},
                 {"n08-ib", "n10-ib", 1},
                 {"n08-ib", "n10-eth", 0},
                 {"n1.here.org", "n2.here.org", 1},
                 {"alpha", "beta", 0},
                 {"10.1.2.3", "10.1.2.77", 1},
                 {"10.1.2.3", "10.1.3.3", 0},
                 {"", "x", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char a[64], b[64];
        espi_known_stem(cases[i].a, a, sizeof a);
        espi_known_stem(cases[i].b, b, sizeof b);
        assert_int_equal(strcmp(a, b) == 0, cases[i].same);
    }
}

/* ---- a network ---- */

struct truth {
    int n, site[HOSTS_MAX];
    double out[HOSTS_MAX], in[HOSTS_MAX], cable[SITES_MAX][SITES_MAX];
};

static void host_name(char name[16], const struct truth *t, int host, int tells)
{
    snprintf(name, 16, "%c%d", tells ? 'a' + t->site[host] : 'h', host);
}

static void draw_truth(struct truth *t, struct espi_rng *rng)
{
    t->n = 4 + (int)(espi_rng_next(rng) % (HOSTS_MAX - 3));
    for (int i = 0; i < t->n; i++) {
        t->site[i] = i % SITES_MAX;
        t->out[i] = t->in[i] = 50e6;
    }
    for (int a = 0; a < SITES_MAX; a++)
        for (int b = 0; b < SITES_MAX; b++)
            t->cable[a][b] = 1e6 * (double)(1 + espi_rng_next(rng) % 20);
}

static void add_hosts(struct espi_known *k, const struct truth *t, int tells)
{
    for (int i = 0; i < t->n; i++) {
        char name[16];
        int number;
        host_name(name, t, i, tells);
        assert_int_equal(espi_known_add(k, name, &number, NULL), ESP_OK);
        assert_int_equal(number, i);
    }
}

static void check_sites(const struct espi_known *k, const struct truth *t)
{
    for (int i = 0; i < t->n; i++)
        for (int j = 0; j < t->n; j++)
            assert_int_equal(k->host[i].site == k->host[j].site,
                             t->site[i] == t->site[j]);
}

static void sites_come_of_names(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct truth t;
    struct espi_known k;
    espi_rng_seed(&rng, test_seed(1));
    draw_truth(&t, &rng);
    espi_known_init(&k);
    add_hosts(&k, &t, 1);
    assert_int_equal(espi_known_settle(&k, NULL, NULL), ESP_OK);
    check_sites(&k, &t);
    espi_known_done(&k);
}

static void sites_come_of_latencies(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(2));
    for (int draw = 0; draw < test_draws(20); draw++) {
        struct truth t;
        struct espi_known k;
        struct espi_samples samples = {.n = 0};
        draw_truth(&t, &rng);
        espi_known_init(&k);
        add_hosts(&k, &t, 0);
        assert_int_equal(espi_known_settle(&k, NULL, NULL), ESP_OK);
        assert_int_equal(k.n_sites, 1); /* names say nothing */
        for (int i = 0; i < t.n; i++)
            assert_int_equal(espi_samples_add_host(&samples, k.host[i].name, 1, NULL),
                             ESP_OK);
        for (int i = 0; i < t.n; i++)
            for (int j = 0; j < i; j++) {
                double noise = 1 + 1e-2 * (double)(espi_rng_next(&rng) % 10);
                struct espi_sample s = {.kind = ESPI_SAMPLE_LATENCY,
                                        .from = i,
                                        .to = j,
                                        .value = noise *
                                                 (t.site[i] == t.site[j] ? 1e-4 : 5e-3)};
                assert_int_equal(espi_samples_add(&samples, &s, NULL), ESP_OK);
            }
        assert_int_equal(espi_known_settle(&k, &samples, NULL), ESP_OK);
        check_sites(&k, &t);
        double far_s = k.latency_s[k.host[0].site * k.n_sites + k.host[1].site];
        assert_true(far_s >= 5e-3 && far_s < 5.5e-3);
        espi_samples_done(&samples);
        espi_known_done(&k);
    }
}

/* ---- transfers ---- */

/* Fair shares; each is held up, for there is always more to send. */
static int draw_flows(const struct truth *t, struct espi_rng *rng,
                      struct espi_known_flow *flow)
{
    int n = 1 + (int)(espi_rng_next(rng) % FLOWS_MAX), start[FLOWS_MAX + 1] = {0};
    int item[3 * FLOWS_MAX], used = 0, cells = SITES_MAX * SITES_MAX;
    double capacity[2 * HOSTS_MAX + SITES_MAX * SITES_MAX], rate[FLOWS_MAX];
    struct espi_arena arena;
    for (int i = 0; i < t->n; i++) {
        capacity[i] = t->out[i];
        capacity[t->n + i] = t->in[i];
    }
    for (int c = 0; c < cells; c++)
        capacity[2 * t->n + c] = t->cable[c / SITES_MAX][c % SITES_MAX];
    for (int f = 0; f < n; f++) {
        int from = (int)(espi_rng_next(rng) % (unsigned)t->n);
        int to = (from + 1 + (int)(espi_rng_next(rng) % (unsigned)(t->n - 1))) % t->n;
        flow[f] = (struct espi_known_flow){.from = from, .to = to, .is_held_up = 1};
        item[used++] = from;
        item[used++] = t->n + to;
        if (t->site[from] != t->site[to])
            item[used++] = 2 * t->n + t->site[from] * SITES_MAX + t->site[to];
        start[f + 1] = used;
    }
    const struct espi_max_min_fair fair = {n, 2 * t->n + cells, start, item, capacity};
    espi_arena_init(&arena);
    assert_int_equal(espi_max_min_fair_rates(&fair, rate, &arena), 0);
    espi_arena_done(&arena);
    for (int f = 0; f < n; f++)
        flow[f].Bps = rate[f];
    return n;
}

static void hear_much(struct espi_known *k, const struct truth *t, struct espi_rng *rng)
{
    for (int look = 0; look < LOOKS; look++) {
        struct espi_known_flow flow[FLOWS_MAX];
        int n = draw_flows(t, rng, flow);
        assert_int_equal(espi_known_hear(k, flow, n, NULL), ESP_OK);
    }
}

static int is_near(double a, double b)
{
    return fabs(a - b) <= 0.1 * b;
}

/* Cables that are thinner than ports by far are known, and no port is thought slower than
 * half of what it is. */
static void cables_are_learned(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(3));
    for (int draw = 0; draw < test_draws(30); draw++) {
        struct truth t;
        struct espi_known k;
        draw_truth(&t, &rng);
        espi_known_init(&k);
        add_hosts(&k, &t, 1);
        assert_int_equal(espi_known_settle(&k, NULL, NULL), ESP_OK);
        hear_much(&k, &t, &rng);
        int known = 0;
        for (int a = 0; a < SITES_MAX; a++)
            for (int b = 0; b < SITES_MAX; b++) {
                const struct espi_known_rate *r =
                    &k.cable[k.host[a].site * k.n_sites + k.host[b].site];
                if (a == b || r->times == 0)
                    continue;
                known++;
                assert_true(is_near(r->mean_Bps, t.cable[a][b]));
                assert_true(r->low_Bps <= r->mean_Bps && r->mean_Bps <= r->high_Bps);
            }
        assert_true(known >= SITES_MAX);
        espi_known_done(&k);
    }
}

/* Two hosts of two sites. */
static void make_two(struct espi_known *k, int *a, int *b)
{
    espi_known_init(k);
    assert_int_equal(espi_known_add(k, "a1", a, NULL), ESP_OK);
    assert_int_equal(espi_known_add(k, "b1", b, NULL), ESP_OK);
    assert_int_equal(espi_known_settle(k, NULL, NULL), ESP_OK);
}

/* A cable that becomes slower, and then faster, is known to be. */
static void changes_are_learned(void **state)
{
    (void)state;
    const double Bps[] = {10e6, 2e6, 30e6};
    struct espi_known k;
    int a, b;
    make_two(&k, &a, &b);
    for (int i = 0; i < 3; i++) {
        for (int look = 0; look < 100; look++) {
            struct espi_known_flow flow = {a, b, Bps[i], 1, 0};
            assert_int_equal(espi_known_hear(&k, &flow, 1, NULL), ESP_OK);
        }
        assert_true(is_near(k.cable[k.host[a].site * k.n_sites + k.host[b].site].mean_Bps,
                            Bps[i]));
    }
    espi_known_done(&k);
}

/* Who takes too little is what is slow, not the way to it; and a transfer that nothing
 * holds up says only that there is as much. */
static void receivers_are_told_from_cables(void **state)
{
    (void)state;
    struct espi_known k;
    int a, b;
    make_two(&k, &a, &b);
    struct espi_known_flow free_flow = {a, b, 3e6, 0, 0}, choked = {a, b, 1e6, 1, 1};
    assert_int_equal(espi_known_hear(&k, &free_flow, 1, NULL), ESP_OK);
    assert_int_equal(k.host[b].in.times, 0);
    assert_true(k.host[b].in.low_Bps == 3e6);
    assert_int_equal(espi_known_hear(&k, &choked, 1, NULL), ESP_OK);
    assert_int_equal(k.host[a].out.times, 0);
    assert_int_equal(k.host[b].in.times, 1);
    assert_true(k.host[b].in.mean_Bps == 1e6);
    espi_known_done(&k);
}

/* ---- files ---- */

static void draw_known(struct espi_known *k, struct truth *t, struct espi_rng *rng)
{
    draw_truth(t, rng);
    espi_known_init(k);
    add_hosts(k, t, 1);
    assert_int_equal(espi_known_settle(k, NULL, NULL), ESP_OK);
    hear_much(k, t, rng);
}

static void same_rate(const struct espi_known_rate *a, const struct espi_known_rate *b)
{
    assert_int_equal(a->times, b->times);
    assert_true(fabs(a->low_Bps - b->low_Bps) <= 1e-9 * b->low_Bps);
    if (a->times > 0)
        assert_true(fabs(a->mean_Bps - b->mean_Bps) <= 1e-9 * b->mean_Bps);
}

static void write_and_take(const struct espi_known *k, struct espi_known *again)
{
    char path[] = "/tmp/espalier-known-XXXXXX";
    struct esp_platform *p = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(espi_known_write(k, path, NULL), ESP_OK);
    assert_int_equal(esp_platform_read(path, NULL, &p, NULL), ESP_OK);
    unlink(path);
    espi_known_init(again);
    assert_int_equal(espi_known_take(again, p, NULL), ESP_OK);
    esp_platform_free(p);
}

/* Also when it is taken for a copy to some of the hosts, and to others beside them. */
static void files_keep_what_is_known(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(4));
    for (int draw = 0; draw < test_draws(10); draw++) {
        struct espi_known k, again, third;
        struct truth t;
        int host;
        draw_known(&k, &t, &rng);
        write_and_take(&k, &again);
        assert_int_equal(again.n_hosts, k.n_hosts);
        assert_int_equal(espi_known_add(&again, "b77", &host, NULL), ESP_OK);
        assert_int_equal(espi_known_add(&again, k.host[1].name, &host, NULL), ESP_OK);
        assert_false(espi_known_has_all(&again));
        assert_int_equal(espi_known_settle(&again, NULL, NULL), ESP_OK);
        write_and_take(&again, &third);
        assert_int_equal(third.n_hosts, k.n_hosts + 1);
        for (int i = 0; i < k.n_hosts; i++) {
            assert_int_equal(espi_known_add(&third, k.host[i].name, &host, NULL), ESP_OK);
            same_rate(&third.host[host].out, &k.host[i].out);
            same_rate(&third.host[host].in, &k.host[i].in);
            for (int j = 0; j < k.n_hosts; j++) {
                int other;
                assert_int_equal(espi_known_add(&third, k.host[j].name, &other, NULL),
                                 ESP_OK);
                int a = third.host[host].site, b = third.host[other].site;
                if (a != b)
                    same_rate(&third.cable[a * third.n_sites + b],
                              &k.cable[k.host[i].site * k.n_sites + k.host[j].site]);
            }
        }
        assert_true(espi_known_has_all(&third) == 0 || third.n_hosts == k.n_hosts + 1);
        espi_known_done(&k);
        espi_known_done(&again);
        espi_known_done(&third);
    }
}

static esp_status all_of_it(void *arg)
{
    struct truth *t = arg;
    struct espi_known k;
    struct esp_platform *p = NULL;
    esp_status status = ESP_OK;
    struct espi_known_flow flow[2] = {{0, 1, 1e6, 1, 0}, {1, 2, 2e6, 1, 0}};
    espi_known_init(&k);
    for (int i = 0; !status && i < t->n; i++) {
        char name[16];
        int number;
        host_name(name, t, i, 1);
        status = espi_known_add(&k, name, &number, NULL);
    }
    if (!status)
        status = espi_known_settle(&k, NULL, NULL);
    if (!status)
        status = espi_known_hear(&k, flow, 2, NULL);
    if (!status)
        status = espi_known_platform(&k, &p, NULL);
    if (!status)
        status = espi_known_write(&k, "/dev/null", NULL);
    esp_platform_free(p);
    espi_known_done(&k);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct truth t;
    espi_rng_seed(&rng, test_seed(5));
    draw_truth(&t, &rng);
    t.n = 4;
    assert_true(alloc_fail_each(all_of_it, &t) > 10);
}

/* The plan is for hosts of the copy alone, and what it takes is that of its fullest. */
static void platforms_hold_who_is_here(void **state)
{
    (void)state;
    struct espi_rng rng;
    struct espi_known k, again;
    struct truth t;
    struct esp_platform *p = NULL;
    int a, b;
    espi_rng_seed(&rng, test_seed(6));
    draw_known(&k, &t, &rng);
    write_and_take(&k, &again);
    assert_int_equal(espi_known_add(&again, k.host[0].name, &a, NULL), ESP_OK);
    assert_int_equal(espi_known_add(&again, k.host[1].name, &b, NULL), ESP_OK);
    assert_true(espi_known_has_all(&again));
    assert_int_equal(espi_known_settle(&again, NULL, NULL), ESP_OK);
    assert_int_equal(espi_known_platform(&again, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_node_count(p), 2);
    assert_int_equal(esp_platform_link_count(p), 2);
    int link = esp_platform_find_link(p, 0, 1);
    double Bps = espi_known_expect_Bps(&again.host[a].out);
    Bps = fmin(Bps, espi_known_expect_Bps(&again.host[b].in));
    int cell = again.host[a].site * again.n_sites + again.host[b].site;
    Bps = fmin(Bps, espi_known_expect_Bps(&again.cable[cell]));
    assert_true(esp_platform_link_bandwidth_Bps(p, link) == Bps);
    struct espi_known_flow whole = {a, b, 1, 0, 0};
    assert_true(fabs(espi_known_load_s(&again, &whole, 1) * Bps - 1) < 1e-9);
    esp_platform_free(p);
    espi_known_done(&k);
    espi_known_done(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_stems),
        cmocka_unit_test(sites_come_of_names),
        cmocka_unit_test(sites_come_of_latencies),
        cmocka_unit_test(cables_are_learned),
        cmocka_unit_test(changes_are_learned),
        cmocka_unit_test(receivers_are_told_from_cables),
        cmocka_unit_test(files_keep_what_is_known),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(platforms_hold_who_is_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
