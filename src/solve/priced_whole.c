#include "solve/priced_whole.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/number.h"
#include "platform/platform.h"
#include "solve/tuning.h"

/* code: columns; then x, and links */
enum { COLUMN_TIME = 0, COLUMN_MISSING = 1, COLUMN_MACHINES = 2 };
enum { DIGITS = 9 };    /* rounding: of bounds, far below what is taken off them */
#define FITS_SLACK 2e-6 /* rounding: of what just fits, as deadlines that are met */
#define NOTHING    1e-6 /* rounding: of what is missing */

enum row_kind {
    ROW_FIXED, /* no link is in it */
    ROW_LINK,  /* of one link, which has a column */
    ROW_CUT,
    ROW_NEED,  /* of a limit: what it takes of machines or of time */
    ROW_PARTS, /* of a limit: partitions that fit */
    ROW_IN,    /* into a relay, once at most */
    ROW_OUT,   /* in less out, of a relay */
};

struct espi_priced_row {
    int kind, owner;
    int which; /* of a link's: bit of has_row */
};

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

static int make_term_room(struct espi_priced_whole *w, size_t n)
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

static int add_row(struct espi_priced_whole *w, int count, double lower, double upper,
                   enum row_kind kind, int owner)
{
    int start[2] = {0, count};
    struct espi_lp_vectors rows = {.count = 1,
                                   .lower = &lower,
                                   .upper = &upper,
                                   .start = start,
                                   .index = w->index,
                                   .value = w->value};
    if (espi_grow((void **)&w->rows, &w->row_room, w->n_rows + 1, sizeof *w->rows))
        return -1;
    w->rows[w->n_rows++] = (struct espi_priced_row){(int)kind, owner, 0};
    espi_lp_add_rows(w->lp, &rows);
    w->rows_added++;
    return 0;
}

/* Coefficient of a link in a row that may have many. */
static double link_in_row(const struct espi_priced_whole *w,
                          const struct espi_priced_row *row, int e)
{
    const struct espi_digraph *g = &w->m->net.g;
    const unsigned char *side;
    switch (row->kind) {
    case ROW_CUT:
        side = w->cuts->side + (size_t)row->owner * (size_t)w->n;
        return side[g->tail[e]] && !side[g->head[e]];
    case ROW_IN:
        return g->head[e] == row->owner;
    case ROW_OUT:
        return (g->head[e] == row->owner) - (g->tail[e] == row->owner);
    default:
        return 0;
    }
}

/* Terms of the links that have columns. */
static int put_links(struct espi_priced_whole *w, int n, enum row_kind kind, int owner)
{
    struct espi_priced_row row = {(int)kind, owner, 0};
    for (int i = 0; i < w->n_kept; i++) {
        double value = link_in_row(w, &row, w->kept[i]);
        if (value != 0)
            put_term(w, n++, w->first_link + i, value);
    }
    return n;
}

static int add_cut_row(struct espi_priced_whole *w, int cut)
{
    put_term(w, 0, COLUMN_MISSING, 1);
    int n = put_links(w, 1, ROW_CUT, cut);
    return add_row(w, n, 1, INFINITY, ROW_CUT, cut);
}

static int add_machine_rows(struct espi_priced_whole *w, int v)
{
    double a = w->from_s / w->unit_s, b = w->to_s / w->unit_s;
    int levels = espi_priced_whole_levels(w, v), most = w->m->max_count[v], n = 0;
    for (int k = 1; k <= levels; k++)
        put_term(w, n++, espi_priced_whole_column_x(w, v, k), -a);
    put_term(w, n++, COLUMN_MACHINES + v, 1);
    if (w->m->must[v])
        put_term(w, n++, COLUMN_TIME, -1);
    if (add_row(w, n, w->m->must[v] ? -a : 0, INFINITY, ROW_FIXED, v))
        return -1;
    for (int k = 1; isfinite(b) && k <= levels; k++)
        put_term(w, k - 1, espi_priced_whole_column_x(w, v, k), -b);
    put_term(w, levels, COLUMN_MACHINES + v, 1);
    put_term(w, levels + 1, COLUMN_TIME, -most);
    if (isfinite(b) && levels == most &&
        add_row(w, levels + 2, -most * b, INFINITY, ROW_FIXED, v))
        return -1;
    put_term(w, 0, COLUMN_MACHINES + v, 1);
    put_term(w, 1, COLUMN_TIME, -most);
    if (add_row(w, 2, -INFINITY, 0, ROW_FIXED, v))
        return -1;
    for (int k = 2; k <= levels; k++) {
        put_term(w, 0, espi_priced_whole_column_x(w, v, k - 1), 1);
        put_term(w, 1, espi_priced_whole_column_x(w, v, k), -1);
        if (add_row(w, 2, 0, INFINITY, ROW_FIXED, v))
            return -1;
    }
    return 0;
}

static int add_relay_rows(struct espi_priced_whole *w, int v)
{
    if (w->m->must[v])
        return 0;
    int n = put_links(w, 0, ROW_IN, v);
    put_term(w, n++, espi_priced_whole_column_x(w, v, 1), -1);
    if (add_row(w, n, -INFINITY, 0, ROW_IN, v))
        return -1;
    put_term(w, 0, COLUMN_MISSING, -1); /* links out may have no column yet */
    n = put_links(w, 1, ROW_OUT, v);
    return add_row(w, n, -INFINITY, 0, ROW_OUT, v);
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

static int add_limit_rows(struct espi_priced_whole *w, int i)
{
    const struct espi_priced_limit *limit = &w->m->limits[i];
    int n = 0, links;
    for (int k = 0; k < limit->n_links; k++)
        if (w->column_of[limit->links[k]] >= 0)
            put_term(w, n++, w->column_of[limit->links[k]], limit->load_s / w->unit_s);
    links = n;
    put_term(w, n++, limit->node < 0 ? COLUMN_TIME : COLUMN_MACHINES + limit->node, -1);
    if (add_row(w, n, -INFINITY, 0, ROW_NEED, i))
        return -1;
    for (int k = 0; k < links; k++)
        w->value[k] = 1;
    if (limit->node < 0)
        return add_row(w, links, -INFINITY,
                       fmin(part_within(w, limit->load_s, 1), limit->n_links), ROW_PARTS,
                       i);
    n = put_caps(w, links, limit->node, limit->load_s, limit->n_links);
    return add_row(w, n, -INFINITY, 0, ROW_PARTS, i);
}

/* Rows of link e at one end: machine-seconds, or partitions that fit. */
static int put_link_row(struct espi_priced_whole *w, int e, int at_head, int parts)
{
    const struct espi_digraph *g = &w->m->net.g;
    int v = at_head ? g->head[e] : g->tail[e];
    put_term(w, 0, w->column_of[e], parts ? 1 : w->m->link_s[e] / w->unit_s);
    if (parts)
        return put_caps(w, 1, v, w->m->link_s[e], 1);
    put_term(w, 1, COLUMN_MACHINES + v, -1);
    return 2;
}

/* ---- columns ---- */

static double scaled(const struct espi_priced_whole *w, double usd, double time_s)
{
    return w->phase ? 0
                    : espi_priced_objective(w->m->task, usd, time_s) / w->unit_objective;
}

static void set_costs(struct espi_priced_whole *w)
{
    double *cost = w->cost;
    cost[COLUMN_TIME] = scaled(w, 0, w->unit_s);
    cost[COLUMN_MISSING] = w->phase ? 1 : ESPI_PRICED_MISSING;
    for (int v = 0; v < w->n; v++)
        cost[COLUMN_MACHINES + v] = scaled(w, w->m->usd_per_s[v] * w->unit_s, 0);
    for (int j = w->first_x; j < w->first_link; j++)
        cost[j] = 0;
    for (int i = 0; i < w->n_kept; i++)
        cost[w->first_link + i] = scaled(w, w->m->link_usd[w->kept[i]], 0);
    espi_lp_set_costs(w->lp, cost);
}

static void set_bounds(struct espi_priced_whole *w, int column, double lower,
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
    set_bounds(w, column, fmax(w->lower[column], lower), fmin(w->upper[column], upper));
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
    set_bounds(w, column, lower, upper);
}

static void add_columns(struct espi_priced_whole *w, int from, int to)
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

static void keep_link(struct espi_priced_whole *w, int e)
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
    if (make_term_room(w, w->n_rows))
        return -1;
    keep_link(w, e);
    for (size_t r = 0; r < w->n_rows; r++) {
        const struct espi_priced_row *row = &w->rows[r];
        double value = link_in_row(w, row, e);
        if (row->kind == ROW_NEED || row->kind == ROW_PARTS) {
            const struct espi_priced_limit *limit = &w->m->limits[row->owner];
            for (int k = 0; k < limit->n_links; k++)
                if (limit->links[k] == e)
                    value = row->kind == ROW_NEED ? limit->load_s / w->unit_s : 1;
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
static int build_sub(struct espi_priced_whole *w)
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
    return add_late_link(w, link) || build_sub(w) ? -1 : 0;
}

/* Of the links without a column that would lower the objective, those that would by most
 * get one: their number. */
static int add_worthy_links(struct espi_priced_whole *w)
{
    const struct espi_digraph *g = &w->m->net.g;
    const double *dual = espi_lp_duals(w->lp);
    double *reduced = w->capacity;
    int found = 0;
    for (int e = 0; e < g->m; e++)
        reduced[e] = scaled(w, w->m->link_usd[e], 0);
    for (size_t r = 0; r < w->n_rows; r++) {
        const struct espi_priced_row *row = &w->rows[r];
        if (dual[r] == 0 || row->kind == ROW_FIXED || row->kind == ROW_LINK)
            continue;
        if (row->kind == ROW_NEED || row->kind == ROW_PARTS) {
            const struct espi_priced_limit *limit = &w->m->limits[row->owner];
            double value = row->kind == ROW_NEED ? limit->load_s / w->unit_s : 1;
            for (int k = 0; k < limit->n_links; k++)
                reduced[limit->links[k]] -= dual[r] * value;
            continue;
        }
        for (int e = 0; e < g->m; e++)
            reduced[e] -= dual[r] * link_in_row(w, row, e);
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
    return found && build_sub(w) ? -1 : found;
}

/* ---- what is violated ---- */

static int add_violated_links(struct espi_priced_whole *w, const double *x)
{
    int found = 0;
    for (int i = 0; i < w->n_kept; i++) {
        if (!(x[w->first_link + i] > 0))
            continue;
        for (int kind = 0; kind < 4; kind++) {
            int e = w->kept[i];
            if (w->has_row[e] >> kind & 1)
                continue;
            int n = put_link_row(w, e, kind & 1, kind >> 1);
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += w->value[k] * x[w->index[k]];
            if (sum <= ESPI_PRICED_SLACK)
                continue;
            w->has_row[e] |= (unsigned char)(1 << kind);
            if (add_row(w, n, -INFINITY, 0, ROW_LINK, e))
                return -1;
            w->rows[w->n_rows - 1].which = kind;
            found++;
        }
    }
    return found;
}

static int keep_cut(struct espi_priced_whole *w, const unsigned char *side)
{
    return espi_priced_cuts_add(w->cuts, side, w->n) ? -1
                                                     : add_cut_row(w, w->cuts->count - 1);
}

/* Adds the cut if it is violated, and counts its links as full: 1, 0 or -1. */
static int try_cut(struct espi_priced_whole *w, const double *y, double missing)
{
    double sum = missing;
    for (int i = 0; i < w->n_kept; i++)
        if (w->side[w->tail[i]] && !w->side[w->head[i]])
            sum += y[i];
    if (sum >= 1 - ESPI_PRICED_SLACK)
        return 0;
    for (int i = 0; i < w->n_kept; i++)
        if (w->side[w->tail[i]] && !w->side[w->head[i]])
            w->capacity[i] = 1;
    return keep_cut(w, w->side) ? -1 : 1;
}

/* As in priced_bound.c: nested cuts from both ends, of few links. */
static int add_violated_cuts(struct espi_priced_whole *w, const double *y, double missing,
                             int target)
{
    int found = 0;
    for (int again = 0; again < ESPI_PRICED_NESTED; again++) {
        double value = espi_maxflow(&w->flow, w->capacity, w->m->net.root, target, 1);
        if (w->flow.stopped || value + missing >= 1)
            return found;
        espi_maxflow_source_cut(&w->flow, w->near_root);
        espi_maxflow_sink_cut(&w->flow, w->side);
        int same = !memcmp(w->side, w->near_root, (size_t)w->n);
        int took = try_cut(w, y, missing);
        memcpy(w->side, w->near_root, (size_t)w->n);
        int more = took < 0 || same ? 0 : try_cut(w, y, missing);
        if (took < 0 || more < 0)
            return -1;
        if (took + more == 0)
            return found;
        found += took + more;
    }
    return found;
}

static int add_violated(struct espi_priced_whole *w, const double *x)
{
    const struct espi_flow_net *net = &w->m->net;
    int found = add_violated_links(w, x);
    const double *y = x + w->first_link;
    for (int i = 0; i < net->n_targets && found >= 0; i++) {
        for (int k = 0; k < w->n_kept; k++)
            w->capacity[k] = (y[k] > 0 ? y[k] : 0) + ESPI_PRICED_CREEP;
        int more = add_violated_cuts(w, y, x[COLUMN_MISSING], net->targets[i]);
        found = more < 0 ? -1 : found + more;
    }
    return found;
}

/* How far a row that may go is from binding. */
static double row_slack(struct espi_priced_whole *w, const struct espi_priced_row *row,
                        const double *x)
{
    double sum = 0;
    if (row->kind == ROW_CUT) {
        for (int i = 0; i < w->n_kept; i++)
            sum += x[w->first_link + i] * link_in_row(w, row, w->kept[i]);
        return sum - 1;
    }
    int n = put_link_row(w, row->owner, row->which & 1, row->which >> 1);
    for (int k = 0; k < n; k++)
        sum -= w->value[k] * x[w->index[k]];
    return sum;
}

/* Cuts and rows of links that are far from binding go, once there are many more rows than
 * at the last time. */
static int drop_slack_rows(struct espi_priced_whole *w)
{
    const double *x = espi_lp_values(w->lp), *dual = espi_lp_duals(w->lp);
    size_t left = 0;
    int n = 0;
    if (!x || (double)w->n_rows < (double)w->rows_before * ESPI_PRICED_MORE_ROWS)
        return 0;
    int *which = ESPI_NEW(int, w->n_rows + 1);
    if (!which)
        return -1;
    for (size_t r = 0; r < w->n_rows; r++) {
        struct espi_priced_row *row = &w->rows[r];
        int may = (row->kind == ROW_CUT || row->kind == ROW_LINK) && r < w->solved_rows &&
                  dual[r] == 0;
        if (may && row_slack(w, row, x) > ESPI_PRICED_FAR) {
            which[n++] = (int)r;
            if (row->kind == ROW_LINK)
                w->has_row[row->owner] &= (unsigned char)~(1 << row->which);
        } else {
            w->rows[left++] = *row;
        }
    }
    espi_lp_drop_rows(w->lp, n, which);
    w->n_rows = w->rows_before = left;
    espi_free(which);
    return 0;
}

/* ---- solving ---- */

static double value_now(const struct espi_priced_whole *w)
{
    const double *x = espi_lp_values(w->lp);
    double sum = 0;
    for (int j = 0; j < w->first_link + w->n_kept; j++)
        sum += w->cost[j] * x[j];
    return sum;
}

static double unscaled(const struct espi_priced_whole *w, double value)
{
    return espi_round_digits(value * w->unit_objective * (1 - ESPI_PRICED_SLACK), DIGITS);
}

/* Rows as they are violated, then links as they are worth it, until neither is there; or
 * not all rows, once the bound has not risen for so many rounds. */
static esp_status solve_phase(struct espi_priced_whole *w, int patience, double stop_at,
                              struct esp_err *err)
{
    double best = -INFINITY;
    espi_lp_method method = ESPI_LP_DUAL;
    int flat = 0;
    w->feasible = 1;
    w->bound = -INFINITY;
    set_costs(w);
    for (int round = 0; round < ESPI_PRICED_ROUNDS && w->effort < w->effort_end;
         round++) {
        espi_lp_result result = espi_lp_solve(w->lp, method);
        w->solved_rows = w->n_rows;
        w->effort += ESPI_PRICED_ROUND_EFFORT +
                     ESPI_PRICED_TERM_EFFORT * (double)w->n_rows * w->n_kept;
        w->solved = result == ESPI_LP_OPTIMAL; /* else there are no values to go by */
        if (result == ESPI_LP_INFEASIBLE) {
            w->feasible = 0;
            return ESP_OK;
        }
        if (result != ESPI_LP_OPTIMAL)
            return espi_lp_error(result, "the bound of whole partitions was not found",
                                 err);
        int links = add_worthy_links(w);
        if (links < 0)
            return espi_err_nomem(err);
        method = links ? ESPI_LP_PRIMAL : ESPI_LP_DUAL;
        if (links) {
            set_costs(w);
            continue;
        }
        if (w->phase && espi_lp_values(w->lp)[COLUMN_MISSING] > NOTHING) {
            w->feasible = 0;
            return ESP_OK;
        }
        double now = value_now(w);
        w->bound = unscaled(w, now);
        flat = now > best + ESPI_PRICED_RISE * fabs(now) ? 0 : flat + 1;
        best = flat ? best : now;
        if (!w->phase && (flat >= patience || w->bound >= stop_at))
            return ESP_OK;
        int found = add_violated(w, espi_lp_values(w->lp));
        if (found < 0)
            return espi_err_nomem(err);
        if (!found)
            return ESP_OK;
    }
    return ESP_OK;
}

esp_status espi_priced_whole_solve(struct espi_priced_whole *w, int patience,
                                   double stop_at, struct esp_err *err)
{
    w->phase = 0;
    if (w->solved && drop_slack_rows(w))
        return espi_err_nomem(err);
    esp_status st = solve_phase(w, patience, stop_at, err);
    if (st || !w->feasible || w->bound >= stop_at ||
        espi_lp_values(w->lp)[COLUMN_MISSING] <= NOTHING)
        return st;
    w->phase = 1;
    st = solve_phase(w, patience, INFINITY, err);
    w->phase = 0;
    if (st || !w->feasible)
        return st;
    espi_lp_set_upper(w->lp, COLUMN_MISSING, 0);
    st = solve_phase(w, patience, stop_at, err);
    espi_lp_set_upper(w->lp, COLUMN_MISSING, INFINITY);
    if (!w->feasible) { /* by the links that have columns: nothing is proven */
        w->feasible = 1;
        w->bound = -INFINITY;
    }
    return st;
}

double espi_priced_whole_y(const struct espi_priced_whole *w, int link)
{
    int column = w->column_of[link];
    return column < 0 ? 0 : espi_lp_values(w->lp)[column];
}

double espi_priced_whole_x(const struct espi_priced_whole *w, int v, int n)
{
    return espi_lp_values(w->lp)[espi_priced_whole_column_x(w, v, n)];
}

/* ---- the program ---- */

static int take_room(struct espi_priced_whole *w)
{
    int links = w->m->net.g.m, x = 0;
    w->x_start = ESPI_ARENA_NEW(w->arena, int, w->n + 1);
    if (!w->x_start)
        return -1;
    for (int v = 0; v < w->n; v++) {
        int most = w->m->max_count[v];
        w->x_start[v] = x;
        x += most < ESPI_PRICED_LEVELS ? most : ESPI_PRICED_LEVELS;
    }
    w->x_start[w->n] = x;
    w->first_x = COLUMN_MACHINES + w->n;
    w->first_link = w->first_x + x;
    size_t columns = (size_t)w->first_link + (size_t)links + 1;
    w->kept = ESPI_ARENA_NEW(w->arena, int, links + 1);
    w->column_of = ESPI_ARENA_NEW(w->arena, int, links + 1);
    w->has_row = ESPI_ARENA_ZNEW(w->arena, unsigned char, links + 1);
    w->tail = ESPI_ARENA_NEW(w->arena, int, links + 1);
    w->head = ESPI_ARENA_NEW(w->arena, int, links + 1);
    w->cost = ESPI_ARENA_ZNEW(w->arena, double, columns);
    w->lower = ESPI_ARENA_ZNEW(w->arena, double, columns);
    w->upper = ESPI_ARENA_ZNEW(w->arena, double, columns);
    w->capacity = ESPI_ARENA_NEW(w->arena, double, links + 1);
    w->side = ESPI_ARENA_NEW(w->arena, unsigned char, w->n);
    w->near_root = ESPI_ARENA_NEW(w->arena, unsigned char, w->n);
    return w->kept && w->column_of && w->has_row && w->tail && w->head && w->cost &&
                   w->lower && w->upper && w->capacity && w->side && w->near_root &&
                   make_term_room(w, columns) == 0
               ? 0
               : -1;
}

static void keep_first_links(struct espi_priced_whole *w,
                             const struct espi_priced_bound *plain,
                             const struct espi_priced_pool *pool)
{
    for (int e = 0; e < w->m->net.g.m; e++)
        if (plain->y[e] > 0)
            keep_link(w, e);
    for (int t = 0; t < pool->n_trees; t++)
        for (int i = 0; i < pool->trees[t].n_links; i++)
            keep_link(w, pool->trees[t].links[i]);
}

static int add_rows(struct espi_priced_whole *w)
{
    for (int v = 0; v < w->n; v++)
        if (add_machine_rows(w, v) || add_relay_rows(w, v))
            return -1;
    for (int i = 0; i < w->m->n_limits; i++)
        if (add_limit_rows(w, i))
            return -1;
    for (int i = 0; i < w->cuts->count; i++)
        if (add_cut_row(w, i))
            return -1;
    return 0;
}

esp_status espi_priced_whole_init(struct espi_priced_whole *w,
                                  const struct espi_priced_model *m,
                                  const struct espi_priced_bound *plain,
                                  const struct espi_priced_pool *pool, double from_s,
                                  double to_s, struct espi_priced_cuts *cuts,
                                  struct espi_arena *arena, struct esp_err *err)
{
    *w = (struct espi_priced_whole){.m = m,
                                    .cuts = cuts,
                                    .arena = arena,
                                    .from_s = from_s,
                                    .to_s = to_s,
                                    .unit_s = plain->unit_s,
                                    .unit_objective = plain->unit_objective,
                                    .n = m->net.g.n};
    if (take_room(w))
        return espi_err_nomem(err);
    memset(w->column_of, 0xff, (size_t)m->net.g.m * sizeof *w->column_of);
    w->sub_mark = espi_arena_mark(arena);
    keep_first_links(w, plain, pool);
    esp_status st = espi_lp_create(&w->lp, err);
    if (st)
        return st;
    espi_lp_perturb(w->lp, 1);
    add_columns(w, 0, w->first_link + w->n_kept);
    for (int j = w->first_x; j < w->first_link + w->n_kept; j++)
        espi_priced_whole_free(w, j);
    set_bounds(w, COLUMN_TIME, from_s / w->unit_s, to_s / w->unit_s);
    return build_sub(w) || add_rows(w) ? espi_err_nomem(err) : ESP_OK;
}

void espi_priced_whole_done(struct espi_priced_whole *w)
{
    espi_lp_free(w->lp);
    espi_free(w->rows);
    espi_free(w->index);
    espi_free(w->value);
    *w = (struct espi_priced_whole){.n = 0};
}
