#include "solve/priced/bound_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/number.h"
#include "solve/priced/tuning.h"

enum { DIGITS = 9 };        /* rounding: of bounds, far below what is taken off them */
#define DEADLINE_SLACK 2e-6 /* rounding: of deadlines that plans just meet */

/* ---- columns and costs ---- */

static double usd_of_column(const struct espi_priced_cut_program *c, int column)
{
    if (column == ESPI_BOUND_TIME)
        return 0;
    if (column < c->first_link)
        return c->m->usd_per_s[column - ESPI_BOUND_MACHINES] * c->unit_s;
    return c->m->link_usd[column - c->first_link];
}

/* Costs of the objective of the task, in units that are neither small nor large. */
static void set_costs(struct espi_priced_cut_program *c)
{
    const struct espi_priced_task *task = c->m->task;
    double largest = 0;
    for (int j = 0; j < c->first_link + c->links; j++) {
        double usd = usd_of_column(c, j);
        c->cost[j] = task->usd_weight > 0 ? task->usd_weight * usd : 0;
        if (j == ESPI_BOUND_TIME && task->s_weight > 0)
            c->cost[j] += task->s_weight * c->unit_s;
        largest = c->cost[j] > largest ? c->cost[j] : largest;
    }
    c->unit_objective = largest > 0 ? largest : 1;
    for (int j = 0; j < c->first_link + c->links; j++)
        c->cost[j] /= c->unit_objective;
    espi_lp_set_costs(c->lp, c->cost);
}

static int add_columns(struct espi_priced_cut_program *c, struct espi_arena *arena)
{
    int n = c->first_link + c->links;
    double *upper = ESPI_ARENA_NEW(arena, double, n);
    double *cost = ESPI_ARENA_ZNEW(arena, double, n);
    int *start = ESPI_ARENA_ZNEW(arena, int, n + 1);
    if (!upper || !cost || !start)
        return -1;
    for (int j = 0; j < n; j++)
        upper[j] = INFINITY;
    for (int e = 0; e < c->links; e++)
        upper[c->first_link + e] = c->m->net.g.head[e] == c->m->net.root ? 0 : 1;
    cost[ESPI_BOUND_TIME] = 1;
    struct espi_lp_vectors columns = {.count = n,
                                      .upper = upper,
                                      .cost = cost,
                                      .start = start,
                                      .index = c->index,
                                      .value = c->value};
    espi_lp_add_columns(c->lp, &columns);
    return 0;
}

/* ---- the loop ---- */

static int add_violated_links(struct espi_priced_cut_program *c, const double *x)
{
    const struct espi_digraph *g = &c->m->net.g;
    int found = 0;
    for (int e = 0; e < c->links; e++)
        for (int end = 0; end < 2; end++) {
            int v = end ? g->head[e] : g->tail[e];
            double load = x[c->first_link + e] * c->m->link_s[e] / c->unit_s;
            if (c->has_row[e] >> end & 1 ||
                load <= x[ESPI_BOUND_MACHINES + v] + ESPI_PRICED_SLACK)
                continue;
            if (espi_priced_bound_add_link_row(c, e, end))
                return -1;
            found++;
        }
    return found;
}

/* Adds the cut of c->side if it is violated, and counts its links as full: 1, 0 or -1. */
static int try_cut(struct espi_priced_cut_program *c, const double *y)
{
    const struct espi_digraph *g = &c->m->net.g;
    double sum = 0;
    for (int e = 0; e < g->m; e++)
        if (c->side[g->tail[e]] && !c->side[g->head[e]])
            sum += y[e];
    if (sum >= 1 - ESPI_PRICED_SLACK)
        return 0;
    for (int e = 0; e < g->m; e++)
        if (c->side[g->tail[e]] && !c->side[g->head[e]])
            c->capacity[e] = 1;
    return espi_priced_bound_add_cut(c) ? -1 : 1;
}

/* The cuts of one target that are violated, nearest to it and to the root, and, links of
 * these counted as full, those between. */
static int add_violated_cuts(struct espi_priced_cut_program *c, const double *y,
                             int target)
{
    int found = 0, root = c->m->net.root;
    for (int again = 0; again < ESPI_PRICED_NESTED; again++) {
        double value = espi_maxflow(&c->flow, c->capacity, root, target, 1);
        if (c->flow.stopped || value >= 1)
            return found;
        espi_maxflow_source_cut(&c->flow, c->near_root);
        espi_maxflow_sink_cut(&c->flow, c->side);
        int same = !memcmp(c->side, c->near_root, (size_t)c->n);
        int took = try_cut(c, y);
        if (took < 0)
            return -1;
        memcpy(c->side, c->near_root, (size_t)c->n);
        int more = same || !again ? 0 : try_cut(c, y);
        if (more < 0)
            return -1;
        if (took + more == 0)
            return found;
        found += took + more;
    }
    return found;
}

/* A little on every link makes cuts of few links the least ones: T. Koch, A. Martin,
 * Solving Steiner tree problems in graphs to optimality, 1998, has this and the cuts
 * above. */
static int add_violated(struct espi_priced_cut_program *c, const double *x)
{
    int found = add_violated_links(c, x);
    const double *y = x + c->first_link;
    for (int i = 0; i < c->m->net.n_targets && found >= 0; i++) {
        for (int e = 0; e < c->links; e++)
            c->capacity[e] = (y[e] > 0 ? y[e] : 0) + ESPI_PRICED_CREEP;
        int more = add_violated_cuts(c, y, c->m->net.targets[i]);
        found = more < 0 ? -1 : found + more;
    }
    return found;
}

static double value_of(const struct espi_priced_cut_program *c, const double *cost)
{
    const double *x = espi_lp_values(c->lp);
    double sum = 0;
    for (int j = 0; j < c->first_link + c->links; j++)
        sum += cost[j] * x[j];
    return sum;
}

/* Solves, with what is violated added again and again, until nothing is or the bound has
 * not risen by much for so many rounds. */
static espi_lp_result solve_rows(struct espi_priced_cut_program *c, espi_lp_method method)
{
    c->solved_rows = c->rows;
    return espi_lp_solve(c->lp, method);
}

static esp_status solve_cuts(struct espi_priced_cut_program *c, espi_lp_method method,
                             int patience, espi_lp_result *result, struct esp_err *err)
{
    double best = -INFINITY;
    for (int round = 0, flat = 0; round < ESPI_PRICED_ROUNDS; round++) {
        *result = solve_rows(c, round ? ESPI_LP_DUAL : method);
        if (*result == ESPI_LP_INFEASIBLE)
            return ESP_OK;
        if (*result != ESPI_LP_OPTIMAL)
            return espi_lp_error(*result, "the bound of the price was not found", err);
        c->rounds++;
        const double *x = espi_lp_values(c->lp);
        int found = add_violated(c, x);
        if (found < 0)
            return espi_err_nomem(err);
        double now = value_of(c, c->cost);
        flat = now > best + ESPI_PRICED_RISE * fabs(now) ? 0 : flat + 1;
        best = flat ? best : now;
        if (!found || flat >= patience)
            return ESP_OK;
    }
    *result = solve_rows(c, ESPI_LP_DUAL);
    return ESP_OK;
}

/* Prices of links: what they cost and what the limits that they use are worth. */
static void find_prices(const struct espi_priced_cut_program *c, double *price)
{
    const double *dual = espi_lp_duals(c->lp);
    const struct espi_digraph *g = &c->m->net.g;
    memcpy(price, c->cost + c->first_link, (size_t)c->links * sizeof *price);
    for (size_t i = 0; i < c->solved_rows; i++) {
        double worth = dual[i] < 0 ? -dual[i] : 0;
        int owner = c->row_owner[i];
        if (c->row_what[i] == ESPI_BOUND_ROW_LINK)
            price[owner] += worth * c->m->link_s[owner] / c->unit_s;
        if (c->row_what[i] == ESPI_BOUND_ROW_LIMIT)
            for (int k = 0; k < c->m->limits[owner].n_links; k++)
                price[c->m->limits[owner].links[k]] +=
                    worth * c->m->limits[owner].load_s / c->unit_s;
        if (c->row_what[i] == ESPI_BOUND_ROW_RELAY)
            for (int k = g->in.start[owner]; k < g->in.start[owner + 1]; k++)
                price[g->in.item[k]] += worth * c->least_s;
    }
}

/* ---- the whole ---- */

static esp_status take_program(struct espi_priced_cut_program *c, struct espi_arena *a,
                               struct esp_err *err)
{
    size_t columns = (size_t)(c->first_link + c->links);
    c->index = ESPI_ARENA_NEW(a, int, columns + 1);
    c->value = ESPI_ARENA_NEW(a, double, columns + 1);
    c->cost = ESPI_ARENA_ZNEW(a, double, columns);
    c->capacity = ESPI_ARENA_NEW(a, double, c->links + 1);
    c->side = ESPI_ARENA_NEW(a, unsigned char, c->n);
    c->near_root = ESPI_ARENA_NEW(a, unsigned char, c->n);
    c->has_row = ESPI_ARENA_ZNEW(a, unsigned char, c->links + 1);
    if (!c->index || !c->value || !c->cost || !c->capacity || !c->side || !c->near_root ||
        !c->has_row || espi_maxflow_init(&c->flow, &c->m->net.g, a))
        return espi_err_nomem(err);
    esp_status st = espi_lp_create(&c->lp, err);
    if (st)
        return st;
    espi_lp_perturb(c->lp, 1);
    if (add_columns(c, a) || espi_priced_bound_add_limit_rows(c) ||
        espi_priced_bound_add_first_cuts(c))
        return espi_err_nomem(err);
    for (int v = 0; v < c->n; v++)
        if (espi_priced_bound_add_node_rows(c, v))
            return espi_err_nomem(err);
    return ESP_OK;
}

/* Relays are paid for the least time at least; then what the task asks for. */
static int add_task_rows(struct espi_priced_cut_program *c)
{
    const struct espi_priced_task *task = c->m->task;
    const struct espi_digraph *g = &c->m->net.g;
    for (int v = 0; v < c->n; v++) {
        if (c->m->must[v] || !(c->m->usd_per_s[v] > 0) || !(c->least_s > 0))
            continue;
        int n = espi_priced_bound_put_links(c, 0, &g->in, v, c->least_s);
        espi_priced_bound_put(c, n, ESPI_BOUND_MACHINES + v, -1);
        if (espi_priced_bound_add_row(c, n + 1, -INFINITY, 0, ESPI_BOUND_ROW_RELAY, v))
            return -1;
    }
    if (isfinite(task->deadline_s))
        espi_lp_set_upper(c->lp, ESPI_BOUND_TIME,
                          fmax(task->deadline_s / c->unit_s, c->least_s) *
                              (1 + DEADLINE_SLACK));
    if (!isfinite(task->budget_usd))
        return 0;
    double largest = 0;
    int n = 0;
    for (int j = 0; j < c->first_link + c->links; j++)
        largest = usd_of_column(c, j) > largest ? usd_of_column(c, j) : largest;
    largest = largest > 0 ? largest : 1;
    for (int j = 0; j < c->first_link + c->links; j++)
        if (usd_of_column(c, j) > 0)
            espi_priced_bound_put(c, n++, j, usd_of_column(c, j) / largest);
    return espi_priced_bound_add_row(c, n, -INFINITY, task->budget_usd / largest,
                                     ESPI_BOUND_ROW_OTHER, -1);
}

static int keep_tight_cuts(const struct espi_priced_cut_program *c,
                           struct espi_arena *arena, struct espi_priced_bound *out)
{
    const double *dual = espi_lp_duals(c->lp);
    size_t n = (size_t)c->n;
    out->tight.side = ESPI_ARENA_NEW(arena, unsigned char, (size_t)c->all.count *n + 1);
    if (!out->tight.side)
        return -1;
    for (size_t i = 0; i < c->solved_rows; i++)
        if (c->row_what[i] == ESPI_BOUND_ROW_CUT && dual[i] > 0)
            memcpy(out->tight.side + (size_t)out->tight.count++ * n,
                   c->all.side + (size_t)c->row_owner[i] * n, n);
    return 0;
}

static esp_status solve_task(struct espi_priced_cut_program *c, struct espi_arena *arena,
                             struct espi_priced_bound *out, struct esp_err *err)
{
    espi_lp_result result;
    memset(c->cost, 0, (size_t)(c->first_link + c->links) * sizeof *c->cost);
    c->cost[ESPI_BOUND_TIME] = 1;
    esp_status st = solve_cuts(c, ESPI_LP_DUAL, ESPI_PRICED_FIRST_FLAT, &result, err);
    if (st)
        return st;
    if (result != ESPI_LP_OPTIMAL)
        return espi_err(err, ESP_EINPUT, "some targets cannot be reached");
    c->least_s = value_of(c, c->cost) * (1 - ESPI_PRICED_SLACK);
    out->fastest_s = espi_round_digits(c->least_s * c->unit_s, DIGITS);
    if (c->m->task->deadline_s * (1 + DEADLINE_SLACK) < out->fastest_s)
        return ESP_OK; /* out->feasible: not */
    if (add_task_rows(c))
        return espi_err_nomem(err);
    set_costs(c);
    if ((c->m->task->usd_weight > 0 || isfinite(c->m->task->budget_usd)) &&
        espi_priced_bound_add_ascent_cuts(c))
        return espi_err_nomem(err);
    st = solve_cuts(c, ESPI_LP_PRIMAL, c->patience, &result, err);
    if (st)
        return st;
    out->feasible = result == ESPI_LP_OPTIMAL;
    if (!out->feasible)
        return ESP_OK;
    out->objective = espi_round_digits(
        value_of(c, c->cost) * c->unit_objective * (1 - ESPI_PRICED_SLACK), DIGITS);
    memcpy(out->y, espi_lp_values(c->lp) + c->first_link,
           (size_t)c->links * sizeof *out->y);
    find_prices(c, out->price);
    return keep_tight_cuts(c, arena, out) ? espi_err_nomem(err) : ESP_OK;
}

static double typical_s(const struct espi_priced_model *m)
{
    double least = INFINITY;
    for (int e = 0; e < m->net.g.m; e++)
        least = m->link_s[e] < least ? m->link_s[e] : least;
    return isfinite(least) ? least : 1;
}

esp_status espi_priced_bound(const struct espi_priced_model *m, int patience,
                             struct espi_arena *arena, struct espi_priced_bound *out,
                             struct esp_err *err)
{
    struct espi_priced_cut_program c = {.m = m,
                                        .patience = patience,
                                        .n = m->net.g.n,
                                        .links = m->net.g.m,
                                        .first_link = ESPI_BOUND_MACHINES + m->net.g.n,
                                        .unit_s = typical_s(m)};
    *out = (struct espi_priced_bound){.feasible = 0};
    out->y = ESPI_ARENA_ZNEW(arena, double, c.links + 1);
    out->price = ESPI_ARENA_ZNEW(arena, double, c.links + 1);
    if (!out->y || !out->price)
        return espi_err_nomem(err);
    esp_status st = take_program(&c, arena, err);
    if (!st)
        st = solve_task(&c, arena, out, err);
    out->rounds = c.rounds;
    out->cuts = c.cuts;
    out->unit_s = c.unit_s;
    out->unit_objective = c.unit_objective;
    espi_lp_free(c.lp);
    espi_free(c.row_owner);
    espi_free(c.row_what);
    espi_free(c.all.side);
    return st;
}
