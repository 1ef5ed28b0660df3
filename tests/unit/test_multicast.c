/* Multicast and scatter: bounds, exact optimum and vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "solve/cover.h"
#include "solve/flows.h"
#include "solve/multicast.h"
#include "support/plans.h"
#include "support/seed.h"
#include "support/small_platform.h"

/* ---- vectors with known answers ---- */

static const struct small_arc m1[] = {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {1, 4, 1},
                                      {2, 4, 1}, {2, 5, 1}, {3, 4, 2}, {4, 5, 2}};
static const struct small_arc m2[] = {{0, 1, 1}, {0, 2, 3}, {1, 2, 1}, {1, 3, 2},
                                      {1, 4, 2}, {2, 3, 1}, {2, 4, 1}, {3, 4, 2}};
static const struct small_arc m3[] = {{0, 1, .5}, {0, 2, .5}, {1, 5, .5},
                                      {1, 3, .5}, {2, 6, .5}, {2, 3, .5},
                                      {3, 4, 1},  {4, 5, .5}, {4, 6, .5}};

static const struct vector {
    const char *name;
    int n, m;
    const struct small_arc *arcs;
    int n_targets, targets[3];
    double ub, lb, exact, eb;
    int sources[4]; /* nodes that become sources, one after the other; -1: no more */
    double multisource[4];
} vectors[] = {
    {"M1", 6, 8, m1, 3, {3, 4, 5}, 3, 1.5, 1.5, 2, {1, 3, 4, -1}, {2, 1.75, 1.5}},
    {"M2",
     5,
     8,
     m2,
     2,
     {3, 4},
     2,
     4. / 3,
     4. / 3,
     11. / 8,
     {2, 3, -1},
     {13. / 8, 18. / 13}},
    {"M3", 7, 9, m3, 2, {5, 6}, 1, 1. / 2, 2. / 3, INFINITY, {-1}, {0}},
};

struct scene {
    struct esp_platform *p;
    struct espi_arena arena;
    struct espi_flow_net net;
};

static void scene_init(struct scene *s, const struct vector *v)
{
    s->p = small_platform(ESP_MODEL_ONE_PORT, v->n, v->arcs, v->m);
    espi_arena_init(&s->arena);
    assert_int_equal(
        espi_flow_net_init(&s->net, s->p, 1, 0, v->n_targets, v->targets, &s->arena), 0);
}

static void scene_done(struct scene *s)
{
    espi_arena_done(&s->arena);
    esp_platform_free(s->p);
}

static double cover_s(struct scene *s, espi_cover_kind kind)
{
    struct espi_cover c;
    double period_s = NAN;
    assert_int_equal(espi_cover_init(&c, &s->net, kind, &s->arena, NULL), ESP_OK);
    assert_int_equal(espi_cover_solve(&c, INFINITY, &period_s, NULL), ESP_OK);
    espi_cover_free(&c);
    return period_s;
}

static void bounds_are_those_of_the_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct vector *v = &vectors[i];
        struct scene s;
        struct espi_flows f;
        struct espi_multicast best;
        scene_init(&s, v);
        assert_int_equal(espi_flows_init(&f, &s.net, &s.arena, NULL), ESP_OK);
        assert_float_equal(f.period_s, v->ub, 1e-9);
        assert_float_equal(cover_s(&s, ESPI_COVER_TARGETS), v->lb, 1e-9);
        if (isfinite(v->eb))
            assert_float_equal(cover_s(&s, ESPI_COVER_SPAN), v->eb, 1e-9);
        assert_int_equal(espi_multicast_solve(&s.net, NULL, &s.arena, &best, NULL),
                         ESP_OK);
        assert_true(best.exact);
        assert_float_equal(best.period_s, v->exact, 1e-9);
        assert_float_equal(best.bound_s, v->exact, 1e-8);
        for (int k = 0; v->sources[k] > 0; k++) {
            int better;
            assert_int_equal(espi_flows_try_source(&f, v->sources[k], &better, NULL),
                             ESP_OK);
            assert_true(better);
            assert_float_equal(f.period_s, v->multisource[k], 1e-9);
        }
        espi_flows_free(&f);
        scene_done(&s);
    }
}

static struct esp_plan *planned(const struct esp_platform *p, esp_op op, const char *algo,
                                int n_targets, const int *targets)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = algo;
    request.size_bytes = 1;
    request.slice_bytes = 0;
    request.targets = targets;
    request.n_targets = n_targets;
    if (esp_plan_make(p, &request, &plan, &err))
        fail_msg("%s: %s", algo, err.text);
    return plan;
}

/* Periods of the plans of all heuristics, on the vectors where all apply. */
static void plans_reach_what_the_vectors_say(void **state)
{
    (void)state;
    static const struct {
        const char *algo;
        double period_s[2];
    } known[] = {{"mc-scatter", {3, 2}},
                 {"mc-broadcast", {2, 11. / 8}},
                 {"reduced-broadcast", {2, 11. / 8}},
                 {"augmented-multicast", {2, 11. / 8}},
                 {"multisource:sources=63", {1.5, 18. / 13}},
                 {"mcph", {2, 2}},
                 {"steiner-cg", {1.5, 4. / 3}}};
    for (int i = 0; i < 2; i++) {
        const struct vector *v = &vectors[i];
        struct esp_platform *p = small_platform(ESP_MODEL_ONE_PORT, v->n, v->arcs, v->m);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            struct esp_plan *plan =
                planned(p, ESP_OP_MULTICAST, known[k].algo, v->n_targets, v->targets);
            if (fabs(1 / plan->throughput_Bps - known[k].period_s[i]) > 1e-8)
                fail_msg("%s, %s: period %.9g, not %.9g", v->name, known[k].algo,
                         1 / plan->throughput_Bps, known[k].period_s[i]);
            esp_plan_free(plan);
        }
        struct esp_plan *plan = planned(p, ESP_OP_SCATTER, "scatter", v->n_targets,
                                        v->targets); /* a message for all targets */
        assert_float_equal(plan->throughput_Bps, v->n_targets / v->ub, 1e-8);
        esp_plan_free(plan);
        esp_platform_free(p);
    }
}

/* ---- all trees, packed: the optimum without any pricing ---- */

enum { MOST_TREES = 4000, MOST_NODES = 6 };

struct all {
    const struct espi_flow_net *net;
    struct espi_lp *lp;
    int choice[MOST_NODES]; /* link into each node; -1: not in the tree */
    int count;
};

/* Is the choice a tree that reaches the targets and nobody in vain? */
static int is_tree(const struct all *x)
{
    const struct espi_digraph *g = &x->net->g;
    for (int v = 0; v < g->n; v++) {
        int steps = 0, w = v;
        if (v == x->net->root || x->choice[v] < 0) {
            if (x->net->is_target[v])
                return 0;
            continue;
        }
        while (w != x->net->root && ++steps <= g->n) {
            if (x->choice[w] < 0)
                return 0;
            w = g->tail[x->choice[w]];
        }
        if (w != x->net->root)
            return 0;
    }
    return 1;
}

/* Rows: shares sum to 1, then the ports. */
static void add_tree(struct all *x)
{
    const struct espi_flow_net *net = x->net;
    double load[2 * MOST_NODES] = {0}, value[2 * MOST_NODES + 1] = {1};
    int index[2 * MOST_NODES + 1], start[2] = {0, 1};
    index[0] = 0;
    for (int v = 0; v < net->g.n; v++)
        if (v != net->root && x->choice[v] >= 0) {
            double s = esp_platform_link_time_s(net->p, x->choice[v], 1);
            load[net->g.tail[x->choice[v]]] += s;
            load[MOST_NODES + v] += s;
        }
    for (int i = 0; i < 2 * MOST_NODES; i++)
        if (load[i] > 0) {
            index[start[1]] = 1 + i;
            value[start[1]++] = load[i];
        }
    struct espi_lp_vectors column = {
        .count = 1, .start = start, .index = index, .value = value};
    espi_lp_add_columns(x->lp, &column);
    assert_true(++x->count < MOST_TREES);
}

static void each_tree(struct all *x, int v)
{
    const struct espi_digraph *g = &x->net->g;
    if (v == g->n) {
        if (is_tree(x))
            add_tree(x);
        return;
    }
    x->choice[v] = -1;
    each_tree(x, v + 1);
    for (int k = g->in.start[v]; v != x->net->root && k < g->in.start[v + 1]; k++) {
        x->choice[v] = g->in.item[k];
        each_tree(x, v + 1);
    }
}

static double optimum_s(const struct espi_flow_net *net)
{
    enum { ROWS = 2 * MOST_NODES + 1 };
    struct all x = {.net = net};
    double lower[ROWS], upper[ROWS] = {1}, one = 1, minus[ROWS];
    int start[ROWS + 1] = {0}, index[ROWS], period[2] = {0, ROWS - 1};
    for (int i = 0; i < ROWS; i++) {
        lower[i] = i ? -1e30 : 1;
        minus[i] = -1;
        index[i] = i + 1;
    }
    assert_int_equal(espi_lp_create(&x.lp, NULL), ESP_OK);
    struct espi_lp_vectors rows = {.count = ROWS,
                                   .lower = lower,
                                   .upper = upper,
                                   .start = start,
                                   .index = index,
                                   .value = minus};
    espi_lp_add_rows(x.lp, &rows);
    struct espi_lp_vectors column = {
        .count = 1, .cost = &one, .start = period, .index = index, .value = minus};
    espi_lp_add_columns(x.lp, &column);
    each_tree(&x, 0);
    assert_int_equal(espi_lp_solve(x.lp, ESPI_LP_PRIMAL), ESPI_LP_OPTIMAL);
    double s = espi_lp_values(x.lp)[0];
    espi_lp_free(x.lp);
    return s;
}

static void bounds_hold_the_optimum_between_them(void **state)
{
    (void)state;
    static const char *const algos[] = {"mc-scatter",
                                        "mc-broadcast",
                                        "reduced-broadcast",
                                        "reduced-broadcast:strict=yes",
                                        "augmented-multicast",
                                        "multisource",
                                        "mcph",
                                        "steiner-cg:k=2"};
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(11));
    for (int round = 0; round < test_draws(60); round++) {
        int targets[MOST_NODES], k = 0, n = 4 + round % 3;
        struct small_options o = {.n = n,
                                  .density = 0.3,
                                  .whole = round % 2 ? 4 : 0,
                                  .model = ESP_MODEL_ONE_PORT};
        struct espi_arena arena;
        struct espi_flow_net net;
        struct espi_flows flows;
        struct espi_multicast best;
        double lb;
        struct esp_platform *p = small_random(&rng, &o);
        for (int v = 1; v < n; v++)
            if (v == n - 1 || espi_rng_below(&rng, 2))
                targets[k++] = v;
        espi_arena_init(&arena);
        assert_int_equal(espi_flow_net_init(&net, p, 1, 0, k, targets, &arena), 0);
        double optimum = optimum_s(&net), rough = 1e-6 * optimum;
        assert_int_equal(espi_multicast_bound(&net, &arena, &lb, NULL), ESP_OK);
        assert_int_equal(espi_flows_init(&flows, &net, &arena, NULL), ESP_OK);
        assert_int_equal(espi_multicast_solve(&net, NULL, &arena, &best, NULL), ESP_OK);
        assert_true(lb <= optimum + rough && optimum <= flows.period_s + rough);
        assert_true(flows.period_s <= k * optimum + rough);
        assert_float_equal(best.period_s, optimum, rough);
        assert_true(best.bound_s <= optimum + rough && best.bound_s >= optimum - rough);
        for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
            struct esp_plan *plan = planned(p, ESP_OP_MULTICAST, algos[i], k, targets);
            double s = 1 / plan->throughput_Bps;
            if (s < optimum - rough || (i == 5 && s > flows.period_s + rough))
                fail_msg("%s: %.9g, the optimum is %.9g", algos[i], s, optimum);
            assert_true(i < 7 || plan->n_trees <= 2);
            esp_plan_free(plan);
        }
        espi_flows_free(&flows);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* The targets of a platform of three levels: a share of its LANs' hosts. */
static int lan_targets(const struct esp_platform *p, uint32_t seed, int *targets)
{
    struct espi_rng rng;
    int k = 0, percent;
    espi_rng_seed(&rng, test_seed(seed));
    percent = 10 + (int)espi_rng_below(&rng, 80);
    for (int v = 1; v < esp_platform_node_count(p); v++)
        if (esp_platform_node_name(p, v)[0] == 'l' &&
            (int)espi_rng_below(&rng, 100) < percent)
            targets[k++] = v;
    if (k == 0)
        targets[k++] = esp_platform_node_count(p) - 1;
    return k;
}

static struct esp_platform *tiers(const char *preset, uint64_t seed)
{
    struct esp_tiers_options o;
    struct esp_platform *p = NULL;
    esp_tiers_options_defaults(&o);
    assert_int_equal(esp_tiers_options_preset(&o, preset, NULL), ESP_OK);
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_tiers(&o, &p, NULL), ESP_OK);
    return p;
}

/* No heuristic beats steiner-cg on any platform, and few trees are no worse than one and
 * the fewer the worse; nothing is faster than the bound. */
static void check_best(const struct esp_platform *p, int k, const int *targets)
{
    static const char *const algos[] = {
        "mc-scatter",  "mc-broadcast",        "mcph",           "reduced-broadcast",
        "multisource", "augmented-multicast", "steiner-cg:k=3", "steiner-cg:k=1"};
    struct espi_arena arena;
    struct espi_flow_net net;
    double lb, single = 0, last = 0;
    espi_arena_init(&arena);
    assert_int_equal(espi_flow_net_init(&net, p, 1, 0, k, targets, &arena), 0);
    assert_int_equal(espi_multicast_bound(&net, &arena, &lb, NULL), ESP_OK);
    struct esp_plan *best = planned(p, ESP_OP_MULTICAST, "steiner-cg", k, targets);
    assert_true(1 / best->throughput_Bps >= lb * (1 - 1e-7));
    for (size_t i = 0; i < sizeof algos / sizeof *algos; i++) {
        struct esp_plan *plan = planned(p, ESP_OP_MULTICAST, algos[i], k, targets);
        if (plan->throughput_Bps > best->throughput_Bps * (1 + 1e-7))
            fail_msg("%s: %.9g, steiner-cg: %.9g", algos[i], plan->throughput_Bps,
                     best->throughput_Bps);
        single = i == 2 ? plan->throughput_Bps : single;
        if (i == 7) {
            assert_int_equal(plan->n_trees, 1);
            assert_true(plan->throughput_Bps >= single * (1 - 1e-7));
            assert_true(plan->throughput_Bps <= last * (1 + 1e-7));
        }
        last = plan->throughput_Bps;
        esp_plan_free(plan);
    }
    esp_plan_free(best);
    espi_arena_done(&arena);
}

static void steiner_cg_is_the_best(void **state)
{
    (void)state;
    for (int round = 0; round < test_draws(12); round++) {
        int targets[64];
        struct esp_platform *p = tiers(round < 10 ? "30b" : "65b", (uint64_t)round + 1);
        check_best(p, lan_targets(p, (uint32_t)round, targets), targets);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_reach_what_the_vectors_say),
        cmocka_unit_test(bounds_are_those_of_the_vectors),
        cmocka_unit_test(bounds_hold_the_optimum_between_them),
        cmocka_unit_test(steiner_cg_is_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
