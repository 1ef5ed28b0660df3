#include "solve/flows.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "solve/solve_budget.h"
#include "solve/tuning.h"

static const double ROUNDING = 1e-9; /* rounding: of a period; what flows less is none */

/* ---- the program ---- */

/* Columns of one more flow, with its links' loads: none costs anything, but of flows with
 * the same period those are taken that keep resources for the least time. Rows of
 * resources are 0 .. n_loads-1 in the order of the resources that are used. */
static esp_status add_flow_columns(struct espi_flows *f, const int *row,
                                   struct esp_err *err)
{
    const struct espi_flow_net *net = f->net;
    const struct espi_resources *r = &net->res;
    int m = net->g.m, at = 0;
    struct espi_arena_mark mark = espi_arena_mark(f->arena);
    int *start = ESPI_ARENA_NEW(f->arena, int, (size_t)m + 1);
    int *index = ESPI_ARENA_NEW(f->arena, int, r->start[m]);
    double *value = ESPI_ARENA_NEW(f->arena, double, r->start[m]);
    double *time = ESPI_ARENA_ZNEW(f->arena, double, m);
    if (!start || !index || !value || !time)
        return espi_err_nomem(err);
    for (int e = 0; e < m; e++) {
        start[e] = at;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            if (r->time_s[k] > 0) {
                index[at] = row[r->resource[k]];
                value[at] = r->time_s[k] / net->unit_s;
                time[e] += value[at++] * (1 + ESPI_FLOW_LATER * e / m);
            }
    }
    start[m] = at;
    struct espi_lp_vectors columns = {
        .count = m, .second_cost = time, .start = start, .index = index, .value = value};
    espi_lp_add_columns(f->lp, &columns);
    espi_arena_release(f->arena, mark);
    return ESP_OK;
}

static int is_source(const struct espi_flows *f, int node)
{
    for (int i = 0; i < f->n_sources; i++)
        if (f->source[i] == node)
            return 1;
    return 0;
}

/* Keeps the solution: it is gone once another source has been tried. */
static esp_status note_values(struct espi_flows *f, struct esp_err *err)
{
    size_t n = (size_t)espi_lp_columns(f->lp);
    void *x = f->x;
    if (espi_grow(&x, &f->x_cap, n, sizeof *f->x))
        return espi_err_nomem(err);
    f->x = x;
    memcpy(f->x, espi_lp_values(f->lp), n * sizeof *f->x);
    return ESP_OK;
}

int espi_flows_is_destination(const struct espi_flows *f, int flow, int node)
{
    if (flow > 0)
        return f->source[flow] == node;
    return f->net->is_target[node] && !is_source(f, node);
}

/* What comes to the node less what leaves it: within these. */
static void balance(const struct espi_flows *f, int flow, int node, double *lower,
                    double *upper)
{
    int origins = flow > 0 ? flow : f->n_sources;
    *lower = *upper = espi_flows_is_destination(f, flow, node);
    for (int i = 0; i < origins; i++)
        if (f->source[i] == node) {
            *lower = -DBL_MAX;
            *upper = 0;
        }
}

/* Rows of the nodes for one more flow, whose columns are the last. */
static esp_status add_balances(struct espi_flows *f, int flow, struct esp_err *err)
{
    const struct espi_digraph *g = &f->net->g;
    struct espi_arena_mark mark = espi_arena_mark(f->arena);
    int first = 1 + flow * g->m, at = 0;
    int *start = ESPI_ARENA_NEW(f->arena, int, (size_t)g->n + 1);
    int *index = ESPI_ARENA_NEW(f->arena, int, 2 * (size_t)g->m);
    double *value = ESPI_ARENA_NEW(f->arena, double, 2 * (size_t)g->m);
    double *lower = ESPI_ARENA_NEW(f->arena, double, g->n);
    double *upper = ESPI_ARENA_NEW(f->arena, double, g->n);
    if (!start || !index || !value || !lower || !upper)
        return espi_err_nomem(err);
    for (int v = 0; v < g->n; v++) {
        start[v] = at;
        balance(f, flow, v, &lower[v], &upper[v]);
        for (int k = g->in.start[v]; k < g->in.start[v + 1]; k++, at++) {
            index[at] = first + g->in.item[k];
            value[at] = 1;
        }
        for (int k = g->out.start[v]; k < g->out.start[v + 1]; k++, at++) {
            index[at] = first + g->out.item[k];
            value[at] = -1;
        }
    }
    start[g->n] = at;
    struct espi_lp_vectors rows = {.count = g->n,
                                   .lower = lower,
                                   .upper = upper,
                                   .start = start,
                                   .index = index,
                                   .value = value};
    espi_lp_add_rows(f->lp, &rows);
    espi_arena_release(f->arena, mark);
    return ESP_OK;
}

/* Resource -> its row. */
static int *number_loads(struct espi_flows *f)
{
    const struct espi_resources *r = &f->net->res;
    int *row = ESPI_ARENA_NEW(f->arena, int, r->n);
    if (!row)
        return NULL;
    for (int i = 0; i < r->n; i++)
        row[i] = -1;
    for (int k = 0; k < r->start[f->net->g.m]; k++)
        if (r->time_s[k] > 0)
            row[r->resource[k]] = 0;
    f->n_loads = 0;
    for (int i = 0; i < r->n; i++)
        if (row[i] == 0)
            row[i] = f->n_loads++;
    return row;
}

static esp_status solve_flows(struct espi_flows *f, struct espi_solve_budget *budget,
                              double *period_s, struct esp_err *err)
{
    espi_lp_result res = espi_solve_budget_solve(budget, f->lp, ESPI_LP_DUAL);
    if (res != ESPI_LP_OPTIMAL && res != ESPI_LP_STOPPED)
        res = espi_solve_budget_solve(budget, f->lp, ESPI_LP_PRIMAL);
    if (res == ESPI_LP_STOPPED)
        return espi_solve_budget_err(err);
    if (res != ESPI_LP_OPTIMAL)
        return espi_lp_error(res, "the program for flows could not be solved", err);
    *period_s = espi_lp_values(f->lp)[0] * f->net->unit_s;
    return ESP_OK;
}

esp_status espi_flows_init(struct espi_flows *f, const struct espi_flow_net *net,
                           struct espi_arena *arena, struct esp_err *err)
{
    static const double one = 1; /* code: a factor of the program */
    static const int none[2] = {0, 0};
    struct espi_lp_vectors period = {
        .count = 1, .cost = &one, .start = none, .index = none, .value = &one};
    struct espi_solve_budget budget = espi_solve_budget_of(0, 0);
    *f = (struct espi_flows){.net = net, .arena = arena, .n_sources = 1};
    f->source[0] = net->root;
    esp_status st = espi_lp_create(&f->lp, err);
    if (st)
        return st;
    espi_lp_round(f->lp);
    espi_lp_add_columns(f->lp, &period);
    if (espi_flow_net_add_loads(net, 0, f->lp, arena))
        st = espi_err_nomem(err);
    int *row = number_loads(f);
    if (!st)
        st = row ? add_flow_columns(f, row, err) : espi_err_nomem(err);
    if (!st)
        st = add_balances(f, 0, err);
    if (!st)
        st = solve_flows(f, &budget, &f->period_s, err);
    if (!st)
        st = note_values(f, err);
    f->row = row;
    if (st)
        espi_flows_free(f);
    return st;
}

void espi_flows_free(struct espi_flows *f)
{
    espi_lp_free(f->lp);
    espi_free(f->x);
    f->lp = NULL;
    f->x = NULL;
}

esp_status espi_flows_delayed(struct espi_flows *f, const unsigned char *gets,
                              const double *delay_s, double *end_s, struct esp_err *err)
{
    const struct espi_flow_net *net = f->net;
    for (int r = 0; r < net->res.n; r++)
        if (f->row[r] >= 0)
            espi_lp_set_row(f->lp, f->row[r], -DBL_MAX, -delay_s[r] / net->unit_s);
    for (int v = 0; v < net->g.n; v++)
        if (v != net->root)
            espi_lp_set_row(f->lp, f->n_loads + v, gets[v], gets[v]);
    struct espi_solve_budget budget = espi_solve_budget_of(0, 0);
    return solve_flows(f, &budget, end_s, err);
}

esp_status espi_flows_group(struct espi_flows *f, int n_groups, const int *group,
                            struct esp_err *err)
{
    int m = f->net->g.m, at = 0;
    struct espi_arena_mark mark = espi_arena_mark(f->arena);
    int *start = ESPI_ARENA_NEW(f->arena, int, (size_t)n_groups + 1);
    int *index = ESPI_ARENA_NEW(f->arena, int, m);
    double *value = ESPI_ARENA_NEW(f->arena, double, m);
    if (!start || !index || !value)
        return espi_err_nomem(err);
    for (int i = 0; i < n_groups; i++) {
        start[i] = at;
        for (int e = 0; e < m; e++)
            if (group[e] == i) {
                index[at] = 1 + e;
                value[at++] = 1;
            }
    }
    start[n_groups] = at;
    struct espi_lp_vectors rows = {
        .count = n_groups, .start = start, .index = index, .value = value};
    f->first_group = espi_lp_rows(f->lp);
    espi_lp_add_rows(f->lp, &rows);
    espi_arena_release(f->arena, mark);
    return ESP_OK;
}

esp_status espi_flows_close(struct espi_flows *f, int group, struct esp_err *err)
{
    espi_lp_set_row(f->lp, f->first_group + group, -DBL_MAX, 0);
    struct espi_solve_budget endless =
        espi_solve_budget_endless(); /* what is there stays */
    esp_status st = solve_flows(f, &endless, &f->period_s, err);
    return st ? st : note_values(f, err);
}

/* The row of the node in flow 0, where it is an origin or not. */
static void set_balance(struct espi_flows *f, int node)
{
    double lower, upper;
    balance(f, 0, node, &lower, &upper);
    espi_lp_set_row(f->lp, f->n_loads + node, lower, upper);
}

static esp_status drop_flow(struct espi_flows *f, int flow, struct esp_err *err)
{
    const struct espi_digraph *g = &f->net->g;
    struct espi_arena_mark mark = espi_arena_mark(f->arena);
    int most = g->n > g->m ? g->n : g->m;
    int *which = ESPI_ARENA_NEW(f->arena, int, most);
    if (!which)
        return espi_err_nomem(err);
    for (int i = 0; i < g->n; i++)
        which[i] = f->n_loads + flow * g->n + i;
    espi_lp_drop_rows(f->lp, g->n, which);
    for (int i = 0; i < g->m; i++)
        which[i] = 1 + flow * g->m + i;
    espi_lp_drop_columns(f->lp, g->m, which);
    espi_arena_release(f->arena, mark);
    return ESP_OK;
}

esp_status espi_flows_try_source(struct espi_flows *f, int node, int *better,
                                 struct esp_err *err)
{
    int flow = f->n_sources;
    double period_s = 0;
    *better = 0;
    if (flow == ESPI_SOURCES_MAX)
        return ESP_OK;
    f->source[f->n_sources++] = node;
    esp_status st = add_flow_columns(f, f->row, err);
    if (!st)
        st = add_balances(f, flow, err);
    if (st)
        return st;
    set_balance(f, node);
    struct espi_solve_budget endless = espi_solve_budget_endless();
    st = solve_flows(f, &endless, &period_s, err);
    if (st)
        return st;
    if (period_s < f->period_s * (1 - ESPI_PERIOD_SAME)) {
        f->period_s = period_s;
        *better = 1;
        return note_values(f, err);
    }
    f->n_sources--;
    set_balance(f, node);
    return drop_flow(f, flow, err);
}

const double *espi_flows_of(const struct espi_flows *f, int flow)
{
    return f->x + 1 + (size_t)flow * (size_t)f->net->g.m;
}

/* ---- paths ---- */

struct peeler {
    const struct espi_flows *f;
    int flow;
    double *left; /* of the flow, by link */
    double *give; /* what origins still send out, by node; 0 for others */
    int *step;    /* node -> when the walk met it, 0: not */
    int *path;
    struct espi_flow_path *paths;
    int n_paths, cap;
    struct espi_arena *arena;
};

/* The link with the most flow into the node. */
static int strongest(const struct peeler *x, int v)
{
    const struct espi_digraph *g = &x->f->net->g;
    int best = -1;
    for (int k = g->in.start[v]; k < g->in.start[v + 1]; k++) {
        int e = g->in.item[k];
        if (x->left[e] > ROUNDING && (best < 0 || x->left[e] > x->left[best]))
            best = e;
    }
    return best;
}

/* Walks from the destination against the flow to an origin that still gives; flow in
 * circles is taken out on the way. Gives the number of links, the last one first, or -1
 * where rounding ends the walk. */
static int walk_back(struct peeler *x, int to)
{
    const struct espi_digraph *g = &x->f->net->g;
    memset(x->step, 0, (size_t)g->n * sizeof *x->step);
    int n = 0, v = to;
    x->step[to] = 1;
    while (!(x->give[v] > ROUNDING)) {
        int e = strongest(x, v);
        if (e < 0)
            return -1;
        x->path[n++] = e;
        v = g->tail[e];
        if (x->step[v]) { /* a circle: links step[v]-1 .. n-1 of the path */
            int first = x->step[v] - 1;
            double least = INFINITY;
            for (int i = first; i < n; i++)
                least = fmin(least, x->left[x->path[i]]);
            for (int i = first; i < n; i++)
                x->left[x->path[i]] -= least;
            for (int i = first; i < n - 1; i++)
                x->step[g->tail[x->path[i]]] = 0;
            n = first;
        }
        x->step[v] = n + 1;
    }
    return n;
}

/* Takes one path to the destination away; its weight, 0: there is none left. */
static double peel_path(struct peeler *x, int to, double most)
{
    int n = walk_back(x, to);
    if (n <= 0)
        return 0;
    int from = x->f->net->g.tail[x->path[n - 1]];
    double weight = fmin(most, x->give[from]);
    for (int i = 0; i < n; i++)
        weight = fmin(weight, x->left[x->path[i]]);
    int *hops = ESPI_ARENA_NEW(x->arena, int, n);
    if (!hops || x->n_paths == x->cap)
        return -1;
    for (int i = 0; i < n; i++) {
        hops[i] = x->path[n - 1 - i];
        x->left[x->path[i]] -= weight;
    }
    x->give[from] -= weight;
    x->paths[x->n_paths++] = (struct espi_flow_path){to, from, weight, n, hops};
    return weight;
}

/* All paths to one destination, weights brought to sum 1. */
static int peel_destination(struct peeler *x, int to)
{
    int first = x->n_paths;
    double sum = 0, weight;
    while (sum < 1 - 1e-7 && (weight = peel_path(x, to, 1 - sum)) != 0) {
        if (weight < 0)
            return -1;
        sum += weight;
    }
    for (int i = first; i < x->n_paths; i++)
        x->paths[i].weight /= sum;
    return x->n_paths > first ? 0 : -1;
}

static void start_flow(struct peeler *x, int flow)
{
    const struct espi_digraph *g = &x->f->net->g;
    const double *value = espi_flows_of(x->f, flow);
    x->flow = flow;
    for (int e = 0; e < g->m; e++)
        x->left[e] = fmax(value[e], 0);
    memset(x->give, 0, (size_t)g->n * sizeof *x->give);
    int origins = flow > 0 ? flow : x->f->n_sources;
    for (int i = 0; i < origins; i++) {
        int v = x->f->source[i];
        for (int k = g->out.start[v]; k < g->out.start[v + 1]; k++)
            x->give[v] += x->left[g->out.item[k]];
        for (int k = g->in.start[v]; k < g->in.start[v + 1]; k++)
            x->give[v] -= x->left[g->in.item[k]];
    }
}

int espi_flows_paths(const struct espi_flows *f, struct espi_flow_path **paths,
                     int *n_paths, struct espi_arena *arena)
{
    const struct espi_flow_net *net = f->net;
    struct peeler x = {.f = f, .arena = arena};
    size_t n = (size_t)net->g.n, m = (size_t)net->g.m;
    x.cap = (int)((m + n) * (size_t)f->n_sources + n);
    x.left = ESPI_ARENA_NEW(arena, double, m);
    x.give = ESPI_ARENA_NEW(arena, double, n);
    x.step = ESPI_ARENA_NEW(arena, int, n);
    x.path = ESPI_ARENA_NEW(arena, int, m + n);
    x.paths = ESPI_ARENA_NEW(arena, struct espi_flow_path, x.cap);
    if (!x.left || !x.give || !x.step || !x.path || !x.paths)
        return -1;
    for (int i = 1; i < f->n_sources; i++) {
        start_flow(&x, i);
        if (peel_destination(&x, f->source[i]))
            return -1;
    }
    start_flow(&x, 0);
    for (int i = 0; i < net->n_targets; i++)
        if (!is_source(f, net->targets[i]) && peel_destination(&x, net->targets[i]))
            return -1;
    *paths = x.paths;
    *n_paths = x.n_paths;
    return 0;
}
