/* Trees of equal weight: on the networks for which they were missed, and on others as
 * measuring writes them, a long message is through soon after the bound says, shared as
 * TCP shares, and the plan knows when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <espalier/espalier.h>

#include "cost/cost.h"
#include "support/alloc_fail.h"
#include "support/measured_network.h"
#include "support/plans.h"
#include "support/seed.h"

enum { MB = 1000 * 1000 };

static struct esp_plan *plan_by(const struct esp_platform *p, const char *algo,
                                double slice_bytes)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = 64.0 * MB;
    request.slice_bytes = slice_bytes;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

/* The four networks on which many trees of unequal weights lost up to a half, and what
 * two trees drawn by hand, one crossing each cable once, show on the first. */
static void known_networks_are_served_at_the_bound(void **state)
{
    (void)state;
    static const char *const names[] = {"three-sites", "four-racks", "one-switch",
                                        "chain"};
    for (int i = 0; i < 4; i++) {
        struct esp_platform *p = preset_of(names[i]);
        struct esp_plan *plan = plan_by(p, "equal-trees", 16384);
        double least_s = plan->size_bytes / plan->bound_Bps, found_s = fluid_s(p, plan);
        print_message("%s: %d trees, %.4f of size / bound\n", names[i], plan->n_trees,
                      found_s / least_s);
        assert_true(found_s <= 1.03 * least_s);
        assert_true(fabs(plan->makespan_s / found_s - 1) < 1e-2);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* What the busiest port, link or cable of the plan allows. */
static double carried_Bps(const struct esp_platform *p, const struct esp_plan *plan)
{
    struct espi_arena arena;
    double load_s = 0;
    espi_arena_init(&arena);
    assert_int_equal(
        espi_plan_load_s(p, plan, plan->size_bytes, plan->slice_bytes, &arena, &load_s),
        ESP_OK);
    espi_arena_done(&arena);
    return plan->size_bytes / load_s;
}

/* Connections that meet on a cable get the same of it, however many trees each carries:
 * trees that keep apart run at the pace of the busiest cable. */
static void cables_between_sites_are_filled(void **state)
{
    (void)state;
    for (int i = 0; i < test_draws(16); i++) {
        struct esp_sites_options o;
        struct esp_platform *sites = NULL, *p = NULL;
        esp_sites_options_defaults(&o);
        o.sites = 3;
        o.hosts = 2;
        o.spread = 1.5;
        o.seed = test_seed((uint64_t)i + 1);
        assert_int_equal(esp_generate_sites(&o, &sites, NULL), ESP_OK);
        assert_int_equal(esp_platform_with_model(sites, ESP_MODEL_CAPACITY, &p, NULL),
                         ESP_OK);
        struct esp_plan *plan =
            plan_by(p, i % 2 ? "equal-trees:k=22" : "equal-trees:k=13", 16384);
        double part = plan->throughput_Bps / carried_Bps(p, plan);
        if (!(part > 0.995))
            fail_msg("%d trees fill %g of their busiest cable", plan->n_trees, part);
        esp_plan_free(plan);
        esp_platform_free(p);
        esp_platform_free(sites);
    }
}

/* Transfers from the root to the farthest host of a tree. */
static int depth_of(const struct esp_tree *tree, int n_nodes)
{
    int deepest = 0, *depth = calloc((size_t)n_nodes, sizeof *depth);
    assert_non_null(depth);
    for (int i = 0; i < tree->n_edges; i++) { /* senders come before their receivers */
        depth[tree->edges[i].to] = depth[tree->edges[i].from] + 1;
        deepest = depth[tree->edges[i].to] > deepest ? depth[tree->edges[i].to] : deepest;
    }
    free(depth);
    return deepest;
}

static int deepest_of(const struct esp_plan *plan, int n_nodes)
{
    int deepest = 0;
    for (int t = 0; t < plan->n_trees; t++) {
        int depth = depth_of(&plan->trees[t], n_nodes);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* On equal hosts at one switch every port is needed, and a host that sends to one other
 * in each of k trees makes them as deep as there are hosts. Of wide ones only the last
 * has to take what others left. */
static void wide_trees_are_shallow(void **state)
{
    (void)state;
    int deepest = 0, deep = 0;
    for (int i = 0; i < test_draws(24); i++) {
        struct esp_measured_options o;
        struct esp_platform *p = NULL;
        char algo[40];
        int k = 2 + 3 * i % 7;
        esp_measured_options_defaults(&o);
        o.hosts = 24 + 5 * i % 17;
        o.bandwidth_min_Bps = o.bandwidth_max_Bps = 1e10; /* so that latencies count */
        o.noise = 0;
        o.seed = test_seed((uint64_t)i + 1);
        assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
        snprintf(algo, sizeof algo, "equal-trees:k=%d,wide=1", k);
        struct esp_plan *wide = plan_by(p, algo, 65536);
        snprintf(algo, sizeof algo, "equal-trees:k=%d", k);
        struct esp_plan *balanced = plan_by(p, algo, 65536);
        if (!(carried_Bps(p, wide) > 0.97 * wide->bound_Bps))
            fail_msg("%d hosts, %d trees: %.3f of the bound", o.hosts, k,
                     carried_Bps(p, wide) / wide->bound_Bps);
        deepest += deepest_of(wide, o.hosts);
        deep += deepest_of(balanced, o.hosts);
        esp_plan_free(wide);
        esp_plan_free(balanced);
        esp_platform_free(p);
    }
    print_message("wide %d, else %d transfers deep in all\n", deepest, deep);
    assert_true(3 * deepest < 2 * deep);
}

/* As many trees as asked for, of one weight each, and no fewer arcs than they need. */
static void weights_are_equal(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) {
        struct esp_measured_options o;
        struct esp_platform *p = NULL;
        char algo[32];
        esp_measured_options_defaults(&o);
        o.kind = ESP_MEASURED_RING;
        o.hosts = 12;
        o.seed = test_seed((uint64_t)k);
        assert_int_equal(esp_generate_measured(&o, &p, NULL), ESP_OK);
        snprintf(algo, sizeof algo, "equal-trees:k=%d", k);
        struct esp_plan *plan = plan_by(p, algo, 65536);
        assert_int_equal(plan->n_trees, k);
        for (int t = 0; t < k; t++) {
            assert_true(fabs(plan->trees[t].weight - 1.0 / k) < 1e-12);
            assert_int_equal(plan->trees[t].n_edges, 11);
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static const struct esp_platform *shared;

static esp_status make(void *unused)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    (void)unused;
    esp_request_init(&request, 0);
    request.algo = "equal-trees:k=3";
    request.size_bytes = 1.0 * MB;
    esp_status st = esp_plan_make(shared, &request, &plan, NULL);
    esp_plan_free(plan);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    struct esp_platform *p = preset_of("three-sites");
    shared = p;
    alloc_fail_each(make, NULL);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_networks_are_served_at_the_bound),
        cmocka_unit_test(cables_between_sites_are_filled),
        cmocka_unit_test(wide_trees_are_shallow),
        cmocka_unit_test(weights_are_equal),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
