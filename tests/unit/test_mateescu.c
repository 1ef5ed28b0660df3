/* Shortest paths with initiation costs: vectors, the definition, and the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "cost/cost.h"
#include "support/all_trees.h"
#include "support/initiation.h"
#include "support/plans.h"
#include "support/seed.h"

enum { MAX_N = INITIATION_MAX };

static int parent_of(const struct esp_plan *plan, int node)
{
    for (int i = 0; i < plan->trees[0].n_edges; i++)
        if (plan->trees[0].edges[i].to == node)
            return plan->trees[0].edges[i].from;
    return -1;
}

static void check_parents(const struct esp_plan *plan, const int *parent, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(parent_of(plan, i), parent[i]);
}

static void the_vectors_come_out(void **state)
{
    (void)state;
    struct esp_platform *p = initiation_platform(&initiation_a1);
    struct esp_plan *plan = plan_made(p, "mateescu", 0);
    check_parents(plan, (int[]){-1, 0, 0, 1, 2, 4}, 6);
    assert_true(plan->makespan_s == 11);
    esp_plan_free(plan);
    esp_platform_free(p);

    p = initiation_platform(
        &initiation_a2); /* one tree only; the child with the longer rest goes first */
    plan = plan_made(p, "mateescu", 0);
    check_parents(plan, (int[]){-1, 0, 0, 2, 2}, 5);
    assert_int_equal(plan->trees[0].edges[0].to, 2);
    assert_true(plan->makespan_s == 8);
    esp_plan_free(plan);
    plan = plan_made(p, "ecef", 0);
    assert_int_equal(plan->trees[0].edges[0].to, 1);
    assert_true(plan->makespan_s == 9);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Cost of the tree of an algorithm's plan when children are served in the best order. */
static double ordered_s(const struct espi_view *v, const char *algo,
                        struct espi_arena *arena)
{
    struct esp_plan *plan = plan_made(v->p, algo, 0);
    int parent_arc[MAX_N], arcs[MAX_N];
    double fill_s;
    assert_true(plan_is_direct(plan));
    parent_arc[0] = -1;
    for (int i = 0; i < plan->trees[0].n_edges; i++)
        parent_arc[plan->trees[0].edges[i].to] = plan->trees[0].hops[i];
    assert_int_equal(espi_order_tree(v, 0, parent_arc, arena, arcs, &fill_s), 0);
    esp_plan_free(plan);
    return fill_s;
}

static void other_trees_cost_what_the_vector_says(void **state)
{
    (void)state;
    struct esp_platform *p = initiation_platform(&initiation_a1);
    struct espi_arena arena;
    struct espi_view v;
    espi_arena_init(&arena);
    assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
    assert_true(ordered_s(&v, "flat", &arena) == 11);
    assert_true(ordered_s(&v, "binomial", &arena) == 13);
    assert_true(ordered_s(&v, "chain", &arena) == 20);
    struct all_trees_best best = all_trees_best(&v, 0, 1);
    assert_int_equal(best.n_trees, 1296);
    assert_true(best.fill_s == 10);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* d(u) + (k(u) + 1) c(u) + w(u, v), least first, ties by u, then v. */
static void naive(const struct initiation *x, int *parent)
{
    double d[MAX_N] = {0};
    int k[MAX_N] = {0}, in[MAX_N] = {1};
    parent[0] = -1;
    for (int step = 1; step < x->n; step++) {
        int bu = -1, bv = -1;
        double best = INFINITY;
        for (int u = 0; u < x->n; u++)
            for (int v = 0; v < x->n; v++) {
                double key = d[u] + (k[u] + 1) * x->c[u] + x->w[u][v];
                if (in[u] && !in[v] && x->w[u][v] > 0 && key < best) {
                    best = key;
                    bu = u;
                    bv = v;
                }
            }
        parent[bv] = bu;
        d[bv] = best;
        in[bv] = 1;
        k[bu]++;
    }
}

/* The cost of a tree by its labels: children by w + L, descending. */
static double label(const struct initiation *x, const int *parent, int u)
{
    double rest[MAX_N], most = 0;
    int kids = 0;
    for (int v = 0; v < x->n; v++)
        if (parent[v] == u)
            rest[kids++] = x->w[u][v] + label(x, parent, v);
    for (int k = 1; k <= kids; k++) {
        int top = 0;
        for (int i = 1; i < kids; i++)
            if (rest[i] > rest[top])
                top = i;
        most = fmax(most, k * x->c[u] + rest[top]);
        rest[top] = -INFINITY;
    }
    return most;
}

static void the_definition_is_followed(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(21));
    for (int round = 0; round < 1500; round++) {
        struct initiation x = {.n = 2 + (int)espi_rng_below(&rng, MAX_N - 1)};
        int parent[MAX_N], spread = round % 3 ? 9 : 2;
        for (int i = 0; i < x.n; i++) {
            x.c[i] = (double)espi_rng_below(&rng, 4);
            for (int j = 0; j < x.n; j++)
                if (i != j && (i == 0 || round % 2 || espi_rng_below(&rng, 3) == 0))
                    x.w[i][j] = 1 + (double)espi_rng_below(&rng, (uint32_t)spread);
        }
        struct esp_platform *p = initiation_platform(&x);
        struct esp_plan *plan = plan_made(p, "mateescu", 0);
        naive(&x, parent);
        check_parents(plan, parent, x.n);
        assert_true(plan->makespan_s == label(&x, parent, 0));
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_come_out),
        cmocka_unit_test(other_trees_cost_what_the_vector_says),
        cmocka_unit_test(the_definition_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
