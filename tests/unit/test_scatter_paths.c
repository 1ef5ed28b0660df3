/* Scatters without linear programs against the optimum, which a linear program gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <espalier/espalier.h>

#include "support/pace.h"
#include "support/seed.h"

static struct esp_platform *sites(uint64_t seed, int hosts, int switches)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 3;
    o.clusters = 1;
    o.hosts = hosts;
    o.spread = 4;
    o.switches = switches;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    return p;
}

static struct esp_platform *random_network(uint64_t seed, int nodes, int model)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_random_options_defaults(&o);
    o.nodes = nodes;
    o.density = 0.3;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_with_model(p, (esp_model)model, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

static double throughput(const struct esp_platform *p, esp_op op, int root,
                         const char *algo, const int *targets, int n_targets)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, root);
    request.op = op;
    request.algo = algo;
    request.targets = targets;
    request.n_targets = n_targets;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    double Bps = load_Bps(p, plan);
    esp_plan_free(plan);
    return Bps;
}

/* None beats the optimum, and spreading comes near it on the average: 0.88 of it, with a
 * deviation of 0.011 from seed to seed. */
static void none_beats_the_optimum(void **state)
{
    static const char *const algos[] = {"scatter-spread",
                                        "scatter-spread:rounds=1",
                                        "scatter-tree",
                                        "scatter-tree:tree=grow",
                                        "scatter-tree:tree=flat",
                                        "scatter-tree:tree=ecef",
                                        "scatter-tree:tree=binomial"};
    enum { N = 7, CASES = 48 };
    double sum[N] = {0};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        static const int targets[] = {1, 4, 5};
        struct esp_platform *p =
            i % 2 ? sites((uint64_t)i, 2 + i % 5, i % 4 == 1)
                  : random_network((uint64_t)i, 6 + i % 9, i / 2 % ESP_MODEL_COUNT);
        /* send overheads that are not given have no mirror image */
        int mirrors = esp_platform_model(p) != ESP_MODEL_MULTI_PORT;
        esp_op op = i % 3 || !mirrors ? ESP_OP_SCATTER : ESP_OP_GATHER;
        const int *to = i % 6 == 0 ? targets : NULL;
        double best = throughput(p, op, 0, "scatter", to, to ? 3 : 0);
        for (int a = 0; a < N; a++) {
            double ratio = throughput(p, op, 0, algos[a], to, to ? 3 : 0) / best;
            assert_true(ratio > 0 && ratio < 1 + 1e-6);
            sum[a] += ratio / CASES;
        }
        esp_platform_free(p);
    }
    assert_true(sum[0] > 0.81);
    assert_true(sum[0] >= sum[1] - 1e-9);
    assert_true(sum[1] > sum[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_beats_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
