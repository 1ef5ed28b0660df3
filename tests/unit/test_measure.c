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
#include "measure/network.h"
#include "measure/probe.h"
#include "platform/platform.h"
#include "support/alloc_fail.h"
#include "support/fake_network.h"

#define MBIT 125e3

/* ---- networks ---- */

enum { UPLINKS = 1, SITE_LINKS = 2, CORE = 4, FLOW_LIMITS = 8 };

/* Hosts of sites are mixed, so that no order helps. */
static void draw(struct fake_network *net, uint64_t seed, int n, int sites, int clusters,
                 int with)
{
    struct espi_rng *r = &net->rng;
    int order[FAKE_HOSTS];
    memset(net, 0, sizeof *net);
    espi_rng_seed(r, seed);
    net->n = n;
    net->n_sites = sites;
    net->n_clusters = sites * clusters;
    net->noise = 0.015;
    net->blunders = 0.03;
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
    for (int c = 0; c < net->n_clusters && (with & UPLINKS); c++) {
        net->uplink_Bps[c] = lan * espi_rng_range(r, 0.8, 1.6);
        net->downlink_Bps[c] = lan * espi_rng_range(r, 0.8, 1.6);
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
    struct espi_network net;
    struct espi_arena arena;
};

static void measure(struct measured *m, struct fake_network *truth, double budget_s)
{
    struct espi_prober prober = fake_prober(truth, budget_s);
    struct esp_err err = {0};
    memset(m, 0, sizeof *m);
    espi_arena_init(&m->arena);
    fake_hosts(truth, &m->samples);
    esp_status status = espi_probe(&prober, &m->samples, &err);
    if (!status)
        status = espi_network_init(&m->net, &m->samples, &m->arena, &err);
    if (getenv("SHOW")) {
        for (size_t c = 0; c < m->net.n_shared; c++)
            fprintf(stderr, "%s %.3g (%d)\n", m->net.shared[c].name, m->net.shared[c].Bps, m->net.shared[c].n_pairs);
        for (int i = 0; i < truth->n_sites; i++)
            fprintf(stderr, "site %d out %.3g in %.3g core %.3g wan %.3g t %.3g\n", i, truth->site_out_Bps[i], truth->site_in_Bps[i], truth->core_Bps, truth->wan_Bps[0][1], truth->now_s);
    }
    if (getenv("DUMP"))
        espi_samples_write_stream(&m->samples, stderr, NULL);
    if (status)
        fail_msg("%s", err.text);
}

static void forget(struct measured *m)
{
    espi_network_done(&m->net);
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
            if ((m->net.area[a] == m->net.area[b]) !=
                (truth->cluster[a] == truth->cluster[b]))
                fail_msg("seed %d: h%d and h%d: %d areas, should be %d", (int)seed, a, b,
                         m->net.n_areas, truth->n_clusters);
}

static void assert_near(double got, double want, double part, const char *what,
                        uint64_t seed)
{
    if (!(fabs(got - want) <= part * want) && getenv("KEEP"))
        return (void)fprintf(stderr, "seed %d: %s is %g, should be %g\n", (int)seed, what, got, want);
    if (!(fabs(got - want) <= part * want))
        fail_msg("seed %d: %s is %g, should be %g", (int)seed, what, got, want);
}

static void assert_ports(const struct measured *m, const struct fake_network *truth,
                         uint64_t seed)
{
    for (int h = 0; h < truth->n; h++) {
        assert_near(m->net.out_Bps[h], truth->out_Bps[h], 0.06, "a send port", seed);
        assert_near(m->net.in_Bps[h], truth->in_Bps[h], 0.06, "a receive port", seed);
    }
}

/* The tightest that is shared by the two hosts' link alone with its like; or 0. */
static double shared_Bps(const struct measured *m, int from, int to)
{
    double least = INFINITY;
    for (size_t c = 0; c < m->net.n_shared; c++) {
        const struct espi_shared *s = &m->net.shared[c];
        for (int k = s->first; k < s->first + s->n_pairs; k++)
            if (m->net.area_pairs[k].from == m->net.area[from] &&
                m->net.area_pairs[k].to == m->net.area[to])
                least = fmin(least, s->Bps);
    }
    return isinf(least) ? 0 : least;
}

static void assert_cables(const struct measured *m, const struct fake_network *truth,
                          uint64_t seed)
{
    for (int i = 0; i < truth->n; i++)
        for (int j = 0; j < truth->n; j++) {
            if (i == j)
                continue;
            int a = truth->site[i], b = truth->site[j];
            if (a == b)
                assert_near(shared_Bps(m, i, j), 0, 0, "what is shared inside", seed);
            else
                assert_near(shared_Bps(m, i, j), truth->wan_Bps[a][b], 0.06, "a cable",
                            seed);
        }
}

/* Any flows at once: the measured network gives them what the true one does. */
static void assert_predicts(struct measured *m, struct fake_network *truth, double part,
                            uint64_t seed)
{
    for (int times = 0; times < 20; times++) {
        struct espi_flow flows[24];
        double got[24], want[24], sum_got = 0, sum_want = 0;
        int n = 1 + (int)espi_rng_below(&truth->rng, 24);
        for (int i = 0; i < n; i++) {
            int from = (int)espi_rng_below(&truth->rng, (uint32_t)truth->n);
            int to = (int)espi_rng_below(&truth->rng, (uint32_t)truth->n - 1);
            flows[i] = (struct espi_flow){from, to + (to >= from), 0};
        }
        fake_rates(truth, flows, n, want);
        assert_int_equal(espi_network_predict(&m->net, flows, n, got, &m->arena), 0);
        for (int i = 0; i < n; i++) {
            sum_got += got[i];
            sum_want += want[i];
        }
        assert_near(sum_got, sum_want, part, "the rate of flows together", seed);
    }
}

/* ---- tests ---- */

static void test_grids(void **state)
{
    (void)state;
    for (uint64_t seed = getenv("SEED") ? strtoul(getenv("SEED"), 0, 10) : 1; seed <= 60; seed++) {
        struct fake_network truth;
        struct measured m;
        if (getenv("KEEP")) fprintf(stderr, "%s\n", __func__);
        int sites = 1 + (int)(seed % 5), per_site = 2 + (int)(seed / 5 % 16);
        draw(&truth, seed, sites * per_site, sites, 1, 0);
        measure(&m, &truth, 60);
        assert_sites(&m, &truth, seed);
        assert_ports(&m, &truth, seed);
        assert_cables(&m, &truth, seed);
        assert_predicts(&m, &truth, 0.08, seed);
        assert_true(truth.flows_most <= 24);
        forget(&m);
    }
}

static void test_clusters(void **state)
{
    (void)state;
    for (uint64_t seed = getenv("SEED") ? strtoul(getenv("SEED"), 0, 10) : 1; seed <= 40; seed++) {
        struct fake_network truth;
        struct measured m;
        if (getenv("KEEP")) fprintf(stderr, "%s\n", __func__);
        int sites = 1 + (int)(seed % 4), clusters = 2 + (int)(seed / 4 % 3);
        int size = 4 + (int)(seed / 12 % 4);
        draw(&truth, 1000 + seed, sites * clusters * size, sites, clusters, UPLINKS);
        measure(&m, &truth, 90);
        assert_sites(&m, &truth, seed);
        assert_areas(&m, &truth, seed);
        assert_ports(&m, &truth, seed);
        assert_predicts(&m, &truth, 0.1, seed);
        forget(&m);
    }
}

static void test_uplinks_of_sites(void **state)
{
    (void)state;
    for (uint64_t seed = getenv("SEED") ? strtoul(getenv("SEED"), 0, 10) : 1; seed <= 40; seed++) {
        struct fake_network truth;
        struct measured m;
        if (getenv("KEEP")) fprintf(stderr, "%s\n", __func__);
        int sites = 3 + (int)(seed % 3), with = seed % 2 ? SITE_LINKS : CORE;
        draw(&truth, 2000 + seed, sites * 8, sites, 1, with);
        measure(&m, &truth, 120);
        assert_sites(&m, &truth, seed);
        assert_predicts(&m, &truth, 0.1, seed);
        forget(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_uplinks_of_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
