/* Short messages where sites are far apart: one crossing, and no more than the network
 * has to take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "runtime/agreement.h"
#include "runtime/choice.h"
#include "support/alloc_fail.h"

static const double FAR_S = 20e-3;

static struct esp_platform *sites(int n_sites, int clusters, int hosts, double far_s)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_sites_options_defaults(&o);
    o.sites = n_sites;
    o.clusters = clusters;
    o.hosts = hosts;
    o.wan_latency_s = far_s;
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_with_model(p, ESP_MODEL_CAPACITY, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

static struct esp_platform *equal_hosts(int n, double latency_s)
{
    struct esp_complete_options o;
    struct esp_platform *p = NULL;
    esp_complete_options_defaults(&o);
    o.nodes = n;
    o.bandwidth.deviation_Bps = 0;
    o.latency_s = latency_s;
    assert_int_equal(esp_generate_complete(&o, &p, NULL), ESP_OK);
    return p;
}

static struct esp_plan *planned(const struct esp_platform *p, esp_op op, const char *algo,
                                double size)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.size_bytes = size;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    return plan;
}

static int is_crossing(const struct esp_platform *p, int a, int b)
{
    return strcmp(esp_platform_node_site(p, a), esp_platform_node_site(p, b)) != 0;
}

/* How often a tree crosses, and that nothing that has crossed crosses again. */
static int crossings(const struct esp_platform *p, const struct esp_tree *tree)
{
    int n = 0, has_crossed[64] = {0};
    for (int i = 0; i < tree->n_edges; i++) {
        const struct esp_edge *e = &tree->edges[i];
        int crosses = is_crossing(p, e->from, e->to);
        assert_true(!crosses || !has_crossed[e->from]);
        has_crossed[e->to] = has_crossed[e->from] || crosses;
        n += crosses;
    }
    return n;
}

static void each_part_crosses_once(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        int n_sites = 2 + i % 4, clusters = 1 + i % 2, hosts = 1 + i % 5;
        struct esp_platform *p = sites(n_sites, clusters, hosts, FAR_S);
        int n = esp_platform_node_count(p);
        /* the widest gap is between sites where their clusters are not as far apart */
        struct esp_plan *plan = planned(p, ESP_OP_ALLGATHER, "magpie", n);
        if (clusters == 1 || hosts == 1) {
            assert_int_equal(plan->n_trees, n);
            for (int t = 0; t < plan->n_trees; t++)
                assert_int_equal(crossings(p, &plan->trees[t]), n_sites - 1);
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* Within a fifth of what light needs, simulated. */
static void short_ones_take_one_crossing(void **state)
{
    (void)state;
    static const struct {
        esp_op op;
        double bytes_a_host; /* 0: of all */
        double bytes;
    } calls[] = {{ESP_OP_ALLGATHER, 1, 0}, {ESP_OP_ALLGATHER, 256, 0},
                 {ESP_OP_BCAST, 0, 1000},  {ESP_OP_REDUCE, 0, 8},
                 {ESP_OP_GATHER, 8, 0},    {ESP_OP_SCATTER, 8, 0},
                 {ESP_OP_ALLREDUCE, 0, 8}};
    struct esp_platform *p = sites(4, 2, 4, FAR_S);
    int n = esp_platform_node_count(p);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct espi_choice choice;
        struct espi_choice_options options = {.force = 1};
        struct esp_sim_result *result = NULL;
        double size = calls[i].bytes + calls[i].bytes_a_host * n;
        assert_int_equal(espi_choose(p, calls[i].op, 3, size, &options, &choice, NULL),
                         ESP_OK);
        assert_non_null(choice.plan);
        assert_int_equal(choice.gathers, calls[i].op == ESP_OP_ALLREDUCE);
        if (choice.gathers)
            assert_int_equal(choice.plan->op, ESP_OP_ALLGATHER);
        choice.plan->size_bytes = choice.gathers ? size * n : size;
        assert_int_equal(esp_simulate(p, choice.plan, NULL, &result, NULL), ESP_OK);
        assert_true(result->makespan_s >= FAR_S && result->makespan_s <= 1.2 * FAR_S);
        assert_true(choice.ours_s <= 1.2 * FAR_S);
        esp_sim_result_free(result);
        espi_choice_done(&choice);
    }
    esp_platform_free(p);
}

static esp_status plan_reduced(const struct esp_platform *p, const char *algo,
                               double size, struct esp_plan **plan)
{
    struct esp_request request;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLREDUCE;
    request.algo = algo;
    request.size_bytes = size;
    return esp_plan_make(p, &request, plan, NULL);
}

/* The planner knows what ranks do with short allreduces, and who names it gets it from
 * ranks, too. */
static void short_allreduces_are_planned_as_they_run(void **state)
{
    (void)state;
    static const char *const algos[] = {"auto", "gathered"};
    struct esp_platform *p = sites(4, 1, 4, FAR_S);
    int n = esp_platform_node_count(p);
    for (int i = 0; i < 2; i++) {
        struct esp_plan *plan = NULL;
        struct espi_choice choice;
        struct espi_choice_options options = {.force = 1, .algo = algos[i]};
        assert_int_equal(plan_reduced(p, algos[i], 8, &plan), ESP_OK);
        assert_string_equal(plan->algo, "gathered");
        assert_int_equal(plan->op, ESP_OP_ALLGATHER);
        assert_true(fabs(plan->size_bytes - 8 * n) < 1e-9);
        assert_true(plan->makespan_s >= FAR_S && plan->makespan_s <= 1.2 * FAR_S);
        assert_int_equal(espi_choose(p, ESP_OP_ALLREDUCE, 0, 8, &options, &choice, NULL),
                         ESP_OK);
        assert_true(choice.plan && choice.gathers);
        assert_true(fabs(choice.ours_s / plan->makespan_s - 1) < 0.05);
        espi_choice_done(&choice);
        esp_plan_free(plan);
    }
    struct esp_plan *plan = NULL;
    assert_int_equal(plan_reduced(p, "gathered", 1e6, &plan), ESP_EUNSUPPORTED);
    assert_int_equal(plan_reduced(p, "auto", 1e6, &plan), ESP_OK);
    assert_int_equal(plan->op, ESP_OP_ALLREDUCE);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Long ones go to a host and back. */
static void long_allreduces_are_not_gathered(void **state)
{
    (void)state;
    struct esp_platform *p = sites(3, 1, 4, FAR_S);
    struct espi_choice choice;
    struct espi_choice_options options = {.force = 1};
    assert_int_equal(espi_choose(p, ESP_OP_ALLREDUCE, 0, 1e6, &options, &choice, NULL),
                     ESP_OK);
    assert_true(choice.plan && !choice.gathers);
    espi_choice_done(&choice);
    options.algo = "binomial"; /* who names one that reduces gets it */
    assert_int_equal(espi_choose(p, ESP_OP_ALLREDUCE, 0, 8, &options, &choice, NULL),
                     ESP_OK);
    assert_true(choice.plan && !choice.gathers);
    assert_string_equal(choice.plan->algo, "binomial");
    espi_choice_done(&choice);
    esp_platform_free(p);
}

/* Who wants what is combined in the order of ranks gets all of it, of any algorithm. */
static void in_order_all_is_gathered(void **state)
{
    (void)state;
    struct esp_platform *p = sites(3, 1, 4, FAR_S);
    int n = esp_platform_node_count(p);
    struct espi_choice choice;
    struct espi_choice_options options = {.force = 1, .order = ESPI_IN_ORDER};
    for (int to_root = 0; to_root < 2; to_root++) {
        esp_op op = to_root ? ESP_OP_REDUCE : ESP_OP_ALLREDUCE;
        assert_int_equal(espi_choose(p, op, 2, 1e6, &options, &choice, NULL), ESP_OK);
        assert_true(choice.plan && choice.gathers);
        assert_int_equal(choice.plan->op, to_root ? ESP_OP_GATHER : ESP_OP_ALLGATHER);
        double size_bytes = 1e6 * (to_root ? n - 1 : n);
        assert_true(fabs(choice.plan->size_bytes - size_bytes) < 1);
        if (to_root)
            assert_int_equal(choice.plan->root, 2);
        espi_choice_done(&choice);
        assert_int_equal(espi_choose(p, op, 2, 1e8, &options, &choice, NULL), ESP_OK);
        assert_null(choice.plan); /* more than a rank has room for */
    }
    esp_platform_free(p);
}

/* From a host to another, by the latencies alone. */
static double lag_s(const struct esp_platform *p, int from, int to)
{
    return is_crossing(p, from, to) ? FAR_S : 0;
}

/* When host i has heard from all 2^rounds before it, crossings only: by recursion, from
 * the end. */
static double heard_s(const struct esp_platform *p, int n, int i, int by)
{
    if (by < 1)
        return 0;
    int from = ((i - by) % n + n) % n;
    double own_s = heard_s(p, n, i, by / 2);
    double other_s = heard_s(p, n, from, by / 2) + lag_s(p, from, i);
    return fmax(own_s, other_s);
}

static void barriers_are_predicted(void **state)
{
    (void)state;
    for (int n = 2; n <= 17; n++) {
        struct esp_platform *p = equal_hosts(n, 1e-3);
        double s = 0, way_s = 0;
        assert_int_equal(espi_predict_barrier(p, &s, NULL), ESP_OK);
        assert_int_equal(espi_longest_way(p, &way_s, NULL), ESP_OK);
        assert_true(way_s >= 1e-3 && way_s < 1.1e-3);
        assert_true(fabs(s / (ceil(log2(n)) * way_s) - 1) < 1e-9);
        esp_platform_free(p);
    }
    for (int i = 0; i < 6; i++) {
        struct esp_platform *p = sites(2 + i % 3, 1, 2 + i, FAR_S);
        int n = esp_platform_node_count(p), first = 1;
        double s = 0, want_s = 0;
        while (2 * first < n)
            first *= 2;
        for (int h = 0; h < n; h++)
            want_s = fmax(want_s, heard_s(p, n, h, first));
        assert_int_equal(espi_predict_barrier(p, &s, NULL), ESP_OK);
        assert_true(s >= want_s &&
                    s < want_s + FAR_S / 10); /* and what is within sites */
        esp_platform_free(p);
    }
}

/* A plan with one crossing wins where the library needs several, and not on one LAN. */
static void who_runs_barriers(void **state)
{
    (void)state;
    struct espi_choice_options options = {.margin = 0.9, .keep = 1, .barrier = 1};
    struct espi_choice choice;
    struct esp_platform *far_apart = sites(4, 1, 4, FAR_S),
                        *near = equal_hosts(16, 50e-6);
    assert_int_equal(
        espi_choose(far_apart, ESP_OP_ALLGATHER, 0, 16, &options, &choice, NULL), ESP_OK);
    assert_true(choice.plan && !choice.is_native && choice.native_s > 3 * choice.ours_s);
    espi_choice_done(&choice);
    assert_int_equal(espi_choose(near, ESP_OP_ALLGATHER, 0, 16, &options, &choice, NULL),
                     ESP_OK);
    assert_true(choice.is_native || choice.ours_s < 0.9 * choice.native_s);
    espi_choice_done(&choice);
    esp_platform_free(far_apart);
    esp_platform_free(near);
}

/* Hosts that are equally far are a site each; a second gap there is not. */
static void gaps_that_are_not_there(void **state)
{
    (void)state;
    struct esp_platform *p = equal_hosts(7, 1e-3);
    struct esp_request request;
    struct esp_plan *plan = planned(p, ESP_OP_ALLGATHER, "magpie", 70);
    for (int t = 0; t < plan->n_trees; t++)
        for (int i = 0; i < 6; i++)
            assert_int_equal(plan->trees[t].edges[i].from, plan->trees[t].root);
    esp_plan_free(plan);
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLGATHER;
    request.algo = "magpie:gap=2";
    plan = NULL;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_EUNSUPPORTED);
    assert_null(plan);
    esp_platform_free(p);
}

static esp_status all_of_it(void *arg)
{
    struct espi_choice choice;
    struct espi_choice_options options = {.force = 1, .barrier = 1};
    double s;
    esp_status st = espi_choose(arg, ESP_OP_ALLREDUCE, 0, 8, &options, &choice, NULL);
    if (!st)
        espi_choice_done(&choice);
    return st ? st : espi_longest_way(arg, &s, NULL);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct esp_platform *p = sites(2, 1, 2, FAR_S);
    assert_true(alloc_fail_each(all_of_it, p) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_crosses_once),
        cmocka_unit_test(short_ones_take_one_crossing),
        cmocka_unit_test(short_allreduces_are_planned_as_they_run),
        cmocka_unit_test(long_allreduces_are_not_gathered),
        cmocka_unit_test(in_order_all_is_gathered),
        cmocka_unit_test(barriers_are_predicted),
        cmocka_unit_test(who_runs_barriers),
        cmocka_unit_test(gaps_that_are_not_there),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
