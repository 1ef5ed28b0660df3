/* Timed trees: trees that go far carry less, and what goes along them leaves first.
 *
 * A tree that takes f to reach its last host is of use for T - f of a message that is to
 * be everywhere by T: with a rate of x it carries x * (T - f), from the beginning on. So
 * the mix looked for is not that of the most bytes a second but that of the most bytes by
 * T,
 *
 *   max sum x * (T - f),  no resource used by more than all of it,
 *
 * as in a quickest flow, with trees in the place of paths. Columns are generated: with
 * prices y of resources a tree costs what it uses at these, and f. Which tree costs least
 * is hard to say (its depth counts once, not by arc), so some are grown host by host, by
 * prices and arrivals in several proportions. T is found where the bytes are those of the
 * message.
 *
 * The message is one round, so that its slices can leave in any order: slice j of n of a
 * tree at (j + 1/2) / n of the time that the tree has. What goes far so comes first,
 * without keeping from the start what does not.
 *
 * Reference: Ford, Fulkerson 1958 for flows that are repeated; C. Alpert and others,
 * Prim-Dijkstra tradeoffs, 1995, for trees between cheap and shallow. The rest is ours.
 * Model: capacity, where a connection waits for nothing but its slices. Guarantee: none.
 * Complexity: some dozen linear programs, and as many times some trees of O(m log n). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/tuning.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/heap.h"
#include "graph/arborescence.h"
#include "lp/lp.h"
#include "plan/plan.h"
#include "plan/schedule.h"

/* By how much an arrival counts beside what a tree costs, in the trees that are made for
 * the same prices. derived: from hardly to fully */
static const double DEPTH_COUNTS[] = {0.01, 0.1, 0.3, 1};
/* The same for latencies of arcs. derived: as above */
static const double LAG_COUNTS[] = {0.001, 0.1};

enum {
    GROWN = sizeof DEPTH_COUNTS / sizeof *DEPTH_COUNTS,
    TREES_A_PRICE = GROWN + sizeof LAG_COUNTS / sizeof *LAG_COUNTS
};

struct column {
    int *parent; /* host -> arc; -1 of the root */
    double fill_s;
};

struct timed {
    const struct espi_view *v;
    int root;
    struct espi_arena *arena;
    struct espi_lp *lp;
    double unit_s; /* the least that a slice takes of a resource */
    double end_s, carried, rate;
    struct column column[ESPI_TIMED_COLUMNS];
    int n_columns;
    int *row;        /* resource -> row; -1: no tree uses it yet */
    double *price_s; /* resource -> of all of it */
    double *cost_s;  /* arc, at these prices */
    double *use;     /* resource, scratch */
    double *at_s;    /* host, of the tree that grows */
    int *parent;
    unsigned char *inside;
    struct espi_heap outside;
    struct espi_arborescence cheapest;
    double *lag_cost_s; /* arc, scratch */
    int *way;           /* hosts, scratch */
};

static esp_status timed_init(struct timed *s, struct esp_err *err)
{
    const struct espi_view *v = s->v;
    s->row = ESPI_ARENA_NEW(s->arena, int, v->links.n);
    s->price_s = ESPI_ARENA_ZNEW(s->arena, double, v->links.n);
    s->use = ESPI_ARENA_ZNEW(s->arena, double, v->links.n);
    s->cost_s = ESPI_ARENA_ZNEW(s->arena, double, v->g.m);
    s->at_s = ESPI_ARENA_NEW(s->arena, double, v->g.n);
    s->parent = ESPI_ARENA_NEW(s->arena, int, v->g.n);
    s->inside = ESPI_ARENA_NEW(s->arena, unsigned char, v->g.n);
    s->way = ESPI_ARENA_NEW(s->arena, int, v->g.n);
    s->lag_cost_s = ESPI_ARENA_NEW(s->arena, double, v->g.m);
    if (!s->row || !s->price_s || !s->use || !s->cost_s || !s->at_s || !s->parent ||
        !s->inside || !s->lag_cost_s || !s->way ||
        espi_heap_init(&s->outside, s->arena, v->g.n) ||
        espi_arborescence_init(&s->cheapest, &v->g, s->arena))
        return espi_err_nomem(err);
    s->unit_s = INFINITY;
    for (int r = 0; r < v->links.n; r++)
        s->row[r] = -1;
    for (int k = 0; k < v->use_start[v->g.m]; k++)
        if (v->use_s[k] > 0)
            s->unit_s = fmin(s->unit_s, v->use_s[k]);
    return espi_lp_create(&s->lp, err);
}

/* ---- trees for prices ---- */

static void join_tree(struct timed *s, int host, double depth_counts)
{
    const struct espi_digraph *g = &s->v->g;
    s->inside[host] = 1;
    for (int i = g->out.start[host]; i < g->out.start[host + 1]; i++) {
        int arc = g->out.item[i], to = g->head[arc];
        if (s->inside[to])
            continue;
        double key = s->cost_s[arc] + depth_counts * (s->at_s[host] + s->v->lag_s[arc]);
        if (!espi_heap_has(&s->outside, to) || key < s->outside.key[to]) {
            s->parent[to] = arc;
            espi_heap_set(&s->outside, to, key);
        }
    }
}

/* Returns how much more than it costs the tree is worth; negative infinity: not all hosts
 * can be reached. */
static double grow_tree(struct timed *s, double depth_counts, double *fill_s)
{
    double worth_s = s->end_s;
    int n = 1;
    memset(s->inside, 0, (size_t)s->v->g.n);
    espi_heap_clear(&s->outside);
    s->parent[s->root] = -1;
    s->at_s[s->root] = *fill_s = 0;
    join_tree(s, s->root, depth_counts);
    for (; s->outside.size > 0; n++) {
        int host = espi_heap_pop(&s->outside), arc = s->parent[host];
        s->at_s[host] = s->at_s[s->v->g.tail[arc]] + s->v->lag_s[arc];
        *fill_s = fmax(*fill_s, s->at_s[host]);
        worth_s -= s->cost_s[arc];
        join_tree(s, host, depth_counts);
    }
    return n < s->v->g.n ? -INFINITY : worth_s - *fill_s;
}

/* When the slice is at the host, along the tree. */
static double arrival_along(struct timed *s, int host)
{
    const int *tail = s->v->g.tail;
    int n = 0;
    for (int h = host; !s->inside[h]; h = tail[s->parent[h]])
        s->way[n++] = h;
    while (n > 0) {
        int h = s->way[--n];
        s->inside[h] = 1;
        s->at_s[h] = s->at_s[tail[s->parent[h]]] + s->v->lag_s[s->parent[h]];
    }
    return s->at_s[host];
}

/* As grow_tree(), for the tree that costs least when every arc costs a part of its
 * latency. */
static double cheapest_tree(struct timed *s, double lag_counts, double *fill_s)
{
    double worth_s = s->end_s;
    for (int e = 0; e < s->v->g.m; e++)
        s->lag_cost_s[e] = s->cost_s[e] + lag_counts * s->v->lag_s[e];
    if (espi_arborescence(&s->cheapest, s->root, s->lag_cost_s, s->parent, NULL))
        return -INFINITY;
    memset(s->inside, 0, (size_t)s->v->g.n);
    s->inside[s->root] = 1;
    s->at_s[s->root] = *fill_s = 0;
    for (int h = 0; h < s->v->g.n; h++) {
        *fill_s = fmax(*fill_s, arrival_along(s, h));
        worth_s -= h == s->root ? 0 : s->cost_s[s->parent[h]];
    }
    return worth_s - *fill_s;
}

/* ---- the program ---- */

static void add_row(struct timed *s, int resource)
{
    static const int none[] = {0, 0};
    static const double all = 1;
    struct espi_lp_vectors row = {.count = 1, .upper = &all, .start = none};
    s->row[resource] = espi_lp_rows(s->lp);
    espi_lp_add_rows(s->lp, &row);
}

/* The tree that was grown becomes a column. */
static esp_status add_column(struct timed *s, double fill_s, struct esp_err *err)
{
    const struct espi_view *v = s->v;
    struct column *x = &s->column[s->n_columns];
    x->parent = ESPI_ARENA_NEW(s->arena, int, v->g.n);
    struct espi_arena_mark mark = espi_arena_mark(s->arena);
    int *index = ESPI_ARENA_NEW(s->arena, int, v->links.n), start[2] = {0, 0};
    double *value = ESPI_ARENA_NEW(s->arena, double, v->links.n);
    if (!x->parent || !index || !value)
        return espi_err_nomem(err);
    memcpy(x->parent, s->parent, (size_t)v->g.n * sizeof *x->parent);
    x->fill_s = fill_s;
    memset(s->use, 0, (size_t)v->links.n * sizeof *s->use);
    for (int h = 0; h < v->g.n; h++)
        for (int arc = x->parent[h], k = arc < 0 ? 0 : v->use_start[arc];
             arc >= 0 && k < v->use_start[arc + 1]; k++)
            s->use[v->use_resource[k]] += v->use_s[k] / s->unit_s;
    for (int r = 0; r < v->links.n; r++) {
        if (!(s->use[r] > 0))
            continue;
        if (s->row[r] < 0)
            add_row(s, r);
        index[start[1]] = s->row[r];
        value[start[1]++] = s->use[r];
    }
    double cost = fill_s - s->end_s;
    struct espi_lp_vectors column = {
        .count = 1, .cost = &cost, .start = start, .index = index, .value = value};
    espi_lp_add_columns(s->lp, &column);
    s->n_columns++;
    espi_arena_release(s->arena, mark);
    return ESP_OK;
}

static void find_prices(struct timed *s)
{
    const struct espi_view *v = s->v;
    const double *dual = s->n_columns ? espi_lp_duals(s->lp) : NULL;
    for (int r = 0; r < v->links.n; r++)
        s->price_s[r] = s->row[r] >= 0 && dual ? fmax(-dual[s->row[r]], 0) : 0;
    for (int e = 0; e < v->g.m; e++) {
        s->cost_s[e] = 0;
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            s->cost_s[e] += s->price_s[v->use_resource[k]] * v->use_s[k] / s->unit_s;
    }
}

/* Adds the trees that are worth more than they cost; *more says whether there are any. */
static esp_status add_trees(struct timed *s, int *more, struct esp_err *err)
{
    esp_status st = ESP_OK;
    double last_s = -1;
    *more = 0;
    find_prices(s);
    for (int i = 0; i < TREES_A_PRICE && !st && s->n_columns < ESPI_TIMED_COLUMNS; i++) {
        double fill_s, worth_s = i < GROWN
                                     ? grow_tree(s, DEPTH_COUNTS[i], &fill_s)
                                     : cheapest_tree(s, LAG_COUNTS[i - GROWN], &fill_s);
        if (!(worth_s > ESPI_TIMED_GAP * s->end_s) || worth_s == last_s)
            continue;
        last_s = worth_s;
        st = add_column(s, fill_s, err);
        *more = 1;
    }
    return st;
}

/* The most that can be everywhere by the end. */
static esp_status carry_most(struct timed *s, struct esp_err *err)
{
    double cost[ESPI_TIMED_COLUMNS];
    int more = 1;
    for (int i = 0; i < s->n_columns; i++)
        cost[i] = s->column[i].fill_s - s->end_s;
    if (s->n_columns)
        espi_lp_set_costs(s->lp, cost);
    while (more) {
        espi_lp_result result =
            s->n_columns ? espi_lp_solve(s->lp, ESPI_LP_PRIMAL) : ESPI_LP_OPTIMAL;
        if (result != ESPI_LP_OPTIMAL)
            return espi_lp_error(result, "the program of timed trees was not solved",
                                 err);
        esp_status st = add_trees(s, &more, err);
        if (st)
            return st;
    }
    s->carried = s->rate = 0;
    for (int i = 0; i < s->n_columns; i++) {
        double rate = espi_lp_values(s->lp)[i] / s->unit_s;
        s->rate += rate;
        s->carried += rate * (s->end_s - s->column[i].fill_s);
    }
    return ESP_OK;
}

/* The end by which so many slices are everywhere, from one that is known. */
static esp_status find_end(struct timed *s, double slices, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < ESPI_TIMED_STEPS && !st; i++) {
        st = carry_most(s, err);
        if (st || !(s->rate > 0))
            break;
        double step_s = (slices - s->carried) / s->rate;
        if (fabs(step_s) < ESPI_TIMED_GAP * s->end_s)
            break;
        s->end_s += step_s;
    }
    return st || s->rate > 0 ? st
                             : espi_err(err, ESP_EUNSUPPORTED, "no tree ends in time");
}

/* A plan is there that is through by limit_s, unless that is infinite: is as much
 * everywhere by then? */
static esp_status find_first_end(struct timed *s, double slices, double limit_s,
                                 struct esp_err *err)
{
    double fill_s;
    esp_status st = ESP_OK;
    s->end_s = INFINITY;
    if (!(grow_tree(s, 1, &fill_s) > 0) || !isfinite(s->unit_s))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "not all hosts can be reached, or nothing limits how fast");
    s->end_s = fmin(limit_s, fill_s + slices * s->unit_s);
    if (s->end_s == limit_s)
        st = carry_most(s, err);
    if (!st && s->end_s == limit_s && s->carried < slices)
        return espi_err(err, ESP_EUNSUPPORTED, "a plan is there that is earlier");
    return st ? st : find_end(s, slices, err);
}

/* ---- the plan ---- */

/* A tree of the mix: how many slices it carries, and when they leave. */
struct part {
    const struct column *column;
    double exact;
    int slices;
};

struct departure {
    double at_s;
    int tree, slice;
};

static int earliest_first(const void *a, const void *b)
{
    const struct departure *x = a, *y = b;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return x->tree < y->tree ? -1 : x->tree > y->tree;
}

/* Whole slices: those whose part is most above what they have get what is left. Trees
 * that get none are left out. */
static int share_slices(const struct timed *s, int slices, struct part *part)
{
    const double *rate = espi_lp_values(s->lp);
    int n = 0, left = slices, kept = 0;
    double sum = 0;
    for (int i = 0; i < s->n_columns; i++) {
        double all = rate[i] * (s->end_s - s->column[i].fill_s);
        if (all > 0) {
            part[n++] = (struct part){&s->column[i], all, 0};
            sum += all;
        }
    }
    for (int i = 0; i < n; i++) {
        part[i].exact *= slices / sum;
        part[i].slices = (int)part[i].exact;
        left -= part[i].slices;
    }
    for (; n > 0 && left > 0; left--) {
        int best = 0;
        for (int i = 1; i < n; i++)
            if (part[i].exact - part[i].slices > part[best].exact - part[best].slices)
                best = i;
        part[best].slices++;
    }
    for (int i = 0; i < n; i++)
        if (part[i].slices > 0)
            part[kept++] = part[i];
    return kept;
}

static esp_status add_schedule(const struct timed *s, const struct part *part, int n,
                               int slices, struct esp_plan *plan, struct esp_err *err)
{
    struct departure *leaves = ESPI_ARENA_NEW(s->arena, struct departure, slices);
    struct esp_schedule *x = espi_calloc(1, sizeof *x);
    int all = 0, edges = s->v->g.n - 1;
    if (!x || !leaves) {
        espi_schedule_free(x);
        return espi_err_nomem(err);
    }
    plan->schedule = x;
    plan->slice_bytes = x->slice_bytes = plan->size_bytes / slices;
    x->slots = slices;
    x->tree_slices = ESPI_NEW(int, n);
    x->sends = ESPI_NEW(struct esp_send, slices * edges);
    if (!x->tree_slices || !x->sends)
        return espi_err_nomem(err);
    for (int t = 0; t < n; t++) {
        double time_s = s->end_s - part[t].column->fill_s;
        x->tree_slices[t] = part[t].slices;
        for (int j = 0; j < part[t].slices; j++)
            leaves[all++] = (struct departure){(j + 0.5) / part[t].slices * time_s, t, j};
    }
    qsort(leaves, (size_t)all, sizeof *leaves, earliest_first);
    for (int i = 0; i < all; i++)
        for (int e = 0; e < edges; e++)
            x->sends[x->n_sends++] = (struct esp_send){
                .tree = leaves[i].tree, .edge = e, .slice = leaves[i].slice};
    return ESP_OK;
}

static esp_status write_plan(const struct timed *s, int slices, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct part part[ESPI_TIMED_COLUMNS];
    int n = share_slices(s, slices, part);
    esp_status st = ESP_OK;
    for (int t = 0; t < n && !st; t++)
        st = espi_plan_add_parents(plan, s->v, s->root, (double)part[t].slices / slices,
                                   part[t].column->parent, s->arena, err);
    return st ? st : add_schedule(s, part, n, slices, plan, err);
}

static esp_status run_timed_trees(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err)
{
    struct timed s = {.v = task->view, .root = task->root, .arena = task->arena};
    int edges = task->view->g.n - 1;
    double count = task->slices.count;
    if (edges < 1)
        return espi_err(err, ESP_EUNSUPPORTED, "timed trees need two hosts");
    if (count > ESPI_MAX_SLOTS || count * edges > ESPI_SYNTHESIS_SENDS)
        return espi_err(err, ESP_EUNSUPPORTED, "so many slices do not fit in one round");
    esp_status st = timed_init(&s, err);
    if (!st)
        st = find_first_end(&s, count, task->limit_s > 0 ? task->limit_s : INFINITY, err);
    if (!st)
        st = write_plan(&s, (int)count, plan, err);
    espi_lp_free(s.lp);
    return st;
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_FEW_TREES | ESPI_USE_USUAL_SLICES},
    {.use = 0},
};

const struct espi_algo espi_algo_timed_trees = {
    .name = "timed-trees",
    .family = "many-trees",
    .op = ESP_OP_BCAST,
    .models = ESPI_MODEL_BIT(ESP_MODEL_CAPACITY),
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_MANY_TREES | ESPI_ALGO_SEARCHES,
    .max_hosts = ESPI_TIMED_HOSTS,
    .paper = "none",
    .complexity = "some dozen linear programs, O(m log n) a tree",
    .summary = "trees that go far carry less, and what goes along them leaves first",
    .uses = uses,
    .run = run_timed_trees,
};
