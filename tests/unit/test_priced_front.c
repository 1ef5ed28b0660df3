/* Price against time: what a front promises, and plans that are known before. */
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
#include "solve/priced/front.h"
#include "solve/priced/recreate.h"
#include "support/priced_cases.h"
#include "support/seed.h"

enum { RELAXED = 5 }; /* limits, each wider than the one before */

static const double near = 1e-6;

/* Along a front neither price nor bound rises with the deadline, and no bound is above
 * any plan of a tighter one; its ends are the two single optima. */
static void check_front(const struct espi_priced_task *task,
                        const struct espi_priced_point *front, int n)
{
    struct espi_priced fast, cheap;
    struct espi_arena arena;
    espi_arena_init(&arena);
    for (int i = 0; i < n; i++) {
        const struct espi_priced *is = &front[i].is;
        double usd = is->usd_bytes + is->usd_machines;
        assert_true(is->time_s <= front[i].deadline_s * (1 + 2 * near));
        assert_true(usd >= is->bound * (1 - near));
        if (!i)
            continue;
        const struct espi_priced *before = &front[i - 1].is;
        assert_true(front[i].deadline_s >= front[i - 1].deadline_s);
        assert_true(usd <= before->usd_bytes + before->usd_machines);
        assert_true(is->bound <= before->bound);
    }
    struct espi_priced_task by_time = *task;
    by_time.usd_weight = 0;
    by_time.s_weight = 1;
    assert_int_equal(espi_priced_solve(&by_time, &arena, &fast, NULL), ESP_OK);
    assert_int_equal(espi_priced_solve(task, &arena, &cheap, NULL), ESP_OK);
    const struct espi_priced *first = &front[0].is, *last = &front[n - 1].is;
    assert_true(fabs(first->time_s - fast.time_s) <= 2 * near * fast.time_s);
    assert_true(first->objective <= (fast.usd_bytes + fast.usd_machines) * (1 + near));
    assert_true(last->objective <= cheap.objective * (1 + near));
    if (cheap.optimal)
        assert_true(fabs(last->objective - cheap.objective) <=
                    2 * near * cheap.objective);
    espi_arena_done(&arena);
}

static void fronts(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(19));
    for (int i = 0; i < test_draws(4); i++) {
        enum { POINTS = 4 };
        int small = i % 2 == 0, targets[16];
        struct esp_platform *p = priced_draw_network(&rng, small ? 4 : 7, 2);
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        struct espi_priced_point front[POINTS];
        struct espi_arena arena;
        task.partitions = small ? 2 : i % 4 == 1 ? 0 : 4;
        espi_arena_init(&arena);
        assert_int_equal(espi_priced_front(&task, POINTS, &arena, front, NULL, NULL),
                         ESP_OK);
        check_front(&task, front, POINTS);
        for (int k = 0; small && k < POINTS; k++) {
            task.deadline_s = front[k].deadline_s;
            double best = priced_try_all_plans(&task);
            assert_true(front[k].is.bound <= best * (1 + near));
            assert_true(front[k].is.objective >= best * (1 - near));
        }
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* The least there is; 0: that hangs on the last digits of the limit. */
static double best_of_all(const struct espi_priced_task *asked)
{
    struct espi_priced_task task = *asked;
    task.deadline_s = asked->deadline_s * (1 - 4 * near);
    task.budget_usd = asked->budget_usd * (1 - 4 * near);
    double tight = priced_try_all_plans(&task);
    task.deadline_s = asked->deadline_s * (1 + 4 * near);
    task.budget_usd = asked->budget_usd * (1 + 4 * near);
    return priced_try_all_plans(&task) < tight ? 0 : tight;
}

static void check_answer(const struct espi_priced_task *task, const struct espi_priced *a)
{
    assert_true(a->time_s <= task->deadline_s * (1 + 2 * near));
    assert_true(a->usd_bytes + a->usd_machines <= task->budget_usd * (1 + 2 * near));
    assert_true(a->objective >= a->bound * (1 - near));
}

/* Each asked by itself, as programs would: what a limit gets, any wider one gets, too, to
 * the last digit. Small ones are the best there is, and refused where there is none. */
static void check_relaxing(struct espi_priced_task *task, double *limit, double from,
                           double to, int small)
{
    double before = INFINITY;
    for (int i = 0; i < RELAXED; i++) {
        struct espi_arena arena;
        struct espi_priced a;
        *limit = from + (to - from) * i / (RELAXED - 1);
        espi_arena_init(&arena);
        esp_status st = espi_priced_solve(task, &arena, &a, NULL);
        double best = small ? best_of_all(task) : 0;
        assert_true(st == ESP_OK || (st == ESP_EUNSUPPORTED && !isfinite(before)));
        if (best > 0)
            assert_int_equal(st, isfinite(best) ? ESP_OK : ESP_EUNSUPPORTED);
        if (!st) {
            check_answer(task, &a);
            assert_true(a.objective <= before);
            assert_true(!(best > 0) || fabs(a.objective - best) <= best * near);
            before = a.objective;
        }
        espi_arena_done(&arena);
    }
    *limit = INFINITY;
}

/* Deadlines, then budgets, from what is too tight to what is wide enough. */
static void check_single_calls(struct espi_priced_task *task, int small)
{
    struct espi_arena arena;
    struct espi_priced fast, cheap;
    espi_arena_init(&arena);
    assert_int_equal(espi_priced_solve(task, &arena, &cheap, NULL), ESP_OK);
    check_relaxing(task, &task->deadline_s, 0.9 * cheap.fastest_s, 1.1 * cheap.time_s,
                   small);
    task->usd_weight = 0;
    task->s_weight = 1;
    assert_int_equal(espi_priced_solve(task, &arena, &fast, NULL), ESP_OK);
    check_relaxing(task, &task->budget_usd, 0.97 * cheap.objective,
                   1.01 * (fast.usd_bytes + fast.usd_machines), small);
    espi_arena_done(&arena);
}

static void single_calls(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(23));
    for (int i = 0; i < test_draws(8); i++) {
        int targets[16], small = i % 4 != 3;
        struct esp_platform *p = priced_draw_network(&rng, small ? 4 : 7, 2);
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        if (!small)
            task.partitions = i % 8 == 3 ? 5 : 0;
        check_single_calls(&task, small);
        esp_platform_free(p);
    }
}

/* Of the fastest plan, partitions sent anew: no dearer, in time, and all of the message.
 */
static void recreated(void **state)
{
    (void)state;
    struct espi_rng rng;
    int cheaper = 0;
    espi_rng_seed(&rng, test_seed(29));
    for (int i = 0; i < test_draws(10); i++) {
        int targets[16], arc[16];
        struct esp_platform *p = priced_draw_network(&rng, 8, 2);
        struct espi_priced_task task = priced_draw_task(&rng, p, targets);
        struct espi_priced_mix mix = {.value = {.objective = INFINITY}};
        struct espi_priced_model m;
        struct espi_priced_pool pool;
        struct espi_priced fast;
        struct espi_arena arena;
        double share[64] = {0}, sum = 0;
        task.partitions = 4;
        task.usd_weight = 0;
        task.s_weight = 1;
        espi_arena_init(&arena);
        assert_int_equal(espi_priced_solve(&task, &arena, &fast, NULL), ESP_OK);
        task.usd_weight = 1;
        task.s_weight = 0;
        task.deadline_s = 1.5 * fast.time_s;
        assert_int_equal(espi_priced_model_init(&m, &task, &arena, NULL), ESP_OK);
        assert_int_equal(espi_priced_pool_init(&pool, &m, &arena, NULL), ESP_OK);
        for (int t = 0; t < fast.n_trees; t++) {
            memset(arc, 0xff, sizeof arc);
            for (int k = 0; k < fast.trees[t].n_links; k++)
                arc[p->head[fast.trees[t].links[k]]] = fast.trees[t].links[k];
            share[espi_priced_pool_keep(&pool, arc)] += fast.trees[t].share;
        }
        assert_int_equal(espi_priced_mix_offer(&m, &pool, share, pool.n_trees, &mix), 1);
        double before = mix.value.objective;
        assert_int_equal(espi_priced_recreate(&m, &pool, &arena, &mix, NULL), ESP_OK);
        assert_true(mix.value.objective <= before);
        assert_true(mix.value.time_s <= task.deadline_s * (1 + 2 * near));
        cheaper += mix.value.objective < before;
        for (int t = 0; t < mix.n; t++)
            sum += mix.share[t];
        assert_true(fabs(sum - 1) < 1e-9);
        espi_free(mix.share);
        espi_priced_pool_done(&pool);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
    assert_true(cheaper > 0 || test_draws(10) < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fronts),
        cmocka_unit_test(single_calls),
        cmocka_unit_test(recreated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
