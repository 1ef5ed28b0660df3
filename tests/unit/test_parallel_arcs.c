/* Arcs put together by their ends, against all pairs of arcs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "graph/parallel_arcs.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

enum { NODES = 6, ARCS = 40 };

/* The pair that the arc is of; it stands there once. */
static int pair_of(const struct espi_parallel_arcs *p, int id)
{
    int found = -1;
    for (int i = 0; i < p->n; i++)
        for (int k = p->start[i]; k < p->start[i + 1]; k++)
            if (p->id[k] == id) {
                assert_int_equal(found, -1);
                found = i;
            }
    assert_true(found >= 0);
    return found;
}

static void check_rows(const struct espi_parallel_arcs *p,
                       const struct espi_parallel_arc *arc, int n)
{
    for (int x = 0; x < n; x++) {
        int pair = pair_of(p, x);
        assert_in_range(pair, p->node_start[arc[x].from],
                        p->node_start[arc[x].from + 1] - 1);
        for (int y = 0; y < n; y++)
            assert_int_equal(pair == pair_of(p, y),
                             arc[x].from == arc[y].from && arc[x].to == arc[y].to);
    }
    for (int i = 0; i < p->n; i++)
        for (int k = p->start[i] + 1; k < p->start[i + 1]; k++)
            assert_true(p->id[k - 1] < p->id[k]);
    assert_int_equal(p->node_start[NODES], p->n);
    assert_int_equal(p->start[p->n], n);
}

static void arcs_of_the_same_ends_are_together(void **state)
{
    (void)state;
    for (int draw = 0; draw < test_draws(200); draw++) {
        struct espi_rng rng;
        struct espi_arena arena;
        struct espi_parallel_arcs p;
        struct espi_parallel_arc arc[ARCS], sorted[ARCS];
        espi_rng_seed(&rng, test_seed((uint64_t)draw + 1));
        espi_arena_init(&arena);
        int n = (int)espi_rng_below(&rng, ARCS + 1);
        for (int i = 0; i < n; i++) {
            arc[i].from = (int)espi_rng_below(&rng, NODES);
            arc[i].to = (int)espi_rng_below(&rng, NODES);
            arc[i].id = i;
            sorted[i] = arc[i];
        }
        assert_int_equal(espi_parallel_arcs_init(&p, sorted, n, NODES, &arena), 0);
        check_rows(&p, arc, n);
        espi_arena_done(&arena);
    }
}

static esp_status group_once(void *arg)
{
    struct espi_parallel_arc arc[2] = {{0, 1, 0}, {0, 1, 1}};
    struct espi_parallel_arcs p;
    struct espi_arena arena;
    (void)arg;
    espi_arena_init(&arena);
    int bad = espi_parallel_arcs_init(&p, arc, 2, 2, &arena);
    espi_arena_done(&arena);
    return bad ? ESP_ENOMEM : ESP_OK;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    alloc_fail_each(group_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arcs_of_the_same_ends_are_together),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
