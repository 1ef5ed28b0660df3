/* Paths found from both ends against those of Dijkstra's algorithm, arc by arc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "graph/dijkstra.h"
#include "graph/router.h"
#include "support/random_graph.h"
#include "support/seed.h"

enum { MAX_N = 40 };

static void check_path(const struct random_graph *rg, const int *path, int length,
                       const int *last_arc, int from, int to)
{
    for (int x = to; x != from; x = rg->tail[last_arc[x]]) {
        assert_true(length > 0);
        assert_int_equal(path[--length], last_arc[x]);
    }
    assert_int_equal(length, 0);
}

static void check_graph(const struct random_graph *rg, int gathered)
{
    struct espi_arena arena;
    espi_arena_init(&arena);
    struct espi_router router;
    struct espi_dijkstra w, parts;
    double distance[MAX_N], part_distance[MAX_N];
    int last_arc[MAX_N], part_last[MAX_N], path[MAX_N], n = rg->g.n;
    assert_int_equal(espi_router_init(&router, &rg->g, rg->weight, &arena), 0);
    if (gathered)
        assert_int_equal(espi_router_gather(&router, &arena), 0);
    assert_int_equal(espi_dijkstra_init(&w, n, &arena), 0);
    assert_int_equal(espi_dijkstra_init(&parts, n, &arena), 0);
    for (int from = 0; from < n; from++) {
        struct espi_dijkstra_query q = {rg->weight, &from, 1, NULL};
        espi_dijkstra(&w, &rg->g, &q, distance, last_arc);
        espi_dijkstra_start(&parts, &rg->g, &q, part_distance, part_last);
        for (int i = 0; i < n; i++) {
            int to = (i * 7 + 3 * from) % n;
            int length = espi_route_between(&router, from, to, path);
            espi_dijkstra_reach(&parts, &rg->g, &q, to, part_distance, part_last);
            assert_true(part_distance[to] == distance[to]);
            assert_int_equal(part_last[to], last_arc[to]);
            if (!isfinite(distance[to]))
                assert_int_equal(length, -1);
            else
                check_path(rg, path, length, last_arc, from, to);
        }
    }
    espi_arena_done(&arena);
}

static void both_find_the_same_path(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(77));
    for (int round = 0; round < 600; round++) {
        int n = 1 + (int)espi_rng_below(&r, MAX_N);
        int m = n - 1 + (int)espi_rng_below(&r, (uint32_t)(n * (1 + round % 6)) + 1);
        struct random_graph rg;
        random_graph_make(&rg, &r, n, m, round % 5 > 0);
        random_weights(&rg, &r, (enum weight_kind)(round % 3));
        for (int a = 0; a < m; a++)
            if (espi_rng_below(&r, 20) == 0)
                rg.weight[a] = INFINITY;
        check_graph(&rg, round % 2);
        random_graph_free(&rg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_find_the_same_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
