/* Trees from all hosts at once: the best steady state of an allgather.
 *
 * Every host has an equal part of the message, its trees carry that part, and all share
 * the resources. For prices of the resources no plan takes less time a slice of the
 * message than the mean over all hosts of the cost of the cheapest tree from it, so that
 * one set of prices serves all roots.
 *
 * Two stages. First the whole is taken for one broadcast from a source that has an arc to
 * every host, over which no more than the n-th part of the message may go: by Edmonds'
 * theorem on disjoint branchings what goes over each is a mix of trees from that host.
 * The limit is a resource whose time makes it bind just when the others do, and so needs
 * the period beforehand: the capacity model has it from cuts (Newton's method; J. Zhao et
 * al., ForestColl, 2024, have the same optimum), the others from the prices of the last
 * attempt. This is the solver for one root on n + 1 hosts, instead of n trees for each
 * price. Where that leaves a gap, column generation proper: a program with the parts of
 * all roots as rows mixes the trees found, and its prices ask every root for more.
 * Guarantee: trees and prices differ by the gap that is reported, whatever the first
 * stage did. Complexity: a few broadcasts, and n cheapest trees for each further price.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "solve/cut_bound.h"
#include "solve/packing_impl.h"
#include "solve/tree_mix_lp.h"
#include "solve/tuning.h"

struct column {
    int root;
    double weight; /* in the mix at hand; only how those of a root compare matters */
    uint64_t hash;
    struct espi_pk_tree tree;
};

struct all {
    const struct espi_view *v;
    const struct espi_packing_options *options;
    struct espi_arena *arena;
    int n;
    double start_s, gap;
    struct espi_pricer pr;
    struct column *columns;
    size_t n_columns, cap;
    double lower_s, upper_s;
    double *price; /* those that prove lower_s; of n_res, sum 1 */
    double *load, *asked, *sum;
    struct espi_tree_mix_lp mx;
    int pricings, solves;
    struct espi_solve_budget budget;
};

static void tell_progress(const struct all *x)
{
    if (x->options->progress)
        x->options->progress(x->options->progress_arg,
                             x->lower_s > 0 ? fmax(x->upper_s / x->lower_s - 1, 0)
                                            : INFINITY,
                             espi_now_s() - x->start_s);
}

/* ---- trees ---- */

static int is_known(const struct all *x, int root, uint64_t hash)
{
    for (size_t i = 0; i < x->n_columns; i++)
        if (x->columns[i].hash == hash && x->columns[i].root == root)
            return 1;
    return 0;
}

/* A column with room for so many links; NULL: out of memory. */
static struct column *new_column(struct all *x, int root, uint64_t hash, int length)
{
    void *array = x->columns;
    if (espi_grow(&array, &x->cap, x->n_columns + 1, sizeof *x->columns))
        return NULL;
    x->columns = array;
    struct column *c = &x->columns[x->n_columns];
    *c = (struct column){.root = root, .hash = hash};
    c->tree.hops = ESPI_ARENA_NEW(x->arena, int, length);
    c->tree.hop_start = ESPI_ARENA_NEW(x->arena, int, (size_t)x->n + 1);
    if (!c->tree.hops || !c->tree.hop_start)
        return NULL;
    x->n_columns++;
    return c;
}

/* Keeps the pricer's last tree; -1: out of memory, 1: it is new. */
static int keep_tree(struct all *x, int root)
{
    uint64_t hash = espi_pricer_hash(&x->pr);
    if (is_known(x, root, hash))
        return 0;
    struct column *c = new_column(x, root, hash, espi_pricer_length(&x->pr));
    if (!c)
        return -1;
    espi_pricer_copy(&x->pr, &c->tree);
    return 1;
}

/* The bound of prices (sum 1), if there is time to ask all. Trees that cost less than
 * they are worth, if that is given, are kept: how many, or -1 when out of memory. */
static int ask_all_roots(struct all *x, const double *price, const double *worth_s)
{
    double sum_s = 0;
    int fresh = 0;
    espi_pricer_set_prices(&x->pr, price);
    for (int h = 0; h < x->n; h++) {
        if (espi_solve_budget_is_late(&x->budget))
            return fresh;
        double cost_s = espi_pricer_tree(&x->pr, h, 0);
        sum_s += cost_s;
        if (worth_s && cost_s < worth_s[h] * (1 - 1e-10)) {
            int got = keep_tree(x, h);
            if (got < 0)
                return -1;
            fresh += got;
        }
    }
    x->pricings += x->n;
    espi_pricer_note(&x->pr, x->n, &x->budget);
    if (sum_s / x->n > x->lower_s) {
        x->lower_s = sum_s / x->n;
        memcpy(x->price, price, (size_t)x->pr.n_res * sizeof *price);
    }
    return fresh;
}

/* ---- mixes ---- */

/* The mix of the weights, each root's part made the same, if it is the best so far. */
static void take_mix(struct all *x)
{
    memset(x->sum, 0, (size_t)x->n * sizeof *x->sum);
    memset(x->load, 0, (size_t)x->pr.n_res * sizeof *x->load);
    for (size_t i = 0; i < x->n_columns; i++)
        x->sum[x->columns[i].root] += x->columns[i].weight;
    for (int h = 0; h < x->n; h++)
        if (!(x->sum[h] > 0))
            return;
    for (size_t i = 0; i < x->n_columns; i++) {
        struct column *c = &x->columns[i];
        c->tree.scale = c->weight / (x->sum[c->root] * x->n);
        if (c->weight > 0)
            espi_pk_add_loads(&x->pr, &c->tree, c->tree.scale, x->load);
    }
    double most_s = 0;
    for (int r = 0; r < x->pr.n_res; r++)
        most_s = fmax(most_s, x->load[r]);
    if (!(most_s < x->upper_s))
        return;
    x->upper_s = most_s;
    for (size_t i = 0; i < x->n_columns; i++)
        x->columns[i].tree.x = x->columns[i].tree.scale;
}

static int is_closed(const struct all *x)
{
    return x->upper_s <= x->lower_s * (1 + x->gap);
}

static int is_over(const struct all *x)
{
    return is_closed(x) || espi_solve_budget_is_over(&x->budget);
}

/* ---- one broadcast from all ---- */

/* A tree of the source with one root becomes a tree of that root. */
static int take_tree(struct all *x, const struct espi_packing_tree *t)
{
    int n = x->n, links = x->v->p->n_links, root = -1;
    for (int h = 0; h < n; h++)
        if (t->hops[t->hop_start[h]] >= links) {
            if (root >= 0)
                return 0; /* a forest: what is left when the limits do not quite bind */
            root = h;
        }
    uint64_t hash = 1469598103934665603u;
    for (int k = t->hop_start[0]; k < t->hop_start[n]; k++)
        hash = (hash ^ (uint64_t)(t->hops[k] + 1)) * 1099511628211u;
    struct column *c = new_column(x, root, hash ^ 1, t->hop_start[n] - t->hop_start[0]);
    if (!c)
        return -1;
    c->weight = t->rate;
    for (int h = 0, at = 0; h < n; h++) {
        int count = h == root ? 0 : t->hop_start[h + 1] - t->hop_start[h];
        c->tree.hop_start[h] = at;
        memcpy(c->tree.hops + at, t->hops + t->hop_start[h], (size_t)count * sizeof(int));
        at += count;
        c->tree.hop_start[h + 1] = c->tree.n_hops = at;
    }
    return 0;
}

/* Prices of the resources proper, from those of the view with a source. */
static int take_prices(struct all *x, const double *price)
{
    double sum = 0;
    for (int r = 0; r < x->pr.n_res; r++)
        sum += price[x->pr.resource[r]];
    if (!(sum > 0))
        return 0;
    for (int r = 0; r < x->pr.n_res; r++)
        x->asked[r] = price[x->pr.resource[r]] / sum;
    return ask_all_roots(x, x->asked, NULL);
}

/* One attempt with limits for a period of about guess_s. */
static esp_status attempt_period(struct all *x, double guess_s, double gap,
                                 struct esp_err *err)
{
    struct espi_view view;
    struct espi_packing packing;
    struct espi_packing_options o = {.gap = gap};
    if (isfinite(x->budget.stop_s))
        o.time_limit_s = fmax(espi_solve_budget_left_s(&x->budget), 1e-3);
    if (isfinite(x->budget.work_limit))
        o.work_limit = fmax(x->budget.work_limit - x->budget.work, 1);
    if (espi_view_add_source(x->v, guess_s * x->n, x->arena, &view))
        return espi_err_nomem(err);
    esp_status st = espi_packing_solve(&view, x->n, &o, x->arena, &packing, err);
    if (st)
        return st;
    x->pricings += packing.pricings;
    x->solves += packing.lp_solves;
    x->budget.work += packing.work;
    for (size_t i = 0; i < x->n_columns; i++)
        x->columns[i].weight = 0;
    for (int i = 0; i < packing.n_trees && !st; i++)
        if (take_tree(x, &packing.tree[i]))
            st = espi_err_nomem(err);
    if (!st && take_prices(x, packing.price) < 0)
        st = espi_err_nomem(err);
    if (!st)
        take_mix(x);
    return st;
}

/* A cut is proved by prices too: the same for each slice over any of its links. */
static int take_cut(struct all *x, const unsigned char *side)
{
    const struct esp_platform *p = x->v->p;
    double sum = 0;
    memset(x->asked, 0, (size_t)x->pr.n_res * sizeof *x->asked);
    for (int e = 0; e < p->n_links; e++) {
        int k = x->pr.use_start[e];
        if (side[p->tail[e]] && !side[p->head[e]] && k < x->pr.use_start[e + 1])
            x->asked[x->pr.use_res[k]] =
                fmax(x->asked[x->pr.use_res[k]], 1 / x->pr.use_s[k]);
    }
    for (int r = 0; r < x->pr.n_res; r++)
        sum += x->asked[r];
    for (int r = 0; r < x->pr.n_res; r++)
        x->asked[r] /= sum;
    return sum > 0 && isfinite(sum) ? ask_all_roots(x, x->asked, NULL) : 0;
}

/* The period is known when the bound does not rise any more. */
static esp_status find_period(struct all *x, struct esp_err *err)
{
    double cut_s = 0, near = ESPI_ALL_FIRST_NEAR, nearest = ESPI_ALL_ROUGH * x->gap;
    esp_status st = ESP_OK;
    unsigned char *side = ESPI_ARENA_NEW(x->arena, unsigned char, x->v->p->n_nodes);
    if (!side || espi_all_cut_s(x->v, x->arena, &cut_s, side))
        return espi_err_nomem(err);
    espi_solve_budget_look(&x->budget, (double)x->n * x->v->p->n_links);
    for (int r = 0; r < x->pr.n_res; r++)
        x->asked[r] = 1.0 / x->pr.n_res;
    if (ask_all_roots(x, x->asked, NULL) < 0)
        return espi_err_nomem(err);
    if (x->lower_s == 0 && espi_solve_budget_is_late(&x->budget))
        return espi_solve_budget_err(err);
    if (isnan(x->lower_s) || !(x->lower_s > 0))
        return espi_err(err, ESP_EINPUT, "some hosts cannot be reached from others");
    if (cut_s > x->lower_s) {
        near = nearest = ESPI_ALL_FINE * x->gap;
        if (take_cut(x, side) < 0)
            return espi_err_nomem(err);
    }
    for (int i = 0; i < ESPI_ALL_ATTEMPTS && !st && !is_over(x); i++) {
        double guess_s = fmax(x->lower_s, cut_s);
        size_t before = x->n_columns;
        st = attempt_period(x, guess_s, fmax(near, nearest), err);
        tell_progress(x);
        double rise = fmax(x->lower_s, cut_s) / guess_s - 1;
        if (near <= nearest &&
            (rise < x->gap || x->n_columns > before + ESPI_ALL_COLUMNS))
            break;
        near = ESPI_ALL_NEARER * fmin(near, rise);
    }
    return st;
}

/* ---- all roots in one program ---- */

static void add_column(struct all *x, const struct column *c)
{
    memset(x->load, 0, (size_t)x->pr.n_res * sizeof *x->load);
    espi_pk_add_loads(&x->pr, &c->tree, 1, x->load);
    espi_tree_mix_lp_add_to(&x->mx, c->root, x->load);
}

/* New trees at prices between the best and the program's, or at the program's alone. */
static int ask_more(struct all *x)
{
    size_t before = x->n_columns;
    for (int own = 0; own < 2 && x->n_columns == before; own++) {
        double part = own ? 0 : ESPI_ALL_SMOOTH;
        for (int r = 0; r < x->pr.n_res; r++)
            x->asked[r] = part * x->price[r] + (1 - part) * x->mx.price[r];
        if (ask_all_roots(x, x->asked, x->mx.group_worth_s) < 0)
            return -1;
    }
    return x->n_columns > before;
}

static esp_status generate_columns(struct all *x, struct esp_err *err)
{
    size_t in_program = 0;
    esp_status st = ESP_OK;
    for (int pass = 0; pass < ESPI_ALL_PASSES && !st; pass++) {
        for (; in_program < x->n_columns; in_program++)
            add_column(x, &x->columns[in_program]);
        st = espi_tree_mix_lp_solve(&x->mx, pass ? ESPI_LP_PRIMAL : ESPI_LP_DUAL,
                                    &x->budget, err);
        x->solves++;
        if (st && st != ESP_ENOMEM && espi_solve_budget_is_over(&x->budget))
            return ESP_OK; /* with the best mix so far */
        if (st)
            break;
        for (size_t i = 0; i < x->n_columns; i++)
            x->columns[i].weight = fmax(x->mx.share[i], 0);
        take_mix(x);
        tell_progress(x);
        if (is_over(x))
            break;
        int more = ask_more(x);
        if (more < 0)
            st = espi_err_nomem(err);
        if (more <= 0 || is_closed(x))
            break;
    }
    return st;
}

/* ---- the answer ---- */

static esp_status deliver_all(struct all *x, struct espi_packing *out,
                              struct esp_err *err)
{
    int count = 0;
    struct espi_packing r = {.n_hosts = x->n};
    for (size_t i = 0; i < x->n_columns; i++)
        count += x->columns[i].tree.x > 0;
    int *root = ESPI_ARENA_NEW(x->arena, int, count);
    r.tree = ESPI_ARENA_NEW(x->arena, struct espi_packing_tree, count);
    r.price = ESPI_ARENA_ZNEW(x->arena, double, x->v->links.n);
    if (!root || !r.tree || !r.price)
        return espi_err_nomem(err);
    for (int h = 0; h < x->n; h++)
        for (size_t i = 0; i < x->n_columns; i++) {
            const struct column *c = &x->columns[i];
            if (c->root != h || !(c->tree.x > 0))
                continue;
            root[r.n_trees] = h;
            r.tree[r.n_trees++] = (struct espi_packing_tree){
                c->tree.x / x->upper_s, c->tree.hop_start, c->tree.hops};
        }
    for (int i = 0; i < x->pr.n_res; i++)
        r.price[x->pr.resource[i]] = x->price[i];
    r.root = root;
    r.rate = 1 / x->upper_s;
    r.bound = fmax(1 / x->lower_s, r.rate);
    r.gap = r.bound / r.rate - 1;
    r.pricings = x->pricings;
    r.lp_solves = x->solves;
    r.work = x->budget.work;
    r.solve_s = espi_now_s() - x->start_s;
    *out = r;
    return ESP_OK;
}

/* Some tree for each root, so that there is a mix and the program can be solved. */
static int start_columns(struct all *x)
{
    double *worth_s = ESPI_ARENA_NEW(x->arena, double, x->n);
    if (!worth_s)
        return -1;
    for (int h = 0; h < x->n; h++)
        worth_s[h] = INFINITY;
    if (ask_all_roots(x, x->price, worth_s) < 0)
        return -1;
    for (size_t i = 0; i < x->n_columns; i++)
        x->columns[i].weight = 1;
    take_mix(x);
    return 0;
}

static esp_status mix_and_generate(struct all *x, struct esp_err *err)
{
    if (start_columns(x))
        return espi_err_nomem(err);
    if (is_over(x))
        return ESP_OK;
    esp_status st = espi_tree_mix_lp_init_groups(&x->mx, x->n, x->pr.n_res, NULL,
                                                 x->lower_s, x->arena, err);
    if (st)
        return st;
    st = generate_columns(x, err);
    espi_tree_mix_lp_free(&x->mx);
    return st;
}

static esp_status all_init(struct all *x, struct esp_err *err)
{
    if (espi_pricer_init(&x->pr, x->v, 0, x->arena))
        return espi_err_nomem(err);
    x->price = ESPI_ARENA_ZNEW(x->arena, double, x->pr.n_res);
    x->asked = ESPI_ARENA_NEW(x->arena, double, x->pr.n_res);
    x->load = ESPI_ARENA_NEW(x->arena, double, x->pr.n_res);
    x->sum = ESPI_ARENA_NEW(x->arena, double, x->n);
    return x->price && x->asked && x->load && x->sum ? ESP_OK : espi_err_nomem(err);
}

esp_status espi_packing_solve_all(const struct espi_view *v,
                                  const struct espi_packing_options *options,
                                  struct espi_arena *arena, struct espi_packing *out,
                                  struct esp_err *err)
{
    static const struct espi_packing_options standard = {0};
    struct all x = {.v = v, .arena = arena, .n = v->g.n, .upper_s = INFINITY};
    x.options = options ? options : &standard;
    x.start_s = espi_now_s();
    x.budget = espi_solve_budget_of(x.options->time_limit_s, x.options->work_limit);
    x.gap = x.options->gap > 0 ? x.options->gap : ESPI_PACKING_ALL_GAP;
    if (x.n == 1)
        return espi_packing_solve(v, 0, options, arena, out, err);
    esp_status st = all_init(&x, err);
    if (!st)
        st = find_period(&x, err);
    if (!st && !is_closed(&x))
        st = mix_and_generate(&x, err);
    if (!st)
        st = deliver_all(&x, out, err);
    espi_free(x.columns);
    return st;
}
