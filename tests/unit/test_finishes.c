/* Short messages are through when their plans claim, exactly: on platforms of many kinds,
 * in every model, for every operation, in one piece and in several. The claim is played
 * by schedule/replay_fair.c, in the capacity model by schedule/replay_fluid.c, of plans
 * with steps by cost/post_cost.c and cost/post_fluid.c, the truth found by
 * sim/exclusive.c and sim/fluid.c, which share nothing but the discipline of resources.
 *   test_finishes [PLATFORMS [KIND]]: so many of each kind in each model, instead of a
 *   few; of one kind */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "schedule/arrange.h"
#include "schedule/tuning.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/pace.h"
#include "support/seed.h"

static struct kind_scope scope = {24, -1};

static const double counts[] = {1, 1, 3, 1, 20.3, 1, 90, 2.5, 300, 4001.7, .3};

enum { COUNTS = sizeof counts / sizeof *counts };

static const struct kind_case cases[] = {
    {ESP_OP_BCAST, "flat", 0},
    {ESP_OP_BCAST, "chain", 0},
    {ESP_OP_BCAST, "binomial-sp", 0},
    {ESP_OP_BCAST, "fnf", 0},
    {ESP_OP_BCAST, "ecef", 0},
    {ESP_OP_BCAST, "look-ahead", 0},
    {ESP_OP_BCAST, "mateescu", 0},
    {ESP_OP_BCAST, "hierarchical", 0},
    {ESP_OP_BCAST, "prune-simple", 0},
    {ESP_OP_BCAST, "refine:objective=makespan", 0},
    {ESP_OP_BCAST, "mtp", 0},
    {ESP_OP_BCAST, "auto", 0},
    {ESP_OP_MULTICAST, "mcph", 1},
    {ESP_OP_MULTICAST, "steiner-cg", 1},
    {ESP_OP_MULTICAST, "multisource", 1},
    {ESP_OP_REDUCE, "ecef", 0},
    {ESP_OP_REDUCE, "mtp", 0},
    {ESP_OP_ALLREDUCE, "binomial", 0},
    {ESP_OP_ALLREDUCE, "tree-pairs", 0},
    {ESP_OP_SCATTER, "scatter-tree", 0},
    {ESP_OP_SCATTER, "scatter", 0},
    {ESP_OP_GATHER, "scatter-tree", 0},
    {ESP_OP_GATHER, "scatter", 1},
    {ESP_OP_ALLGATHER, "all-roots", 0},
    {ESP_OP_ALLGATHER, "ring", 0},
    {ESP_OP_ALLGATHER, "combining", 0},
    {ESP_OP_ALLGATHER, "two-step", 0},
    {ESP_OP_REDUCE_SCATTER, "bruck", 0},
    {ESP_OP_REDUCE_SCATTER, "gather-broadcast:agents=2", 0},
    {ESP_OP_ALLTOALL, "pairwise", 0},
    {ESP_OP_ALLTOALL, "open-shop", 0},
    {ESP_OP_ALLTOALL, "digits:radix=3", 0},
    {ESP_OP_ALLTOALL, "spread-pairs", 0},
    {ESP_OP_ALLTOALL, "all-pairs", 0},
};

enum { CASES = sizeof cases / sizeof *cases };

static double simulated_s(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct esp_sim_options o = {.size = sizeof o,
                                .size_bytes = plan->size_bytes,
                                .slice_bytes = plan->slice_bytes,
                                .sharing = ESP_SHARING_MODEL};
    struct esp_sim_result *result = NULL;
    assert_int_equal(esp_simulate(p, plan, &o, &result, NULL), ESP_OK);
    assert_int_equal(result->lost, 0);
    double makespan_s = result->makespan_s;
    esp_sim_result_free(result);
    return makespan_s;
}

/* The plan for so many slices, or fewer: where transfers share the network, the end of a
 * message of very many is told by its pace. */
static struct esp_plan *short_plan(const struct esp_platform *p,
                                   const struct kind_case *what, double *count)
{
    struct esp_plan *plan = kind_plan(p, what, *count);
    const struct esp_schedule *s = plan->schedule;
    if (esp_platform_model(p) != ESP_MODEL_CAPACITY || !s || s->slots < 1 ||
        *count * s->n_sends / s->slots <= ESPI_FLUID_CLAIM / 2)
        return plan;
    esp_plan_free(plan);
    *count /= 8;
    return short_plan(p, what, count);
}

/* Whether the closed form alone would have told it. */
static int check(const struct esp_platform *p, int kind, int seed, int i, double count)
{
    struct esp_plan *plan = short_plan(p, &cases[i], &count);
    double found_s = simulated_s(p, plan), slack_s = 1e-9 * found_s;
    if (!(fabs(found_s - plan->makespan_s) <= slack_s))
        fail_msg("kind %d, seed %d, %s, %s by %s (%d trees), %g slices: after %.9g s "
                 "instead of %.9g s",
                 kind, seed, esp_model_name(esp_platform_model(p)), esp_op_name(plan->op),
                 plan->algo, plan->n_trees, count, found_s, plan->makespan_s);
    double closed_s = closed_finish_s(p, plan);
    /* else sends stand in another order than edges do, or trees fill together, or what
     * meets on a link is counted also while it is not yet there */
    if (!espi_needs_order(p, plan) && plan->n_trees == 1 &&
        esp_platform_model(p) != ESP_MODEL_CAPACITY)
        if (closed_s > found_s + slack_s)
            fail_msg("kind %d, seed %d, %s by %s, %g slices: closed form %.9g s, %.9g s",
                     kind, seed, esp_op_name(plan->op), plan->algo, count, closed_s,
                     found_s);
    esp_plan_free(plan);
    return fabs(found_s - closed_s) <= slack_s;
}

static void check_model(void **state)
{
    esp_model model = *(const esp_model *)*state;
    int n = 0, told = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int seed = 1; seed <= test_draws(scope.platforms) &&
                           (scope.only < 0 || scope.only == kind);
             seed++) {
            struct esp_platform *p =
                kind_platform(kind, 4 + seed * 7 % 11, test_seed((uint64_t)seed), model);
            int at = 4 * seed + (int)model + 5 * kind;
            told += check(p, kind, seed, at % CASES, counts[(at / 3 + seed) % COUNTS]);
            n++;
            esp_platform_free(p);
        }
    print_message("%d plans, %d of which the closed form tells\n", n, told);
    if (n >= 50) /* else this would test nothing, or the closed form be wrong */
        assert_true(told > n / 10 && told < n * 9 / 10);
}

/* Two hosts that know nothing of each other send over one cable: the second is there when
 * both are through, which neither the way to it nor the load of the cable tells. */
static void meetings_on_a_cable_count(void **state)
{
    (void)state;
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"model\":\"capacity\",\"nodes\":["
        "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"},"
        "{\"name\":\"e\"}],"
        "\"links\":[{\"from\":\"a\",\"to\":\"b\",\"bandwidth_Bps\":1},"
        "{\"from\":\"a\",\"to\":\"c\",\"bandwidth_Bps\":1},"
        "{\"from\":\"b\",\"to\":\"d\",\"bandwidth_Bps\":1},"
        "{\"from\":\"c\",\"to\":\"e\",\"bandwidth_Bps\":1}],"
        "\"shared\":[{\"name\":\"w\",\"bandwidth_Bps\":1,"
        "\"links\":[[\"b\",\"d\"],[\"c\",\"e\"]]}]}";
    struct esp_platform *p = NULL;
    struct esp_request request;
    struct esp_plan *plan = NULL;
    assert_int_equal(esp_platform_parse(text, sizeof text - 1, "t", NULL, &p, NULL), 0);
    esp_request_init(&request, 0);
    request.algo = "ecef";
    request.size_bytes = 10;
    request.slice_bytes = 0;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    assert_true(fabs(closed_finish_s(p, plan) - 20) < 1e-9);
    assert_true(fabs(plan->makespan_s - 30) < 1e-9);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- memory ---- */

static struct esp_platform *shared;

static esp_status evaluate(void *plan)
{
    return esp_plan_evaluate(plan, shared, NULL);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    shared = kind_platform(3, 5, 2, ESP_MODEL_CAPACITY);
    struct esp_plan *tree = kind_plan(shared, &cases[0], 3),
                    *trees = kind_plan(shared, &cases[CASES - 1], 3);
    assert_true(alloc_fail_some(evaluate, tree, 20) > 5);
    assert_true(alloc_fail_some(evaluate, trees, 20) > 5);
    esp_plan_free(tree);
    esp_plan_free(trees);
    esp_platform_free(shared);
}

int main(int argc, char **argv)
{
    kind_arguments(&scope, argc, argv);
    const struct CMUnitTest tests[] = {
        KIND_TESTS(check_model),
        cmocka_unit_test(meetings_on_a_cable_count),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
