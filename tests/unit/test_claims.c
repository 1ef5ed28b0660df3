/* Plans claim what the simulator finds: on platforms of many kinds, in every model, for
 * every operation, a long message gets through at the throughput that its plan claims.
 *   test_claims [PLATFORMS [KIND]]: so many of each kind in each model, instead of a few;
 *   of one kind: 0 random, 1 hub, 2 tiers, 3 sites with cables or switches */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "schedule/arrange.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/pace.h"
#include "support/seed.h"

static const double TOLERANCE = 0.01;

static struct kind_scope scope = {13, -1};

static const struct kind_case cases[] = {
    {ESP_OP_BCAST, "mtp", 0},         {ESP_OP_MULTICAST, "steiner-cg", 1},
    {ESP_OP_SCATTER, "scatter", 0},   {ESP_OP_REDUCE, "mc-broadcast", 0},
    {ESP_OP_ALLREDUCE, "grow", 0},    {ESP_OP_MULTICAST, "multisource", 1},
    {ESP_OP_GATHER, "scatter", 1},    {ESP_OP_ALLREDUCE, "tree-pairs", 0},
    {ESP_OP_BCAST, "grow", 0},        {ESP_OP_MULTICAST, "mc-scatter", 1},
    {ESP_OP_BCAST, "binomial-sp", 0},
};

enum { CASES = sizeof cases / sizeof *cases };

struct worst {
    int n, wrong;
    double least, most;
};

static void check(const struct esp_platform *p, int kind, uint64_t seed, int i,
                  struct worst *w)
{
    struct esp_plan *plan = kind_plan(p, &cases[i], ESPI_LONG_MESSAGE);
    double found = pace_of(p, plan, ESPI_LONG_MESSAGE).steady_Bps / plan->throughput_Bps;
    w->least = fmin(w->least, found);
    w->most = fmax(w->most, found);
    w->n++;
    if (!(fabs(found - 1) <= TOLERANCE)) {
        w->wrong++;
        print_error("kind %d, seed %d, %s, %s by %s (%d trees): %.4f of the claim\n",
                    kind, (int)seed, esp_model_name(esp_platform_model(p)),
                    esp_op_name(plan->op), plan->algo, plan->n_trees, found);
    }
    esp_plan_free(plan);
}

/* Some platforms are larger, where many trees share a message and ports are full. */
static int hosts_of(int seed, esp_model model)
{
    return model == ESP_MODEL_ONE_PORT && seed % 13 == 11 ? 30 : 5 + seed % 7;
}

/* A case a platform, each of its models in turn. */
static void check_kind(int kind, esp_model model)
{
    struct worst w = {0, 0, INFINITY, 0};
    for (int seed = 1; seed <= test_draws(scope.platforms); seed++) {
        struct esp_platform *p =
            kind_platform(kind, hosts_of(seed, model), test_seed((uint64_t)seed), model);
        check(p, kind, (uint64_t)seed, (seed + (int)model + kind) % CASES, &w);
        esp_platform_free(p);
    }
    print_message("%d plans, from %.4f to %.4f of their claims\n", w.n, w.least, w.most);
    assert_int_equal(w.wrong, 0);
}

static void check_model(void **state)
{
    esp_model model = *(const esp_model *)*state;
    for (int kind = 0; kind < KINDS; kind++)
        if (scope.only < 0 || scope.only == kind)
            check_kind(kind, model);
}

/* Dozens of trees on hundreds of hosts: whole slices miss the loads by hundredths there,
 * and the claim says so. */
static void large_plans_are_timed(void **state)
{
    (void)state;
    struct kind_shape shape = {.nodes = 200, .density = 3.0 / 200};
    struct esp_platform *p = NULL;
    struct worst w = {0, 0, INFINITY, 0};
    assert_int_equal(kind_generate(0, &shape, 4, &p), ESP_OK);
    assert_int_equal(esp_platform_model(p), ESP_MODEL_ONE_PORT);
    struct esp_plan *plan = kind_plan(p, &cases[0], ESPI_LONG_MESSAGE);
    assert_true(plan->throughput_Bps < (1 - 2 * TOLERANCE) * load_Bps(p, plan));
    esp_plan_free(plan);
    check(p, 0, 4, 0, &w);
    print_message("%.4f of the claim\n", w.least);
    assert_int_equal(w.wrong, 0);
    esp_platform_free(p);
}

/* ---- memory ---- */

static esp_status time_once(void *arg)
{
    struct esp_plan *plan = arg;
    struct esp_platform *p = NULL, *q = NULL;
    struct kind_shape shape = kind_small(3, 5, 2);
    esp_status st = kind_generate(3, &shape, 2, &p);
    if (!st)
        st = esp_platform_with_model(p, ESP_MODEL_HALF_DUPLEX, &q, NULL);
    if (!st)
        st = esp_plan_evaluate(plan, q, NULL);
    esp_platform_free(p);
    esp_platform_free(q);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = NULL;
    struct kind_shape shape = kind_small(3, 5, 2);
    assert_int_equal(kind_generate(3, &shape, 2, &p), ESP_OK);
    struct esp_plan *plan = kind_plan(p, &cases[0], ESPI_LONG_MESSAGE);
    assert_true(plan->n_trees > 1);
    assert_true(alloc_fail_some(time_once, plan, 20) > 20);
    esp_plan_free(plan);
    esp_platform_free(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        KIND_TESTS(check_model),
        cmocka_unit_test(large_plans_are_timed),
        cmocka_unit_test(allocations_may_fail),
    };
    kind_arguments(&scope, argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
