/* Indexes, reachability and shortest paths against Floyd, Warshall and plain counting. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/dijkstra.h"
#include "graph/reach.h"
#include "support/random_graph.h"
#include "support/seed.h"

enum { MAX_N = 12, MAX_M = 60 };

static void rows_hold_each_item_once_in_order(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(1));
    for (int round = 0; round < 500; round++) {
        int n = 1 + (int)espi_rng_below(&r, MAX_N), m = (int)espi_rng_below(&r, MAX_M);
        struct random_graph rg;
        random_graph_make(&rg, &r, n, m, 0);
        const struct espi_rows *in = &rg.g.in;
        assert_int_equal(in->start[0], 0);
        assert_int_equal(in->start[n], m);
        for (int v = 0; v < n; v++)
            for (int k = in->start[v]; k < in->start[v + 1]; k++) {
                assert_int_equal(rg.head[in->item[k]], v);
                assert_true(k == in->start[v] || in->item[k - 1] < in->item[k]);
            }
        random_graph_free(&rg);
    }
}

static void close_reach(const struct random_graph *rg, const unsigned char *use,
                        unsigned char reach[MAX_N][MAX_N])
{
    int n = rg->g.n;
    memset(reach, 0, MAX_N * MAX_N);
    for (int v = 0; v < n; v++)
        reach[v][v] = 1;
    for (int a = 0; a < rg->g.m; a++)
        if (!use || use[a])
            reach[rg->tail[a]][rg->head[a]] = 1;
    for (int k = 0; k < n; k++)
        for (int u = 0; u < n; u++)
            for (int v = 0; v < n; v++)
                reach[u][v] |= reach[u][k] & reach[k][v];
}

static void reach_matches_transitive_closure(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(2));
    for (int round = 0; round < 2000; round++) {
        int n = 1 + (int)espi_rng_below(&r, MAX_N),
            m = (int)espi_rng_below(&r, 2 * MAX_N);
        unsigned char use[2 * MAX_N], closed[MAX_N][MAX_N], seen[MAX_N], back[MAX_N];
        int order[MAX_N];
        struct random_graph rg;
        random_graph_make(&rg, &r, n, m, 0);
        for (int a = 0; a < m; a++)
            use[a] = espi_rng_below(&r, 4) != 0;
        const unsigned char *mask = round % 2 ? use : NULL;
        close_reach(&rg, mask, closed);
        for (int s = 0; s < n; s++) {
            int count = espi_reach(&rg.g, s, mask, seen, order), expected = 0;
            assert_int_equal(order[0], s);
            for (int i = 0; i < count; i++)
                assert_int_equal(seen[order[i]], 1);
            espi_reach_back(&rg.g, s, mask, back, order);
            for (int v = 0; v < n; v++) {
                assert_int_equal(seen[v], closed[s][v]);
                assert_int_equal(back[v], closed[v][s]);
                expected += closed[s][v];
            }
            assert_int_equal(count, expected);
        }
        random_graph_free(&rg);
    }
}

/* Bellman and Ford, with arcs left out that leave a node that may not pass. */
static void relax_all(const struct random_graph *rg, const struct espi_dijkstra_query *q,
                      double *distance)
{
    unsigned char leave[MAX_N];
    for (int v = 0; v < rg->g.n; v++) {
        distance[v] = INFINITY;
        leave[v] = !q->may_pass || q->may_pass[v];
    }
    for (int i = 0; i < q->n_sources; i++) {
        distance[q->source[i]] = 0;
        leave[q->source[i]] = 1;
    }
    for (int round = 0; round < rg->g.n; round++)
        for (int a = 0; a < rg->g.m; a++)
            if (leave[rg->tail[a]] &&
                distance[rg->tail[a]] + rg->weight[a] < distance[rg->head[a]])
                distance[rg->head[a]] = distance[rg->tail[a]] + rg->weight[a];
}

/* With positive weights every tight predecessor is settled earlier: the rule for ties
 * can be checked from the distances alone. */
static int expected_arc(const struct random_graph *rg,
                        const struct espi_dijkstra_query *q, const double *distance,
                        int v)
{
    int best = -1;
    for (int a = 0; a < rg->g.m; a++) {
        int u = rg->tail[a];
        if (rg->head[a] != v || distance[v] == INFINITY || distance[v] == 0)
            continue;
        if (distance[u] != 0 && q->may_pass && !q->may_pass[u])
            continue;
        if (distance[u] + rg->weight[a] == distance[v] &&
            (best < 0 || u < rg->tail[best]))
            best = a;
    }
    return best;
}

static void check_paths(struct espi_dijkstra *w, const struct random_graph *rg,
                        const struct espi_dijkstra_query *q, int positive)
{
    double expected[MAX_N], distance[MAX_N];
    int last_arc[MAX_N], reached = 0;
    relax_all(rg, q, expected);
    int count = espi_dijkstra(w, &rg->g, q, distance, last_arc);
    for (int v = 0; v < rg->g.n; v++) {
        assert_true(distance[v] == expected[v]);
        reached += distance[v] < INFINITY;
        if (positive)
            assert_int_equal(last_arc[v], expected_arc(rg, q, distance, v));
        int steps = 0;
        for (int u = v; last_arc[u] >= 0; u = rg->tail[last_arc[u]], steps++) {
            assert_true(steps < rg->g.n);
            assert_int_equal(rg->head[last_arc[u]], u);
            assert_true(distance[rg->tail[last_arc[u]]] + rg->weight[last_arc[u]] ==
                        distance[u]);
        }
    }
    assert_int_equal(count, reached);
}

static void dijkstra_matches_bellman_ford(void **state)
{
    (void)state;
    struct espi_rng r;
    struct espi_arena arena;
    struct espi_dijkstra w;
    espi_rng_seed(&r, test_seed(3));
    espi_arena_init(&arena);
    assert_int_equal(espi_dijkstra_init(&w, MAX_N, &arena), 0);
    for (int round = 0; round < 6000; round++) {
        int n = 1 + (int)espi_rng_below(&r, MAX_N), m = (int)espi_rng_below(&r, MAX_M);
        int source[3];
        /* a tiny weight on a long way would be rounded to nothing: not positive */
        int positive = round % 2 && round % WEIGHT_KINDS != WEIGHT_WIDE;
        unsigned char may_pass[MAX_N];
        struct random_graph rg;
        random_graph_make(&rg, &r, n, m, 0);
        random_weights(&rg, &r, (enum weight_kind)(round % WEIGHT_KINDS));
        for (int a = 0; a < m && positive; a++)
            rg.weight[a] += round % WEIGHT_KINDS == WEIGHT_SMALL ? 1 : 1e-9;
        if (m > 0 && round % 5 == 0)
            rg.weight[0] = INFINITY;
        for (int v = 0; v < n; v++)
            may_pass[v] = (unsigned char)espi_rng_below(&r, 2);
        for (int i = 0; i < 3; i++)
            source[i] = (int)espi_rng_below(&r, (uint32_t)n);
        struct espi_dijkstra_query q = {rg.weight, source, 1 + round % 3,
                                        round % 4 < 2 ? NULL : may_pass};
        check_paths(&w, &rg, &q, positive);
        random_graph_free(&rg);
    }
    espi_arena_done(&arena);
}

static int fail_all(void)
{
    return 1;
}

static void no_memory_is_reported(void **state)
{
    (void)state;
    struct espi_arena arena;
    struct espi_dijkstra w;
    struct espi_digraph g;
    int end[1] = {0};
    espi_arena_init(&arena);
    espi_alloc_should_fail = fail_all;
    assert_int_equal(espi_dijkstra_init(&w, 4, &arena), -1);
    assert_int_equal(espi_digraph_init(&g, 1, 1, end, end, &arena), -1);
    espi_alloc_should_fail = NULL;
    espi_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_each_item_once_in_order),
        cmocka_unit_test(reach_matches_transitive_closure),
        cmocka_unit_test(dijkstra_matches_bellman_ford),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
