#include "solve/multicast.h"

#include <math.h>
#include <string.h>

#include "base/watch.h"
#include "base/alloc.h"
#include "base/err.h"
#include "solve/cover.h"
#include "solve/multicast_impl.h"
#include "solve/tuning.h"

static const double CLOSED = 1e-9; /* rounding: the gap at which asking ends */

esp_status espi_multicast_bound(const struct espi_flow_net *net, struct espi_arena *arena,
                                double *period_s, struct esp_err *err)
{
    struct espi_cover cover;
    esp_status st = espi_cover_init(&cover, net, ESPI_COVER_TARGETS, arena, err);
    if (st)
        return st;
    st = espi_cover_period(&cover, period_s, err);
    espi_cover_free(&cover);
    return st;
}

/* ---- trees ---- */

static int alloc_parts(struct espi_mc *mc)
{
    const struct espi_flow_net *net = mc->net;
    struct espi_arena *a = mc->arena;
    mc->best_price = ESPI_ARENA_ZNEW(a, double, net->res.n);
    mc->mixed = ESPI_ARENA_ZNEW(a, double, net->res.n);
    mc->load = ESPI_ARENA_ZNEW(a, double, net->res.n);
    mc->cost = ESPI_ARENA_NEW(a, double, net->g.m);
    if (!mc->best_price || !mc->mixed || !mc->load || !mc->cost ||
        espi_steiner_init(&mc->s, net, a))
        return -1;
    mc->exact = espi_steiner_can_exact(net);
    return mc->exact ? espi_steiner_init_exact(&mc->s, a) : 0;
}

static esp_status mc_init(struct espi_mc *mc, struct esp_err *err)
{
    const struct espi_resources *r = &mc->net->res;
    unsigned char *used = ESPI_ARENA_ZNEW(mc->arena, unsigned char, r->n);
    if (!used || alloc_parts(mc))
        return espi_err_nomem(err);
    for (int k = 0; k < r->start[mc->net->g.m]; k++)
        used[r->resource[k]] |= r->time_s[k] > 0;
    return espi_tree_mix_lp_init(&mc->mx, r->n, used, mc->net->unit_s, mc->arena, err);
}

void espi_mc_loads(const struct espi_mc *mc, const struct espi_steiner_tree *t,
                   double *load_s)
{
    const struct espi_resources *r = &mc->net->res;
    memset(load_s, 0, (size_t)r->n * sizeof *load_s);
    for (int h = 0; h < t->hop_start[t->n_edges]; h++)
        espi_resources_add(r, t->hops[h], 1, load_s);
}

static int *copy_ints(struct espi_arena *a, const int *from, int n)
{
    int *to = ESPI_ARENA_NEW(a, int, n);
    if (to && n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

int espi_mc_keep(struct espi_mc *mc, int *at)
{
    const struct espi_steiner_tree *t = &mc->s.tree;
    uint64_t hash = espi_steiner_hash(t);
    for (*at = 0; (size_t)*at < mc->n_columns; ++*at)
        if (mc->columns[*at].hash == hash)
            return 0;
    void *columns = mc->columns;
    if (espi_grow(&columns, &mc->cap, mc->n_columns + 1, sizeof *mc->columns))
        return -1;
    mc->columns = columns;
    int n = t->n_edges;
    struct espi_steiner_tree copy = {.n_edges = n};
    copy.from = copy_ints(mc->arena, t->from, n);
    copy.to = copy_ints(mc->arena, t->to, n);
    copy.hop_start = copy_ints(mc->arena, t->hop_start, n + 1);
    copy.hops = copy_ints(mc->arena, t->hops, t->hop_start[n]);
    if (!copy.from || !copy.to || !copy.hop_start || !copy.hops)
        return -1;
    mc->columns[mc->n_columns++] = (struct espi_mc_column){copy, hash};
    espi_mc_loads(mc, t, mc->load);
    espi_tree_mix_lp_add(&mc->mx, mc->load);
    return 1;
}

/* ---- asking for trees ---- */

void espi_mc_set_costs(struct espi_mc *mc, const double *price)
{
    const struct espi_resources *r = &mc->net->res;
    for (int e = 0; e < mc->net->g.m; e++) {
        mc->cost[e] = 0;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            mc->cost[e] += price[r->resource[k]] * r->time_s[k];
        mc->cost[e] += 1e-12 * mc->net->unit_s; /* nothing is quite free */
    }
}

/* The tree that was found, if the mixer has a use for it. */
static int keep_useful(struct espi_mc *mc)
{
    int at;
    espi_mc_loads(mc, &mc->s.tree, mc->load);
    return espi_tree_mix_lp_cost_s(&mc->mx, mc->load) < mc->mx.worth_s * (1 - CLOSED)
               ? espi_mc_keep(mc, &at)
               : 0;
}

/* Asks at prices between the best (smooth = 1) and the mixer's. How many came in. */
static int ask_for_trees(struct espi_mc *mc, double smooth)
{
    for (int i = 0; i < mc->net->res.n; i++)
        mc->mixed[i] = smooth * mc->best_price[i] + (1 - smooth) * mc->mx.price[i];
    espi_mc_set_costs(mc, mc->mixed);
    if (mc->exact) {
        double least_s = espi_steiner_exact(&mc->s, mc->cost);
        if (least_s > mc->bound_s) {
            mc->bound_s = least_s * (1 - 1e-11);
            memcpy(mc->best_price, mc->mixed, (size_t)mc->net->res.n * sizeof *mc->mixed);
        }
        return keep_useful(mc);
    }
    int added = 0, got = 0;
    if (isfinite(espi_steiner_grow(&mc->s, mc->cost)))
        added += got = keep_useful(mc);
    if (got >= 0 && isfinite(espi_steiner_prune(&mc->s, mc->cost)))
        added += got = keep_useful(mc);
    return got < 0 ? -1 : added;
}

static int is_closed(const struct espi_mc *mc)
{
    return mc->mx.period_s <= mc->bound_s * (1 + 10 * CLOSED);
}

static esp_status generate_columns(struct espi_mc *mc, int max_rounds,
                                   struct esp_err *err)
{
    static const double smooths[] = {ESPI_MULTICAST_SMOOTHS};
    int n = mc->net->res.n;
    esp_status st = espi_tree_mix_lp_solve(&mc->mx, ESPI_LP_PRIMAL, NULL, err);
    memcpy(mc->best_price, mc->mx.price, (size_t)n * sizeof *mc->best_price);
    for (; !st && mc->rounds < max_rounds && !is_closed(mc) && !espi_watch_is_over();
         mc->rounds++) {
        int added = 0;
        for (int i = 0; i < 3 && (mc->exact || !added || i < 2); i++) {
            int got = ask_for_trees(mc, smooths[i]);
            if (got < 0)
                return espi_err_nomem(err);
            added += got;
        }
        if (!added)
            break;
        if (!mc->exact) /* prices of late are as good a centre as any */
            for (int i = 0; i < n; i++)
                mc->best_price[i] = 0.5 * (mc->best_price[i] + mc->mx.price[i]);
        st = espi_tree_mix_lp_solve(&mc->mx, ESPI_LP_PRIMAL, NULL, err);
    }
    return st;
}

/* Trees to start with: those of other plans, and one for equal prices. */
static int starting_trees(struct espi_mc *mc, const struct espi_multicast_options *o)
{
    int at;
    for (int i = 0; i < mc->net->res.n; i++)
        mc->mixed[i] = mc->mx.row[i] ? 1.0 / mc->net->res.n : 0;
    espi_mc_set_costs(mc, mc->mixed);
    if (!isfinite(espi_steiner_grow(&mc->s, mc->cost)) || espi_mc_keep(mc, &at) < 0)
        return -1;
    for (int i = 0; i < o->n_seeds; i++)
        for (int t = 0; t < o->seeds[i]->n_trees; t++) {
            const struct esp_tree *tree = &o->seeds[i]->trees[t];
            struct espi_arena_mark mark = espi_arena_mark(mc->arena);
            int *first = ESPI_ARENA_NEW(mc->arena, int, (size_t)tree->n_edges + 1);
            if (!first)
                return -1;
            for (int k = 0; k < tree->n_edges; k++)
                first[k] = tree->edges[k].first_hop;
            first[tree->n_edges] = tree->n_hops;
            espi_steiner_from_edges(&mc->s, tree->n_edges, first, tree->hops);
            espi_arena_release(mc->arena, mark);
            if (espi_mc_keep(mc, &at) < 0)
                return -1;
        }
    return 0;
}

/* ---- the answer ---- */

static esp_status deliver_mix(struct espi_mc *mc, double any_s,
                              struct espi_multicast *out, struct esp_err *err)
{
    const double *x = mc->mx.share;
    struct espi_multicast r = {.any_s = any_s,
                               .bound_s = mc->bound_s,
                               .exact = mc->exact,
                               .rounds = mc->rounds,
                               .columns = (int)mc->n_columns};
    double sum = 0;
    r.tree = ESPI_ARENA_NEW(mc->arena, struct espi_steiner_tree, mc->n_columns);
    r.weight = ESPI_ARENA_NEW(mc->arena, double, mc->n_columns);
    double *y = ESPI_ARENA_ZNEW(mc->arena, double, mc->net->g.m);
    if (!r.tree || !r.weight || !y)
        return espi_err_nomem(err);
    for (size_t j = 0; j < mc->n_columns; j++)
        if (x[j] > 1e-9) {
            r.tree[r.n_trees] = mc->columns[j].tree;
            r.weight[r.n_trees++] = x[j];
            sum += x[j];
        }
    for (int i = 0; i < r.n_trees; i++) {
        r.weight[i] /= sum;
        for (int h = 0; h < r.tree[i].hop_start[r.tree[i].n_edges]; h++)
            y[r.tree[i].hops[h]] += r.weight[i];
    }
    r.period_s = espi_flow_net_period_s(mc->net, y, mc->arena);
    if (isnan(r.period_s))
        return espi_err_nomem(err);
    *out = r;
    return ESP_OK;
}

esp_status espi_multicast_solve(const struct espi_flow_net *net,
                                const struct espi_multicast_options *options,
                                struct espi_arena *arena, struct espi_multicast *out,
                                struct esp_err *err)
{
    static const struct espi_multicast_options standard = {0};
    const struct espi_multicast_options *o = options ? options : &standard;
    struct espi_mc mc = {.net = net, .arena = arena, .bound_s = o->bound_s};
    esp_status st = mc_init(&mc, err);
    if (st)
        return st;
    if (starting_trees(&mc, o))
        st = espi_err_nomem(err);
    if (!st)
        st = generate_columns(&mc, o->max_rounds > 0 ? o->max_rounds : 400, err);
    double any_s = mc.mx.period_s;
    if (!st && o->max_trees > 0)
        st = espi_mc_few(&mc, o->max_trees, err);
    if (!st)
        st = deliver_mix(&mc, any_s, out, err);
    espi_tree_mix_lp_free(&mc.mx);
    espi_free(mc.columns);
    return st;
}
