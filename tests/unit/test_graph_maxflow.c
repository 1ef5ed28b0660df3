/* Maximum flow against all cuts on small graphs; conservation and the value of both cuts
 * on larger ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/maxflow.h"
#include "support/random_graph.h"
#include "support/seed.h"

enum { SMALL = 9, MAX_N = 500 };

static double cut_value(const struct random_graph *rg, const unsigned char *side)
{
    double sum = 0;
    for (int a = 0; a < rg->g.m; a++)
        if (side[rg->tail[a]] && !side[rg->head[a]])
            sum += rg->weight[a];
    return sum;
}

/* The least cut over all sets with the source and without the sink, the nodes that are in
 * all sets of this value, and those that are in one of them. */
static double least_cut(const struct random_graph *rg, int source, int sink,
                        unsigned char *in_all, unsigned char *in_any)
{
    double best = INFINITY;
    unsigned char side[SMALL];
    for (int set = 0; set < 1 << rg->g.n; set++) {
        if (!(set >> source & 1) || (set >> sink & 1))
            continue;
        for (int v = 0; v < rg->g.n; v++)
            side[v] = set >> v & 1;
        double value = cut_value(rg, side);
        if (value > best)
            continue;
        for (int v = 0; v < rg->g.n; v++) {
            in_all[v] = value < best ? side[v] : in_all[v] & side[v];
            in_any[v] = value < best ? side[v] : in_any[v] | side[v];
        }
        best = value;
    }
    return best;
}

static int close_to(double a, double b)
{
    return fabs(a - b) <= 1e-11 * fmax(fabs(a), fabs(b));
}

static void check_conserved(const struct random_graph *rg, const double *flow, int source,
                            int sink, double value)
{
    double extra[MAX_N] = {0};
    for (int a = 0; a < rg->g.m; a++) {
        assert_true(flow[a] >= 0 && flow[a] <= rg->weight[a] * (1 + 1e-12));
        extra[rg->tail[a]] -= flow[a];
        extra[rg->head[a]] += flow[a];
    }
    for (int v = 0; v < rg->g.n; v++) {
        double due = v == sink ? value : v == source ? -value : 0;
        assert_true(fabs(extra[v] - due) <= 1e-11 * value);
    }
}

static void check_flow(struct espi_maxflow *w, const struct random_graph *rg, int source,
                       int sink, double value, double *flow)
{
    unsigned char near[MAX_N], far[MAX_N];
    assert_false(w->stopped);
    espi_maxflow_arcs(w, flow);
    check_conserved(rg, flow, source, sink, value);
    espi_maxflow_source_cut(w, near);
    espi_maxflow_sink_cut(w, far);
    assert_true(near[source] && !near[sink] && far[source] && !far[sink]);
    assert_true(close_to(cut_value(rg, near), value));
    assert_true(close_to(cut_value(rg, far), value));
    for (int v = 0; v < rg->g.n; v++)
        assert_true(near[v] <= far[v]);
}

static void pick_ends(struct espi_rng *r, int n, int *source, int *sink)
{
    *source = (int)espi_rng_below(r, (uint32_t)n);
    *sink = (*source + 1 + (int)espi_rng_below(r, (uint32_t)n - 1)) % n;
}

static void small_graphs_match_all_cuts(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(1));
    for (int round = 0; round < 2000; round++) {
        int n = 2 + (int)espi_rng_below(&r, SMALL - 1), m = (int)espi_rng_below(&r, 40);
        struct random_graph rg;
        struct espi_maxflow w;
        random_graph_make(&rg, &r, n, m, 0);
        assert_int_equal(espi_maxflow_init(&w, &rg.g, &rg.arena), 0);
        for (int again = 0; again < 3; again++) {
            unsigned char in_all[SMALL], in_any[SMALL], side[SMALL];
            double flow[40];
            int source, sink;
            pick_ends(&r, n, &source, &sink);
            random_weights(&rg, &r, (enum weight_kind)((round + again) % WEIGHT_KINDS));
            double best = least_cut(&rg, source, sink, in_all, in_any);
            double value = espi_maxflow(&w, rg.weight, source, sink, INFINITY);
            assert_true(close_to(value, best));
            check_flow(&w, &rg, source, sink, value, flow);
            if ((round + again) % WEIGHT_KINDS == WEIGHT_SMALL) {
                espi_maxflow_source_cut(&w, side);
                assert_memory_equal(side, in_all, (size_t)n);
                espi_maxflow_sink_cut(&w, side);
                assert_memory_equal(side, in_any, (size_t)n);
            }
            double enough = espi_maxflow(&w, rg.weight, source, sink, 0.5 * best);
            assert_true(enough >= 0.5 * best && enough <= best * (1 + 1e-12));
            assert_true(w.stopped);
        }
        random_graph_free(&rg);
    }
}

static void large_flows_are_conserved_and_equal_their_cuts(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(2));
    for (int round = 0; round < 12; round++) {
        struct random_graph rg;
        struct espi_maxflow w, fresh;
        static double flow[MAX_N * 8], again[MAX_N * 8];
        random_graph_make(&rg, &r, MAX_N, MAX_N * (3 + round % 6), 1);
        assert_int_equal(espi_maxflow_init(&w, &rg.g, &rg.arena), 0);
        for (int k = 0; k < 10; k++) {
            int sink = 1 + (int)espi_rng_below(&r, MAX_N - 1);
            random_weights(&rg, &r, (enum weight_kind)(k % WEIGHT_KINDS));
            double value = espi_maxflow(&w, rg.weight, 0, sink, INFINITY);
            check_flow(&w, &rg, 0, sink, value, flow);
            assert_int_equal(espi_maxflow_init(&fresh, &rg.g, &rg.arena), 0);
            assert_true(espi_maxflow(&fresh, rg.weight, 0, sink, INFINITY) == value);
            espi_maxflow_arcs(&fresh, again);
            assert_memory_equal(flow, again, (size_t)rg.g.m * sizeof *flow);
        }
        random_graph_free(&rg);
    }
}

static void infinite_capacities_are_allowed(void **state)
{
    (void)state;
    struct espi_arena arena;
    struct espi_digraph g;
    struct espi_maxflow w;
    const int tail[] = {0, 1, 0}, head[] = {1, 2, 2};
    double capacity[] = {INFINITY, 3, 0.5};
    unsigned char side[3];
    espi_arena_init(&arena);
    assert_int_equal(espi_digraph_init(&g, 3, 3, tail, head, &arena), 0);
    assert_int_equal(espi_maxflow_init(&w, &g, &arena), 0);
    assert_true(espi_maxflow(&w, capacity, 0, 2, INFINITY) == 3.5);
    assert_false(w.stopped);
    espi_maxflow_source_cut(&w, side);
    assert_true(side[0] && side[1] && !side[2]);
    capacity[1] = INFINITY;
    assert_true(espi_maxflow(&w, capacity, 0, 2, INFINITY) == INFINITY);
    assert_true(w.stopped);
    assert_true(espi_maxflow(&w, capacity, 1, 1, INFINITY) == INFINITY);
    assert_true(espi_maxflow(&w, capacity, 2, 0, INFINITY) == 0);
    assert_false(w.stopped);
    espi_arena_done(&arena);
}

static int fail_all(void)
{
    return 1;
}

static void no_memory_is_reported(void **state)
{
    (void)state;
    struct espi_arena empty;
    struct espi_digraph g = {0};
    struct espi_maxflow w;
    espi_arena_init(&empty);
    espi_alloc_should_fail = fail_all;
    assert_int_equal(espi_maxflow_init(&w, &g, &empty), -1);
    espi_alloc_should_fail = NULL;
    espi_arena_done(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_match_all_cuts),
        cmocka_unit_test(large_flows_are_conserved_and_equal_their_cuts),
        cmocka_unit_test(infinite_capacities_are_allowed),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
