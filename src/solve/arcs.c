/* The program over arcs, solved by generating cuts.
 *
 * Reference: W. Ben-Ameur, J. Neto, Acceleration of cutting-plane and column generation
 * algorithms: applications to network design, 2007 (in-out separation); O. Beaumont et
 * al., Pipelining broadcasts on heterogeneous platforms, 2005 (the program). The point
 * that is separated lies between the program's and a mix of trees, so that cuts are deep
 * even where the program has many optima; without this the search stalls on platforms of
 * a thousand hosts. Resources enter as rows when they are over-used. Guarantee: period_s
 * is a bound from below at any time, the optimum when complete. */
#include "solve/arcs.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "lp/lp.h"
#include "solve/tuning.h"

struct program {
    const struct espi_arcs_task *task;
    const struct espi_view *v;
    struct espi_arena *arena;
    struct espi_lp *lp;
    struct espi_cuts cuts;
    struct espi_rows by_res; /* resource -> uses */
    int *use_arc;            /* use -> arc */
    int *row;                /* resource -> row, -1: none */
    double *y, *inner, *mixed, *load, *price;
    int has_inner;
    double rho; /* in units */
    int passes, n_cuts;
};

/* Vectors that grow in the arena while rows are put together. */
struct rows {
    int count, at;
    double *lower, *upper, *value;
    int *start, *index;
};

static int rows_init(struct rows *r, struct espi_arena *a, size_t count, size_t entries)
{
    r->count = r->at = 0;
    r->lower = ESPI_ARENA_NEW(a, double, count);
    r->upper = ESPI_ARENA_NEW(a, double, count);
    r->start = ESPI_ARENA_ZNEW(a, int, count + 1);
    r->index = ESPI_ARENA_NEW(a, int, entries);
    r->value = ESPI_ARENA_NEW(a, double, entries);
    return r->lower && r->upper && r->start && r->index && r->value ? 0 : -1;
}

static void rows_entry(struct rows *r, int column, double value)
{
    r->index[r->at] = column;
    r->value[r->at++] = value;
}

static void rows_end(struct rows *r, double lower, double upper)
{
    r->lower[r->count] = lower;
    r->upper[r->count++] = upper;
    r->start[r->count] = r->at;
}

static void rows_add(struct program *g, const struct rows *r)
{
    struct espi_lp_vectors v = {.count = r->count,
                                .lower = r->lower,
                                .upper = r->upper,
                                .start = r->start,
                                .index = r->index,
                                .value = r->value};
    if (r->count)
        espi_lp_add_rows(g->lp, &v);
}

/* Column 0 is rho, column e + 1 is arc e. */
static int add_columns(struct program *g)
{
    const struct espi_digraph *d = &g->v->g;
    double *cost = ESPI_ARENA_ZNEW(g->arena, double, (size_t)d->m + 1);
    double *upper = ESPI_ARENA_NEW(g->arena, double, (size_t)d->m + 1);
    int *start = ESPI_ARENA_ZNEW(g->arena, int, (size_t)d->m + 2);
    if (!cost || !upper || !start)
        return -1;
    cost[0] = 1;
    upper[0] = INFINITY;
    for (int e = 0; e < d->m; e++) {
        int useless = d->head[e] == g->task->root || d->tail[e] == d->head[e];
        upper[e + 1] = useless ? 0 : INFINITY;
    }
    struct espi_lp_vectors v = {.count = d->m + 1,
                                .cost = cost,
                                .upper = upper,
                                .start = start,
                                .index = start,
                                .value = cost};
    espi_lp_add_columns(g->lp, &v);
    return 0;
}

static int add_in_rows(struct program *g)
{
    const struct espi_digraph *d = &g->v->g;
    struct rows r;
    if (rows_init(&r, g->arena, (size_t)d->n, (size_t)d->m))
        return -1;
    for (int h = 0; h < d->n; h++) {
        if (h == g->task->root)
            continue;
        for (int k = d->in.start[h]; k < d->in.start[h + 1]; k++)
            rows_entry(&r, d->in.item[k] + 1, 1);
        rows_end(&r, 1, 1);
    }
    rows_add(g, &r);
    return 0;
}

/* Rows for resources whose load in g->load is above the limit; -1: out of memory. */
static int add_resources(struct program *g, double limit)
{
    struct espi_arena_mark mark = espi_arena_mark(g->arena);
    int n = g->v->links.n, uses = g->v->use_start[g->v->g.m];
    struct rows r;
    if (rows_init(&r, g->arena, (size_t)n, (size_t)uses + (size_t)n))
        return -1;
    int first = espi_lp_rows(g->lp);
    for (int i = 0; i < n; i++) {
        if (g->row[i] >= 0 || !(g->load[i] > limit))
            continue;
        for (int k = g->by_res.start[i]; k < g->by_res.start[i + 1]; k++) {
            int use = g->by_res.item[k];
            if (g->v->use_s[use] > 0)
                rows_entry(&r, g->use_arc[use] + 1, g->v->use_s[use] / g->task->unit_s);
        }
        rows_entry(&r, 0, -1);
        g->row[i] = first + r.count;
        rows_end(&r, -INFINITY, 0);
    }
    rows_add(g, &r);
    espi_arena_release(g->arena, mark);
    return r.count;
}

static int add_cuts(struct program *g)
{
    struct espi_arena_mark mark = espi_arena_mark(g->arena);
    int entries = g->cuts.start[g->cuts.n];
    struct rows r;
    if (rows_init(&r, g->arena, (size_t)g->cuts.n, (size_t)entries))
        return -1;
    for (int c = 0; c < g->cuts.n; c++) {
        for (int k = g->cuts.start[c]; k < g->cuts.start[c + 1]; k++)
            rows_entry(&r, g->cuts.arc[k] + 1, 1);
        rows_end(&r, 1, INFINITY);
    }
    rows_add(g, &r);
    g->n_cuts += g->cuts.n;
    espi_arena_release(g->arena, mark);
    return 0;
}

static int program_init(struct program *g)
{
    const struct espi_view *v = g->v;
    size_t m = (size_t)v->g.m, n_res = (size_t)v->links.n;
    int uses = v->use_start[v->g.m];
    g->use_arc = ESPI_ARENA_NEW(g->arena, int, uses);
    g->row = ESPI_ARENA_NEW(g->arena, int, n_res);
    g->y = ESPI_ARENA_ZNEW(g->arena, double, m);
    g->inner = ESPI_ARENA_NEW(g->arena, double, m);
    g->mixed = ESPI_ARENA_NEW(g->arena, double, m);
    g->load = ESPI_ARENA_ZNEW(g->arena, double, n_res);
    g->price = ESPI_ARENA_ZNEW(g->arena, double, n_res);
    if (!g->use_arc || !g->row || !g->y || !g->inner || !g->mixed || !g->load ||
        !g->price ||
        espi_rows_build(&g->by_res, v->links.n, uses, v->use_resource, g->arena))
        return -1;
    for (int e = 0; e < v->g.m; e++)
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            g->use_arc[k] = e;
    for (size_t i = 0; i < n_res; i++)
        g->row[i] = -1;
    g->has_inner = g->task->inner != NULL;
    if (g->has_inner) {
        memcpy(g->inner, g->task->inner, m * sizeof *g->inner);
        memcpy(g->y, g->inner, m * sizeof *g->y); /* what there is, if time is over */
    }
    if (add_columns(g) || add_in_rows(g))
        return -1;
    if (g->task->load)
        memcpy(g->load, g->task->load, n_res * sizeof *g->load);
    return g->task->load && add_resources(g, ESPI_ARCS_BUSY * g->task->unit_s) < 0 ? -1
                                                                                   : 0;
}

static void read_point(struct program *g)
{
    const struct espi_view *v = g->v;
    const double *x = espi_lp_values(g->lp), *dual = espi_lp_duals(g->lp);
    double sum = 0;
    g->rho = x[0];
    memset(g->load, 0, (size_t)v->links.n * sizeof *g->load);
    for (int e = 0; e < v->g.m; e++) {
        g->y[e] = x[e + 1] > 1e-11 ? x[e + 1] : 0;
        if (g->y[e] > 0)
            for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
                g->load[v->use_resource[k]] += g->y[e] * v->use_s[k] / g->task->unit_s;
    }
    for (int i = 0; i < v->links.n; i++) {
        g->price[i] = g->row[i] >= 0 ? fmax(-dual[g->row[i]], 0) : 0;
        sum += g->price[i];
    }
    for (int i = 0; i < v->links.n; i++)
        g->price[i] = sum > 0 ? g->price[i] / sum : 0;
}

double espi_arcs_pass_things(const struct espi_view *v)
{
    return (double)v->g.n * v->g.m / 4;
}

/* Cuts of a point between the program's and a mix of trees, which moves there if it has
 * none; then those of the program's point alone. Returns how many, or -1. */
static int separate_between(struct program *g)
{
    const struct espi_digraph *d = &g->v->g;
    int root = g->task->root, found = 0;
    g->cuts.n = 0;
    espi_solve_budget_look(g->task->budget, espi_arcs_pass_things(g->v));
    if (g->has_inner) {
        for (int e = 0; e < d->m; e++)
            g->mixed[e] = g->y[e] + ESPI_CUT_INWARD * (g->inner[e] - g->y[e]);
        found = espi_cuts_find(d, root, g->mixed, ESPI_CUT_ROUGH, &g->cuts, g->arena);
        if (!found)
            memcpy(g->inner, g->mixed, (size_t)d->m * sizeof *g->inner);
    }
    if (!found)
        found = espi_cuts_find(d, root, g->y, ESPI_CUT_ROUGH, &g->cuts, g->arena);
    if (!found)
        found = espi_cuts_find(d, root, g->y, ESPI_CUT_FINE, &g->cuts, g->arena);
    return found;
}

/* One solve. *done: nothing is violated, or the caller has seen enough, or time is up. */
static esp_status solve_pass(struct program *g, espi_lp_method method, int *done,
                             int *complete, struct esp_err *err)
{
    espi_lp_result res = espi_solve_budget_solve(g->task->budget, g->lp, method);
    g->passes++;
    if (res != ESPI_LP_OPTIMAL && res != ESPI_LP_STOPPED)
        res = espi_solve_budget_solve(g->task->budget, g->lp, ESPI_LP_PRIMAL);
    *done = res == ESPI_LP_STOPPED;
    if (*done)
        return ESP_OK;
    if (res != ESPI_LP_OPTIMAL)
        return espi_lp_error(res, "the program over arcs could not be solved", err);
    read_point(g);
    if (g->task->look && g->task->look(g->task->arg, g->price)) {
        *done = 1;
        return ESP_OK;
    }
    int more = add_resources(g, g->rho * (1 + 1e-9));
    int cuts = more < 0 ? -1 : separate_between(g);
    if (cuts < 0 || (cuts > 0 && add_cuts(g)))
        return espi_err_nomem(err);
    *complete = !more && !cuts;
    *done = *complete || (g->task->max_passes && g->passes >= g->task->max_passes);
    return ESP_OK;
}

/* Of all optima the one of least total time: rho stays, the arcs get costs. */
static int set_least_time(struct program *g)
{
    const struct espi_view *v = g->v;
    double *cost = ESPI_ARENA_ZNEW(g->arena, double, (size_t)v->g.m + 1);
    if (!cost)
        return -1;
    double slowest_s = 0;
    for (int e = 0; e < v->g.m; e++)
        slowest_s = fmax(slowest_s, v->time_s[e]);
    for (int e = 0; e < v->g.m; e++)
        cost[e + 1] = v->time_s[e] / slowest_s;
    espi_lp_set_costs(g->lp, cost);
    espi_lp_set_upper(g->lp, 0, g->rho * (1 + 1e-11));
    return 0;
}

static esp_status passes(struct program *g, espi_lp_method first, struct espi_arcs *out,
                         struct esp_err *err)
{
    int done = 0;
    esp_status st = ESP_OK;
    g->passes = 0;
    while (!st && !done)
        st = solve_pass(g, g->passes ? ESPI_LP_DUAL : first, &done, &out->complete, err);
    out->passes += g->passes;
    return st;
}

/* Where a best mix is known, the first search, for rho, is left out: it has many optima
 * and may need hundreds of cuts until it meets one that is a mix. */
static esp_status run_rounds(struct program *g, struct espi_arcs *out,
                             struct esp_err *err)
{
    esp_status st = program_init(g) ? espi_err_nomem(err) : ESP_OK;
    int known = g->task->least_time && g->has_inner;
    *out = (struct espi_arcs){.y = g->y, .price = g->price};
    g->rho = 1;
    if (!st && !known)
        st = passes(g, ESPI_LP_DUAL, out, err);
    out->period_s = g->rho * g->task->unit_s;
    if (st || !g->task->least_time || !(known || out->complete))
        return st;
    out->price = ESPI_ARENA_NEW(g->arena, double, g->v->links.n);
    if (!out->price || set_least_time(g))
        return espi_err_nomem(err);
    memcpy(out->price, g->price, (size_t)g->v->links.n * sizeof *g->price);
    if (!known)
        memcpy(g->inner, g->y, (size_t)g->v->g.m * sizeof *g->inner);
    g->has_inner = 1;
    return passes(g, known ? ESPI_LP_DUAL : ESPI_LP_PRIMAL, out, err);
}

esp_status espi_arcs_solve(const struct espi_arcs_task *task, struct espi_arena *arena,
                           struct espi_arcs *out, struct esp_err *err)
{
    struct program g = {.task = task, .v = task->v, .arena = arena};
    struct espi_arcs found;
    esp_status st = espi_lp_create(&g.lp, err);
    if (st)
        return st;
    espi_lp_perturb(g.lp, 1);
    st = run_rounds(&g, &found, err);
    if (!st)
        found.cuts = g.n_cuts;
    espi_lp_free(g.lp);
    espi_cuts_free(&g.cuts);
    if (!st)
        *out = found;
    return st;
}
