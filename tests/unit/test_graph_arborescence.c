/* The arborescence kernel against all choices of arcs on small graphs, and against the
 * plain recursive algorithm of Chu, Liu and Edmonds on larger ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/arborescence.h"
#include "graph/reach.h"
#include "support/random_graph.h"
#include "support/seed.h"

enum { SMALL = 6, SMALL_ARCS = 18 };

static int leads_to_root(const struct espi_digraph *g, const int *parent_arc, int v,
                         int root)
{
    for (int steps = 0; v != root; steps++) {
        if (steps > g->n || parent_arc[v] < 0 || g->head[parent_arc[v]] != v)
            return 0;
        v = g->tail[parent_arc[v]];
    }
    return 1;
}

static int is_arborescence(const struct espi_digraph *g, const int *parent_arc, int root)
{
    for (int v = 0; v < g->n; v++)
        if (!leads_to_root(g, parent_arc, v, root))
            return 0;
    return parent_arc[root] == -1;
}

static double cost_of(const struct espi_digraph *g, const double *cost,
                      const int *parent_arc)
{
    double sum = 0;
    for (int v = 0; v < g->n; v++)
        sum += parent_arc[v] < 0 ? 0 : cost[parent_arc[v]];
    return sum;
}

/* Every way to give each node but the root one arc into it. */
static void enumerate(const struct random_graph *rg, int root, int v, int *pick,
                      double *best)
{
    const struct espi_digraph *g = &rg->g;
    if (v == g->n) {
        double sum = cost_of(g, rg->weight, pick);
        if (sum < *best && is_arborescence(g, pick, root))
            *best = sum;
        return;
    }
    pick[v] = -1;
    if (v == root) {
        enumerate(rg, root, v + 1, pick, best);
        return;
    }
    for (int k = g->in.start[v]; k < g->in.start[v + 1]; k++) {
        pick[v] = g->in.item[k];
        if (g->tail[pick[v]] != v)
            enumerate(rg, root, v + 1, pick, best);
    }
}

static void check(const struct random_graph *rg, struct espi_arborescence *w, int root,
                  double best)
{
    int parent_arc[256];
    double total = -1;
    memset(parent_arc, 77, sizeof parent_arc);
    int status = espi_arborescence(w, root, rg->weight, parent_arc, &total);
    if (best == INFINITY) {
        assert_int_equal(status, -1);
        assert_true(total == -1);
        for (int v = 0; v < rg->g.n; v++)
            assert_int_equal(parent_arc[v], 0x4d4d4d4d);
        return;
    }
    assert_int_equal(status, 0);
    assert_true(is_arborescence(&rg->g, parent_arc, root));
    assert_true(total == cost_of(&rg->g, rg->weight, parent_arc));
    assert_true(fabs(total - best) <= 1e-12 * best);
}

static void small_graphs_match_enumeration(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(1));
    for (int round = 0; round < 3000; round++) {
        int n = 1 + (int)espi_rng_below(&r, SMALL);
        int m = (int)espi_rng_below(&r, SMALL_ARCS + 1);
        struct random_graph rg;
        struct espi_arborescence w;
        random_graph_make(&rg, &r, n, m > n ? m : n, round % 3 != 0);
        assert_int_equal(espi_arborescence_init(&w, &rg.g, &rg.arena), 0);
        for (int again = 0; again < 3; again++) {
            int pick[SMALL], root = (int)espi_rng_below(&r, (uint32_t)n);
            double best = INFINITY;
            random_weights(&rg, &r, (enum weight_kind)((round + again) % WEIGHT_KINDS));
            if (again == 2 && rg.g.m > 1)
                rg.weight[espi_rng_below(&r, (uint32_t)rg.g.m)] = INFINITY;
            enumerate(&rg, root, 0, pick, &best);
            check(&rg, &w, root, best);
        }
        random_graph_free(&rg);
    }
}

/* -- Chu-Liu/Edmonds, one contraction of all cycles a round, O(n m); value only ---------
 */

struct level {
    int n, m, root;
    int *tail, *head;
    double *cost;
};

static double chu_liu(struct level *l, struct espi_arena *arena)
{
    double sum = 0;
    for (;;) {
        int *from = ESPI_ARENA_NEW(arena, int, l->n);
        int *id = ESPI_ARENA_NEW(arena, int, l->n),
            *mark = ESPI_ARENA_NEW(arena, int, l->n);
        double *in = ESPI_ARENA_NEW(arena, double, l->n);
        int count = 0, kept = 0;
        for (int v = 0; v < l->n; v++) {
            in[v] = INFINITY;
            id[v] = mark[v] = -1;
        }
        for (int a = 0; a < l->m; a++)
            if (l->tail[a] != l->head[a] && l->cost[a] < in[l->head[a]]) {
                in[l->head[a]] = l->cost[a];
                from[l->head[a]] = l->tail[a];
            }
        in[l->root] = 0;
        for (int v = 0; v < l->n; v++) {
            sum += in[v];
            if (in[v] == INFINITY)
                return INFINITY;
        }
        for (int v = 0; v < l->n; v++) {
            int u = v;
            while (u != l->root && mark[u] != v && id[u] < 0) {
                mark[u] = v;
                u = from[u];
            }
            if (u == l->root || id[u] >= 0)
                continue;
            for (int x = from[u]; x != u; x = from[x])
                id[x] = count;
            id[u] = count++;
        }
        if (count == 0)
            return sum;
        for (int v = 0; v < l->n; v++)
            if (id[v] < 0)
                id[v] = count++;
        for (int a = 0; a < l->m; a++) {
            int u = id[l->tail[a]], v = id[l->head[a]];
            if (u == v)
                continue;
            l->cost[kept] = l->cost[a] - in[l->head[a]];
            l->tail[kept] = u;
            l->head[kept++] = v;
        }
        l->m = kept;
        l->n = count;
        l->root = id[l->root];
    }
}

static double simple_value(const struct random_graph *rg, int root)
{
    struct espi_arena arena;
    espi_arena_init(&arena);
    size_t m = (size_t)rg->g.m;
    struct level l = {.n = rg->g.n, .m = rg->g.m, .root = root};
    l.tail = ESPI_ARENA_NEW(&arena, int, m);
    l.head = ESPI_ARENA_NEW(&arena, int, m);
    l.cost = ESPI_ARENA_NEW(&arena, double, m);
    memcpy(l.tail, rg->tail, m * sizeof *l.tail);
    memcpy(l.head, rg->head, m * sizeof *l.head);
    memcpy(l.cost, rg->weight, m * sizeof *l.cost);
    double value = chu_liu(&l, &arena);
    espi_arena_done(&arena);
    return value;
}

static void larger_graphs_match_chu_liu(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(2));
    for (int round = 0; round < 150; round++) {
        int n = 20 + (int)espi_rng_below(&r, 181);
        struct random_graph rg;
        struct espi_arborescence w;
        random_graph_make(&rg, &r, n, n * (1 + (int)espi_rng_below(&r, 8)),
                          round % 8 != 0);
        assert_int_equal(espi_arborescence_init(&w, &rg.g, &rg.arena), 0);
        for (int again = 0; again < 4; again++) {
            random_weights(&rg, &r, (enum weight_kind)(again % WEIGHT_KINDS));
            int root = again == 3 ? (int)espi_rng_below(&r, (uint32_t)n) : 0;
            check(&rg, &w, root, simple_value(&rg, root));
        }
        random_graph_free(&rg);
    }
}

/* Cheap arcs inside blocks of blocks: every level is a cycle to contract. */
static void nested_cycles_match_chu_liu(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(3));
    for (int round = 0; round < 60; round++) {
        struct random_graph rg;
        struct espi_arborescence w;
        random_graph_make(&rg, &r, 128, 1500, 1);
        assert_int_equal(espi_arborescence_init(&w, &rg.g, &rg.arena), 0);
        for (int a = 0; a < rg.g.m; a++) {
            int apart = 0;
            while ((rg.tail[a] ^ rg.head[a]) >> apart)
                apart++;
            rg.weight[a] = ldexp(round % 2 ? espi_rng_range(&r, 1, 2) : 1, 3 * apart);
        }
        check(&rg, &w, 0, simple_value(&rg, 0));
        random_graph_free(&rg);
    }
}

static void used_work_space_equals_a_fresh_one(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(4));
    struct random_graph rg;
    struct espi_arborescence used, fresh;
    int a[100], b[100];
    random_graph_make(&rg, &r, 100, 700, 1);
    assert_int_equal(espi_arborescence_init(&used, &rg.g, &rg.arena), 0);
    for (int round = 0; round < 200; round++) {
        random_weights(&rg, &r, (enum weight_kind)(round % WEIGHT_KINDS));
        assert_int_equal(espi_arborescence_init(&fresh, &rg.g, &rg.arena), 0);
        assert_int_equal(espi_arborescence(&used, round % 100, rg.weight, a, NULL),
                         espi_arborescence(&fresh, round % 100, rg.weight, b, NULL));
        assert_memory_equal(a, b, sizeof a);
    }
    random_graph_free(&rg);
}

static int fail_all(void)
{
    return 1;
}

static void no_memory_is_reported(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(5));
    struct random_graph rg;
    struct espi_arborescence w;
    struct espi_arena empty;
    random_graph_make(&rg, &r, 10, 20, 1);
    espi_arena_init(&empty);
    espi_alloc_should_fail = fail_all;
    assert_int_equal(espi_arborescence_init(&w, &rg.g, &empty), -1);
    espi_alloc_should_fail = NULL;
    espi_arena_done(&empty);
    random_graph_free(&rg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_match_enumeration),
        cmocka_unit_test(larger_graphs_match_chu_liu),
        cmocka_unit_test(nested_cycles_match_chu_liu),
        cmocka_unit_test(used_work_space_equals_a_fresh_one),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
