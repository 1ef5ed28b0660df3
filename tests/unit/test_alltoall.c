/* Alltoall: the best paths against the whole multicommodity program written out, their
 * certificate, what each algorithm promises, plans that are wrong, and bounds that no
 * simulation beats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/rng.h"
#include "bound/makespan_bound.h"
#include "bound/pairs_certificate.h"
#include "lp/lp.h"
#include "plan/messages.h"
#include "plan/ops.h"
#include "support/alloc_fail.h"
#include "support/kinds.h"
#include "support/seed.h"
#include "support/small_platform.h"

static esp_status make(const struct esp_platform *p, const char *algo, double size,
                       struct esp_plan **plan, struct esp_err *err)
{
    struct esp_request request;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    request.algo = algo;
    request.size_bytes = size;
    return esp_plan_make(p, &request, plan, err);
}

static struct esp_plan *planned(const struct esp_platform *p, const char *algo,
                                double size)
{
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    if (make(p, algo, size, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

/* ---- the whole program ---- */

/* Every host is a commodity of its own: what it sends flows over links, and one slice of
 * it stays at each other host. Column 0 is the period, then the flows, by host and link.
 */
struct whole {
    const struct espi_flow_net *net;
    struct espi_lp *lp;
    int *start, *index, rows, at;
    double *value, *lower, *upper;
};

static void add_entry(struct whole *w, int column, double value)
{
    w->index[w->at] = column;
    w->value[w->at++] = value;
}

static void end_row(struct whole *w, double lower, double upper)
{
    w->lower[w->rows] = lower;
    w->upper[w->rows++] = upper;
    w->start[w->rows] = w->at;
}

static void flow_rows(struct whole *w, int source)
{
    const struct esp_platform *p = w->net->p;
    for (int v = 0; v < p->n_nodes; v++) {
        if (v == source)
            continue;
        for (int e = 0; e < p->n_links; e++)
            if (p->head[e] == v || p->tail[e] == v)
                add_entry(w, 1 + source * p->n_links + e, p->head[e] == v ? 1 : -1);
        double stays = espi_is_switch(p, v) || espi_is_switch(p, source) ? 0 : 1;
        end_row(w, stays, stays);
    }
}

static void load_row(struct whole *w, int resource)
{
    const struct esp_platform *p = w->net->p;
    const struct espi_resources *r = &w->net->res;
    add_entry(w, 0, -1);
    for (int source = 0; source < p->n_nodes; source++)
        for (int e = 0; e < p->n_links; e++)
            for (int k = r->start[e]; k < r->start[e + 1]; k++)
                if (r->resource[k] == resource && r->time_s[k] > 0)
                    add_entry(w, 1 + source * p->n_links + e,
                              r->time_s[k] / w->net->unit_s);
    end_row(w, -INFINITY, 0);
}

static double whole_period_s(const struct espi_flow_net *net, struct espi_arena *arena)
{
    const struct esp_platform *p = net->p;
    struct whole w = {.net = net};
    int columns = 1 + p->n_nodes * p->n_links;
    size_t rows = (size_t)p->n_nodes * (size_t)p->n_nodes + (size_t)net->res.n + 1;
    size_t room = (size_t)p->n_nodes * (size_t)p->n_links * 8 + rows;
    w.start = ESPI_ARENA_ZNEW(arena, int, rows + 1);
    w.lower = ESPI_ARENA_NEW(arena, double, rows);
    w.upper = ESPI_ARENA_NEW(arena, double, rows);
    w.index = ESPI_ARENA_NEW(arena, int, room);
    w.value = ESPI_ARENA_NEW(arena, double, room);
    int *empty = ESPI_ARENA_ZNEW(arena, int, (size_t)columns + 1);
    double *cost = ESPI_ARENA_ZNEW(arena, double, columns);
    cost[0] = 1;
    assert_int_equal(espi_lp_create(&w.lp, NULL), ESP_OK);
    struct espi_lp_vectors c = {
        .count = columns, .cost = cost, .start = empty, .index = empty, .value = cost};
    espi_lp_add_columns(w.lp, &c);
    for (int v = 0; v < p->n_nodes; v++)
        if (!espi_is_switch(p, v))
            flow_rows(&w, v);
    for (int r = 0; r < net->res.n; r++)
        load_row(&w, r);
    assert_true((size_t)w.at <= room);
    struct espi_lp_vectors all = {.count = w.rows,
                                  .lower = w.lower,
                                  .upper = w.upper,
                                  .start = w.start,
                                  .index = w.index,
                                  .value = w.value};
    espi_lp_add_rows(w.lp, &all);
    assert_int_equal(espi_lp_solve(w.lp, ESPI_LP_DUAL), ESPI_LP_OPTIMAL);
    double period_s = espi_lp_values(w.lp)[0] * net->unit_s;
    espi_lp_free(w.lp);
    return period_s;
}

static void best_paths_are_those_of_the_whole_program(void **state)
{
    (void)state;
    int split = 0, n = 0;
    for (int round = 0; round < test_draws(60); round++) {
        struct espi_arena arena;
        struct espi_flow_net net;
        struct espi_all_pairs found;
        struct espi_all_pairs_options options = {0};
        struct esp_err err = {.text = ""};
        struct esp_platform *p =
            kind_platform(round % KINDS, 4 + round % 4, test_seed((uint64_t)round + 1),
                          (esp_model)(round / KINDS % ESP_MODEL_COUNT));
        espi_arena_init(&arena);
        assert_int_equal(espi_flow_net_init(&net, p, 1e5, 0, 0, NULL, &arena), 0);
        if (espi_all_pairs_solve(&net, &options, &arena, &found, &err))
            fail_msg("%s", err.text);
        double whole_s = whole_period_s(&net, &arena);
        assert_true(fabs(found.period_s / whole_s - 1) < 1e-5);
        assert_true(fabs(found.bound_s / whole_s - 1) < 1e-5);
        if (espi_pairs_certificate_check(&net, &found, &arena, &err))
            fail_msg("%s", err.text);
        split += found.n_paths > p->n_hosts * (p->n_hosts - 1);
        n++;
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
    assert_true(split > 0 || n < 60);
}

static void certificates_that_are_wrong(void **state)
{
    (void)state;
    struct espi_arena arena;
    struct espi_flow_net net;
    struct espi_all_pairs good, bad;
    struct espi_all_pairs_options options = {0};
    struct esp_platform *p = kind_platform(0, 6, test_seed(1), ESP_MODEL_ONE_PORT);
    espi_arena_init(&arena);
    assert_int_equal(espi_flow_net_init(&net, p, 1e5, 0, 0, NULL, &arena), 0);
    assert_int_equal(espi_all_pairs_solve(&net, &options, &arena, &good, NULL), ESP_OK);
    bad = good;
    bad.bound_s *= 1.01;
    assert_int_equal(espi_pairs_certificate_check(&net, &bad, &arena, NULL),
                     ESP_EINTERNAL);
    bad = good;
    bad.period_s *= 0.99;
    assert_int_equal(espi_pairs_certificate_check(&net, &bad, &arena, NULL),
                     ESP_EINTERNAL);
    bad = good;
    bad.n_paths--;
    assert_int_equal(espi_pairs_certificate_check(&net, &bad, &arena, NULL),
                     ESP_EINTERNAL);
    good.path[0].to = good.path[0].from;
    assert_int_equal(espi_pairs_certificate_check(&net, &good, &arena, NULL),
                     ESP_EINTERNAL);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

/* ---- what algorithms promise ---- */

static struct esp_platform *complete(int n, double latency_s)
{
    struct esp_complete_options o;
    struct esp_platform *p = NULL;
    esp_complete_options_defaults(&o);
    o.nodes = n;
    o.latency_s = latency_s;
    o.bandwidth.deviation_Bps = 0;
    assert_int_equal(esp_generate_complete(&o, &p, NULL), ESP_OK);
    return p;
}

/* How many messages the host sends. */
static int messages_of(const struct esp_plan *plan, int host)
{
    struct espi_arena arena;
    struct espi_messages m;
    int n = 0;
    espi_arena_init(&arena);
    assert_int_equal(espi_messages_init(&m, plan, &arena), 0);
    for (int i = 0; i < m.n; i++)
        n += espi_message_edge(&m, plan, i)->from == host;
    espi_arena_done(&arena);
    return n;
}

static int digits_of(int n, int radix)
{
    int digits = 0;
    for (int place = 1; place < n; place *= radix)
        digits++;
    return digits;
}

static void digits_sends_few_messages(void **state)
{
    (void)state;
    for (int n = 2; n <= 19; n++)
        for (int radix = 2; radix <= 5; radix++) {
            char text[32];
            struct esp_platform *p = complete(n, 1e-3);
            snprintf(text, sizeof text, "digits:radix=%d", radix);
            struct esp_plan *plan = planned(p, text, 1e4);
            int most = digits_of(n, radix);
            for (int t = 0; t < plan->n_trees; t++)
                assert_true(plan->trees[t].n_edges <= most);
            for (int h = 0; h < n; h++)
                assert_true(messages_of(plan, h) <= (radix - 1) * most);
            esp_plan_free(plan);
            esp_platform_free(p);
        }
}

/* On equal hosts no time is lost: the bound is the makespan. */
static void pairwise_is_best_among_equals(void **state)
{
    (void)state;
    for (int n = 2; n <= 12; n++) {
        struct esp_platform *p = complete(n, 0);
        struct esp_plan *plan = planned(p, "pairwise", 1e6);
        struct espi_makespan_task task = {
            .p = p, .op = ESP_OP_ALLTOALL, .size_bytes = 1e6, .exclusive = 1};
        double bound_s = 0;
        assert_int_equal(espi_makespan_bound(&task, &bound_s, NULL), ESP_OK);
        assert_true(fabs(plan->makespan_s / bound_s - 1) < 1e-9);
        assert_int_equal(messages_of(plan, 0), n - 1);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

static int is_crossing(const struct esp_platform *p, const struct esp_edge *e)
{
    return strcmp(esp_platform_node_site(p, e->from), esp_platform_node_site(p, e->to)) !=
           0;
}

/* Every part crosses once, if it has to, and in no more messages than there are pairs of
 * sites times agents. */
static void by_site_crosses_once(void **state)
{
    (void)state;
    for (int agents = 0; agents < 4; agents++) {
        struct esp_sites_options o;
        struct esp_platform *p = NULL;
        char text[32];
        esp_sites_options_defaults(&o);
        o.sites = 3;
        o.clusters = 1;
        o.hosts = 4;
        assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
        snprintf(text, sizeof text, "by-site:agents=%d", agents);
        struct esp_plan *plan = planned(p, text, 1e4);
        int crossings = 0;
        for (int t = 0; t < plan->n_trees; t++) {
            const struct esp_tree *tree = &plan->trees[t];
            int crosses = 0;
            struct esp_edge ends = {.from = tree->root, .to = tree->targets[0]};
            for (int i = 0; i < tree->n_edges; i++)
                crosses += is_crossing(p, &tree->edges[i]);
            assert_int_equal(crosses, is_crossing(p, &ends));
            assert_true(tree->n_edges <= (crosses ? 3 : 1));
        }
        struct espi_arena arena;
        struct espi_messages m;
        espi_arena_init(&arena);
        assert_int_equal(espi_messages_init(&m, plan, &arena), 0);
        for (int i = 0; i < m.n; i++)
            crossings += is_crossing(p, espi_message_edge(&m, plan, i));
        assert_int_equal(crossings, 6 * (agents ? agents : 4));
        espi_arena_done(&arena);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* ---- bounds ---- */

static void check_end(const struct esp_platform *p, const struct esp_plan *plan)
{
    for (int fluid = 0; fluid < 2; fluid++) {
        struct espi_makespan_task task = {.p = p,
                                          .op = ESP_OP_ALLTOALL,
                                          .size_bytes = plan->size_bytes,
                                          .exclusive = !fluid};
        struct esp_sim_options o;
        struct esp_sim_result *result = NULL;
        double bound_s = 0;
        esp_sim_options_defaults(&o);
        o.sharing = fluid ? ESP_SHARING_FLUID : ESP_SHARING_EXCLUSIVE;
        if (esp_simulate(p, plan, &o, &result, NULL))
            continue;
        assert_int_equal(espi_makespan_bound(&task, &bound_s, NULL), ESP_OK);
        if (!(bound_s > 0) && p->model != ESP_MODEL_HNOW)
            fail_msg("%s: %d hosts, %s, %g bytes: %g s", plan->algo, p->n_hosts,
                     esp_model_name(p->model), plan->size_bytes, bound_s);
        assert_int_equal(result->lost, 0);
        if (!(result->makespan_s >= bound_s * (1 - 1e-9)))
            fail_msg("%s, %s, %g bytes: %.12g s, the bound being %.12g s", plan->algo,
                     esp_model_name(p->model), plan->size_bytes, result->makespan_s,
                     bound_s);
        esp_sim_result_free(result);
    }
}

static void no_simulation_beats_the_bound(void **state)
{
    static const char *const algos[] = {
        "pairwise",  "digits",           "digits:radix=3", "by-site", "spread-pairs",
        "all-pairs", "by-site:agents=0", "open-shop",      "relays"};
    enum { ALGOS = sizeof algos / sizeof *algos };
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(11));
    int made = 0;
    for (int round = 0; round < test_draws(70); round++) {
        struct esp_platform *p =
            kind_platform(round % KINDS, 3 + round % 7, test_seed((uint64_t)round + 1),
                          (esp_model)(round / KINDS % ESP_MODEL_COUNT));
        struct esp_plan *plan = NULL;
        for (int e = 0; e < p->n_links; e++)
            p->latency_s[e] +=
                espi_rng_below(&rng, 2) ? espi_rng_log_range(&rng, 1e-5, 0.1) : 0;
        if (!make(p, algos[round % ALGOS], espi_rng_log_range(&rng, 10, 1e9), &plan,
                  NULL)) {
            check_end(p, plan);
            made++;
        }
        esp_plan_free(plan);
        esp_platform_free(p);
    }
    assert_true(made > test_draws(70) / 3);
}

/* ---- plans that are wrong ---- */

static void wrong_plans_are_refused(void **state)
{
    (void)state;
    struct esp_platform *p = complete(4, 1e-3);
    struct esp_plan *plan = planned(p, "digits", 1e4);
    struct esp_tree *tree = &plan->trees[2]; /* from 0 to 3, by way of 1 */
    assert_int_equal(tree->n_edges, 2);
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
    tree->targets[0] = 1; /* where it does not end */
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    tree->targets[0] = 0; /* a pair of one */
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    tree->targets[0] = 3;
    tree->root = 2; /* another pair's */
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    tree->root = 0;
    tree->steps[1] = tree->steps[0]; /* before it has arrived */
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    tree->steps[1] = 1;
    tree->weight /= 2; /* bytes that go nowhere */
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    tree->weight *= 2;
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_OK);
    int n_targets = tree->n_targets, *targets = tree->targets;
    tree->targets = NULL;
    tree->n_targets = 0;
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    tree->targets = targets;
    tree->n_targets = n_targets;
    int some = 1;
    assert_int_equal(esp_plan_set_targets(plan, 1, &some, NULL), ESP_OK);
    assert_int_equal(esp_plan_check(plan, p, NULL), ESP_EINPUT);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* ---- memory ---- */

static esp_status all_of_it(void *arg)
{
    static const char *const algos[] = {"auto", "by-site", "digits"};
    const struct esp_platform *p = arg;
    esp_status st = ESP_OK;
    for (int i = 0; i < 3 && !st; i++) {
        struct esp_plan *plan = NULL;
        st = make(p, algos[i], 1e5, &plan, NULL);
        esp_plan_free(plan);
    }
    struct esp_request request;
    struct esp_bound *bound = NULL;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLTOALL;
    if (!st)
        st = esp_bound_compute(p, &request, NULL, &bound, NULL);
    esp_bound_free(bound);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 2;
    o.clusters = 1;
    o.hosts = 2;
    assert_int_equal(esp_generate_sites(&o, &p, NULL), ESP_OK);
    assert_true(alloc_fail_some(all_of_it, p, 400) > 10);
    esp_platform_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_paths_are_those_of_the_whole_program),
        cmocka_unit_test(certificates_that_are_wrong),
        cmocka_unit_test(digits_sends_few_messages),
        cmocka_unit_test(pairwise_is_best_among_equals),
        cmocka_unit_test(by_site_crosses_once),
        cmocka_unit_test(no_simulation_beats_the_bound),
        cmocka_unit_test(wrong_plans_are_refused),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
