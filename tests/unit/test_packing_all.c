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

#include "cost/cut_bound.h"
#include "cost/packing.h"
#include "lp/lp.h"

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
    struct espi_lp_vectors rows = {r.n,     r.lower, r.upper, NULL,
                                   r.start, r.index, r.value};
    espi_lp_add_rows(lp, &rows);
    assert_int_equal(espi_lp_solve(lp, ESPI_LP_DUAL), ESPI_LP_OPTIMAL);
    double period_s = espi_lp_objective(lp);
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
    o.seed = (uint64_t)seed;
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
        esp_fabric_options_defaults(&o);
        o.clusters = 2 + round % 3;
        o.hosts = 1 + round % 4;
        o.spread = round % 2 ? 3 : 1;
        o.switches = round / 2 % 2;
        o.seed = (uint64_t)round;
        assert_int_equal(esp_generate_fabric(&o, &p, NULL), ESP_OK);
        solve(&s, p, 1e6);
        check_trees(&s);
        assert_int_equal(espi_all_cut_s(&s.view, &s.arena, &cut_s), 0);
        assert_true(s.packing.rate * cut_s < 1 + 1e-9);
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
        espi_arena_init(&arena);
        assert_int_equal(espi_view_init(&v, p, 1, &arena, NULL), ESP_OK);
        for (int set = 1; set < (1 << v.g.n) - 1; set++) {
            double out = 0;
            for (int e = 0; e < v.g.m; e++)
                if (set >> v.g.tail[e] & 1 && !(set >> v.g.head[e] & 1))
                    out += v.bandwidth_Bps[e];
            worst_s = fmax(worst_s, __builtin_popcount((unsigned)set) / out / v.g.n);
        }
        assert_int_equal(espi_all_cut_s(&v, &arena, &found_s), 0);
        assert_true(fabs(found_s / worst_s - 1) < 1e-9);
        espi_arena_done(&arena);
        esp_platform_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_good_as_the_whole_program),
        cmocka_unit_test(fabrics_reach_the_cut_bound),
        cmocka_unit_test(cuts_are_the_worst_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
