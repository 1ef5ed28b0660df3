/* Column generation over pairs of trees: prices of resources ask for the cheapest tree
 * towards each host and from it; the host for which both together are cheapest proves a
 * bound (no mix of pairs costs less at these prices than its cheapest pair). First some
 * rounds of Frank-Wolfe on the soft maximum of loads, as for a broadcast (packing_fw.c),
 * in most of which only the hosts are asked that were cheapest of late; then the program
 * of the mix, whose prices ask for more, at points between those of the best bound and
 * its own, which swing less. */
#include "solve/allreduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "base/softmax_price.h"
#include "base/watch.h"
#include "solve/packing_impl.h"
#include "solve/tree_mix_lp.h"
#include "solve/tuning.h"

struct search {
    const struct espi_view *v;
    struct espi_arena *arena;
    struct espi_pricer pr;
    struct espi_tree_mix_lp mx;
    struct espi_tree_pair *pairs; /* columns */
    uint64_t *hash;
    size_t n_pairs, cap, cap_hash;
    double *best_price, *asked;
    double *load, *part; /* of the last pair; scratch */
    double *mix, *scratch;
    double *cost_s; /* host -> of the cheapest pair there */
    int *order;     /* hosts */
    double bound_s, gap, end_s, trees, max_trees;
    int rounds;
};

static esp_status search_init(struct search *x, const struct espi_allreduce_options *o,
                              struct esp_err *err)
{
    struct espi_arena *a = x->arena;
    const struct espi_view *v = x->v;
    double unit_s = 0;
    x->gap = o->gap > 0 ? o->gap : ESPI_PAIRS_GAP;
    x->end_s = fmin(o->time_limit_s > 0 ? espi_now_s() + o->time_limit_s : INFINITY,
                    espi_watch_stop_s());
    x->max_trees = o->max_trees > 0 ? o->max_trees : INFINITY;
    if (espi_pricer_init(&x->pr, v, 0, a) || espi_pricer_init_inward(&x->pr, a))
        return espi_err_nomem(err);
    int n = x->pr.n_res;
    x->best_price = ESPI_ARENA_NEW(a, double, n);
    x->asked = ESPI_ARENA_NEW(a, double, n);
    x->load = ESPI_ARENA_NEW(a, double, n);
    x->part = ESPI_ARENA_NEW(a, double, n);
    x->mix = ESPI_ARENA_ZNEW(a, double, n);
    x->scratch = ESPI_ARENA_NEW(a, double, 2 * (size_t)n);
    x->cost_s = ESPI_ARENA_NEW(a, double, v->g.n);
    x->order = ESPI_ARENA_NEW(a, int, v->g.n);
    if (!x->best_price || !x->asked || !x->load || !x->part || !x->mix || !x->scratch ||
        !x->cost_s || !x->order)
        return espi_err_nomem(err);
    for (int k = 0; k < x->pr.use_start[v->p->n_links]; k++)
        unit_s = fmax(unit_s, x->pr.use_s[k]);
    return espi_tree_mix_lp_init(&x->mx, n, NULL, unit_s > 0 ? unit_s : 1, a, err);
}

/* ---- pairs ---- */

/* A copy of the pricer's last tree; -1 when out of memory. */
static int copy_tree(struct search *x, int **start, int **hops)
{
    struct espi_pk_tree t = {.hops = NULL};
    t.hops = ESPI_ARENA_NEW(x->arena, int, espi_pricer_length(&x->pr));
    t.hop_start = ESPI_ARENA_NEW(x->arena, int, (size_t)x->v->g.n + 1);
    if (!t.hops || !t.hop_start)
        return -1;
    espi_pricer_copy(&x->pr, &t);
    *start = t.hop_start;
    *hops = t.hops;
    return 0;
}

static int room_for_one(struct search *x)
{
    void *pairs = x->pairs, *hash = x->hash;
    int bad = espi_grow(&pairs, &x->cap, x->n_pairs + 1, sizeof *x->pairs);
    x->pairs = pairs;
    if (!bad)
        bad = espi_grow(&hash, &x->cap_hash, x->n_pairs + 1, sizeof *x->hash);
    x->hash = hash;
    return bad;
}

static int is_known(const struct search *x, uint64_t hash)
{
    for (size_t i = 0; i < x->n_pairs; i++)
        if (x->hash[i] == hash)
            return 1;
    return 0;
}

/* The cheapest pair at a host joins, unless it is there already or does not cost less
 * than worth_s at the mixer's prices: 1 if so, -1: out of memory. The prices are those
 * that are set; the loads are in x->load. */
static int add_pair(struct search *x, int root, double worth_s)
{
    struct espi_arena_mark mark = espi_arena_mark(x->arena);
    struct espi_tree_pair pair = {.root = root};
    uint64_t hash = (uint64_t)root * 0x9e3779b97f4a7c15u;
    espi_pricer_tree(&x->pr, root, 1);
    espi_pricer_loads(&x->pr, x->load);
    hash ^= espi_pricer_hash(&x->pr) * 3;
    if (copy_tree(x, &pair.in_start, &pair.in_hops))
        return -1;
    espi_pricer_tree(&x->pr, root, 0);
    espi_pricer_loads(&x->pr, x->part);
    hash ^= espi_pricer_hash(&x->pr) * 5;
    for (int r = 0; r < x->pr.n_res; r++)
        x->load[r] += x->part[r];
    if (!(espi_tree_mix_lp_cost_s(&x->mx, x->load) < worth_s) || is_known(x, hash)) {
        espi_arena_release(x->arena, mark);
        return 0;
    }
    if (copy_tree(x, &pair.out_start, &pair.out_hops) || room_for_one(x))
        return -1;
    x->hash[x->n_pairs] = hash;
    x->pairs[x->n_pairs++] = pair;
    espi_tree_mix_lp_add(&x->mx, x->load);
    return 1;
}

/* ---- asking ---- */

static int by_cost(const void *a, const void *b, void *arg)
{
    const double *cost_s = arg;
    int x = *(const int *)a, y = *(const int *)b;
    if (cost_s[x] != cost_s[y])
        return cost_s[x] < cost_s[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The cost of the cheapest pair of trees at a host. */
static double pair_s(struct espi_pricer *pr, int host)
{
    double out_s = espi_pricer_tree(pr, host, 0);
    return out_s + espi_pricer_tree(pr, host, 1);
}

static int is_out_of_time(const struct search *x)
{
    return espi_now_s() > x->end_s || espi_watch_is_over();
}

static int is_over(const struct search *x)
{
    return x->trees > x->max_trees || is_out_of_time(x);
}

/* The cost of the cheapest pair at each host; the first of x->order is the cheapest, and
 * proves a bound, if there was time to ask all. */
static void scan_hosts(struct search *x)
{
    int n = x->v->g.n, asked = 0;
    for (int h = 0; h < n; h++) {
        int left_out = asked > 0 && is_out_of_time(x);
        x->cost_s[h] = left_out ? INFINITY : pair_s(&x->pr, h);
        x->order[h] = h;
        asked += !left_out;
    }
    x->trees += 2.0 * asked;
    qsort_r(x->order, (size_t)n, sizeof *x->order, by_cost, x->cost_s);
    if (asked == n && x->cost_s[x->order[0]] > x->bound_s) {
        x->bound_s = x->cost_s[x->order[0]];
        memcpy(x->best_price, x->asked, (size_t)x->pr.n_res * sizeof *x->asked);
    }
}

/* The same for the first few of x->order alone, without a bound. */
static void scan_few(struct search *x)
{
    int n = x->v->g.n < ESPI_PAIRS_FEW ? x->v->g.n : ESPI_PAIRS_FEW;
    for (int i = 0; i < n; i++) {
        int h = x->order[i];
        x->cost_s[h] = pair_s(&x->pr, h);
    }
    x->trees += 2.0 * n;
    qsort_r(x->order, (size_t)n, sizeof *x->order, by_cost, x->cost_s);
}

/* Asks at prices between the best (smooth = 1) and the mixer's. How many joined. */
static int ask_for_pairs(struct search *x, double smooth)
{
    int n = x->v->g.n, added = 0;
    for (int r = 0; r < x->pr.n_res; r++)
        x->asked[r] = smooth * x->best_price[r] + (1 - smooth) * x->mx.price[r];
    espi_pricer_set_prices(&x->pr, x->asked);
    scan_hosts(x);
    for (int i = 0; i < n && i < ESPI_PAIRS_AT_ONCE; i++) {
        int got =
            add_pair(x, x->order[i], x->mx.worth_s * (1 - ESPI_PAIR_WORTH * x->gap));
        if (got < 0)
            return -1;
        added += got;
    }
    return added;
}

/* Pairs and good prices, fast: those of the best bound are in x->best_price. */
static esp_status warm_up(struct search *x, struct esp_err *err)
{
    int n = x->pr.n_res,
        every = x->v->g.n > 10 * ESPI_PAIRS_SCAN ? x->v->g.n / 10 : ESPI_PAIRS_SCAN;
    double scale = 2 * espi_log(n + 2.0), upper_s = INFINITY;
    for (int r = 0; r < n; r++)
        x->asked[r] = 1.0 / n;
    for (int round = 0; round < ESPI_PAIRS_WARM_UP; round++) {
        double eta = scale / fmax(1 - x->bound_s / upper_s, 1e-6), share = 1;
        if (round > 0)
            espi_softmax_prices(x->mix, n, eta, x->asked);
        espi_pricer_set_prices(&x->pr, x->asked);
        if (round % every == 0)
            scan_hosts(x);
        else
            scan_few(x);
        if (upper_s <= x->bound_s * (1 + x->gap) || (x->n_pairs > 0 && is_over(x)))
            break;
        if (add_pair(x, x->order[0], INFINITY) < 0)
            return espi_err_nomem(err);
        if (round > 0)
            share = espi_softmax_share(x->mix, x->load, n, eta, x->scratch);
        for (int r = 0; r < n; r++)
            x->mix[r] += share * (x->load[r] - x->mix[r]);
        upper_s = espi_softmax_largest(x->mix, n);
    }
    return ESP_OK;
}

static int is_closed(const struct search *x)
{
    return x->mx.period_s <= x->bound_s * (1 + x->gap);
}

static esp_status generate_columns(struct search *x, struct esp_err *err)
{
    static const double smooths[] = {ESPI_PAIRS_SMOOTHS};
    esp_status st = espi_tree_mix_lp_solve(&x->mx, ESPI_LP_PRIMAL, NULL, err);
    for (; !st && !is_closed(x) && !is_over(x); x->rounds++) {
        int added = 0;
        for (int i = 0; i < 3 && !added; i++) {
            added = ask_for_pairs(x, smooths[i]);
            if (added < 0)
                return espi_err_nomem(err);
        }
        if (!added)
            break;
        st = espi_tree_mix_lp_solve(&x->mx, ESPI_LP_PRIMAL, NULL, err);
    }
    return st;
}

/* ---- the answer ---- */

/* Heaviest first; then by host, then as they were found. */
static int by_weight(const void *a, const void *b, void *arg)
{
    const struct espi_tree_pair *pair = arg;
    int x = *(const int *)a, y = *(const int *)b;
    if (pair[x].weight != pair[y].weight)
        return pair[x].weight > pair[y].weight ? -1 : 1;
    if (pair[x].root != pair[y].root)
        return pair[x].root < pair[y].root ? -1 : 1;
    return x < y ? -1 : x > y;
}

static esp_status deliver_pairs(struct search *x, struct espi_allreduce *out,
                                struct esp_err *err)
{
    struct espi_allreduce r = {.bound_s = x->bound_s, .rounds = x->rounds};
    double sum = 0;
    int *order = ESPI_ARENA_NEW(x->arena, int, x->n_pairs);
    r.pair = ESPI_ARENA_NEW(x->arena, struct espi_tree_pair, x->n_pairs);
    if (!r.pair || !order)
        return espi_err_nomem(err);
    for (size_t i = 0; i < x->n_pairs; i++)
        if (x->mx.share[i] > 1e-9) {
            x->pairs[i].weight = x->mx.share[i];
            order[r.n_pairs++] = (int)i;
            sum += x->mx.share[i];
        }
    qsort_r(order, (size_t)r.n_pairs, sizeof *order, by_weight, x->pairs);
    for (int i = 0; i < r.n_pairs; i++) {
        r.pair[i] = x->pairs[order[i]];
        r.pair[i].weight /= sum;
    }
    r.period_s = x->mx.period_s;
    *out = r;
    return ESP_OK;
}

esp_status espi_allreduce_solve(const struct espi_view *v,
                                const struct espi_allreduce_options *options,
                                struct espi_arena *arena, struct espi_allreduce *out,
                                struct esp_err *err)
{
    static const struct espi_allreduce_options standard = {0};
    struct search x = {.v = v, .arena = arena};
    esp_status st = search_init(&x, options ? options : &standard, err);
    if (st)
        return st;
    st = warm_up(&x, err);
    if (!st)
        st = generate_columns(&x, err);
    if (!st)
        st = deliver_pairs(&x, out, err);
    espi_tree_mix_lp_free(&x.mx);
    espi_free(x.pairs);
    espi_free(x.hash);
    return st;
}
