#include "solve/priced/mix_impl.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "platform/platform.h"
#include "solve/priced/tuning.h"

/* code: columns. After the machines: the part that has no tree and time after the
 * deadline, which are the excesses; then trees. */
enum { COLUMN_TIME = 0, COLUMN_MACHINES = 1, EXCESSES = 2 };
enum { ROW_ALL = 0 }; /* all of the message has a tree */

/* ---- resources ---- */

static int owner_of(const struct espi_priced_master *r, int resource)
{
    const struct espi_digraph *g = &r->m->net.g;
    if (resource < r->first_limit)
        return resource & 1 ? g->head[resource / 2] : g->tail[resource / 2];
    if (resource < r->first_relay)
        return r->m->limits[resource - r->first_limit].node;
    return resource - r->first_relay;
}

static void add_load(struct espi_priced_master *r, int resource, double load)
{
    if (r->load[resource] == 0)
        r->touched[r->n_touched++] = resource;
    r->load[resource] += load;
}

/* Loads of the whole message along a tree, in r->load. */
static void load_tree(struct espi_priced_master *r, const struct espi_priced_tree *t)
{
    double unit = r->bound->unit_s;
    for (int i = 0; i < r->n_touched; i++)
        r->load[r->touched[i]] = 0;
    r->n_touched = 0;
    for (int i = 0; i < t->n_links; i++) {
        int e = t->links[i], v = r->m->net.g.head[e];
        add_load(r, 2 * e, r->m->link_s[e] / unit);
        add_load(r, 2 * e + 1, r->m->link_s[e] / unit);
        for (int k = r->limit_start[e]; k < r->limit_start[e + 1]; k++)
            add_load(r, r->first_limit + r->limit_item[k],
                     r->m->limits[r->limit_item[k]].load_s / unit);
        if (!r->m->must[v] && r->m->usd_per_s[v] > 0)
            add_load(r, r->first_relay + v, r->bound->fastest_s / unit);
    }
}

/* How often a tree goes through a resource: as many partitions as are given to it cross
 * it so often, and whole ones alone. */
static int crossings(const struct espi_priced_master *r, int resource)
{
    double of_one = resource < r->first_limit
                        ? r->m->link_s[resource / 2]
                        : r->m->limits[resource - r->first_limit].load_s;
    return (int)(r->load[resource] * r->bound->unit_s / of_one + 0.5);
}

static double tree_usd(const struct espi_priced_master *r,
                       const struct espi_priced_tree *t)
{
    double usd = 0;
    for (int i = 0; i < t->n_links; i++)
        usd += r->m->link_usd[t->links[i]];
    return usd;
}

/* Whole partitions that fit a link (its row at the head stands for both) or a port when
 * all machines are there. */
static void find_part_caps(struct espi_priced_master *r)
{
    const struct espi_priced_model *m = r->m;
    for (int i = 0; i < r->n_resources; i++)
        r->part_cap[i] = INT_MAX;
    for (int e = 0; e < r->links; e++) {
        int u = m->net.g.tail[e], v = m->net.g.head[e];
        int pairs = m->max_count[u] < m->max_count[v] ? m->max_count[u] : m->max_count[v];
        r->part_cap[2 * e] = espi_priced_parts_within(m, m->link_s[e], pairs);
    }
    for (int i = 0; i < m->n_limits; i++) {
        int v = m->limits[i].node;
        r->part_cap[r->first_limit + i] =
            espi_priced_parts_within(m, m->limits[i].load_s, v < 0 ? 1 : m->max_count[v]);
    }
}

static int index_limits(struct espi_priced_master *r, struct espi_arena *a)
{
    int total = 0;
    for (int i = 0; i < r->m->n_limits; i++)
        total += r->m->limits[i].n_links;
    int *key = ESPI_ARENA_NEW(a, int, total + 1);
    int *of = ESPI_ARENA_NEW(a, int, total + 1);
    struct espi_rows rows;
    if (!key || !of)
        return -1;
    total = 0;
    for (int i = 0; i < r->m->n_limits; i++)
        for (int k = 0; k < r->m->limits[i].n_links; k++) {
            of[total] = i;
            key[total++] = r->m->limits[i].links[k];
        }
    if (espi_rows_build(&rows, r->links, total, key, a))
        return -1;
    for (int k = 0; k < total; k++)
        rows.item[k] = of[rows.item[k]];
    r->limit_start = rows.start;
    r->limit_item = rows.item;
    return 0;
}

/* ---- the program ---- */

static void add_row(struct espi_priced_master *r, int count, double lower, double upper)
{
    espi_lp_add_row(r->lp, count, r->index, r->value, lower, upper);
}

static void put_term(struct espi_priced_master *r, int at, int column, double value)
{
    r->index[at] = column;
    r->value[at] = value;
}

static void add_column(struct espi_priced_master *r, int count, double upper, double cost)
{
    int start[2] = {0, count};
    struct espi_lp_vectors columns = {.count = 1,
                                      .upper = &upper,
                                      .cost = &cost,
                                      .start = start,
                                      .index = r->index,
                                      .value = r->value};
    espi_lp_add_columns(r->lp, &columns);
}

static double scaled_cost(const struct espi_priced_master *r, double usd, double time_s)
{
    return espi_priced_objective(r->m->task, usd, time_s) / r->bound->unit_objective;
}

static void add_machine_columns(struct espi_priced_master *r)
{
    double unit = r->bound->unit_s;
    double dear =
        ESPI_PRICED_MISSING * (1 + r->bound->objective / r->bound->unit_objective);
    add_column(r, 0, INFINITY, scaled_cost(r, 0, unit));
    for (int v = 0; v < r->n; v++)
        add_column(r, 0, INFINITY, scaled_cost(r, r->m->usd_per_s[v] * unit, 0));
    for (int i = 0; i < EXCESSES; i++)
        add_column(r, 0, INFINITY, dear);
}

static void add_machine_rows(struct espi_priced_master *r)
{
    const struct espi_priced_task *task = r->m->task;
    put_term(r, 0, r->first_tree - EXCESSES, 1);
    add_row(r, 1, 1, 1);
    if (isfinite(task->deadline_s)) {
        put_term(r, 0, COLUMN_TIME,
                 r->bound->unit_s / task->deadline_s * (1 + ESPI_PRICED_SLACK));
        put_term(r, 1, r->first_tree - EXCESSES + 1, -1);
        add_row(r, 2, -INFINITY, 1);
    }
    for (int v = 0; v < r->n; v++) {
        put_term(r, 0, COLUMN_MACHINES + v, 1);
        put_term(r, 1, COLUMN_TIME, -r->m->max_count[v]);
        add_row(r, 2, -INFINITY, 0);
        if (!r->m->must[v])
            continue;
        put_term(r, 1, COLUMN_TIME, -1);
        add_row(r, 2, 0, INFINITY);
    }
}

/* Part of the message that still fits a resource in whole partitions. */
static double whole_left(const struct espi_priced_master *r, int resource)
{
    int left = r->part_cap[resource] - r->taken[resource];
    return left > 0 ? (double)left / r->m->task->partitions : 0;
}

static void add_tree_column(struct espi_priced_master *r,
                            const struct espi_priced_tree *t)
{
    int n = 0;
    load_tree(r, t);
    for (int i = 0; i < r->n_touched; i++) {
        int resource = r->touched[i], owner = owner_of(r, resource);
        if (r->row[resource])
            continue;
        r->row[resource] = espi_lp_rows(r->lp);
        put_term(r, 0, owner < 0 ? COLUMN_TIME : COLUMN_MACHINES + owner, -1);
        add_row(r, 1, -INFINITY, 0);
        if (r->part_cap[resource] == INT_MAX)
            continue;
        r->whole[resource] = espi_lp_rows(r->lp);
        add_row(r, 0, -INFINITY, whole_left(r, resource));
    }
    put_term(r, n++, ROW_ALL, 1);
    for (int i = 0; i < r->n_touched; i++) {
        int resource = r->touched[i];
        put_term(r, n++, r->row[resource], r->load[resource]);
        if (r->whole[resource])
            put_term(r, n++, r->whole[resource], crossings(r, resource));
    }
    add_column(r, n, INFINITY, scaled_cost(r, tree_usd(r, t), 0));
    r->columns++;
}

/* What partitions that are given take is no longer there. */
void espi_priced_master_set_given(struct espi_priced_master *r)
{
    int P = r->m->task->partitions;
    double part = P ? (double)r->left / P : 1;
    espi_lp_set_row(r->lp, ROW_ALL, part, part);
    for (int i = 0; i < r->n_resources; i++) {
        if (r->row[i])
            espi_lp_set_row(r->lp, r->row[i], -INFINITY, -r->given[i]);
        if (r->whole[i])
            espi_lp_set_row(r->lp, r->whole[i], -INFINITY, whole_left(r, i));
    }
}

void espi_priced_master_give(struct espi_priced_master *r, int tree, double share)
{
    int parts = (int)(share * r->m->task->partitions + 0.5);
    load_tree(r, &r->pool->trees[tree]);
    for (int i = 0; i < r->n_touched; i++) {
        int resource = r->touched[i];
        r->given[resource] += share * r->load[resource];
        if (resource < r->first_relay)
            r->taken[resource] += parts * crossings(r, resource);
    }
}

/* ---- asking for trees ---- */

static double row_worth(const double *dual, int row)
{
    return row && dual[row] < 0 ? -dual[row] : 0;
}

static void find_link_prices(struct espi_priced_master *r)
{
    const double *dual = espi_lp_duals(r->lp);
    double unit = r->bound->unit_s;
    for (int e = 0; e < r->links; e++) {
        int v = r->m->net.g.head[e];
        double s = row_worth(dual, r->row[2 * e]) + row_worth(dual, r->row[2 * e + 1]);
        r->price[e] =
            scaled_cost(r, r->m->link_usd[e], 0) + s * r->m->link_s[e] / unit +
            row_worth(dual, r->whole[2 * e]) +
            row_worth(dual, r->row[r->first_relay + v]) * r->bound->fastest_s / unit;
        for (int k = r->limit_start[e]; k < r->limit_start[e + 1]; k++) {
            int limit = r->limit_item[k];
            r->price[e] += row_worth(dual, r->row[r->first_limit + limit]) *
                               r->m->limits[limit].load_s / unit +
                           row_worth(dual, r->whole[r->first_limit + limit]);
        }
    }
}

/* Solves, and asks for trees that would make it better as long as there are any. */
esp_status espi_priced_master_solve(struct espi_priced_master *r, int rounds,
                                    struct esp_err *err)
{
    for (int round = 0;; round++) {
        espi_lp_result result = espi_lp_solve(r->lp, ESPI_LP_PRIMAL);
        if (result != ESPI_LP_OPTIMAL)
            return espi_lp_error(result, "the best mix of trees was not found", err);
        if (round == rounds)
            return ESP_OK;
        double sum, worth = espi_lp_duals(r->lp)[ROW_ALL];
        find_link_prices(r);
        int tree = espi_priced_pool_find(r->pool, r->price, &sum);
        if (tree == -1)
            return espi_err_nomem(err);
        if (tree < r->columns || sum >= worth - ESPI_PRICED_SLACK * (1 + fabs(worth)))
            return ESP_OK;
        while (r->columns < r->pool->n_trees)
            add_tree_column(r, &r->pool->trees[r->columns]);
    }
}

/* ---- the whole ---- */

esp_status espi_priced_master_init(struct espi_priced_master *r, struct espi_arena *a,
                                   struct esp_err *err)
{
    r->first_limit = 2 * r->links;
    r->first_relay = r->first_limit + r->m->n_limits;
    r->n_resources = r->first_relay + r->n;
    r->first_tree = COLUMN_MACHINES + r->n + EXCESSES;
    r->row = ESPI_ARENA_ZNEW(a, int, r->n_resources);
    r->load = ESPI_ARENA_ZNEW(a, double, r->n_resources);
    r->given = ESPI_ARENA_ZNEW(a, double, r->n_resources);
    r->whole = ESPI_ARENA_ZNEW(a, int, r->n_resources);
    r->part_cap = ESPI_ARENA_NEW(a, int, r->n_resources);
    r->taken = ESPI_ARENA_ZNEW(a, int, r->n_resources);
    r->touched = ESPI_ARENA_NEW(a, int, r->n_resources);
    r->index = ESPI_ARENA_NEW(a, int, 2 * r->n_resources + r->n + 8);
    r->value = ESPI_ARENA_NEW(a, double, 2 * r->n_resources + r->n + 8);
    r->price = ESPI_ARENA_NEW(a, double, r->links + 1);
    if (!r->row || !r->load || !r->given || !r->whole || !r->part_cap || !r->taken ||
        !r->touched || !r->index || !r->value || !r->price || index_limits(r, a))
        return espi_err_nomem(err);
    find_part_caps(r);
    esp_status st = espi_lp_create(&r->lp, err);
    if (st)
        return st;
    add_machine_columns(r);
    add_machine_rows(r);
    while (r->columns < r->pool->n_trees)
        add_tree_column(r, &r->pool->trees[r->columns]);
    return ESP_OK;
}
