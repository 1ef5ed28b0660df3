#include "solve/cover.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/watch.h"
#include "graph/reach.h"
#include "solve/solve_budget.h"
#include "solve/tuning.h"

enum { MOST_SOLVES = 1000000 };      /* limit: rounding that never ends */
static const double VIOLATED = 1e-7; /* rounding: a cut below 1 by that much is one */

/* The period, and how much each link takes; where that leaves a choice, the least time in
 * all. */
static esp_status add_columns(struct espi_cover *c, struct esp_err *err)
{
    const struct espi_flow_net *net = c->net;
    int m = net->g.m;
    struct espi_arena_mark mark = espi_arena_mark(c->arena);
    double *cost = ESPI_ARENA_ZNEW(c->arena, double, (size_t)m + 1);
    double *second = ESPI_ARENA_ZNEW(c->arena, double, (size_t)m + 1);
    double *upper = ESPI_ARENA_NEW(c->arena, double, (size_t)m + 1);
    int *start = ESPI_ARENA_ZNEW(c->arena, int, (size_t)m + 2);
    if (!cost || !second || !upper || !start)
        return espi_err_nomem(err);
    cost[0] = 1;
    upper[0] = DBL_MAX;
    for (int e = 0; e < m; e++) {
        double t = espi_link_time_s(net->p, e, net->slice_bytes) / net->unit_s;
        second[e + 1] = fmin(t, 1);
        upper[e + 1] = 1;
    }
    struct espi_lp_vectors columns = {.count = m + 1,
                                      .upper = upper,
                                      .cost = cost,
                                      .second_cost = second,
                                      .start = start,
                                      .index = start,
                                      .value = cost};
    espi_lp_add_columns(c->lp, &columns);
    espi_arena_release(c->arena, mark);
    return ESP_OK;
}

esp_status espi_cover_init(struct espi_cover *c, const struct espi_flow_net *net,
                           espi_cover_kind kind, struct espi_arena *arena,
                           struct esp_err *err)
{
    *c = (struct espi_cover){.net = net, .kind = kind, .arena = arena};
    int n = net->g.n, m = net->g.m;
    c->active = ESPI_ARENA_NEW(arena, unsigned char, n);
    c->reached = ESPI_ARENA_NEW(arena, unsigned char, n);
    c->order = ESPI_ARENA_NEW(arena, int, n);
    c->index = ESPI_ARENA_NEW(arena, int, m);
    c->value = ESPI_ARENA_NEW(arena, double, m);
    c->y = ESPI_ARENA_ZNEW(arena, double, m);
    if (!c->active || !c->reached || !c->order || !c->index || !c->value || !c->y ||
        espi_maxflow_init(&c->flow, &net->g, arena))
        return espi_err_nomem(err);
    memset(c->active, 1, (size_t)n);
    for (int e = 0; e < m; e++)
        c->value[e] = 1;
    esp_status st = espi_lp_create(&c->lp, err);
    if (!st)
        st = add_columns(c, err);
    if (!st)
        espi_lp_round_values(c->lp);
    if (!st && espi_flow_net_add_loads(net, 1, c->lp, arena))
        st = espi_err_nomem(err);
    if (st) {
        espi_cover_free(c);
        return st;
    }
    c->first_cut = espi_lp_rows(c->lp);
    return ESP_OK;
}

void espi_cover_free(struct espi_cover *c)
{
    espi_lp_free(c->lp);
    espi_free(c->side);
    c->lp = NULL;
    c->side = NULL;
}

static int is_required(const struct espi_cover *c, int v)
{
    if (c->kind == ESPI_COVER_TARGETS || v == c->net->root)
        return c->net->is_target[v];
    return c->active[v] && !espi_is_switch(c->net->p, v);
}

void espi_cover_set_active(struct espi_cover *c, int node, int on)
{
    const struct espi_digraph *g = &c->net->g;
    c->active[node] = (unsigned char)on;
    for (int k = g->out.start[node]; k < g->out.start[node + 1]; k++) {
        int e = g->out.item[k];
        espi_lp_set_upper(c->lp, e + 1, on && c->active[g->head[e]]);
    }
    for (int k = g->in.start[node]; k < g->in.start[node + 1]; k++) {
        int e = g->in.item[k];
        espi_lp_set_upper(c->lp, e + 1, on && c->active[g->tail[e]]);
    }
}

/* Cuts that keep nobody who is required from the root say nothing for now. */
static void refresh_cuts(struct espi_cover *c)
{
    int n = c->net->g.n;
    for (int i = 0; i < c->n_cuts; i++) {
        const unsigned char *side = c->side + (size_t)i * (size_t)n;
        int needed = 0;
        for (int v = 0; v < n && !needed; v++)
            needed = !side[v] && is_required(c, v);
        espi_lp_set_row(c->lp, c->first_cut + i, needed ? 1 : -DBL_MAX, DBL_MAX);
    }
}

/* Adds the cut whose far side is reached[v] == 0; -1 when out of memory. */
static int add_cut(struct espi_cover *c)
{
    const struct espi_digraph *g = &c->net->g;
    size_t n = (size_t)g->n, used = (size_t)c->n_cuts * n;
    void *side = c->side;
    if (espi_grow(&side, &c->side_cap, used + n, 1))
        return -1;
    c->side = side;
    memcpy(c->side + used, c->reached, n);
    int start[2] = {0, 0};
    double lower = 1;
    for (int e = 0; e < g->m; e++)
        if (c->reached[g->tail[e]] && !c->reached[g->head[e]])
            c->index[start[1]++] = e + 1;
    struct espi_lp_vectors row = {.count = 1,
                                  .lower = &lower,
                                  .start = start,
                                  .index = c->index,
                                  .value = c->value};
    espi_lp_add_rows(c->lp, &row);
    c->n_cuts++;
    return 0;
}

/* Is the cut in reached[] known already? */
static int is_known(const struct espi_cover *c)
{
    size_t n = (size_t)c->net->g.n;
    for (int i = c->n_cuts - 1; i >= 0; i--)
        if (!memcmp(c->side + (size_t)i * n, c->reached, n))
            return 1;
    return 0;
}

/* Adds the minimum cuts around v if they are violated and new (what is known and violated
 * is rounding): how many, -1: out of memory. */
static int separate_node(struct espi_cover *c, int v)
{
    int added = 0;
    double enough = 1 - VIOLATED;
    if (espi_maxflow(&c->flow, c->y, c->net->root, v, enough) >= enough)
        return 0;
    for (int far = 0; far < 2; far++) {
        if (far)
            espi_maxflow_sink_cut(&c->flow, c->reached);
        else
            espi_maxflow_source_cut(&c->flow, c->reached);
        if (is_known(c))
            continue;
        if (add_cut(c))
            return -1;
        added++;
    }
    return added;
}

/* Not all, when the time is over. */
static int separate_all(struct espi_cover *c)
{
    int added = 0;
    for (int v = 0; v < c->net->g.n && !espi_watch_is_over(); v++) {
        if (!is_required(c, v))
            continue;
        int got = separate_node(c, v);
        if (got < 0)
            return -1;
        added += got;
    }
    return added;
}

/* Can all be reached that must be? */
static int all_reachable(struct espi_cover *c)
{
    const struct espi_digraph *g = &c->net->g;
    unsigned char *seen = c->reached;
    int count = 0;
    memset(seen, 0, (size_t)g->n);
    seen[c->net->root] = 1;
    c->order[count++] = c->net->root;
    for (int i = 0; i < count; i++)
        for (int k = g->out.start[c->order[i]]; k < g->out.start[c->order[i] + 1]; k++) {
            int w = g->head[g->out.item[k]];
            if (!seen[w] && c->active[w]) {
                seen[w] = 1;
                c->order[count++] = w;
            }
        }
    for (int v = 0; v < g->n; v++)
        if (!seen[v] && is_required(c, v))
            return 0;
    return 1;
}

static esp_status solve_cover(struct espi_cover *c, struct esp_err *err)
{
    struct espi_solve_budget budget = espi_solve_budget_of(0, 0);
    espi_lp_result res = espi_solve_budget_solve(&budget, c->lp, ESPI_LP_DUAL);
    if (res != ESPI_LP_OPTIMAL && res != ESPI_LP_STOPPED)
        res = espi_solve_budget_solve(&budget, c->lp, ESPI_LP_PRIMAL);
    if (res == ESPI_LP_STOPPED)
        return espi_solve_budget_err(err);
    if (res != ESPI_LP_OPTIMAL || c->solves++ > MOST_SOLVES)
        return espi_lp_error(res, "the program for the bound could not be solved", err);
    const double *x = espi_lp_values(c->lp);
    for (int e = 0; e < c->net->g.m; e++)
        c->y[e] = fmax(x[e + 1], 0);
    return ESP_OK;
}

esp_status espi_cover_solve(struct espi_cover *c, double limit_s, double *period_s,
                            struct esp_err *err)
{
    *period_s = INFINITY;
    if (!all_reachable(c))
        return ESP_OK;
    refresh_cuts(c);
    for (;;) {
        esp_status st = solve_cover(c, err);
        if (st)
            return st;
        if (espi_lp_values(c->lp)[0] * c->net->unit_s > limit_s)
            return ESP_OK;
        int added = separate_all(c);
        if (added < 0)
            return espi_err_nomem(err);
        if (espi_watch_is_over())
            return espi_solve_budget_err(err);
        if (!added)
            break;
    }
    *period_s = espi_lp_values(c->lp)[0] * c->net->unit_s;
    return ESP_OK;
}

/* The cuts of a point between the program's and an inner one, which moves there while
 * there are none: how many, -1: out of memory. *reached_s is the period of the inner one
 * after that. */
static int separate_between(struct espi_cover *c, double *outer, double *inner,
                            double proven_s, double *reached_s)
{
    int m = c->net->g.m, added = 0;
    memcpy(outer, c->y, (size_t)m * sizeof *outer);
    while (!added && *reached_s > proven_s * (1 + ESPI_COVER_SAME) &&
           !espi_watch_is_over()) {
        for (int e = 0; e < m; e++)
            c->y[e] = outer[e] + ESPI_CUT_INWARD * (inner[e] - outer[e]);
        added = separate_all(c);
        if (!added && !espi_watch_is_over()) {
            memcpy(inner, c->y, (size_t)m * sizeof *inner);
            *reached_s = espi_flow_net_period_s(c->net, inner, c->arena);
        }
        if (isnan(*reached_s))
            return -1;
    }
    return added;
}

/* A program for the period alone has so many solutions that most of its cuts say nothing.
 * So cuts are looked for between these and a point that keeps all of them: at first, all
 * of the message on every link (W. Ben-Ameur, J. Neto, 2007, as in arcs.c). */
esp_status espi_cover_period(struct espi_cover *c, double *period_s, struct esp_err *err)
{
    int m = c->net->g.m, n = c->net->n_targets, added = 1;
    double *inner = ESPI_ARENA_NEW(c->arena, double, m), reached_s = INFINITY;
    double *outer = ESPI_ARENA_NEW(c->arena, double, m);
    *period_s = INFINITY;
    if (!inner || !outer)
        return espi_err_nomem(err);
    if (!all_reachable(c))
        return ESP_OK;
    for (int e = 0; e < m; e++)
        inner[e] = 1;
    espi_lp_take_any(c->lp);
    espi_lp_perturb(c->lp, 1);
    for (double work = 0; added && work < ESPI_COVER_WORK; work += (double)m * n) {
        esp_status st = solve_cover(c, err);
        if (espi_solve_budget_was_late(st) && work > 0)
            return ESP_OK; /* what was proven before */
        if (st)
            return st;
        *period_s = espi_lp_values(c->lp)[0] * c->net->unit_s;
        added = separate_between(c, outer, inner, *period_s, &reached_s);
        if (added < 0)
            return espi_err_nomem(err);
    }
    return ESP_OK;
}
