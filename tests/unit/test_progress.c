/* Who asks for a plan hears how it goes, and may end it: the best plan so far is the
 * answer, and it is whole. And what a bar makes of how far work has come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/launching/work_done.h"
#include "cli/printing/time_left.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "support/seed.h"
#include "support/small_platform.h"

struct listener {
    int heard, end_after; /* -1: never */
    double best_s;        /* as last told; 0: nothing yet */
    double elapsed_s;
    int went_back; /* a later word was worse, or of an earlier moment */
};

static int listen(void *listener, double elapsed_s, double best_s)
{
    struct listener *l = listener;
    l->went_back |= elapsed_s < l->elapsed_s || (l->best_s > 0 && !(best_s > 0));
    l->elapsed_s = elapsed_s;
    l->best_s = best_s;
    return ++l->heard > l->end_after && l->end_after >= 0;
}

static const esp_op ops[] = {ESP_OP_BCAST,  ESP_OP_MULTICAST,      ESP_OP_ALLGATHER,
                             ESP_OP_REDUCE, ESP_OP_ALLREDUCE,      ESP_OP_SCATTER,
                             ESP_OP_GATHER, ESP_OP_REDUCE_SCATTER, ESP_OP_ALLTOALL};

static struct esp_request request_for(esp_op op, const int *targets)
{
    struct esp_request r;
    esp_request_init(&r, 0);
    r.op = op;
    r.size_bytes = 4000;
    if (op == ESP_OP_MULTICAST) {
        r.targets = targets;
        r.n_targets = 3;
    }
    return r;
}

/* Ended after the first word, after some, or never. */
static double plan_with(const struct esp_platform *p, esp_op op, int end_after,
                        int *heard)
{
    static const int targets[] = {2, 4, 7};
    struct listener l = {.end_after = end_after};
    struct esp_request r = request_for(op, targets);
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    r.progress = listen;
    r.progress_arg = &l;
    if (esp_plan_make(p, &r, &plan, &err))
        fail_msg("%s, ended after %d: %s", esp_op_name(op), end_after, err.text);
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
    assert_false(l.went_back);
    double makespan_s = plan->makespan_s;
    assert_true(makespan_s > 0);
    esp_plan_free(plan);
    *heard = l.heard;
    return makespan_s;
}

static void an_end_at_any_time_gives_a_plan(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(1));
    int earlier = 0;
    for (int round = 0; round < test_draws(3); round++) {
        struct small_options o = {.n = 9, .density = 1, .model = ESP_MODEL_ONE_PORT};
        o.model = round % 2 ? ESP_MODEL_CAPACITY : ESP_MODEL_ONE_PORT;
        struct esp_platform *p = small_random(&rng, &o);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            int all, heard;
            plan_with(p, ops[i], -1, &all);
            assert_true(all > 0);
            for (int end = 0; end < all && end < 200; end = 2 * end + 1) {
                plan_with(p, ops[i], end, &heard);
                assert_true(heard == end + 1); /* it is not asked again */
                earlier++;
            }
        }
        esp_platform_free(p);
    }
    assert_true(earlier > 20);
}

/* To be told changes nothing. */
static void who_only_listens_gets_the_same_plan(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(2));
    static const int targets[] = {2, 4, 7};
    struct small_options o = {.n = 9, .density = 1, .model = ESP_MODEL_ONE_PORT};
    struct esp_platform *p = small_random(&rng, &o);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct esp_request r = request_for(ops[i], targets);
        struct listener l = {.end_after = -1};
        struct esp_plan *plain = NULL, *heard = NULL;
        assert_int_equal(esp_plan_make(p, &r, &plain, NULL), ESP_OK);
        r.progress = listen;
        r.progress_arg = &l;
        assert_int_equal(esp_plan_make(p, &r, &heard, NULL), ESP_OK);
        assert_string_equal(plain->algo, heard->algo);
        assert_true(plain->makespan_s == heard->makespan_s);
        assert_true(plain->slice_bytes == heard->slice_bytes);
        assert_int_equal(plain->n_trees, heard->n_trees);
        esp_plan_free(plain);
        esp_plan_free(heard);
    }
    esp_platform_free(p);
}

/* A step that takes long is no news: the time left falls by what passes, and is not told
 * when it is used up. */
static void time_left_counts_down_within_a_step(void **state)
{
    (void)state;
    struct cli_time_left t = {0};
    assert_true(cli_time_left(&t, 0.5, 0) < 0);
    assert_true(cli_time_left(&t, 4, 0.5) == 4);
    for (int quarter = 1; quarter <= 16; quarter++)
        assert_true(cli_time_left(&t, 4 + 0.25 * quarter, 0.5) == 4 - 0.25 * quarter);
    assert_true(cli_time_left(&t, 8.25, 0.5) < 0);
    assert_true(cli_time_left(&t, 9, 0.75) == 3);
    assert_true(cli_time_left(&t, 10, 1) == 0);
}

/* Steps of any lengths: it rises only when one of them is done, to what the rate so far
 * says. */
static void time_left_rises_with_steps_done_alone(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(3));
    for (int round = 0; round < test_draws(100); round++) {
        struct cli_time_left t = {0};
        double now_s = 0, before_s = -1;
        int steps = 2 + (int)espi_rng_below(&rng, 20);
        for (int i = 1; i <= steps; i++) {
            double step_s = espi_rng_range(&rng, 0.1, 5), left_s = -1;
            for (int k = 1; k <= 8; k++) {
                left_s = cli_time_left(&t, now_s + step_s * k / 9, (i - 1.0) / steps);
                assert_true(left_s < 0 || left_s <= before_s);
                before_s = left_s >= 0 ? left_s : before_s;
            }
            now_s += step_s;
            left_s = cli_time_left(&t, now_s, (double)i / steps);
            assert_true(left_s >= 0 && left_s <= now_s * (steps - i) / i + 1e-9);
            before_s = left_s;
        }
        assert_true(before_s == 0);
    }
}

/* Two at a time, one of them as long as all others: it counts while it goes on, but no
 * more than it is. */
static void work_under_way_counts(void **state)
{
    (void)state;
    static const double cost[] = {10, 2, 4, 4};
    double start_s[4];
    struct cli_work w;
    cli_work_init(&w, 4, cost, start_s);
    cli_work_start(&w, 0, 0);
    cli_work_start(&w, 1, 0);
    assert_true(cli_work_part(&w, 1) == 0); /* nothing tells how fast it goes */
    cli_work_end(&w, 1, 1);
    assert_true(cli_work_part(&w, 1) == (2 + 2) / 20.0);
    cli_work_start(&w, 2, 1);
    assert_true(cli_work_part(&w, 2) == (2 + 4 + 2) / 20.0);
    assert_true(cli_work_part(&w, 100) == (2 + 10 + 4) / 20.0);
    cli_work_end(&w, 2, 5); /* 6 in 5 s */
    assert_true(cli_work_part(&w, 5) == (6 + 6) / 20.0);
    cli_work_end(&w, 0, 5);
    cli_work_start(&w, 3, 5);
    cli_work_end(&w, 3, 6);
    assert_true(cli_work_part(&w, 6) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_at_any_time_gives_a_plan),
        cmocka_unit_test(who_only_listens_gets_the_same_plan),
        cmocka_unit_test(time_left_counts_down_within_a_step),
        cmocka_unit_test(work_under_way_counts),
        cmocka_unit_test(time_left_rises_with_steps_done_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
