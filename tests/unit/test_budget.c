/* What is done when time is over, and that it is little: told by what comes out and by
 * allocations, not by a clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <espalier/espalier.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "cost/cost.h"
#include "support/seed.h"
#include "support/small_platform.h"

static long allocations;

static int count_allocation(void)
{
    allocations++;
    return 0;
}

static struct esp_plan *plan_of(const struct esp_platform *p, esp_op op, const char *algo,
                                int (*progress)(void *, double, double))
{
    struct esp_request r;
    struct esp_plan *plan = NULL;
    esp_request_init(&r, 0);
    r.op = op;
    r.algo = algo;
    r.size_bytes = 4e6;
    r.progress = progress;
    assert_int_equal(esp_plan_make(p, &r, &plan, NULL), ESP_OK);
    return plan;
}

/* Slices of one size after the other: the platform is turned round for the first. */
static void a_platform_is_turned_round_once(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(1));
    struct small_options o = {.n = 12, .density = 1, .model = ESP_MODEL_ONE_PORT};
    struct esp_platform *p = small_random(&rng, &o), *turned = NULL;
    struct esp_plan *plan = plan_of(p, ESP_OP_REDUCE, "ecef", NULL);
    struct espi_arena arena;
    struct espi_cost cost;
    espi_arena_init(&arena);
    espi_alloc_should_fail = count_allocation;
    allocations = 0;
    assert_int_equal(esp_platform_reversed(p, &turned, NULL), ESP_OK);
    long to_turn = allocations;
    assert_int_equal(espi_plan_cost(p, plan, 4e6, 4e6, &arena, &cost, NULL), ESP_OK);
    allocations = 0;
    for (int i = 1; i <= 8; i++)
        assert_int_equal(espi_plan_cost(p, plan, 4e6, 4e6 / i, &arena, &cost, NULL),
                         ESP_OK);
    espi_alloc_should_fail = NULL;
    assert_true(to_turn > 0 && allocations < 8 * to_turn);
    esp_platform_free(turned);
    esp_plan_free(plan);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static int end_at_once(void *arg, double elapsed_s, double best_s)
{
    (void)arg, (void)elapsed_s, (void)best_s;
    return 1;
}

/* A chain with links both ways: there is one tree, and slices are all there is to choose.
 */
static struct esp_platform *chain_of(int n)
{
    struct esp_builder *b;
    struct esp_platform *p = NULL;
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_ONE_PORT);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int i = 0; i < 2 * (n - 1); i++) {
        int from = i / 2 + i % 2, to = i / 2 + 1 - i % 2;
        assert_int_equal(esp_builder_add_link(b, from, to, 1e-4, 1e8, NULL, NULL),
                         ESP_OK);
    }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* What time does not suffice for comes in the slices that it was made for, or that the
 * closed form says; the whole message from host to host would take six times as long. */
static void no_time_is_no_reason_for_one_piece(void **state)
{
    static const esp_op ops[] = {ESP_OP_BCAST, ESP_OP_REDUCE, ESP_OP_ALLREDUCE};
    (void)state;
    struct esp_platform *p = chain_of(12);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct esp_plan *best = plan_of(p, ops[i], "auto", NULL);
        struct esp_plan *hasty = plan_of(p, ops[i], "auto", end_at_once);
        assert_true(hasty->slice_bytes < hasty->size_bytes);
        assert_true(hasty->makespan_s < 2 * best->makespan_s);
        esp_plan_free(best);
        esp_plan_free(hasty);
    }
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_platform_is_turned_round_once),
        cmocka_unit_test(no_time_is_no_reason_for_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
