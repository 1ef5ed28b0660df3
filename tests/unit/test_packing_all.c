/* Trees from all roots against the whole linear program, cuts, and the plan's own loads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "bound/op_bound.h"
#include "bound/own_bound.h"
#include "lp/lp.h"
#include "solve/cut_bound.h"
#include "solve/packing.h"
#include "study/alltoall.h"
#include "support/seed.h"

enum { MOST = 200000 };

struct rows {
    int n, at;
    int start[MOST], index[4 * MOST];
    double lower[MOST], upper[MOST], value[4 * MOST];
};

static void entry(struct rows *r, int column, double value)
{
    r->index[r->at] = column;
    r->value[r->at++] = value;
}

static void end_row(struct rows *r, double lower, double upper)
{
    r->lower[r->n] = lower;
    r->upper[r->n++] = upper;
    r->start[r->n] = r->at;
}

/* From first principles: column 0 is the period, y(root, arc) comes next, then a flow for
 * each root and target, no larger than y; the loads of all y / n are at most the period.
 */
static double period_by_program(const struct espi_view *v)
{
    static struct rows r;
    int n = v->g.n, m = v->g.m, flows = 1 + n * m, columns = flows + n * n * m;
    r.n = r.at = 0;
    for (int s = 0; s < n; s++)
        for (int t = 0; t < n; t++) {
            int first = flows + (s * n + t) * m;
            for (int h = 0; h < n && s != t; h++) {
                for (int e = 0; e < m; e++)
                    if (v->g.tail[e] == h || v->g.head[e] == h)
                        entry(&r, first + e, v->g.tail[e] == h ? 1 : -1);
                end_row(&r, h == s ? 1 : h == t ? -1 : 0, h == s ? 1 : h == t ? -1 : 0);
            }
            for (int e = 0; e < m && s != t; e++) {
                entry(&r, first + e, 1);
                entry(&r, 1 + s * m + e, -1);
                end_row(&r, -INFINITY, 0);
            }
        }
    for (int res = 0; res < v->links.n; res++) {
        entry(&r, 0, -1);
        for (int e = 0; e < m; e++)
            for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
                for (int s = 0; s < n && v->use_resource[k] == res; s++)
                    entry(&r, 1 + s * m + e, v->use_s[k] / n);
        end_row(&r, -INFINITY, 0);
    }
    struct espi_lp *lp = NULL;
    double *cost = calloc((size_t)columns, sizeof *cost);
    int *none = calloc((size_t)columns + 1, sizeof *none);
    cost[0] = 1;
    assert_int_equal(espi_lp_create(&lp, NULL), ESP_OK);
    struct espi_lp_vectors c = {
        .count = columns, .cost = cost, .start = none, .index = none, .value = cost};
    espi_lp_add_columns(lp, &c);
    struct espi_lp_vectors rows = {.count = r.n,
                                   .lower = r.lower,
                                   .upper = r.upper,
                                   .start = r.start,
                                   .index = r.index,
                                   .value = r.value};
    espi_lp_add_rows(lp, &rows);
    assert_int_equal(espi_lp_solve(lp, ESPI_LP_DUAL), ESPI_LP_OPTIMAL);
    double period_s = espi_lp_values(lp)[0];
    espi_lp_free(lp);
    free(cost);
    free(none);
    return period_s;
}

struct solved {
    struct esp_platform *p;
    struct espi_arena arena;
    struct espi_view view;
    struct espi_packing packing;
};

static void solve(struct solved *s, struct esp_platform *p, double slice)
{
    struct esp_err err;
    s->p = p;
    espi_arena_init(&s->arena);
    assert_int_equal(espi_view_init(&s->view, p, slice, &s->arena, NULL), ESP_OK);
    if (espi_packing_solve_all(&s->view, NULL, &s->arena, &s->packing, &err))
        fail_msg("%s", err.text);
    assert_true(s->packing.gap <= 1e-4);
}

static void done(struct solved *s)
{
    espi_arena_done(&s->arena);
    esp_platform_free(s->p);
}

/* Every root's trees span all hosts and carry an equal part, and no resource is used more
 * than all of its time. */
static void check_trees(const struct solved *s)
{
    const struct espi_view *v = &s->view;
    const struct espi_packing *k = &s->packing;
    double *load = calloc((size_t)v->links.n, sizeof *load);
    double *rate = calloc((size_t)v->g.n, sizeof *rate);
    for (int i = 0; i < k->n_trees; i++) {
        const struct espi_packing_tree *t = &k->tree[i];
        rate[k->root[i]] += t->rate;
        for (int h = 0; h < v->g.n; h++) {
            int x = h, steps = 0;
            while (x != k->root[i] && steps++ <= v->g.n) {
                int first = t->hop_start[x], last = t->hop_start[x + 1] - 1;
                assert_true(first <= last);
                assert_int_equal(v->host[v->p->head[t->hops[last]]], x);
                for (int q = first + 1; q <= last; q++) {
                    assert_int_equal(v->p->tail[t->hops[q]], v->p->head[t->hops[q - 1]]);
                    assert_int_equal(v->host[v->p->tail[t->hops[q]]], -1);
                }
                x = v->host[v->p->tail[t->hops[first]]];
            }
            assert_int_equal(x, k->root[i]);
        }
        for (int q = t->hop_start[0]; q < t->hop_start[v->g.n]; q++)
            espi_resources_add(&v->links, t->hops[q], t->rate, load);
    }
    for (int h = 0; h < v->g.n; h++)
        assert_true(fabs(rate[h] * v->g.n / k->rate - 1) < 1e-9);
    for (int r = 0; r < v->links.n; r++)
        assert_true(load[r] < 1 + 1e-9);
    free(load);
    free(rate);
}

static struct esp_platform *network(int seed, int n, esp_model model)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL, *q = NULL;
    esp_random_options_defaults(&o);
    o.nodes = n;
    o.seed = test_seed((uint64_t)seed);
    o.density = 0.5;
    o.bandwidth.deviation_Bps = 60e6;
    assert_int_equal(esp_generate_random(&o, &p, NULL), ESP_OK);
    assert_int_equal(esp_platform_with_model(p, model, &q, NULL), ESP_OK);
    esp_platform_free(p);
    return q;
}

static void as_good_as_the_whole_program(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        struct solved s;
        solve(&s, network(round, 2 + round % 4, model), 1e6);
        check_trees(&s);
        double period_s = period_by_program(&s.view);
        assert_true(s.packing.rate * period_s < 1 + 1e-6);
        assert_true(s.packing.rate * period_s > 1 - 1.1e-4);
        assert_true(s.packing.bound * period_s > 1 - 1e-6);
        done(&s);
    }
}

static void fabrics_reach_the_cut_bound(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        struct esp_fabric_options o;
        struct esp_platform *p = NULL;
        struct solved s;
        double cut_s = 0;
        unsigned char side[64];
        esp_fabric_options_defaults(&o);
        o.clusters = 2 + round % 3;
        o.hosts = 1 + round % 4;
        o.spread = round % 2 ? 3 : 1;
        o.switches = round / 2 % 2;
        o.seed = test_seed((uint64_t)round);
        assert_int_equal(esp_generate_fabric(&o, &p, NULL), ESP_OK);
        solve(&s, p, 1e6);
        check_trees(&s);
        assert_int_equal(espi_all_cut_s(&s.view, &s.arena, &cut_s, side), 0);
        assert_true(s.packing.rate * cut_s < 1 + 1e-9);
        assert_true(s.packing.rate * cut_s > 1 - 1e-4);
        assert_int_equal(espi_all_cut_is_tight(&s.view, &s.arena), 1);
        done(&s);
    }
}

/* What a goes on to tell both others has to leave it twice: the switch does not copy, and
 * has more bandwidth out than in. */
static void cuts_do_not_know_that_switches_cannot_copy(void **state)
{
    (void)state;
    static const char text[] =
        "{\"format\":\"espalier-platform/1\",\"name\":\"t\",\"model\":\"capacity\","
        "\"nodes\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},"
        "{\"name\":\"s\",\"kind\":\"switch\"}],\"links\":["
        "{\"from\":\"a\",\"to\":\"s\",\"bandwidth_Bps\":10},"
        "{\"from\":\"s\",\"to\":\"b\",\"bandwidth_Bps\":10},"
        "{\"from\":\"s\",\"to\":\"c\",\"bandwidth_Bps\":10},"
        "{\"from\":\"b\",\"to\":\"a\",\"bandwidth_Bps\":10},"
        "{\"from\":\"c\",\"to\":\"a\",\"bandwidth_Bps\":10}]}";
    struct esp_platform *p = NULL;
    struct solved s;
    double cut_s = 0;
    unsigned char side[4];
    assert_int_equal(esp_platform_parse(text, strlen(text), "test", NULL, &p, NULL),
                     ESP_OK);
    solve(&s, p, 1);
    struct espi_op_bound_task task = {.p = p, .op = ESP_OP_ALLGATHER, .slice_bytes = 1};
    struct espi_op_bound bound;
    assert_int_equal(espi_op_bound(&task, &bound, NULL), ESP_OK);
    assert_int_equal(espi_all_cut_s(&s.view, &s.arena, &cut_s, side), 0);
    assert_int_equal(espi_all_cut_is_tight(&s.view, &s.arena), 0);
    assert_true(fabs(cut_s * 15 - 1) < 1e-9);
    assert_true(fabs(bound.throughput_Bps / 7.5 - 1) < 1e-4);
    done(&s);
}

/* Where cuts are said to be the optimum, without switches too, trees reach them. */
static void tight_cuts_are_reached(void **state)
{
    (void)state;
    for (int round = 0; round < 24; round++) {
        esp_model model = (esp_model)(round % ESP_MODEL_COUNT);
        struct solved s;
        double cut_s = 0;
        unsigned char side[16];
        solve(&s, network(round + 50, 3 + round % 6, model), 1e6);
        int tight = espi_all_cut_is_tight(&s.view, &s.arena);
        assert_int_equal(tight, model == ESP_MODEL_CAPACITY);
        assert_int_equal(espi_all_cut_s(&s.view, &s.arena, &cut_s, side), 0);
        if (tight)
            assert_true(s.packing.rate * cut_s > 1 - 1e-4);
        done(&s);
    }
}

/* The cut bound by looking at every set of nodes. */
static void cuts_are_the_worst_of_all(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct esp_platform *p = network(round + 7, 3 + round % 6, ESP_MODEL_CAPACITY);
        struct espi_arena arena;
        struct espi_view v;
        double found_s = 0, worst_s = 0;
        unsigned char side[16];
        espi_arena_init(&arena);
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        for (int set = 1; set < (1 << v.g.n) - 1; set++) {
            double out = 0;
            for (int e = 0; e < v.g.m; e++)
                if (set >> v.g.tail[e] & 1 && !(set >> v.g.head[e] & 1))
                    out += v.bandwidth_Bps[e];
            worst_s = fmax(worst_s, __builtin_popcount((unsigned)set) / out / v.g.n);
        }
        assert_int_equal(espi_all_cut_s(&v, &arena, &found_s, side), 0);
        assert_true(fabs(found_s / worst_s - 1) < 1e-9);
        double out = 0, inside = 0;
        for (int h = 0; h < v.g.n; h++)
            inside += side[h];
        for (int e = 0; e < v.g.m; e++)
            if (side[v.g.tail[e]] && !side[v.g.head[e]])
                out += v.bandwidth_Bps[e];
        assert_true(fabs(inside / out / v.g.n / found_s - 1) < 1e-9);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

static double plan_Bps(const struct esp_platform *p, esp_op op)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    esp_request_init(&request, 0);
    request.op = op;
    request.algo = "all-roots";
    request.slice_bytes = 1e6;
    assert_int_equal(esp_plan_make(p, &request, &plan, NULL), ESP_OK);
    double Bps = plan->throughput_Bps;
    esp_plan_free(plan);
    return Bps;
}

/* A reduce-scatter is an allgather turned round: its bound is that of the network with
 * all links turned, and trees from all roots, turned, reach it. */
static void reduce_scatter_has_the_bound_of_the_way_back(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct esp_platform *back = NULL, *p = network(round, 3 + round % 6,
                                                       round % 2 ? ESP_MODEL_ONE_PORT
                                                                 : ESP_MODEL_CAPACITY);
        assert_int_equal(esp_platform_reversed(p, &back, NULL), ESP_OK);
        struct espi_op_bound_task here = {
            .p = p, .op = ESP_OP_REDUCE_SCATTER, .slice_bytes = 1e6};
        struct espi_op_bound_task there = {
            .p = back, .op = ESP_OP_ALLGATHER, .slice_bytes = 1e6};
        struct espi_op_bound own, turned;
        assert_int_equal(espi_op_bound(&here, &own, NULL), ESP_OK);
        assert_int_equal(espi_op_bound(&there, &turned, NULL), ESP_OK);
        assert_true(own.throughput_Bps > 0);
        assert_true(fabs(own.throughput_Bps / turned.throughput_Bps - 1) < 1e-9);
        double Bps = plan_Bps(p, ESP_OP_REDUCE_SCATTER);
        assert_true(Bps < own.throughput_Bps * (1 + 1e-9));
        assert_true(Bps > own.throughput_Bps * (1 - 2e-4));
        esp_platform_free(back);
        esp_platform_free(p);
    }
}

/* Workstations with costs of their own: the closed form is what packed trees reach. */
static void own_costs_give_the_optimum(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct esp_platform *p = NULL;
        struct espi_arena arena;
        struct espi_view view;
        struct espi_packing packing;
        double own_s = 0;
        assert_int_equal(espi_alltoall_mix(2 + round % 9, 1 + round % 7,
                                           test_seed((uint64_t)round), &p, NULL),
                         ESP_OK);
        espi_arena_init(&arena);
        assert_int_equal(espi_view_init(&view, p, pow(10, round % 6), &arena, NULL), 0);
        assert_int_equal(espi_all_own_s(&view, &arena, &own_s), 0);
        assert_int_equal(espi_packing_solve_all(&view, NULL, &arena, &packing, NULL), 0);
        assert_true(own_s > 0);
        assert_true(fabs(packing.rate * own_s - 1) < 2e-5);
        assert_true(packing.bound * own_s > 1 - 1e-9);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

/* Links that differ are not the hosts' own costs. */
static void other_costs_are_left_to_the_program(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct esp_platform *p = network(round, 4 + round % 5, (esp_model)(round % 4));
        struct espi_arena arena;
        struct espi_view view;
        double own_s = 1;
        espi_arena_init(&arena);
        assert_int_equal(espi_view_init(&view, p, 1000, &arena, NULL), 0);
        assert_int_equal(espi_all_own_s(&view, &arena, &own_s), 0);
        assert_true(own_s == 0);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

static struct esp_platform *clusters(int clusters, int hosts, double spread,
                                     uint64_t seed)
{
    struct esp_fabric_options o;
    struct esp_platform *p = NULL;
    esp_fabric_options_defaults(&o);
    o.clusters = clusters;
    o.hosts = hosts;
    o.spread = spread;
    o.seed = test_seed(seed);
    assert_int_equal(esp_generate_fabric(&o, &p, NULL), ESP_OK);
    return p;
}

/* Whatever the work allowed: trees that are sound, a gap that is true, the same every
 * time; with more work, in the end, the optimum. */
static void little_work_gives_sound_trees(void **state)
{
    (void)state;
    for (int round = 0; round < 24; round++) {
        double work_limit = pow(10, 1 + round / 4);
        struct espi_packing_options o = {.work_limit = work_limit};
        double rate[2];
        for (int again = 0; again < 2; again++) {
            struct solved s;
            s.p = round % 2
                      ? clusters(3, 4, 1 + round % 3, (uint64_t)round)
                      : network(round, 10, (esp_model)(round / 2 % ESP_MODEL_COUNT));
            espi_arena_init(&s.arena);
            assert_int_equal(espi_view_init(&s.view, s.p, 1e6, &s.arena, NULL), ESP_OK);
            assert_int_equal(
                espi_packing_solve_all(&s.view, &o, &s.arena, &s.packing, NULL), ESP_OK);
            check_trees(&s);
            struct espi_packing best;
            assert_int_equal(espi_packing_solve_all(&s.view, NULL, &s.arena, &best, NULL),
                             ESP_OK);
            assert_true(best.rate <= s.packing.bound * (1 + 1e-9));
            assert_true(s.packing.rate <= best.bound * (1 + 1e-9));
            if (work_limit >= 1e6)
                assert_true(s.packing.gap <= 1e-5);
            rate[again] = s.packing.rate;
            done(&s);
        }
        assert_true(rate[0] == rate[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_the_whole_program),
        cmocka_unit_test(fabrics_reach_the_cut_bound),
        cmocka_unit_test(cuts_do_not_know_that_switches_cannot_copy),
        cmocka_unit_test(tight_cuts_are_reached),
        cmocka_unit_test(cuts_are_the_worst_of_all),
        cmocka_unit_test(reduce_scatter_has_the_bound_of_the_way_back),
        cmocka_unit_test(own_costs_give_the_optimum),
        cmocka_unit_test(other_costs_are_left_to_the_program),
        cmocka_unit_test(little_work_gives_sound_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
