/* Messages of growing length, each played on from where its length first makes a
 * difference, end when they do if each is played from its start: to the last digit, on
 * networks as measured, along one tree and along many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "platform/platform.h"
#include "schedule/replay_fluid.h"
#include "schedule/tuning.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

struct message {
    struct esp_platform *p;
    struct esp_plan *plan, trees; /* without its schedule */
    struct espi_arena arena;
    struct espi_arrangement a;
    struct espi_arc_uses uses;
    struct espi_fluid_message m;
};

static void message_make(struct message *x, int i)
{
    static const char *const algos[] = {"mtp", "equal-trees", "ecef", "chain", "mtp"};
    static const esp_op ops[] = {ESP_OP_BCAST, ESP_OP_BCAST, ESP_OP_REDUCE,
                                 ESP_OP_ALLREDUCE};
    struct esp_measured_options o;
    struct esp_request request;
    esp_measured_options_defaults(&o);
    o.kind = (esp_measured_kind)(i % ESP_MEASURED_KIND_COUNT);
    o.hosts = 4 + i % 9;
    o.seed = test_seed((uint64_t)i + 1);
    assert_int_equal(esp_generate_measured(&o, &x->p, NULL), ESP_OK);
    esp_request_init(&request, 0);
    request.algo = algos[i % 5];
    request.op = ops[i % 4];
    request.size_bytes = 1e7;
    assert_int_equal(esp_plan_make(x->p, &request, &x->plan, NULL), ESP_OK);
}

static void message_free(struct message *x)
{
    esp_plan_free(x->plan);
    esp_platform_free(x->p);
}

/* Without latencies every third time: then slices leave and land at once. */
static int message_init(struct message *x, int has_latencies)
{
    struct espi_round_options o = {1000, 64, 1e4, ESPI_ROUND_TOLERANCE};
    x->trees = *x->plan;
    x->trees.schedule = NULL;
    if (espi_arrange(&x->a, x->p, &x->trees, &o, ESPI_EFFORT_FULL, &x->arena) ||
        espi_arc_uses_init(&x->uses, &x->a.legs, x->p, o.slice_bytes, &x->arena))
        return -1;
    double *latency_s = ESPI_ARENA_ZNEW(&x->arena, double, x->a.legs.n_arcs);
    for (int arc = 0; latency_s && has_latencies && arc < x->a.legs.n_arcs; arc++)
        latency_s[arc] = 1e-3 * (1 + arc % 7);
    x->m =
        (struct espi_fluid_message){.a = &x->a, .uses = &x->uses, .latency_s = latency_s};
    return latency_s ? 0 : -1;
}

static int play_alone(struct message *x, int64_t n_slices, double *finish_s)
{
    struct espi_fluid_player *player = espi_fluid_player_new(&x->m, &x->arena);
    int failed = player ? espi_fluid_play(player, n_slices, finish_s) : -1;
    espi_fluid_player_done(player);
    return failed;
}

static void what_is_played_on_ends_as_from_the_start(void **state)
{
    (void)state;
    for (int i = 0; i < test_draws(60); i++) {
        struct message x = {0};
        double alone_s = 0, on_s = 0, before_s = 0;
        message_make(&x, i);
        espi_arena_init(&x.arena);
        assert_int_equal(message_init(&x, i % 3), 0);
        struct espi_fluid_player *player = espi_fluid_player_new(&x.m, &x.arena);
        assert_non_null(player);
        for (int64_t n = 1; n < 300; n = 2 * n + i % 4, before_s = on_s) {
            assert_int_equal(espi_fluid_play(player, n, &on_s), 0);
            assert_int_equal(play_alone(&x, n, &alone_s), 0);
            if (on_s != alone_s || on_s < before_s)
                fail_msg("network %d, %d slices: %.17g s, from the start %.17g s", i,
                         (int)n, on_s, alone_s);
        }
        espi_fluid_player_done(player);
        espi_arena_done(&x.arena);
        message_free(&x);
    }
}

static esp_status play_twice(void *of)
{
    struct message *x = of;
    double finish_s;
    espi_arena_init(&x->arena);
    struct espi_fluid_player *player =
        message_init(x, 1) ? NULL : espi_fluid_player_new(&x->m, &x->arena);
    int failed = !player || espi_fluid_play(player, 20, &finish_s) ||
                 espi_fluid_play(player, 40, &finish_s);
    espi_fluid_player_done(player);
    espi_arena_done(&x->arena);
    return failed ? ESP_ENOMEM : ESP_OK;
}

static void allocations_may_fail(void **state)
{
    struct message x = {0};
    (void)state;
    message_make(&x, 0);
    assert_true(alloc_fail_each(play_twice, &x) > 0);
    message_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_played_on_ends_as_from_the_start),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
