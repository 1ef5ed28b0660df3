#include "solve/priced/ladder.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "solve/priced/branch.h"
#include "solve/priced/recreate.h"
#include "solve/priced/small.h"
#include "solve/priced/tuning.h"

struct ladder {
    struct espi_priced_model *m; /* by price, whatever it takes */
    const struct espi_priced_bound *bound;
    struct espi_priced_stock *stock;
    struct espi_arena *arena;
    int cliffs; /* rungs from which partitions were sent anew */
};

static struct espi_priced_mix no_mix(void)
{
    return (struct espi_priced_mix){.value = {.objective = INFINITY, .excess = INFINITY}};
}

/* ---- the cheapest ---- */

/* Cheap, fast, and near the bound: each takes the whole message, for a start. */
static esp_status offer_first(struct ladder *l, struct espi_priced_pool *pool,
                              struct espi_priced_mix *best, struct esp_err *err)
{
    const struct espi_priced_model *m = l->m;
    double *price = ESPI_ARENA_NEW(l->arena, double, m->net.g.m + 1);
    double sum;
    if (!price)
        return espi_err_nomem(err);
    for (int kind = 0; kind < 4; kind++) {
        for (int e = 0; e < m->net.g.m; e++) {
            double y = l->bound->y[e] < 1 ? l->bound->y[e] : 1;
            price[e] = kind == 0   ? l->bound->price[e]
                       : kind == 1 ? l->bound->price[e] * (1 - y)
                       : kind == 2 ? m->link_usd[e]
                                   : m->link_s[e];
        }
        int tree = espi_priced_pool_find(pool, price, &sum);
        if (tree == -2)
            return espi_err(err, ESP_EINPUT, "some targets cannot be reached");
        double *share =
            tree < 0 ? NULL : ESPI_ARENA_ZNEW(l->arena, double, (size_t)pool->n_trees);
        if (!share)
            return espi_err_nomem(err);
        share[tree] = 1;
        if (espi_priced_mix_offer(l->m, pool, share, pool->n_trees, best) < 0)
            return espi_err_nomem(err);
    }
    return ESP_OK;
}

static esp_status fill_cheapest(struct ladder *l, struct esp_err *err)
{
    struct espi_priced_pool pool;
    struct espi_priced_mix best = no_mix();
    esp_status st = espi_priced_pool_init(&pool, l->m, l->arena, err);
    if (!st)
        st = offer_first(l, &pool, &best, err);
    if (!st)
        st = espi_priced_try_all(l->m, &pool, l->arena, &best, &l->stock->all, err);
    if (!st && !l->stock->all)
        st = espi_priced_mix(l->m, l->bound, &pool, ESPI_PRICED_AROUND, l->arena, &best,
                             err);
    espi_free(best.share);
    espi_priced_pool_done(&pool);
    return st;
}

/* ---- the fastest ---- */

/* Any plan within the deadline: of the mix, and where that is too late of branch and cut,
 * or the proof that there is none. */
static esp_status search_within(struct espi_priced_model *at,
                                const struct espi_priced_bound *bound, double *least_s,
                                struct espi_arena *arena, struct esp_err *err)
{
    struct espi_priced_pool pool;
    struct espi_priced_mix best = no_mix();
    struct espi_priced_proof proof = {.effort = ESPI_PRICED_FASTEST_EFFORT,
                                      .good_enough = at->task->deadline_s *
                                                     (1 + ESPI_PRICED_OPTIMAL)};
    esp_status st = espi_priced_pool_init(&pool, at, arena, err);
    if (!st)
        st = espi_priced_mix(at, bound, &pool, ESPI_PRICED_AROUND, arena, &best, err);
    if (!st && at->task->partitions && !isfinite(best.value.objective)) {
        st = espi_priced_branch(at, bound, &pool, &best, &proof, err);
        if (!st && !isfinite(best.value.objective))
            *least_s = fmin(proof.bound, at->task->deadline_s);
    }
    espi_free(best.share);
    espi_priced_pool_done(&pool);
    return st;
}

/* Deadlines between the bound and the fastest in stock: what each has room for is whole
 * partitions, which says more than a time to be minimised. */
static esp_status search_fastest(struct ladder *l, struct espi_priced_task *task,
                                 struct espi_priced_bound *bound, struct esp_err *err)
{
    struct espi_priced_stock *stock = l->stock;
    struct espi_priced_model at = *l->m;
    double low_s = bound->objective;
    esp_status st = ESP_OK;
    at.task = task;
    for (int i = 0; i < ESPI_PRICED_FASTEST_TRIES && !st; i++) {
        double high_s = stock->offers[0].time_s, least_s = 0;
        if (high_s <= low_s * (1 + ESPI_PRICED_NEAR))
            break;
        task->deadline_s = i ? sqrt(low_s * high_s) : low_s * (1 + ESPI_PRICED_OPTIMAL);
        st = search_within(&at, bound, &least_s, l->arena, err);
        if (stock->offers[0].time_s >= high_s)
            low_s = task->deadline_s;
        stock->fastest_bound = fmax(stock->fastest_bound, least_s);
    }
    return st;
}

static esp_status fill_fastest(struct ladder *l, struct esp_err *err)
{
    struct espi_priced_task task = *l->m->task;
    struct espi_priced_model fast = *l->m;
    struct espi_priced_bound bound = {0};
    task.usd_weight = 0;
    task.s_weight = 1;
    fast.task = &task;
    esp_status st = espi_priced_bound(&fast, ESPI_PRICED_FLAT, l->arena, &bound, err);
    if (st)
        return st;
    l->stock->fastest_bound = bound.objective;
    return l->stock->all ? ESP_OK : search_fastest(l, &task, &bound, err);
}

/* ---- between ---- */

/* A little more time would save much: the plan may be far from the cheapest. */
static int is_cliff(const struct ladder *l, const struct espi_priced_mix *best, int start)
{
    if (!l->m->task->partitions || start + 1 >= l->stock->n_offers ||
        l->cliffs >= ESPI_PRICED_CLIFFS || !isfinite(best->value.objective))
        return 0;
    const struct espi_priced_offer *next = &l->stock->offers[start + 1];
    return best->value.objective >
           (next->usd_bytes + next->usd_machines) * (1 + ESPI_PRICED_CLIFF);
}

/* Starts from an offer, with the trees of its neighbours. */
static esp_status fill_from(struct ladder *l, double deadline_s, int start,
                            struct esp_err *err)
{
    struct espi_priced_task task = *l->m->task;
    struct espi_priced_model at = *l->m;
    struct espi_priced_pool pool;
    struct espi_priced_mix best = no_mix(), other = no_mix();
    struct espi_arena arena;
    task.deadline_s = deadline_s;
    at.task = &task;
    espi_arena_init(&arena);
    esp_status st = espi_priced_pool_init(&pool, &at, &arena, err);
    for (int i = start - 1; i <= start + 1 && !st; i++)
        if (i >= 0 && i < l->stock->n_offers &&
            espi_priced_stock_take(l->stock, i, &at, &pool, i == start ? &best : &other))
            st = espi_err_nomem(err);
    if (!st)
        st =
            espi_priced_mix(&at, l->bound, &pool, ESPI_PRICED_AROUND, &arena, &best, err);
    if (!st && is_cliff(l, &best, start)) {
        l->cliffs++;
        st = espi_priced_recreate(&at, &pool, &arena, &best, err);
    }
    espi_free(best.share);
    espi_free(other.share);
    espi_priced_pool_done(&pool);
    espi_arena_done(&arena);
    return st;
}

/* From the cheapest within the deadline, which may become cheaper, and from the next,
 * which is cheaper, and may become fast enough. */
static esp_status fill_rung(struct ladder *l, double deadline_s, struct esp_err *err)
{
    struct espi_priced_task task = *l->m->task;
    task.deadline_s = deadline_s;
    int within = espi_priced_stock_best(l->stock, &task);
    esp_status st = within < 0 ? ESP_OK : fill_from(l, deadline_s, within, err);
    within = espi_priced_stock_best(l->stock, &task);
    return st || within + 1 >= l->stock->n_offers
               ? st
               : fill_from(l, deadline_s, within + 1, err);
}

static esp_status fill_rungs(struct ladder *l, struct esp_err *err)
{
    const struct espi_priced_stock *stock = l->stock;
    double from_s = stock->offers[0].time_s;
    double steps = espi_log(stock->offers[stock->n_offers - 1].time_s / from_s);
    esp_status st = ESP_OK;
    for (int i = 0; i < ESPI_PRICED_RUNGS && !st; i++)
        st = fill_rung(l, from_s * espi_exp(steps * i / ESPI_PRICED_RUNGS), err);
    return st;
}

/* So much of one plan, and the rest of another. */
static int put_blend(struct ladder *l, int a, int b, double part, double *share)
{
    struct espi_priced_stock *stock = l->stock;
    struct espi_priced_mix blend = no_mix();
    memset(share, 0, (size_t)stock->pool.n_trees * sizeof *share);
    for (int i = 0; i < stock->plans[a].n; i++)
        share[stock->plans[a].tree[i]] += part * stock->plans[a].share[i];
    for (int i = 0; i < stock->plans[b].n; i++)
        share[stock->plans[b].tree[i]] += (1 - part) * stock->plans[b].share[i];
    int bad =
        espi_priced_mix_offer(l->m, &stock->pool, share, stock->pool.n_trees, &blend);
    espi_free(blend.share);
    return bad < 0 ? -1 : 0;
}

/* Partitions of any sizes: between two rungs plans may be blended. */
static esp_status fill_between(struct ladder *l, struct esp_err *err)
{
    const struct espi_priced_stock *stock = l->stock;
    int n = stock->n_offers;
    int *plan = ESPI_ARENA_NEW(l->arena, int, n + 1);
    double *share = ESPI_ARENA_NEW(l->arena, double, stock->pool.n_trees + 1);
    if (!plan || !share)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++)
        plan[i] = stock->offers[i].plan;
    for (int i = 0; i + 1 < n; i++)
        for (int k = 1; plan[i] != plan[i + 1] && k < ESPI_PRICED_BLENDS; k++)
            if (put_blend(l, plan[i], plan[i + 1], (double)k / ESPI_PRICED_BLENDS, share))
                return espi_err_nomem(err);
    return ESP_OK;
}

esp_status espi_priced_fill_cheapest(struct espi_priced_model *m,
                                     const struct espi_priced_bound *bound,
                                     struct espi_priced_stock *stock,
                                     struct espi_arena *arena, struct esp_err *err)
{
    struct ladder l = {.m = m, .bound = bound, .stock = stock, .arena = arena};
    m->stock = stock;
    esp_status st = fill_cheapest(&l, err);
    m->stock = NULL;
    return st;
}

esp_status espi_priced_fill_others(struct espi_priced_model *m,
                                   const struct espi_priced_bound *bound,
                                   struct espi_priced_stock *stock,
                                   struct espi_arena *arena, struct esp_err *err)
{
    struct ladder l = {.m = m, .bound = bound, .stock = stock, .arena = arena};
    m->stock = stock;
    esp_status st = fill_fastest(&l, err);
    if (!st && !stock->all)
        st = fill_rungs(&l, err);
    if (!st && !stock->all && !m->task->partitions)
        st = fill_between(&l, err);
    m->stock = NULL;
    return st;
}
