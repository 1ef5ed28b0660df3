/* Rows and columns of the program of whole.h. */
#include "solve/priced/whole_impl.h"

#include <limits.h>
#include <math.h>

#include "base/alloc.h"
#include "platform/platform.h"
#include "solve/priced/tuning.h"

#define FITS_SLACK 2e-6 /* rounding: of what just fits, as deadlines that are met */

/* ---- what fits ---- */

/* Part of the message that crosses within the window what takes load_s for all of it. */
static double part_within(const struct espi_priced_whole *w, double load_s, int times)
{
    int P = w->m->task->partitions;
    double part = w->to_s * times / load_s * (1 + FITS_SLACK);
    if (!P || !(part * P < INT_MAX))
        return part;
    return floor(part * P) / P;
}

int espi_priced_whole_levels(const struct espi_priced_whole *w, int v)
{
    return w->x_start[v + 1] - w->x_start[v];
}

/* Machines that x(v, n) stands for: the last level is all there are. */
static int level_count(const struct espi_priced_whole *w, int v, int n)
{
    return n == espi_priced_whole_levels(w, v) ? w->m->max_count[v] : n;
}

int espi_priced_whole_column_x(const struct espi_priced_whole *w, int v, int n)
{
    return w->first_x + w->x_start[v] + n - 1;
}

/* ---- rows ---- */

int espi_priced_whole_make_term_room(struct espi_priced_whole *w, size_t n)
{
    return espi_grow((void **)&w->index, &w->index_room, n, sizeof *w->index) ||
                   espi_grow((void **)&w->value, &w->value_room, n, sizeof *w->value)
               ? -1
               : 0;
}

static void put_term(struct espi_priced_whole *w, int at, int column, double value)
{
    w->index[at] = column;
    w->value[at] = value;
}

int espi_priced_whole_add_row(struct espi_priced_whole *w, int count, double lower,
                              double upper, enum espi_priced_whole_row_kind kind,
                              int owner)
{
    if (espi_grow((void **)&w->rows, &w->row_room, w->n_rows + 1, sizeof *w->rows))
        return -1;
    w->rows[w->n_rows++] = (struct espi_priced_row){(int)kind, owner, 0};
    espi_lp_add_row(w->lp, count, w->index, w->value, lower, upper);
    w->rows_added++;
    return 0;
}

/* Coefficient of a link in a row that may have many. */
double espi_priced_whole_link_in_row(const struct espi_priced_whole *w,
                                     const struct espi_priced_row *row, int e)
{
    const struct espi_digraph *g = &w->m->net.g;
    const unsigned char *side;
    switch (row->kind) {
    case ESPI_WHOLE_ROW_CUT:
        side = w->cuts->side + (size_t)row->owner * (size_t)w->n;
        return side[g->tail[e]] && !side[g->head[e]];
    case ESPI_WHOLE_ROW_IN:
        return g->head[e] == row->owner;
    case ESPI_WHOLE_ROW_OUT:
        return (g->head[e] == row->owner) - (g->tail[e] == row->owner);
    default:
        return 0;
    }
}

/* Terms of the links that have columns. */
static int put_links(struct espi_priced_whole *w, int n,
                     enum espi_priced_whole_row_kind kind, int owner)
{
    struct espi_priced_row row = {(int)kind, owner, 0};
    for (int i = 0; i < w->n_kept; i++) {
        double value = espi_priced_whole_link_in_row(w, &row, w->kept[i]);
        if (value != 0)
            put_term(w, n++, w->first_link + i, value);
    }
    return n;
}

int espi_priced_whole_add_cut_row(struct espi_priced_whole *w, int cut)
{
    put_term(w, 0, ESPI_WHOLE_MISSING, 1);
    int n = put_links(w, 1, ESPI_WHOLE_ROW_CUT, cut);
    return espi_priced_whole_add_row(w, n, 1, INFINITY, ESPI_WHOLE_ROW_CUT, cut);
}

int espi_priced_whole_add_machine_rows(struct espi_priced_whole *w, int v)
{
    double a = w->from_s / w->unit_s, b = w->to_s / w->unit_s;
    int levels = espi_priced_whole_levels(w, v), most = w->m->max_count[v], n = 0;
    for (int k = 1; k <= levels; k++)
        put_term(w, n++, espi_priced_whole_column_x(w, v, k), -a);
    put_term(w, n++, ESPI_WHOLE_MACHINES + v, 1);
    if (w->m->must[v])
        put_term(w, n++, ESPI_WHOLE_TIME, -1);
    if (espi_priced_whole_add_row(w, n, w->m->must[v] ? -a : 0, INFINITY,
                                  ESPI_WHOLE_ROW_FIXED, v))
        return -1;
    for (int k = 1; isfinite(b) && k <= levels; k++)
        put_term(w, k - 1, espi_priced_whole_column_x(w, v, k), -b);
    put_term(w, levels, ESPI_WHOLE_MACHINES + v, 1);
    put_term(w, levels + 1, ESPI_WHOLE_TIME, -most);
    if (isfinite(b) && levels == most &&
        espi_priced_whole_add_row(w, levels + 2, -most * b, INFINITY,
                                  ESPI_WHOLE_ROW_FIXED, v))
        return -1;
    put_term(w, 0, ESPI_WHOLE_MACHINES + v, 1);
    put_term(w, 1, ESPI_WHOLE_TIME, -most);
    if (espi_priced_whole_add_row(w, 2, -INFINITY, 0, ESPI_WHOLE_ROW_FIXED, v))
        return -1;
    for (int k = 2; k <= levels; k++) {
        put_term(w, 0, espi_priced_whole_column_x(w, v, k - 1), 1);
        put_term(w, 1, espi_priced_whole_column_x(w, v, k), -1);
        if (espi_priced_whole_add_row(w, 2, 0, INFINITY, ESPI_WHOLE_ROW_FIXED, v))
            return -1;
    }
    return 0;
}

int espi_priced_whole_add_relay_rows(struct espi_priced_whole *w, int v)
{
    if (w->m->must[v])
        return 0;
    int n = put_links(w, 0, ESPI_WHOLE_ROW_IN, v);
    put_term(w, n++, espi_priced_whole_column_x(w, v, 1), -1);
    if (espi_priced_whole_add_row(w, n, -INFINITY, 0, ESPI_WHOLE_ROW_IN, v))
        return -1;
    put_term(w, 0, ESPI_WHOLE_MISSING, -1); /* links out may have no column yet */
    n = put_links(w, 1, ESPI_WHOLE_ROW_OUT, v);
    return espi_priced_whole_add_row(w, n, -INFINITY, 0, ESPI_WHOLE_ROW_OUT, v);
}

/* Terms -(c(n) - c(n - 1)) of a node's machines. */
static int put_caps(struct espi_priced_whole *w, int n, int v, double load_s, double most)
{
    double before = 0;
    for (int k = 1; k <= espi_priced_whole_levels(w, v); k++) {
        double cap = fmin(part_within(w, load_s, level_count(w, v, k)), most);
        if (cap > before)
            put_term(w, n++, espi_priced_whole_column_x(w, v, k), before - cap);
        before = fmax(cap, before);
    }
    return n;
}

int espi_priced_whole_add_limit_rows(struct espi_priced_whole *w, int i)
{
    const struct espi_priced_limit *limit = &w->m->limits[i];
    int n = 0, links;
    for (int k = 0; k < limit->n_links; k++)
        if (w->column_of[limit->links[k]] >= 0)
            put_term(w, n++, w->column_of[limit->links[k]], limit->load_s / w->unit_s);
    links = n;
    put_term(w, n++,
             limit->node < 0 ? ESPI_WHOLE_TIME : ESPI_WHOLE_MACHINES + limit->node, -1);
    if (espi_priced_whole_add_row(w, n, -INFINITY, 0, ESPI_WHOLE_ROW_NEED, i))
        return -1;
    for (int k = 0; k < links; k++)
        w->value[k] = 1;
    if (limit->node < 0)
        return espi_priced_whole_add_row(
            w, links, -INFINITY, fmin(part_within(w, limit->load_s, 1), limit->n_links),
            ESPI_WHOLE_ROW_PARTS, i);
    n = put_caps(w, links, limit->node, limit->load_s, limit->n_links);
    return espi_priced_whole_add_row(w, n, -INFINITY, 0, ESPI_WHOLE_ROW_PARTS, i);
}

/* Rows of link e at one end: machine-seconds, or partitions that fit. */
int espi_priced_whole_put_link_row(struct espi_priced_whole *w, int e, int at_head,
                                   int parts)
{
    const struct espi_digraph *g = &w->m->net.g;
    int v = at_head ? g->head[e] : g->tail[e];
    put_term(w, 0, w->column_of[e], parts ? 1 : w->m->link_s[e] / w->unit_s);
    if (parts)
        return put_caps(w, 1, v, w->m->link_s[e], 1);
    put_term(w, 1, ESPI_WHOLE_MACHINES + v, -1);
    return 2;
}

/* ---- columns ---- */

static double scaled(const struct espi_priced_whole *w, double usd, double time_s)
{
    return w->phase ? 0
                    : espi_priced_objective(w->m->task, usd, time_s) / w->unit_objective;
}

void espi_priced_whole_set_costs(struct espi_priced_whole *w)
{
    double *cost = w->cost;
    cost[ESPI_WHOLE_TIME] = scaled(w, 0, w->unit_s);
    cost[ESPI_WHOLE_MISSING] = w->phase ? 1 : ESPI_PRICED_MISSING;
    for (int v = 0; v < w->n; v++)
        cost[ESPI_WHOLE_MACHINES + v] = scaled(w, w->m->usd_per_s[v] * w->unit_s, 0);
    for (int j = w->first_x; j < w->first_link; j++)
        cost[j] = 0;
    for (int i = 0; i < w->n_kept; i++)
        cost[w->first_link + i] = scaled(w, w->m->link_usd[w->kept[i]], 0);
    espi_lp_set_costs(w->lp, cost);
}

void espi_priced_whole_set_bounds(struct espi_priced_whole *w, int column, double lower,
                                  double upper)
{
    w->lower[column] = lower;
    w->upper[column] = upper;
    espi_lp_set_lower(w->lp, column, lower);
    espi_lp_set_upper(w->lp, column, upper);
}

void espi_priced_whole_narrow(struct espi_priced_whole *w, int column, double lower,
                              double upper)
{
    espi_priced_whole_set_bounds(w, column, fmax(w->lower[column], lower),
                                 fmin(w->upper[column], upper));
}

static double most_on_link(const struct espi_priced_whole *w, int e)
{
    const struct espi_digraph *g = &w->m->net.g;
    int u = g->tail[e], v = g->head[e];
    int pairs =
        w->m->max_count[u] < w->m->max_count[v] ? w->m->max_count[u] : w->m->max_count[v];
    return v == w->m->net.root ? 0 : fmin(part_within(w, w->m->link_s[e], pairs), 1);
}

void espi_priced_whole_free(struct espi_priced_whole *w, int column)
{
    double lower = 0, upper = 1;
    if (column >= w->first_link)
        upper = most_on_link(w, w->kept[column - w->first_link]);
    else
        for (int v = 0; v < w->n; v++)
            if (w->m->must[v] && column == espi_priced_whole_column_x(w, v, 1))
                lower = 1;
    espi_priced_whole_set_bounds(w, column, lower, upper);
}

void espi_priced_whole_add_columns(struct espi_priced_whole *w, int from, int to)
{
    int start[2] = {0, 0};
    double upper = INFINITY, cost = 0;
    struct espi_lp_vectors one = {.count = 1,
                                  .upper = &upper,
                                  .cost = &cost,
                                  .start = start,
                                  .index = w->index,
                                  .value = w->value};
    for (int j = from; j < to; j++)
        espi_lp_add_columns(w->lp, &one);
}

void espi_priced_whole_keep_link(struct espi_priced_whole *w, int e)
{
    if (w->column_of[e] >= 0 || w->m->net.g.head[e] == w->m->net.root)
        return;
    w->column_of[e] = w->first_link + w->n_kept;
    w->kept[w->n_kept++] = e;
}

/* A link that comes later, with what it is in the rows that there are. */
static int add_late_link(struct espi_priced_whole *w, int e)
{
    int n = 0;
    if (espi_priced_whole_make_term_room(w, w->n_rows))
        return -1;
    espi_priced_whole_keep_link(w, e);
    for (size_t r = 0; r < w->n_rows; r++) {
        const struct espi_priced_row *row = &w->rows[r];
        double value = espi_priced_whole_link_in_row(w, row, e);
        if (row->kind == ESPI_WHOLE_ROW_NEED || row->kind == ESPI_WHOLE_ROW_PARTS) {
            const struct espi_priced_limit *limit = &w->m->limits[row->owner];
            for (int k = 0; k < limit->n_links; k++)
                if (limit->links[k] == e)
                    value =
                        row->kind == ESPI_WHOLE_ROW_NEED ? limit->load_s / w->unit_s : 1;
        }
        if (value != 0)
            put_term(w, n++, (int)r, value);
    }
    int start[2] = {0, n};
    double upper = most_on_link(w, e), cost = scaled(w, w->m->link_usd[e], 0);
    struct espi_lp_vectors one = {.count = 1,
                                  .upper = &upper,
                                  .cost = &cost,
                                  .start = start,
                                  .index = w->index,
                                  .value = w->value};
    espi_lp_add_columns(w->lp, &one);
    w->lower[w->column_of[e]] = 0;
    w->upper[w->column_of[e]] = upper;
    return 0;
}

/* The graph of the links that have columns. */
int espi_priced_whole_build_sub(struct espi_priced_whole *w)
{
    const struct espi_digraph *g = &w->m->net.g;
    espi_arena_release(w->arena, w->sub_mark);
    for (int i = 0; i < w->n_kept; i++) {
        w->tail[i] = g->tail[w->kept[i]];
        w->head[i] = g->head[w->kept[i]];
    }
    return espi_digraph_init(&w->sub, w->n, w->n_kept, w->tail, w->head, w->arena) ||
                   espi_maxflow_init(&w->flow, &w->sub, w->arena)
               ? -1
               : 0;
}

int espi_priced_whole_keep(struct espi_priced_whole *w, int link)
{
    if (w->column_of[link] >= 0)
        return 0;
    return add_late_link(w, link) || espi_priced_whole_build_sub(w) ? -1 : 0;
}

/* Of the links without a column that would lower the objective, those that would by most
 * get one: their number. */
int espi_priced_whole_add_worthy_links(struct espi_priced_whole *w)
{
    const struct espi_digraph *g = &w->m->net.g;
    const double *dual = espi_lp_duals(w->lp);
    double *reduced = w->capacity;
    int found = 0;
    for (int e = 0; e < g->m; e++)
        reduced[e] = scaled(w, w->m->link_usd[e], 0);
    for (size_t r = 0; r < w->n_rows; r++) {
        const struct espi_priced_row *row = &w->rows[r];
        if (dual[r] == 0 || row->kind == ESPI_WHOLE_ROW_FIXED ||
            row->kind == ESPI_WHOLE_ROW_LINK)
            continue;
        if (row->kind == ESPI_WHOLE_ROW_NEED || row->kind == ESPI_WHOLE_ROW_PARTS) {
            const struct espi_priced_limit *limit = &w->m->limits[row->owner];
            double value =
                row->kind == ESPI_WHOLE_ROW_NEED ? limit->load_s / w->unit_s : 1;
            for (int k = 0; k < limit->n_links; k++)
                reduced[limit->links[k]] -= dual[r] * value;
            continue;
        }
        for (int e = 0; e < g->m; e++)
            reduced[e] -= dual[r] * espi_priced_whole_link_in_row(w, row, e);
    }
    double least = -ESPI_PRICED_SLACK / ESPI_PRICED_WORTHY;
    for (int e = 0; e < g->m; e++) {
        if (w->column_of[e] >= 0 || g->head[e] == w->m->net.root ||
            !(most_on_link(w, e) > 0))
            reduced[e] = 0;
        least = reduced[e] < least ? reduced[e] : least;
    }
    for (int e = 0; e < g->m; e++)
        if (reduced[e] < least * ESPI_PRICED_WORTHY) {
            if (add_late_link(w, e))
                return -1;
            found++;
        }
    return found && espi_priced_whole_build_sub(w) ? -1 : found;
}
