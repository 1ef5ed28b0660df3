/* The program SSB, generalised from ports to resources.
 *
 * Reference: O. Beaumont, L. Marchal, Y. Robert, Broadcast trees for
 * heterogeneous platforms, 2005, linear program (2), with its misprints corrected.
 * Variables: the rate; n(e) on each arc e of the view; for each target w a flow x(w, e).
 *   maximise rate, x(w, .) a flow of that value from the root to w, x(w, e) <= n(e), and
 *   each resource is used for at most the whole time.
 * With switches an arc is a pair of hosts, and n(u, v) is carried by flows f(u, l) over
 * links l that leave host u and arrive at v through switches: a slice that crosses a link
 * twice for two hosts pays twice. O(n m) variables and rows. */
#include "solve/full_lp.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/portable_math.h"
#include "lp/lp.h"

enum { MAX_ENTRIES = 20000000 }; /* limit: more is refused */

struct full {
    const struct espi_view *v;
    int root, n, m, links, switched;
    double unit_s;
    struct espi_arena *arena;
    struct espi_lp *lp;
    /* rows put together */
    int count, at, cap_rows, cap;
    int *start, *index;
    double *lower, *upper, *value;
};

static int column_n(int e)
{
    return 1 + e;
}

static int column_x(const struct full *f, int w, int e)
{
    int target = w - (w > f->root);
    return 1 + f->m + target * f->m + e;
}

static int column_f(const struct full *f, int u, int l)
{
    return 1 + f->m * f->n + u * f->links + l;
}

static void add_entry(struct full *f, int column, double value)
{
    f->index[f->at] = column;
    f->value[f->at++] = value;
}

static void end_row(struct full *f, double lower, double upper)
{
    f->lower[f->count] = lower;
    f->upper[f->count++] = upper;
    f->start[f->count] = f->at;
}

/* What flows to w arrives at w and nowhere else. */
static void flow_rows(struct full *f, int w)
{
    const struct espi_digraph *g = &f->v->g;
    for (int h = 0; h < f->n; h++) {
        if (h == f->root)
            continue;
        for (int k = g->in.start[h]; k < g->in.start[h + 1]; k++)
            add_entry(f, column_x(f, w, g->in.item[k]), 1);
        for (int k = g->out.start[h]; k < g->out.start[h + 1]; k++)
            add_entry(f, column_x(f, w, g->out.item[k]), -1);
        if (h == w)
            add_entry(f, 0, -1);
        end_row(f, 0, 0);
    }
    for (int e = 0; e < f->m; e++) {
        add_entry(f, column_x(f, w, e), 1);
        add_entry(f, column_n(e), -1);
        end_row(f, -INFINITY, 0);
    }
}

/* Without switches link l is arc l; with them its flow from all hosts counts. */
static void resource_rows(struct full *f)
{
    const struct espi_resources *r = &f->v->links;
    for (int i = 0; i < r->n; i++) {
        for (int l = 0; l < f->links; l++)
            for (int k = r->start[l]; k < r->start[l + 1]; k++) {
                if (r->resource[k] != i || !(r->time_s[k] > 0))
                    continue;
                double time = r->time_s[k] / f->unit_s;
                if (!f->switched)
                    add_entry(f, column_n(l), time);
                for (int u = 0; u < f->n && f->switched; u++)
                    add_entry(f, column_f(f, u, l), time);
            }
        end_row(f, -INFINITY, 1);
    }
}

/* The flow of host u over links: kept by switches, n(u, v) arrives at host v. */
static void path_rows(struct full *f, int u)
{
    const struct esp_platform *p = f->v->p;
    const struct espi_digraph *g = &f->v->g;
    for (int x = 0; x < p->n_nodes; x++) {
        int h = f->v->host[x];
        if (h == u)
            continue;
        for (int k = p->in.start[x]; k < p->in.start[x + 1]; k++)
            add_entry(f, column_f(f, u, p->in.item[k]), 1);
        for (int k = p->out.start[x]; k < p->out.start[x + 1] && h < 0; k++)
            add_entry(f, column_f(f, u, p->out.item[k]), -1);
        for (int k = g->out.start[u]; k < g->out.start[u + 1] && h >= 0; k++)
            if (g->head[g->out.item[k]] == h)
                add_entry(f, column_n(g->out.item[k]), -1);
        end_row(f, 0, 0);
    }
}

/* A slice that waits on a host is that host's to send, not flow of u any more; and what
 * comes back to u was not worth sending. */
static int may_flow(const struct full *f, int u, int l)
{
    const struct espi_view *v = f->v;
    int from = v->host[v->p->tail[l]], to = v->host[v->p->head[l]];
    return (from < 0 || from == u) && to != u;
}

static int add_columns(struct full *f)
{
    int count = 1 + f->m * f->n + (f->switched ? f->n * f->links : 0);
    double *cost = ESPI_ARENA_ZNEW(f->arena, double, count);
    double *upper = ESPI_ARENA_NEW(f->arena, double, count);
    int *start = ESPI_ARENA_ZNEW(f->arena, int, (size_t)count + 1);
    if (!cost || !upper || !start)
        return -1;
    for (int i = 0; i < count; i++)
        upper[i] = INFINITY;
    for (int u = 0; u < f->n && f->switched; u++)
        for (int l = 0; l < f->links; l++)
            if (!may_flow(f, u, l))
                upper[column_f(f, u, l)] = 0;
    cost[0] = -1;
    struct espi_lp_vectors v = {.count = count,
                                .cost = cost,
                                .upper = upper,
                                .start = start,
                                .index = start,
                                .value = cost};
    espi_lp_add_columns(f->lp, &v);
    return 0;
}

static esp_status size_up(struct full *f, struct esp_err *err)
{
    double n = f->n, m = f->m, links = f->links;
    double uses = f->v->links.start[f->links];
    double rows = n * (n + m) + f->v->links.n, entries = n * (4 * m + n) + uses;
    if (f->switched) {
        rows += n * f->v->p->n_nodes;
        entries += n * (2 * links + m + uses);
    }
    if (entries > MAX_ENTRIES)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the full program has more than %d entries here; "
                        "the other methods have no such limit",
                        MAX_ENTRIES);
    f->cap_rows = (int)rows;
    f->cap = (int)entries;
    return ESP_OK;
}

static esp_status build_lp(struct full *f, struct esp_err *err)
{
    esp_status st = size_up(f, err);
    if (st)
        return st;
    f->start = ESPI_ARENA_ZNEW(f->arena, int, (size_t)f->cap_rows + 1);
    f->lower = ESPI_ARENA_NEW(f->arena, double, f->cap_rows);
    f->upper = ESPI_ARENA_NEW(f->arena, double, f->cap_rows);
    f->index = ESPI_ARENA_NEW(f->arena, int, f->cap);
    f->value = ESPI_ARENA_NEW(f->arena, double, f->cap);
    if (!f->start || !f->lower || !f->upper || !f->index || !f->value || add_columns(f))
        return espi_err_nomem(err);
    resource_rows(f);
    for (int w = 0; w < f->n; w++)
        if (w != f->root)
            flow_rows(f, w);
    for (int u = 0; u < f->n && f->switched; u++)
        path_rows(f, u);
    struct espi_lp_vectors rows = {.count = f->count,
                                   .lower = f->lower,
                                   .upper = f->upper,
                                   .start = f->start,
                                   .index = f->index,
                                   .value = f->value};
    espi_lp_add_rows(f->lp, &rows);
    return ESP_OK;
}

/* A time in the middle of those there are, so that the numbers of the program are near 1.
 */
static double typical_time_s(const struct espi_view *v)
{
    double sum = 0;
    for (int e = 0; e < v->g.m; e++)
        sum += espi_log(v->time_s[e]);
    return espi_exp(sum / v->g.m);
}

static esp_status run_lp(struct full *f, double time_limit_s, double *rate, double *price,
                         struct esp_err *err)
{
    esp_status st = build_lp(f, err);
    if (st)
        return st;
    if (time_limit_s > 0)
        espi_lp_time_limit(f->lp, time_limit_s);
    espi_lp_result res = espi_lp_solve(f->lp, ESPI_LP_PRIMAL);
    if (res != ESPI_LP_OPTIMAL && res != ESPI_LP_STOPPED)
        res = espi_lp_solve(f->lp, ESPI_LP_DUAL);
    if (res == ESPI_LP_STOPPED)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "the full program did not end within %g seconds", time_limit_s);
    if (res != ESPI_LP_OPTIMAL)
        return espi_lp_error(res, "the full program could not be solved", err);
    *rate = espi_lp_values(f->lp)[0] / f->unit_s;
    double sum = 0;
    const double *dual = espi_lp_duals(f->lp);
    for (int i = 0; i < f->v->links.n; i++)
        sum += fmax(-dual[i], 0);
    for (int i = 0; i < f->v->links.n && price; i++)
        price[i] = fmax(-dual[i], 0) / sum;
    return ESP_OK;
}

esp_status espi_full_lp_solve(const struct espi_view *v, int root, double time_limit_s,
                              struct espi_arena *arena, double *rate, double *price,
                              struct esp_err *err)
{
    struct full f = {.v = v,
                     .root = root,
                     .n = v->g.n,
                     .m = v->g.m,
                     .links = v->p->n_links,
                     .switched = v->p->n_hosts < v->p->n_nodes,
                     .arena = arena};
    if (f.n == 1) {
        *rate = INFINITY;
        if (price)
            memset(price, 0, (size_t)v->links.n * sizeof *price);
        return ESP_OK;
    }
    f.unit_s = typical_time_s(v);
    esp_status st = espi_lp_create(&f.lp, err);
    if (st)
        return st;
    st = run_lp(&f, time_limit_s, rate, price, err);
    espi_lp_free(f.lp);
    return st;
}
