/* Who watches over a search is asked often enough to end it, and an end within another is
 * no later than that one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/watch.h"
#include "bound/makespan_bound.h"
#include "bound/op_bound.h"
#include "plan/ops.h"
#include "platform/platform.h"
#include "support/seed.h"
#include "support/small_platform.h"

struct listener {
    int heard, end_after; /* -1: never */
};

static int listen(void *listener, double elapsed_s, double best_s)
{
    struct listener *l = listener;
    (void)elapsed_s;
    (void)best_s;
    return ++l->heard > l->end_after && l->end_after >= 0;
}

/* ---- watches ---- */

static void one_within_another_ends_with_it(void **state)
{
    (void)state;
    struct espi_watch outer, inner;
    struct listener l = {.end_after = 0};
    espi_watch_begin(&outer, 0, listen, &l);
    espi_watch_begin(&inner, 1000, NULL, NULL);
    assert_true(espi_watch_is_over());
    assert_int_equal(l.heard, 1);
    assert_true(espi_watch_is_over()); /* and it is not asked again */
    assert_int_equal(l.heard, 1);
    espi_watch_end(&inner);
    espi_watch_end(&outer);
    assert_false(espi_watch_is_over());
}

static void one_within_another_has_no_more_time(void **state)
{
    (void)state;
    struct espi_watch outer, inner;
    espi_watch_begin(&outer, 1000, NULL, NULL);
    double stop_s = espi_watch_stop_s();
    espi_watch_begin(&inner, 5000, NULL, NULL);
    assert_true(espi_watch_stop_s() == stop_s);
    espi_watch_end(&inner);
    espi_watch_begin(&inner, 10, NULL, NULL);
    assert_true(espi_watch_stop_s() < stop_s);
    assert_false(espi_watch_is_over());
    espi_watch_end(&inner);
    assert_true(espi_watch_stop_s() == stop_s);
    espi_watch_end(&outer);
}

/* ---- bounds ---- */

static const esp_op ops[] = {ESP_OP_BCAST,     ESP_OP_MULTICAST, ESP_OP_SCATTER,
                             ESP_OP_GATHER,    ESP_OP_REDUCE,    ESP_OP_ALLGATHER,
                             ESP_OP_ALLREDUCE, ESP_OP_ALLTOALL};

struct bounds {
    double throughput_Bps, makespan_s; /* 0: not known */
    int heard;
};

/* Of both kinds, ended after so many words of each; -1: never. */
static struct bounds bounds_of(const struct esp_platform *p, esp_op op, int end_after)
{
    static const int targets[] = {2, 4, 7};
    int some = op == ESP_OP_MULTICAST;
    struct espi_op_bound_task rate = {p,     op, 0, some ? 3 : 0, some ? targets : NULL,
                                      65536, 0};
    struct espi_makespan_task time = {.p = p,
                                      .op = op,
                                      .n_targets = some ? 3 : 0,
                                      .targets = some ? targets : NULL,
                                      .size_bytes = 1e6,
                                      .exclusive = p->model != ESP_MODEL_CAPACITY};
    struct listener l = {.end_after = end_after};
    struct espi_op_bound found = {0};
    struct bounds b = {0, 0, 0};
    struct espi_watch watch;
    espi_watch_begin(&watch, 0, listen, &l);
    assert_int_equal(espi_op_bound(&rate, &found, NULL), ESP_OK);
    espi_watch_end(&watch);
    b.throughput_Bps = found.throughput_Bps;
    b.heard = l.heard;
    l.heard = 0;
    espi_watch_begin(&watch, 0, listen, &l);
    assert_int_equal(espi_makespan_bound(&time, &b.makespan_s, NULL), ESP_OK);
    espi_watch_end(&watch);
    return b;
}

/* Whenever it ends: what is told holds, and is no better than what all the time gives. */
static void check_ends(const struct esp_platform *p, esp_op op)
{
    struct bounds all = bounds_of(p, op, -1);
    assert_true(all.throughput_Bps > 0 && all.makespan_s > 0);
    for (int end = 0; end < all.heard + 2 && end < 300; end = 2 * end + 1) {
        struct bounds b = bounds_of(p, op, end);
        if (b.throughput_Bps > 0 && b.throughput_Bps < all.throughput_Bps * (1 - 1e-4))
            fail_msg("%s, ended after %d: %.9g for %.9g", esp_op_name(op), end,
                     b.throughput_Bps, all.throughput_Bps);
        assert_true(b.makespan_s <= all.makespan_s * (1 + 1e-4));
    }
}

static void bounds_may_be_ended_at_any_time(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(1));
    for (int round = 0; round < test_draws(4); round++) {
        struct small_options o = {.n = 12, .density = 0.6, .model = ESP_MODEL_ONE_PORT};
        o.model = round % 2 ? ESP_MODEL_HALF_DUPLEX : ESP_MODEL_ONE_PORT;
        struct esp_platform *p = small_random(&rng, &o);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
            check_ends(p, ops[i]);
        esp_platform_free(p);
    }
}

/* From one word to the next no more is done than what one host asks for: what looks at
 * all hosts speaks once for each. */
static void who_asks_all_hosts_listens_at_each(void **state)
{
    (void)state;
    static const esp_op wide[] = {ESP_OP_ALLGATHER, ESP_OP_ALLREDUCE, ESP_OP_ALLTOALL};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(2));
    struct small_options o = {.n = 30, .density = 0.5, .model = ESP_MODEL_ONE_PORT};
    struct esp_platform *p = small_random(&rng, &o);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        int heard = bounds_of(p, wide[i], -1).heard;
        if (heard < o.n)
            fail_msg("%s: asked %d times", esp_op_name(wide[i]), heard);
    }
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_within_another_ends_with_it),
        cmocka_unit_test(one_within_another_has_no_more_time),
        cmocka_unit_test(bounds_may_be_ended_at_any_time),
        cmocka_unit_test(who_asks_all_hosts_listens_at_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
