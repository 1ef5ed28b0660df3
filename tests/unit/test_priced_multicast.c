/* Multicast by price and by time: against all plans there are, on small networks; what
 * deadlines, budgets and weights promise, on larger ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "platform/platform.h"
#include "base/alloc.h"
#include "solve/priced/branch.h"
#include "solve/priced/multicast.h"
#include "support/alloc_fail.h"
#include "support/priced_cases.h"
#include "support/seed.h"

static const double near = 1e-6;

/* With a deadline between the fastest and the cheapest, or a budget. */
static void check_deadlines(const struct espi_priced_task *asked,
                            const struct espi_priced *free_of)
{
    struct espi_priced_task task = *asked;
    struct espi_arena arena;
    struct espi_priced a;
    task.usd_weight = 1;
    task.s_weight = 0;
    task.deadline_s = free_of->time_s * 0.9;
    espi_arena_init(&arena);
    double best = priced_try_all_plans(&task);
    esp_status st = espi_priced_solve(&task, &arena, &a, NULL);
    assert_int_equal(st, isfinite(best) ? ESP_OK : ESP_EUNSUPPORTED);
    if (!st) {
        assert_true(fabs(a.objective - best) <= best * near);
        assert_true(a.bound <= best * (1 + near));
        task.usd_weight = 0;
        task.s_weight = 1;
        task.deadline_s = INFINITY;
        task.budget_usd = best * 1.1;
        best = priced_try_all_plans(&task);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        assert_true(fabs(a.objective - best) <= best * near);
        assert_true(a.bound <= best * (1 + near));
    }
    espi_arena_done(&arena);
}

static void small_networks(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(7));
    for (int i = 0; i < test_draws(60); i++) {
        int targets[NODES_MAX];
        struct esp_platform *p = priced_draw_network(&rng, 4, 2);
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        struct espi_arena arena;
        struct espi_priced a;
        struct esp_err err = {0};
        espi_arena_init(&arena);
        if (i % 3 == 1) { /* the fastest */
            task.usd_weight = 0;
            task.s_weight = 1;
        } else if (i % 3 == 2) { /* both */
            task.s_weight = 0.05;
        }
        double best = priced_try_all_plans(&task);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_OK);
        assert_true(a.bound <= best * (1 + near));
        assert_true(fabs(a.objective - best) <= best * near);
        assert_true(a.optimal);
        check_deadlines(&task, &a);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Branch and cut by itself, where the solver would try all plans. Fails if it proves more
 * than is true, or rules out what there is. */
static void check_branching(struct espi_priced_task *task, double best)
{
    struct espi_arena arena;
    struct espi_priced_model m;
    struct espi_priced_bound plain;
    struct espi_priced_pool pool;
    struct espi_priced_mix mix = {.value = {.objective = INFINITY, .excess = INFINITY}};
    struct espi_priced_proof proof = {.effort = 9000, .good_enough = -INFINITY};
    espi_arena_init(&arena);
    assert_int_equal(espi_priced_model_init(&m, task, &arena, NULL), ESP_OK);
    assert_int_equal(espi_priced_bound(&m, 20, &arena, &plain, NULL), ESP_OK);
    if (plain.feasible) {
        assert_int_equal(espi_priced_pool_init(&pool, &m, &arena, NULL), ESP_OK);
        assert_int_equal(espi_priced_branch(&m, &plain, &pool, &mix, &proof, NULL),
                         ESP_OK);
        assert_true(mix.value.objective >= best * (1 - near));
        if (isfinite(best))
            assert_true(proof.bound <= best * (1 + near));
        else
            assert_false(isfinite(mix.value.objective));
        espi_free(mix.share);
        espi_priced_pool_done(&pool);
    } else {
        assert_false(isfinite(best));
    }
    espi_arena_done(&arena);
}

static void branching(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(17));
    for (int i = 0; i < test_draws(40); i++) {
        int targets[NODES_MAX];
        struct esp_platform *p = priced_draw_network(&rng, 4, 2);
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        struct espi_priced a;
        struct espi_arena arena;
        espi_arena_init(&arena);
        task.partitions = 2;
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        task.s_weight = i % 4 == 3 ? 0.05 : 0;
        check_branching(&task, priced_try_all_plans(&task));
        double fastest_s = a.fastest_s;
        for (double times = 1.05; times < 4; times *= 1.6) {
            task.deadline_s = times * fastest_s;
            check_branching(&task, priced_try_all_plans(&task));
        }
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Of networks that are too large to try all: plans keep what they promise, and no bound
 * is above a plan of a tighter deadline. */
static void larger_networks(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(11));
    for (int i = 0; i < test_draws(4); i++) {
        struct esp_platform *p = priced_draw_network(&rng, 10, 3);
        int targets[16];
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        struct espi_priced a;
        struct espi_arena arena;
        double least = INFINITY;
        task.partitions = i % 2 ? 0 : 5;
        task.usd_weight = 0;
        task.s_weight = 1;
        espi_arena_init(&arena);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        assert_true(a.objective == a.time_s);
        assert_true(a.time_s >= a.bound * (1 - near));
        double fastest_s = a.time_s;
        task.usd_weight = 1;
        task.s_weight = 0;
        for (double times = 1; times < 8; times *= 2) {
            task.deadline_s = times < 4 ? times * fastest_s : INFINITY;
            esp_status st = espi_priced_solve(&task, &arena, &a, NULL);
            assert_true(st == ESP_OK || st == ESP_EUNSUPPORTED);
            assert_true(st == ESP_OK || task.partitions); /* partitions may not fit */
            if (st)
                continue;
            assert_true(a.time_s <= task.deadline_s * (1 + 2 * near));
            assert_true(a.objective >= a.bound * (1 - near));
            assert_true(a.bound <= least * (1 + near) + 1e-12);
            assert_true(fabs(a.usd_bytes + a.usd_machines - a.objective) <=
                        near * (1 + a.objective));
            least = fmin(least, a.objective);
        }
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Shares of all trees make the whole; each leads to all targets, senders first. */
static void trees_are_trees(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(13));
    for (int i = 0; i < test_draws(6); i++) {
        struct esp_platform *p = priced_draw_network(&rng, 8, 3);
        int targets[16];
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        struct espi_priced a;
        struct espi_arena arena;
        double sum = 0;
        task.partitions = i % 3 ? 0 : 10;
        task.s_weight = i % 2;
        task.usd_weight = 1 - i % 2;
        espi_arena_init(&arena);
        assert_int_equal(espi_priced_solve(&task, &arena, &a, NULL), ESP_OK);
        for (int t = 0; t < a.n_trees; t++) {
            unsigned has = 1u << task.root;
            sum += a.trees[t].share;
            if (task.partitions)
                assert_true(fabs(a.trees[t].share * 10 - round(a.trees[t].share * 10)) <
                            1e-9);
            for (int k = 0; k < a.trees[t].n_links; k++) {
                int u = esp_platform_link_from(p, a.trees[t].links[k]);
                int v = esp_platform_link_to(p, a.trees[t].links[k]);
                assert_true(has >> u & 1);
                assert_false(has >> v & 1);
                assert_true(a.machines[u] >= 1 && a.machines[v] >= 1);
                has |= 1u << v;
            }
            for (int k = 0; k < task.n_targets; k++)
                assert_true(has >> targets[k] & 1);
        }
        assert_true(fabs(sum - 1) < 1e-9);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

static esp_status solve_small(void *arg)
{
    struct espi_arena arena;
    struct espi_priced a;
    espi_arena_init(&arena);
    esp_status st = espi_priced_solve(arg, &arena, &a, NULL);
    espi_arena_done(&arena);
    return st;
}

static void without_memory(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, 5);
    struct esp_platform *p = priced_draw_network(&rng, 3, 2);
    int targets[NODES_MAX];
    struct espi_priced_task task = priced_draw_task(&rng, p, targets);
    assert_true(alloc_fail_each(solve_small, &task) > 0);
    esp_platform_free(p);
}

static void refused(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, 3);
    struct esp_platform *p = priced_draw_network(&rng, 4, 2), *other = NULL;
    int targets[NODES_MAX];
    struct espi_priced_task task = priced_draw_task(&rng, p, targets);
    struct espi_priced a = {.time_s = -1};
    struct espi_arena arena;
    struct esp_err err = {0};
    espi_arena_init(&arena);
    task.deadline_s = 1e-3;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "Allow more time"));
    task.deadline_s = INFINITY;
    task.budget_usd = 1e-9;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "Raise the budget"));
    task.budget_usd = INFINITY;
    task.partitions = -1;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUSAGE);
    task.partitions = 1;
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_ONE_PORT, &other, NULL),
                     ESP_OK);
    task.p = other;
    assert_int_equal(espi_priced_solve(&task, &arena, &a, &err), ESP_EUNSUPPORTED);
    assert_non_null(strstr(err.text, "--model capacity"));
    assert_true(a.time_s == -1);
    espi_arena_done(&arena);
    esp_platform_free(other);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_networks), cmocka_unit_test(larger_networks),
        cmocka_unit_test(branching),      cmocka_unit_test(trees_are_trees),
        cmocka_unit_test(without_memory), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
