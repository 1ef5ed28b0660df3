/* Packing trees: warm-up, column generation, and the answer in the caller's terms. */
#include "solve/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "solve/arcs.h"
#include "solve/packing_impl.h"
#include "solve/tuning.h"

static double gap_of(const struct espi_pk *k)
{
    return k->lower_s > 0 ? fmax(k->upper_s / k->lower_s - 1, 0) : INFINITY;
}

enum { SHARE_BITS = 31 }; /* rounding: beyond them shares differ between machines */
static const double NO_SHARE = 1e-10; /* rounding: of the message */

/* Shares are rounded in the end, and the gap is to hold then. */
int espi_pk_closed(const struct espi_pk *k)
{
    double rounding = ldexp(2, -SHARE_BITS);
    return gap_of(k) <= fmax(k->gap - rounding, k->gap / 2);
}

int espi_pk_out_of_time(struct espi_pk *k)
{
    double elapsed_s = espi_now_s() - k->start_s;
    if (k->options->progress && elapsed_s >= k->next_progress_s) {
        k->next_progress_s = elapsed_s + ESPI_PROGRESS_S;
        k->options->progress(k->options->progress_arg, gap_of(k), elapsed_s);
    }
    return espi_solve_budget_is_over(&k->budget);
}

double espi_pk_price(struct espi_pk *k, const double *price)
{
    double cost = espi_pricer_run(&k->pr, price);
    espi_pricer_note(&k->pr, 1, &k->budget);
    k->pricings++;
    if (cost > k->lower_s) {
        k->lower_s = cost;
        memcpy(k->price, price, (size_t)k->pr.n_res * sizeof *price);
    }
    return cost;
}

void espi_pk_give_back(struct espi_pk *k, struct espi_pk_tree *t)
{
    t->next = k->spare;
    k->spare = t;
}

/* A tree with room for so many links: one given back, if it is large enough. */
static struct espi_pk_tree *new_tree(struct espi_pk *k, int length)
{
    struct espi_pk_tree *t = k->spare;
    if (t && t->room >= length) {
        k->spare = t->next;
        return t;
    }
    t = ESPI_ARENA_ZNEW(k->arena, struct espi_pk_tree, 1);
    if (!t)
        return NULL;
    t->room = length;
    t->hops = ESPI_ARENA_NEW(k->arena, int, length);
    if (k->pr.switched)
        t->hop_start = ESPI_ARENA_NEW(k->arena, int, (size_t)k->pr.v->g.n + 1);
    return t->hops && (t->hop_start || !k->pr.switched) ? t : NULL;
}

int espi_pk_keep(struct espi_pk *k, size_t *at, int *fresh)
{
    uint64_t hash = espi_pricer_hash(&k->pr);
    *fresh = 0;
    for (size_t i = k->n_trees; i > 0; i--)
        if (k->tree[i - 1]->hash == hash) {
            *at = i - 1;
            return 0;
        }
    void *array = k->tree;
    if (espi_grow(&array, &k->cap_trees, k->n_trees + 1, sizeof *k->tree))
        return -1;
    k->tree = array;
    struct espi_pk_tree *t = new_tree(k, espi_pricer_length(&k->pr));
    if (!t)
        return -1;
    espi_pricer_copy(&k->pr, t);
    *at = k->n_trees;
    *fresh = 1;
    k->tree[k->n_trees++] = t;
    return 0;
}

void espi_pk_measure(struct espi_pk *k)
{
    double sum = 0;
    for (size_t i = 0; i < k->n_trees; i++)
        sum += k->tree[i]->x;
    memset(k->load, 0, (size_t)k->pr.n_res * sizeof *k->load);
    for (size_t i = 0; i < k->n_trees; i++) {
        k->tree[i]->x /= sum;
        espi_pk_add_loads(&k->pr, k->tree[i], k->tree[i]->x, k->load);
    }
    k->upper_s = 0;
    for (int r = 0; r < k->pr.n_res; r++)
        k->upper_s = fmax(k->upper_s, k->load[r]);
}

static int by_share(const void *a, const void *b)
{
    const struct espi_pk_tree *x = *(struct espi_pk_tree *const *)a,
                              *y = *(struct espi_pk_tree *const *)b;
    if (x->x != y->x)
        return x->x > y->x ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static const int *copy_ints(struct espi_arena *a, const int *from, size_t n)
{
    int *to = ESPI_ARENA_NEW(a, int, n);
    if (to)
        memcpy(to, from, n * sizeof *to);
    return to;
}

/* Without switches the starts are the same in all trees. */
static const int *plain_starts(const struct espi_pk *k, struct espi_arena *a)
{
    int n = k->pr.v->g.n;
    int *start = ESPI_ARENA_NEW(a, int, (size_t)n + 1);
    if (!start)
        return NULL;
    start[0] = 0;
    for (int h = 0; h < n; h++)
        start[h + 1] = start[h] + (h != k->pr.root);
    return start;
}

void espi_pk_sort(struct espi_pk *k)
{
    qsort(k->tree, k->n_trees, sizeof *k->tree, by_share);
}

/* ---- the way over arcs ---- */

/* The program's prices prove a bound of their own. */
static int look_at_prices(void *arg, const double *price)
{
    struct espi_pk *k = arg;
    for (int r = 0; r < k->pr.n_res; r++)
        k->work[r] = price[k->pr.resource[r]];
    espi_pk_price(k, k->work);
    return espi_pk_closed(k) || espi_pk_out_of_time(k);
}

esp_status espi_pk_by_arcs(struct espi_pk *k, struct espi_arena *arena,
                           struct esp_err *err)
{
    const struct espi_view *v = k->pr.v;
    double *inner = ESPI_ARENA_ZNEW(arena, double, v->g.m);
    double *load = ESPI_ARENA_ZNEW(arena, double, v->links.n);
    if (!inner || !load)
        return espi_err_nomem(err);
    espi_pk_measure(k);
    for (int r = 0; r < k->pr.n_res; r++)
        load[k->pr.resource[r]] = k->load[r];
    for (size_t i = 0; i < k->n_trees; i++)
        for (int h = 0; h < k->tree[i]->n_hops; h++)
            inner[k->tree[i]->hops[h]] += k->tree[i]->x;
    struct espi_arcs_task task = {.v = v,
                                  .root = k->pr.root,
                                  .unit_s = k->upper_s,
                                  .load = load,
                                  .inner = inner,
                                  .max_passes = ESPI_ARCS_PASSES,
                                  .budget = &k->budget,
                                  .look = look_at_prices,
                                  .arg = k};
    struct espi_arcs arcs;
    esp_status st = espi_arcs_solve(&task, arena, &arcs, NULL);
    if (st == ESP_ENOMEM)
        return espi_err_nomem(err);
    if (st == ESP_EINTERNAL)
        return ESP_OK; /* the numbers are too far apart: the other way has to do */
    if (!st && arcs.complete)
        st = espi_pk_split(k, arcs.y, ESPI_SPLIT_PART * k->gap, arena, err);
    return st;
}

/* Shares that only rounding tells apart become equal, and those that are rounding become
 * none, so that there are the same trees, in one order, on every machine. */
static void round_shares(struct espi_pk *k)
{
    espi_pk_measure(k);
    for (size_t i = 0; i < k->n_trees; i++) {
        int exponent;
        double x = k->tree[i]->x, part = frexp(x > NO_SHARE ? x : 0, &exponent);
        k->tree[i]->x = ldexp(nearbyint(ldexp(part, SHARE_BITS)), exponent - SHARE_BITS);
    }
    espi_pk_measure(k);
}

static esp_status deliver_packing(struct espi_pk *k, struct espi_arena *a,
                                  struct espi_packing *out, struct esp_err *err)
{
    int n = k->pr.v->g.n, count = 0;
    round_shares(k);
    espi_pk_sort(k);
    while ((size_t)count < k->n_trees && k->tree[count]->x > 0)
        count++;
    struct espi_packing r = {.n_hosts = n, .n_trees = count};
    r.tree = ESPI_ARENA_NEW(a, struct espi_packing_tree, count);
    r.price = ESPI_ARENA_ZNEW(a, double, k->pr.v->links.n);
    const int *plain = plain_starts(k, a);
    if (!r.tree || !r.price || !plain)
        return espi_err_nomem(err);
    for (int i = 0; i < count; i++) {
        const struct espi_pk_tree *t = k->tree[i];
        struct espi_packing_tree *to = &r.tree[i];
        to->rate = t->x / k->upper_s;
        to->hops = copy_ints(a, t->hops, (size_t)t->n_hops);
        to->hop_start = t->hop_start ? copy_ints(a, t->hop_start, (size_t)n + 1) : plain;
        if (!to->hops || !to->hop_start)
            return espi_err_nomem(err);
        r.rate += to->rate;
    }
    for (int i = 0; i < k->pr.n_res; i++)
        r.price[k->pr.resource[i]] = k->price[i];
    r.bound = fmax(1 / k->lower_s, r.rate);
    r.gap = r.bound / r.rate - 1;
    r.rounds = k->rounds;
    r.pricings = k->pricings;
    r.lp_solves = k->lp_solves;
    r.work = k->budget.work;
    r.solve_s = espi_now_s() - k->start_s;
    *out = r;
    return ESP_OK;
}

/* One host: the empty tree, as fast as one likes. */
static esp_status deliver_alone(const struct espi_view *v, struct espi_arena *a,
                                struct espi_packing *out, struct esp_err *err)
{
    struct espi_packing r = {
        .n_hosts = 1, .n_trees = 1, .rate = INFINITY, .bound = INFINITY};
    r.tree = ESPI_ARENA_NEW(a, struct espi_packing_tree, 1);
    r.price = ESPI_ARENA_ZNEW(a, double, v->links.n);
    int *start = ESPI_ARENA_ZNEW(a, int, 2);
    if (!r.tree || !r.price || !start)
        return espi_err_nomem(err);
    r.tree[0] = (struct espi_packing_tree){INFINITY, start, start};
    *out = r;
    return ESP_OK;
}

static esp_status solver_init(struct espi_pk *k, const struct espi_view *v, int root,
                              struct espi_arena *a, struct esp_err *err)
{
    if (espi_pricer_init(&k->pr, v, root, a))
        return espi_err_nomem(err);
    size_t n = (size_t)k->pr.n_res;
    k->price = ESPI_ARENA_ZNEW(a, double, n);
    k->load = ESPI_ARENA_ZNEW(a, double, n);
    k->work = ESPI_ARENA_NEW(a, double, n);
    k->work2 = ESPI_ARENA_NEW(a, double, n);
    if (!k->price || !k->load || !k->work || !k->work2)
        return espi_err_nomem(err);
    return ESP_OK;
}

/* Do many resources bind, so that the warm-up has trouble with them? The prices' entropy
 * says how many share the load. */
static int many_bind(const struct espi_pk *k)
{
    double entropy = 0;
    if (gap_of(k) < ESPI_EASY_GAP)
        return 0;
    for (int r = 0; r < k->pr.n_res; r++)
        if (k->price[r] > 0)
            entropy -= k->price[r] * espi_log(k->price[r]);
    return espi_exp(entropy) > fmax(ESPI_BIND_MANY, k->pr.v->g.n * ESPI_BIND_PART);
}

/* A short warm-up tells which way to go: where few resources bind, column generation;
 * where many do, the program over arcs. */
static esp_status solve_packing(struct espi_pk *k, struct espi_arena *arena,
                                struct esp_err *err)
{
    int arcs = !k->pr.switched;
    esp_status st = espi_pk_warm_up(k, ESPI_WARM_UP, err);
    if (!st && !espi_pk_closed(k) && !(arcs && many_bind(k)))
        st = espi_pk_generate(k, arcs, arena, err);
    if (!st && arcs && !espi_pk_closed(k) && !espi_pk_out_of_time(k))
        st = espi_pk_by_arcs(k, arena, err);
    if (!st && !espi_pk_closed(k) && !espi_pk_out_of_time(k))
        st = espi_pk_generate(k, 0, arena, err);
    return st;
}

esp_status espi_packing_solve(const struct espi_view *v, int root,
                              const struct espi_packing_options *options,
                              struct espi_arena *arena, struct espi_packing *out,
                              struct esp_err *err)
{
    static const struct espi_packing_options standard = {0};
    struct espi_pk k = {.options = options ? options : &standard, .arena = arena};
    k.start_s = espi_now_s();
    k.budget = espi_solve_budget_of(k.options->time_limit_s, k.options->work_limit);
    k.gap = k.options->gap > 0 ? k.options->gap : ESPI_PACKING_GAP;
    if (v->g.n == 1)
        return deliver_alone(v, arena, out, err);
    esp_status st = solver_init(&k, v, root, arena, err);
    if (!st)
        st = solve_packing(&k, arena, err);
    if (!st)
        st = deliver_packing(&k, arena, out, err);
    espi_free(k.tree);
    return st;
}
