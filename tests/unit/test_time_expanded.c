/* Time-expanded plans: sound, in a run as early as they were found to be, never before
 * what bounds allow, and as early as can be where that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "algo/synthesis/synthesis.h"
#include "base/arena.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/seed.h"

static struct kind_scope scope = {100, -1};

static struct esp_plan *planned(const struct esp_platform *p, esp_op op, const char *algo,
                                double size)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.size_bytes = size;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s", err.text);
    assert_int_equal(esp_plan_check(plan, p, &err), ESP_OK);
    assert_non_null(plan->schedule);
    return plan;
}

static double simulated_by(const struct esp_platform *p, const struct esp_plan *plan,
                           esp_sharing sharing)
{
    struct esp_sim_result *r = NULL;
    struct esp_sim_options o;
    struct esp_err err;
    esp_sim_options_defaults(&o);
    o.sharing = sharing;
    if (esp_simulate(p, plan, &o, &r, &err))
        fail_msg("%s", err.text);
    double s = r->makespan_s;
    esp_sim_result_free(r);
    return s;
}

static double simulated(const struct esp_platform *p, const struct esp_plan *plan)
{
    return simulated_by(p, plan, ESP_SHARING_MODEL);
}

/* What the plan was found to take, by the synthesizer itself. */
static double found_s(const struct esp_platform *p, int chunks, double size, int seed,
                      double limit_s)
{
    struct espi_arena arena;
    struct espi_view view;
    struct espi_synthesis found;
    struct esp_err err;
    int all = p->n_hosts * chunks;
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&view, p, size / all, &arena, &err), ESP_OK);
    int *source = ESPI_ARENA_NEW(&arena, int, all);
    assert_non_null(source);
    for (int c = 0; c < all; c++)
        source[c] = c / chunks;
    struct espi_synthesis_task task = {.view = &view,
                                       .n_chunks = all,
                                       .source = source,
                                       .seed = (uint64_t)seed,
                                       .limit_s = limit_s,
                                       .deadline_s = INFINITY};
    int got = espi_synthesize(&task, &arena, &found);
    double s = got ? NAN : found.finish_s;
    for (int i = 1; i < found.n_sends && !got; i++)
        assert_true(found.send[i].start_s >= found.send[i - 1].start_s);
    espi_arena_done(&arena);
    return s;
}

/* Do several hosts send over one link or cable? */
static int is_shared(const struct esp_platform *p)
{
    return p->n_shared > 0 || p->n_hosts < p->n_nodes;
}

static double bound_s(const struct esp_platform *p, double size)
{
    struct esp_request request;
    struct esp_bound *bound = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLGATHER;
    request.size_bytes = size;
    request.slice_bytes = size / p->n_hosts;
    assert_int_equal(esp_bound_compute(p, &request, NULL, &bound, &err), ESP_OK);
    double s = size / bound->throughput_Bps;
    esp_bound_free(bound);
    return s;
}

/* How runs compare with what was found. */
struct tally {
    int own, same;     /* hosts share no links; both take as long */
    int shared, later; /* they do; the run takes longer */
};

/* A run knows no waiting for something better, so that it may be earlier. What several
 * hosts send over is served as they come, and it may be later. */
static void check_run(const struct esp_platform *p, double found, double ran,
                      struct tally *t)
{
    int later = ran > found * (1 + 1e-6);
    if (is_shared(p)) {
        t->shared++;
        t->later += later;
        return;
    }
    t->own++;
    t->same += !later && ran >= found * (1 - 1e-6);
    if (later)
        fail_msg("found %.9g, ran %.9g", found, ran);
}

static void check_one(int kind, int i, esp_model model, struct tally *t)
{
    uint64_t seed = test_seed((uint64_t)(1000 * kind + i));
    struct esp_platform *p = kind_platform(kind, 3 + (int)(seed % 6), seed, model);
    int chunks = 1 + i % 4, draw = 1 + i;
    double size = (i % 3 ? 4e6 : 4e3) * p->n_hosts * chunks;
    char algo[80];
    snprintf(algo, sizeof algo, "time-expanded:chunks=%d,restarts=1,seed=%d", chunks,
             draw);
    struct esp_plan *plan = planned(p, ESP_OP_ALLGATHER, algo, size);
    double found = found_s(p, chunks, size, draw, INFINITY);
    double ran = simulated_by(p, plan, ESP_SHARING_EXCLUSIVE); /* as was found */
    assert_int_equal(plan->n_trees, p->n_hosts * chunks);
    assert_true(isnan(found_s(p, chunks, size, draw, found * 0.999)));
    check_run(p, found, ran, t);
    /* the bound's slices are these chunks */
    if (chunks == 1)
        assert_true(ran >= bound_s(p, size) * (1 - 1e-6));
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Of every model: where hosts share nothing but ports a run is no later than was found.
 */
static void runs_are_as_found(void **state)
{
    esp_model model = *(esp_model *)*state;
    struct tally t = {0};
    int draws = test_draws(scope.platforms);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < draws; i++)
            if (scope.only < 0 || scope.only == kind)
                check_one(kind, i, model, &t);
    assert_true(t.same >= t.own * 9 / 10);
    assert_true(t.later <= t.shared / 8 + 1);
}

/* Hosts in a grid, closed to rings or not, equal links in the capacity model. */
static struct esp_platform *grid(const int size[3], int closed, double latency_s)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    int all = size[0] * size[1] * size[2];
    assert_int_equal(esp_builder_create(&b, NULL), ESP_OK);
    esp_builder_set_model(b, ESP_MODEL_CAPACITY);
    for (int i = 0; i < all; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        struct esp_node_spec spec = {.name = name,
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        assert_int_equal(esp_builder_add_node(b, &spec, NULL, NULL), ESP_OK);
    }
    for (int u = 0, stride = 1; u < 3; stride *= size[u++])
        for (int i = 0; i < all; i++) {
            int at = i / stride % size[u], last = at == size[u] - 1;
            if (last && (!closed || size[u] < 3))
                continue;
            int j = last ? i - at * stride : i + stride;
            esp_builder_add_link(b, i, j, latency_s, 1e9, NULL, NULL);
            esp_builder_add_link(b, j, i, latency_s, 1e9, NULL, NULL);
        }
    assert_int_equal(esp_builder_build(b, &p, NULL), ESP_OK);
    esp_builder_free(b);
    return p;
}

/* Chunks that every host gets over every link into it, without a pause: nothing is
 * earlier. */
static void grids_are_filled(void **state)
{
    (void)state;
    static const struct {
        int size[3], closed, chunks;
        int degree; /* of the host with fewest links */
    } cases[] = {
        {{3, 3, 3}, 1, 3, 6}, {{3, 3, 3}, 0, 3, 3}, {{4, 2, 3}, 0, 3, 3},
        {{5, 5, 1}, 0, 1, 2}, {{5, 5, 1}, 0, 4, 2}, {{7, 1, 1}, 1, 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct esp_platform *p = grid(cases[i].size, cases[i].closed, 0);
        char algo[40];
        int n = p->n_hosts, chunks = cases[i].chunks;
        snprintf(algo, sizeof algo, "time-expanded:chunks=%d", chunks);
        struct esp_plan *plan = planned(p, ESP_OP_ALLGATHER, algo, 1e6 * n * chunks);
        double slots = (double)(n - 1) * chunks / cases[i].degree;
        assert_true(fabs(simulated(p, plan) - 1e-3 * slots) <= 1e-9);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Does the run of a reduce-scatter end later than was found for the allgather that it is
 * turned round? What it claims is what it takes. */
static int is_later_turned(int kind, int hosts, uint64_t seed, esp_model model)
{
    struct esp_platform *p = kind_platform(kind, hosts, seed, model), *back = NULL;
    assert_int_equal(esp_platform_reversed(p, &back, NULL), ESP_OK);
    double size = 1e6 * p->n_hosts;
    struct esp_plan *plan = planned(p, ESP_OP_REDUCE_SCATTER,
                                    "time-expanded:chunks=2,restarts=1,seed=7", size);
    double found = found_s(back, 2, size, 7, INFINITY), ran = simulated(p, plan);
    assert_true(fabs(plan->makespan_s / ran - 1) <= 1e-9);
    esp_plan_free(plan);
    esp_platform_free(back);
    esp_platform_free(p);
    return ran > found * (1 + 1e-6);
}

/* A reduce-scatter is an allgather turned round, with the order of its sends. In the
 * capacity model connections go on by themselves with what is there: a slice that came
 * early may hold up one that matters more, which happens to one draw in some dozens. */
static void turns_round(void **state)
{
    (void)state;
    static const esp_model models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_HALF_DUPLEX,
                                       ESP_MODEL_CAPACITY};
    int n = test_draws(60), later[3] = {0};
    for (int i = 0; i < n; i++)
        later[i % 3] +=
            is_later_turned(i / 3 % 3, 3 + i % 6, test_seed((uint64_t)i), models[i % 3]);
    assert_int_equal(later[0], 0);
    assert_int_equal(later[1], 0);
    assert_in_range(later[2], 0, 1 + n / 20);
}

/* More chunks are never worse when their number is left open, and the same draw gives the
 * same plan. */
static void numbers_of_chunks_are_tried(void **state)
{
    (void)state;
    for (int i = 0; i < test_draws(20); i++) {
        struct esp_platform *p = kind_platform(
            i % KINDS, 4 + i % 4, test_seed((uint64_t)i), ESP_MODEL_CAPACITY);
        double size = 8e6 * p->n_hosts;
        struct esp_plan *open = planned(p, ESP_OP_ALLGATHER, "time-expanded", size);
        struct esp_plan *again = planned(p, ESP_OP_ALLGATHER, "time-expanded", size);
        struct esp_plan *one =
            planned(p, ESP_OP_ALLGATHER, "time-expanded:chunks=1", size);
        assert_true(simulated(p, open) <= simulated(p, one) * (1 + 1e-9));
        assert_int_equal(open->schedule->n_sends, again->schedule->n_sends);
        assert_memory_equal(open->schedule->sends, again->schedule->sends,
                            (size_t)open->schedule->n_sends * sizeof(struct esp_send));
        esp_plan_free(open);
        esp_plan_free(again);
        esp_plan_free(one);
        esp_platform_free(p);
    }
}

/* A line of hosts that pass chunks on: one more slot a host. */
static void lines_are_pipelined(void **state)
{
    (void)state;
    int size[3] = {6, 1, 1};
    struct esp_platform *p = grid(size, 0, 0);
    struct esp_plan *plan =
        planned(p, ESP_OP_BCAST, "time-expanded-bcast:chunks=10", 10e6);
    assert_int_equal(plan->n_trees, 10);
    assert_true(fabs(simulated(p, plan) - 14e-3) <= 1e-9);
    esp_plan_free(plan);
    esp_platform_free(p);
}

static void too_many_chunks_are_refused(void **state)
{
    (void)state;
    int size[3] = {5, 1, 1};
    struct esp_platform *p = grid(size, 1, 0);
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLGATHER;
    request.algo = "time-expanded:chunks=4000";
    assert_int_equal(esp_plan_make(p, &request, &plan, &err), ESP_EUNSUPPORTED);
    assert_null(plan);
    esp_platform_free(p);
}

static esp_status make_and_free(void *arg)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.op = ESP_OP_REDUCE_SCATTER;
    request.algo = "time-expanded:chunks=2,restarts=2";
    esp_status st = esp_plan_make(arg, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = kind_platform(3, 4, 2, ESP_MODEL_CAPACITY);
    assert_true(alloc_fail_some(make_and_free, p, 60) > 0);
    esp_platform_free(p);
}

int main(int argc, char **argv)
{
    kind_arguments(&scope, argc, argv);
    const struct CMUnitTest tests[] = {
        KIND_TESTS(runs_are_as_found),
        cmocka_unit_test(grids_are_filled),
        cmocka_unit_test(turns_round),
        cmocka_unit_test(numbers_of_chunks_are_tried),
        cmocka_unit_test(lines_are_pipelined),
        cmocka_unit_test(too_many_chunks_are_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
