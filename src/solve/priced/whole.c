#include "solve/priced/whole_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/number.h"
#include "solve/priced/tuning.h"

enum { DIGITS = 9 }; /* rounding: of bounds, far below what is taken off them */
#define NOTHING 1e-6 /* rounding: of what is missing */

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
            int n = espi_priced_whole_put_link_row(w, e, kind & 1, kind >> 1);
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += w->value[k] * x[w->index[k]];
            if (sum <= ESPI_PRICED_SLACK)
                continue;
            w->has_row[e] |= (unsigned char)(1 << kind);
            if (espi_priced_whole_add_row(w, n, -INFINITY, 0, ESPI_WHOLE_ROW_LINK, e))
                return -1;
            w->rows[w->n_rows - 1].which = kind;
            found++;
        }
    }
    return found;
}

static int keep_cut(struct espi_priced_whole *w, const unsigned char *side)
{
    return espi_priced_cuts_add(w->cuts, side, w->n)
               ? -1
               : espi_priced_whole_add_cut_row(w, w->cuts->count - 1);
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

/* As in bound.c: nested cuts from both ends, of few links. */
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
        int more = add_violated_cuts(w, y, x[ESPI_WHOLE_MISSING], net->targets[i]);
        found = more < 0 ? -1 : found + more;
    }
    return found;
}

/* How far a row that may go is from binding. */
static double row_slack(struct espi_priced_whole *w, const struct espi_priced_row *row,
                        const double *x)
{
    double sum = 0;
    if (row->kind == ESPI_WHOLE_ROW_CUT) {
        for (int i = 0; i < w->n_kept; i++)
            sum +=
                x[w->first_link + i] * espi_priced_whole_link_in_row(w, row, w->kept[i]);
        return sum - 1;
    }
    int n =
        espi_priced_whole_put_link_row(w, row->owner, row->which & 1, row->which >> 1);
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
        int may = (row->kind == ESPI_WHOLE_ROW_CUT || row->kind == ESPI_WHOLE_ROW_LINK) &&
                  r < w->solved_rows && dual[r] == 0;
        if (may && row_slack(w, row, x) > ESPI_PRICED_FAR) {
            which[n++] = (int)r;
            if (row->kind == ESPI_WHOLE_ROW_LINK)
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
    espi_priced_whole_set_costs(w);
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
        int links = espi_priced_whole_add_worthy_links(w);
        if (links < 0)
            return espi_err_nomem(err);
        method = links ? ESPI_LP_PRIMAL : ESPI_LP_DUAL;
        if (links) {
            espi_priced_whole_set_costs(w);
            continue;
        }
        if (w->phase && espi_lp_values(w->lp)[ESPI_WHOLE_MISSING] > NOTHING) {
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
        espi_lp_values(w->lp)[ESPI_WHOLE_MISSING] <= NOTHING)
        return st;
    w->phase = 1;
    st = solve_phase(w, patience, INFINITY, err);
    w->phase = 0;
    if (st || !w->feasible)
        return st;
    espi_lp_set_upper(w->lp, ESPI_WHOLE_MISSING, 0);
    st = solve_phase(w, patience, stop_at, err);
    espi_lp_set_upper(w->lp, ESPI_WHOLE_MISSING, INFINITY);
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
    w->first_x = ESPI_WHOLE_MACHINES + w->n;
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
                   espi_priced_whole_make_term_room(w, columns) == 0
               ? 0
               : -1;
}

static void keep_first_links(struct espi_priced_whole *w,
                             const struct espi_priced_bound *plain,
                             const struct espi_priced_pool *pool)
{
    for (int e = 0; e < w->m->net.g.m; e++)
        if (plain->y[e] > 0)
            espi_priced_whole_keep_link(w, e);
    for (int t = 0; t < pool->n_trees; t++)
        for (int i = 0; i < pool->trees[t].n_links; i++)
            espi_priced_whole_keep_link(w, pool->trees[t].links[i]);
}

static int add_rows(struct espi_priced_whole *w)
{
    for (int v = 0; v < w->n; v++)
        if (espi_priced_whole_add_machine_rows(w, v) ||
            espi_priced_whole_add_relay_rows(w, v))
            return -1;
    for (int i = 0; i < w->m->n_limits; i++)
        if (espi_priced_whole_add_limit_rows(w, i))
            return -1;
    for (int i = 0; i < w->cuts->count; i++)
        if (espi_priced_whole_add_cut_row(w, i))
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
    espi_priced_whole_add_columns(w, 0, w->first_link + w->n_kept);
    for (int j = w->first_x; j < w->first_link + w->n_kept; j++)
        espi_priced_whole_free(w, j);
    espi_priced_whole_set_bounds(w, ESPI_WHOLE_TIME, from_s / w->unit_s,
                                 to_s / w->unit_s);
    return espi_priced_whole_build_sub(w) || add_rows(w) ? espi_err_nomem(err) : ESP_OK;
}

void espi_priced_whole_done(struct espi_priced_whole *w)
{
    espi_lp_free(w->lp);
    espi_free(w->rows);
    espi_free(w->index);
    espi_free(w->value);
    *w = (struct espi_priced_whole){.n = 0};
}
