#include "cost/multicast.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cost/cover.h"
#include "lp/lp.h"

static const double CLOSED = 1e-9; /* gap at which asking ends */

struct column {
    struct espi_steiner_tree tree;
    uint64_t hash;
};

struct master {
    const struct espi_net *net;
    struct espi_arena *arena;
    struct espi_lp *lp; /* column 0: the period; then trees. Row 0: shares sum to 1 */
    struct espi_steiner s;
    int exact;
    struct column *columns;
    size_t n_columns, cap;
    int n_rows;
    int *row;      /* resource -> row, -1: not used */
    double *price; /* of resources, sum 1: the master's */
    double *best_price;
    double *mixed, *load, *cost, *value;
    int *index;
    double upper_s, bound_s, dual_s;
    int rounds;
};

esp_status espi_multicast_bound(const struct espi_net *net, struct espi_arena *arena,
                                double *period_s, struct esp_err *err)
{
    struct espi_cover cover;
    esp_status st = espi_cover_init(&cover, net, ESPI_COVER_TARGETS, arena, err);
    if (st)
        return st;
    st = espi_cover_solve(&cover, INFINITY, period_s, err);
    espi_cover_free(&cover);
    return st;
}

/* ---- the master program ---- */

static int master_init(struct master *ma)
{
    const struct espi_resources *r = &ma->net->res;
    struct espi_arena *a = ma->arena;
    ma->row = ESPI_ARENA_NEW(a, int, r->n);
    ma->index = ESPI_ARENA_NEW(a, int, (size_t)r->n + 1);
    ma->value = ESPI_ARENA_NEW(a, double, (size_t)r->n + 1);
    ma->price = ESPI_ARENA_ZNEW(a, double, r->n);
    ma->best_price = ESPI_ARENA_ZNEW(a, double, r->n);
    ma->mixed = ESPI_ARENA_ZNEW(a, double, r->n);
    ma->load = ESPI_ARENA_ZNEW(a, double, r->n);
    ma->cost = ESPI_ARENA_NEW(a, double, ma->net->g.m);
    if (!ma->row || !ma->index || !ma->value || !ma->price || !ma->best_price ||
        !ma->mixed || !ma->load || !ma->cost || espi_steiner_init(&ma->s, ma->net, a))
        return -1;
    ma->exact = espi_steiner_can_exact(ma->net);
    if (ma->exact && espi_steiner_init_exact(&ma->s, a))
        return -1;
    for (int i = 0; i < r->n; i++)
        ma->row[i] = -1;
    for (int k = 0; k < r->start[ma->net->g.m]; k++)
        if (r->time_s[k] > 0)
            ma->row[r->resource[k]] = 0;
    ma->n_rows = 1;
    for (int i = 0; i < r->n; i++)
        if (ma->row[i] == 0)
            ma->row[i] = ma->n_rows++;
    return 0;
}

/* Row 0 and those of the resources, and the column of the period. */
static int add_rows(struct master *ma)
{
    struct espi_arena_mark mark = espi_arena_mark(ma->arena);
    double *lower = ESPI_ARENA_NEW(ma->arena, double, ma->n_rows);
    double *upper = ESPI_ARENA_ZNEW(ma->arena, double, ma->n_rows);
    int *start = ESPI_ARENA_ZNEW(ma->arena, int, (size_t)ma->n_rows + 1);
    if (!lower || !upper || !start)
        return -1;
    for (int i = 0; i < ma->n_rows; i++)
        lower[i] = -1e100;
    lower[0] = upper[0] = 1;
    struct espi_lp_vectors rows = {.count = ma->n_rows,
                                   .lower = lower,
                                   .upper = upper,
                                   .start = start,
                                   .index = start,
                                   .value = lower};
    espi_lp_add_rows(ma->lp, &rows);
    int column[2] = {0, ma->n_rows - 1};
    double one = 1;
    for (int i = 1; i < ma->n_rows; i++) {
        ma->index[i - 1] = i;
        ma->value[i - 1] = -1;
    }
    struct espi_lp_vectors period = {.count = 1,
                                     .cost = &one,
                                     .start = column,
                                     .index = ma->index,
                                     .value = ma->value};
    espi_lp_add_columns(ma->lp, &period);
    espi_arena_release(ma->arena, mark);
    return 0;
}

static void tree_loads(struct master *ma, const struct espi_steiner_tree *t)
{
    const struct espi_resources *r = &ma->net->res;
    memset(ma->load, 0, (size_t)r->n * sizeof *ma->load);
    for (int h = 0; h < t->hop_start[t->n_edges]; h++)
        for (int k = r->start[t->hops[h]]; k < r->start[t->hops[h] + 1]; k++)
            ma->load[r->resource[k]] += r->time_s[k];
}

static int *copy_ints(struct espi_arena *a, const int *from, int n)
{
    int *to = ESPI_ARENA_NEW(a, int, n);
    if (to && n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

/* Keeps the tree that was found last: 1, 0 if it is there already, -1: out of memory. */
static int keep(struct master *ma)
{
    const struct espi_steiner_tree *t = &ma->s.tree;
    uint64_t hash = espi_steiner_hash(t);
    for (size_t i = 0; i < ma->n_columns; i++)
        if (ma->columns[i].hash == hash)
            return 0;
    void *columns = ma->columns;
    if (espi_grow(&columns, &ma->cap, ma->n_columns + 1, sizeof *ma->columns))
        return -1;
    ma->columns = columns;
    int n = t->n_edges;
    struct espi_steiner_tree copy = {n, copy_ints(ma->arena, t->from, n),
                                     copy_ints(ma->arena, t->to, n),
                                     copy_ints(ma->arena, t->hop_start, n + 1),
                                     copy_ints(ma->arena, t->hops, t->hop_start[n])};
    if (!copy.from || !copy.to || !copy.hop_start || !copy.hops)
        return -1;
    ma->columns[ma->n_columns++] = (struct column){copy, hash};
    tree_loads(ma, t);
    int start[2] = {0, 1};
    ma->index[0] = 0;
    ma->value[0] = 1;
    for (int i = 0; i < ma->net->res.n; i++)
        if (ma->load[i] > 0) {
            ma->index[start[1]] = ma->row[i];
            ma->value[start[1]++] = ma->load[i] / ma->net->unit_s;
        }
    struct espi_lp_vectors column = {
        .count = 1, .start = start, .index = ma->index, .value = ma->value};
    espi_lp_add_columns(ma->lp, &column);
    return 1;
}

static esp_status solve(struct master *ma, struct esp_err *err)
{
    espi_lp_result res = espi_lp_solve(ma->lp, ESPI_LP_PRIMAL);
    if (res != ESPI_LP_OPTIMAL)
        res = espi_lp_solve(ma->lp, ESPI_LP_DUAL);
    if (res != ESPI_LP_OPTIMAL)
        return espi_err(err, ESP_EINTERNAL, "the program for trees could not be solved");
    const double *dual = espi_lp_duals(ma->lp);
    ma->upper_s = espi_lp_values(ma->lp)[0] * ma->net->unit_s;
    double sum = 0;
    for (int i = 0; i < ma->net->res.n; i++) {
        ma->price[i] = ma->row[i] < 0 ? 0 : fmax(-dual[ma->row[i]], 0);
        sum += ma->price[i];
    }
    for (int i = 0; i < ma->net->res.n; i++)
        ma->price[i] /= sum;
    ma->dual_s = dual[0] * ma->net->unit_s;
    return ESP_OK;
}

/* ---- asking for trees ---- */

static void set_costs(struct master *ma, const double *price)
{
    const struct espi_resources *r = &ma->net->res;
    for (int e = 0; e < ma->net->g.m; e++) {
        ma->cost[e] = 0;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            ma->cost[e] += price[r->resource[k]] * r->time_s[k];
        ma->cost[e] += 1e-12 * ma->net->unit_s; /* nothing is quite free */
    }
}

/* The tree that was found, if the master has a use for it. */
static int keep_useful(struct master *ma)
{
    double cost = 0;
    tree_loads(ma, &ma->s.tree);
    for (int i = 0; i < ma->net->res.n; i++)
        cost += ma->price[i] * ma->load[i];
    return cost < ma->dual_s * (1 - CLOSED) ? keep(ma) : 0;
}

/* Asks at prices between the best (smooth = 1) and the master's. How many came in. */
static int ask(struct master *ma, double smooth)
{
    for (int i = 0; i < ma->net->res.n; i++)
        ma->mixed[i] = smooth * ma->best_price[i] + (1 - smooth) * ma->price[i];
    set_costs(ma, ma->mixed);
    if (ma->exact) {
        double least_s = espi_steiner_exact(&ma->s, ma->cost);
        if (least_s > ma->bound_s) {
            ma->bound_s = least_s * (1 - 1e-11);
            memcpy(ma->best_price, ma->mixed, (size_t)ma->net->res.n * sizeof *ma->mixed);
        }
        return keep_useful(ma);
    }
    int added = 0, got = 0;
    if (isfinite(espi_steiner_grow(&ma->s, ma->cost)))
        added += got = keep_useful(ma);
    if (got >= 0 && isfinite(espi_steiner_prune(&ma->s, ma->cost)))
        added += got = keep_useful(ma);
    return got < 0 ? -1 : added;
}

static int is_closed(const struct master *ma)
{
    return ma->exact && ma->upper_s <= ma->bound_s * (1 + 10 * CLOSED);
}

static esp_status generate(struct master *ma, int max_rounds, struct esp_err *err)
{
    static const double smooths[] = {0.7, 0.3, 0};
    esp_status st = solve(ma, err);
    memcpy(ma->best_price, ma->price, (size_t)ma->net->res.n * sizeof *ma->price);
    for (; !st && ma->rounds < max_rounds && !is_closed(ma); ma->rounds++) {
        int added = 0;
        for (int i = 0; i < 3 && (ma->exact || !added || i < 2); i++) {
            int got = ask(ma, smooths[i]);
            if (got < 0)
                return espi_err_nomem(err);
            added += got;
        }
        if (!added)
            break;
        if (!ma->exact) /* prices of late are as good a centre as any */
            for (int i = 0; i < ma->net->res.n; i++)
                ma->best_price[i] = 0.5 * (ma->best_price[i] + ma->price[i]);
        st = solve(ma, err);
    }
    return st;
}

/* Trees to start with: those of other plans, and one for equal prices. */
static int start(struct master *ma, const struct espi_multicast_options *o)
{
    for (int i = 0; i < ma->net->res.n; i++)
        ma->mixed[i] = ma->row[i] < 0 ? 0 : 1.0 / (ma->n_rows - 1);
    set_costs(ma, ma->mixed);
    if (!isfinite(espi_steiner_grow(&ma->s, ma->cost)) || keep(ma) < 0)
        return -1;
    for (int i = 0; i < o->n_seeds; i++)
        for (int t = 0; t < o->seeds[i]->n_trees; t++) {
            const struct esp_tree *tree = &o->seeds[i]->trees[t];
            struct espi_arena_mark mark = espi_arena_mark(ma->arena);
            int *first = ESPI_ARENA_NEW(ma->arena, int, (size_t)tree->n_edges + 1);
            if (!first)
                return -1;
            for (int k = 0; k < tree->n_edges; k++)
                first[k] = tree->edges[k].first_hop;
            first[tree->n_edges] = tree->n_hops;
            espi_steiner_from_edges(&ma->s, tree->n_edges, first, tree->hops);
            espi_arena_release(ma->arena, mark);
            if (keep(ma) < 0)
                return -1;
        }
    return 0;
}

/* ---- the answer ---- */

/* Takes the lightest trees away, one at a time, until few enough are left. */
static esp_status thin_out(struct master *ma, int max_trees, struct esp_err *err)
{
    for (;;) {
        const double *x = espi_lp_values(ma->lp);
        int used = 0, lightest = -1;
        for (size_t j = 0; j < ma->n_columns; j++)
            if (x[j + 1] > 1e-9) {
                used++;
                if (lightest < 0 || x[j + 1] < x[lightest + 1])
                    lightest = (int)j;
            } else {
                espi_lp_set_upper(ma->lp, (int)j + 1, 0);
            }
        if (used <= max_trees)
            return ESP_OK;
        espi_lp_set_upper(ma->lp, lightest + 1, 0);
        esp_status st = solve(ma, err);
        if (st)
            return st;
    }
}

static esp_status deliver(struct master *ma, struct espi_multicast *out,
                          struct esp_err *err)
{
    const double *x = espi_lp_values(ma->lp);
    struct espi_multicast r = {.bound_s = ma->bound_s,
                               .exact = ma->exact,
                               .rounds = ma->rounds,
                               .columns = (int)ma->n_columns};
    double sum = 0;
    r.tree = ESPI_ARENA_NEW(ma->arena, struct espi_steiner_tree, ma->n_columns);
    r.weight = ESPI_ARENA_NEW(ma->arena, double, ma->n_columns);
    double *y = ESPI_ARENA_ZNEW(ma->arena, double, ma->net->g.m);
    if (!r.tree || !r.weight || !y)
        return espi_err_nomem(err);
    for (size_t j = 0; j < ma->n_columns; j++)
        if (x[j + 1] > 1e-9) {
            r.tree[r.n_trees] = ma->columns[j].tree;
            r.weight[r.n_trees++] = x[j + 1];
            sum += x[j + 1];
        }
    for (int i = 0; i < r.n_trees; i++) {
        r.weight[i] /= sum;
        for (int h = 0; h < r.tree[i].hop_start[r.tree[i].n_edges]; h++)
            y[r.tree[i].hops[h]] += r.weight[i];
    }
    r.period_s = espi_net_period_s(ma->net, y, ma->arena);
    if (isnan(r.period_s))
        return espi_err_nomem(err);
    *out = r;
    return ESP_OK;
}

esp_status espi_multicast_solve(const struct espi_net *net,
                                const struct espi_multicast_options *options,
                                struct espi_arena *arena, struct espi_multicast *out,
                                struct esp_err *err)
{
    static const struct espi_multicast_options standard = {0};
    const struct espi_multicast_options *o = options ? options : &standard;
    struct master ma = {.net = net, .arena = arena};
    esp_status st = espi_lp_create(&ma.lp, err);
    if (st)
        return st;
    if (master_init(&ma) || add_rows(&ma) || start(&ma, o))
        st = espi_err_nomem(err);
    if (!st)
        st = generate(&ma, o->max_rounds > 0 ? o->max_rounds : 400, err);
    if (!st && o->max_trees > 0)
        st = thin_out(&ma, o->max_trees, err);
    if (!st)
        st = deliver(&ma, out, err);
    espi_lp_free(ma.lp);
    espi_free(ma.columns);
    return st;
}
