/* random, complete, hub, matrix and hnow: counts, degrees, distributions. The bounds on
 * means are those of about six standard errors, which hardly any seed exceeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <stdlib.h>

#include "base/rng.h"
#include "platform/generate_common.h"
#include "support/platform_facts.h"
#include "support/seed.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%g, not %g +- %g", value, expected, tolerance);
}

static struct esp_platform *make_random(int nodes, double density, int directed,
                                        uint64_t seed)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    esp_random_options_defaults(&o);
    o.nodes = nodes;
    o.density = density;
    o.directed = directed;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_node_count(p), nodes);
    assert_int_equal(esp_platform_check_root(p, 0, NULL), ESP_OK);
    return p;
}

static void test_random_tree(void **state)
{
    (void)state;
    for (int n = 1; n < 60; n++) {
        struct esp_platform *p = make_random(n, 0, n % 2, (uint64_t)n);
        assert_int_equal(esp_platform_link_count(p), 2 * (n - 1));
        esp_platform_free(p);
    }
    /* Half of the nodes of a random recursive tree are leaves. */
    struct esp_platform *p = make_random(3000, 0, 0, 3);
    int leaves = 0, *degree = calloc(3000, sizeof *degree);
    for (int e = 0; e < esp_platform_link_count(p); e++)
        degree[esp_platform_link_from(p, e)]++;
    for (int v = 0; v < 3000; v++)
        leaves += degree[v] == 1;
    assert_near(leaves, 1500, 95);
    free(degree);
    esp_platform_free(p);
}

static void test_random_full(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; directed++) {
        struct esp_platform *p = make_random(31, 1, directed, 5);
        assert_int_equal(esp_platform_link_count(p), 31 * 30);
        for (int u = 0; u < 31; u++)
            for (int v = 0; v < 31; v++)
                assert_int_equal(esp_platform_find_link(p, u, v) >= 0, u != v);
        esp_platform_free(p);
    }
}

static void test_random_density(void **state)
{
    (void)state;
    for (int directed = 0; directed < 2; directed++) {
        struct esp_platform *p = make_random(400, 0.1, directed, 11);
        double ways = directed ? 2 : 1, pairs = (400 * 399 / 2 - 399) * ways;
        double extra = (esp_platform_link_count(p) - 2 * 399) / (directed ? 1 : 2);
        assert_near(extra, 0.1 * pairs, 6 * sqrt(pairs * 0.1 * 0.9));
        esp_platform_free(p);
    }
    /* Densities that jump beyond every pair, and beyond what an integer holds. */
    const double tiny[] = {1e-15, 1e-300, 5e-324};
    for (int i = 0; i < 3; i++) {
        struct esp_platform *p = make_random(50, tiny[i], 0, 1);
        assert_int_equal(esp_platform_link_count(p), 98);
        esp_platform_free(p);
    }
}

/* Each pair of 8 nodes is in the tree in a quarter of all draws, and else with the given
 * probability: no pair may be favoured by the jumps. */
static void test_random_pairs_alike(void **state)
{
    (void)state;
    enum { N = 8, DRAWS = 4000 };
    for (int directed = 0; directed < 2; directed++) {
        int seen[N][N] = {{0}};
        for (int s = 0; s < DRAWS; s++) {
            struct esp_platform *p = make_random(N, 0.3, directed, (uint64_t)s);
            for (int e = 0; e < esp_platform_link_count(p); e++)
                seen[esp_platform_link_from(p, e)][esp_platform_link_to(p, e)]++;
            esp_platform_free(p);
        }
        for (int u = 0; u < N; u++)
            for (int v = 0; v < N; v++)
                if (u != v)
                    assert_near(seen[u][v] / (double)DRAWS, 0.25 + 0.75 * 0.3, 0.047);
    }
}

static void test_random_symmetry(void **state)
{
    (void)state;
    struct esp_platform *p = make_random(40, 0.1, 0, 2);
    int equal = 0;
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int back = esp_platform_find_link(p, esp_platform_link_to(p, e),
                                          esp_platform_link_from(p, e));
        assert_true(back >= 0);
        equal += esp_platform_link_bandwidth_Bps(p, e) ==
                 esp_platform_link_bandwidth_Bps(p, back);
        assert_true(esp_platform_link_latency_s(p, e) == 0);
    }
    assert_int_equal(equal, 0);
    esp_platform_free(p);
}

static void test_large(void **state)
{
    (void)state;
    struct esp_platform *p = make_random(100000, 8e-5, 0, 1);
    assert_near(esp_platform_link_count(p), 1e6, 7600);
    esp_platform_free(p);
}

static void test_gaussian(void **state)
{
    (void)state;
    struct espi_rng rng;
    const struct esp_gaussian wide = {1e3, 5e3}, exact = {7, 0};
    int low = 0, high = 0;
    espi_rng_seed(&rng, test_seed(4));
    for (int i = 0; i < 10000; i++) {
        double b = espi_gen_bandwidth(&rng, &wide);
        assert_true(b > 10);
        low += b < 1000;
        high += b > 11000;
    }
    assert_near(low / 1e4, 0.0785 / 0.5785, 0.02); /* P(10 < b < 1000) / P(b > 10) */
    assert_near(high / 1e4, 0.02275 / 0.5785, 0.012);
    assert_true(espi_gen_bandwidth(&rng, &exact) == 7);
}

static void test_complete(void **state)
{
    (void)state;
    struct esp_complete_options o;
    struct esp_platform *p = NULL;
    double mean, deviation;
    esp_complete_options_defaults(&o);
    o.nodes = 300;
    o.seed = test_seed(1);
    o.latency_s = 0.25;
    assert_int_equal(esp_generate_complete(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_link_count(p), 300 * 299);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
    assert_true(esp_platform_link_latency_s(p, 77) == 0.25);
    for (int v = 0; v < 300; v += 50)
        assert_int_equal(platform_out_degree(p, v), 299);
    platform_bandwidths(p, &mean, &deviation);
    assert_near(mean, 100e6, 6 * 20e6 / sqrt(300 * 299));
    assert_near(deviation, 20e6, 6 * 20e6 / sqrt(2 * 300 * 299));
    esp_platform_free(p);
}

static void test_hub(void **state)
{
    (void)state;
    struct esp_hub_options o;
    esp_hub_options_defaults(&o);
    for (int n = 1; n < 40; n++)
        for (o.attach = 1; o.attach < 8; o.attach++) {
            struct esp_platform *p = NULL;
            int pairs = 0;
            o.nodes = n;
            o.seed = test_seed((uint64_t)n);
            assert_int_equal(esp_generate_hub(&o, &p, NULL), ESP_OK);
            for (int i = 0; i < n; i++) {
                int links = i < o.attach ? i : o.attach;
                pairs += links;
                int earlier = 0;
                for (int v = 0; v < i; v++)
                    earlier += esp_platform_find_link(p, i, v) >= 0;
                assert_int_equal(earlier, links);
            }
            assert_int_equal(esp_platform_link_count(p), 2 * pairs);
            assert_int_equal(esp_platform_check_root(p, 0, NULL), ESP_OK);
            esp_platform_free(p);
        }
}

/* Preferential attachment of 3: 2/5 of the nodes keep 3 links, 1/5 have 4 (the limit is
 * 2 m (m + 1) / (k (k + 1) (k + 2))), and the largest has over ten times the mean of 6.
 */
static void test_hub_tail(void **state)
{
    (void)state;
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    enum { N = 5000 };
    int *degree = calloc(N, sizeof *degree), three = 0, four = 0, most = 0;
    esp_hub_options_defaults(&o);
    o.nodes = N;
    o.seed = test_seed(1);
    assert_int_equal(esp_generate_hub(&o, &p, NULL), ESP_OK);
    for (int e = 0; e < esp_platform_link_count(p); e++)
        degree[esp_platform_link_from(p, e)]++;
    for (int v = 0; v < N; v++) {
        three += degree[v] == 3;
        four += degree[v] == 4;
        most = degree[v] > most ? degree[v] : most;
    }
    assert_near(three / (double)N, 0.4, 0.042);
    assert_near(four / (double)N, 0.2, 0.034);
    assert_true(most > 60);
    free(degree);
    esp_platform_free(p);
}

static struct esp_platform *make_matrix(struct esp_matrix_options *o)
{
    struct esp_platform *p = NULL;
    assert_int_equal(esp_generate_matrix(o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_link_count(p), o->nodes * (o->nodes - 1));
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        assert_true(esp_platform_link_latency_s(p, e) >= o->latency_min_s);
        assert_true(esp_platform_link_latency_s(p, e) <= o->latency_max_s);
        assert_true(esp_platform_link_bandwidth_Bps(p, e) >= o->bandwidth_min_Bps);
        assert_true(esp_platform_link_bandwidth_Bps(p, e) <= o->bandwidth_max_Bps);
    }
    return p;
}

static void test_matrix(void **state)
{
    (void)state;
    struct esp_matrix_options o;
    double mean, deviation;
    esp_matrix_options_defaults(&o);
    o.nodes = 200;
    o.seed = test_seed(1);
    struct esp_platform *p = make_matrix(&o);
    platform_bandwidths(p, &mean, &deviation);
    assert_near(mean, 100.005e6, 6 * deviation / sqrt(200 * 199));
    assert_near(deviation, 199.99e6 / sqrt(12), 1e6);
    esp_platform_free(p);

    o.log = 1;
    p = make_matrix(&o);
    int below = 0, m = esp_platform_link_count(p), quick = 0;
    for (int e = 0; e < m; e++) {
        below += esp_platform_link_bandwidth_Bps(p, e) < sqrt(10e3 * 200e6);
        quick += esp_platform_link_latency_s(p, e) < 100e-6;
    }
    assert_near(below / (double)m, 0.5, 0.015);
    assert_near(quick / (double)m, 0.5, 0.015);
    esp_platform_free(p);
}

static void test_matrix_symmetric(void **state)
{
    (void)state;
    struct esp_matrix_options o;
    esp_matrix_options_defaults(&o);
    o.seed = test_seed(1);
    for (o.symmetric = 0; o.symmetric < 2; o.symmetric++) {
        struct esp_platform *p = make_matrix(&o);
        for (int u = 0; u < o.nodes; u++)
            for (int v = 0; v < u; v++) {
                int e = esp_platform_find_link(p, u, v),
                    f = esp_platform_find_link(p, v, u);
                assert_int_equal(esp_platform_link_bandwidth_Bps(p, e) ==
                                     esp_platform_link_bandwidth_Bps(p, f),
                                 o.symmetric);
                assert_int_equal(esp_platform_link_latency_s(p, e) ==
                                     esp_platform_link_latency_s(p, f),
                                 o.symmetric);
            }
        esp_platform_free(p);
    }
}

static void test_matrix_order(void **state)
{
    (void)state;
    struct esp_matrix_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_matrix_options_defaults(&o);
    o.latency_min_s = 1;
    assert_int_equal(esp_generate_matrix(&o, &p, &err), ESP_EUSAGE);
    assert_non_null(strstr(err.text, "latency-min is 1 s"));
    o.latency_min_s = 0;
    o.log = 1;
    assert_int_equal(esp_generate_matrix(&o, &p, &err), ESP_EUSAGE);
    assert_non_null(strstr(err.text, "latency-min is 0 s"));
    o.log = 0;
    o.bandwidth_max_Bps = 9e3;
    assert_int_equal(esp_generate_matrix(&o, &p, &err), ESP_EUSAGE);
    assert_non_null(strstr(err.text, "bandwidth-min is 10000 B/s"));
    assert_null(p);
}

static void test_hnow(void **state)
{
    (void)state;
    struct esp_hnow_options o;
    struct esp_platform *p = NULL;
    esp_hnow_options_defaults(&o);
    o.slow = 3;
    assert_int_equal(esp_generate_hnow(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_node_count(p), 7);
    assert_int_equal(esp_platform_link_count(p), 42);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_HNOW);
    int f0 = esp_platform_find_node(p, "f0"), f3 = esp_platform_find_node(p, "f3");
    int s0 = esp_platform_find_node(p, "s0"), s2 = esp_platform_find_node(p, "s2");
    assert_int_equal(f0, 0);
    assert_int_equal(s2, 6);
    assert_true(esp_platform_node_send_s(p, f3) == 90e-6);
    assert_true(esp_platform_node_recv_s(p, f3) == 70e-6);
    assert_true(esp_platform_node_send_s(p, s0) == 160e-6);
    assert_true(esp_platform_node_recv_s(p, s0) == 130e-6);
    const int ends[][2] = {{f0, f3}, {f3, s0}, {s2, f0}, {s2, s0}};
    const double end_s[] = {250e-6, 350e-6, 350e-6, 450e-6};
    for (int i = 0; i < 4; i++) {
        int e = esp_platform_find_link(p, ends[i][0], ends[i][1]);
        assert_true(esp_platform_link_latency_s(p, e) == end_s[i]);
        assert_near(esp_platform_link_time_s(p, e, 32), end_s[i], 1e-10);
    }
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_tree),
        cmocka_unit_test(test_random_full),
        cmocka_unit_test(test_random_density),
        cmocka_unit_test(test_random_pairs_alike),
        cmocka_unit_test(test_random_symmetry),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_hub),
        cmocka_unit_test(test_hub_tail),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_matrix_symmetric),
        cmocka_unit_test(test_matrix_order),
        cmocka_unit_test(test_hnow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
