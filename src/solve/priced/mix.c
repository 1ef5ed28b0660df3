#include "solve/priced/mix_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/rng.h"
#include "solve/priced/stock.h"
#include "solve/priced/tuning.h"

/* ---- whole partitions ---- */

/* Trees get the whole partitions of their shares; if none has one, the largest gets one.
 */
static void give_some(struct espi_priced_master *r, double *share)
{
    const double *now = espi_lp_values(r->lp) + r->first_tree;
    int largest = 0, before = r->left, P = r->m->task->partitions;
    for (int t = 0; t < r->columns && r->left; t++) {
        int whole = (int)floor(now[t] * P + ESPI_PRICED_WHOLE);
        whole = whole < r->left ? whole : r->left;
        if (now[t] > now[largest])
            largest = t;
        if (whole <= 0)
            continue;
        share[t] += (double)whole / P;
        espi_priced_master_give(r, t, (double)whole / P);
        r->left -= whole;
    }
    if (r->left == before) {
        share[largest] += 1.0 / P;
        espi_priced_master_give(r, largest, 1.0 / P);
        r->left--;
    }
}

/* Without partitions the shares are what the program says. */
static void take_all(struct espi_priced_master *r, double *share)
{
    const double *now = espi_lp_values(r->lp) + r->first_tree;
    double sum = 0;
    int largest = 0;
    for (int t = 0; t < r->columns; t++) {
        share[t] = now[t] > ESPI_PRICED_SHARE ? now[t] : 0;
        sum += share[t];
        largest = share[t] > share[largest] ? t : largest;
    }
    if (!(sum > 0))
        share[largest] = sum = 1;
    for (int t = 0; t < r->columns; t++)
        share[t] /= sum;
    r->left = 0;
}

int espi_priced_mix_offer(struct espi_priced_model *m,
                          const struct espi_priced_pool *pool, const double *share, int n,
                          struct espi_priced_mix *best)
{
    memset(m->usage, 0, (size_t)m->net.g.m * sizeof *m->usage);
    for (int t = 0; t < n; t++)
        for (int i = 0; share[t] > 0 && i < pool->trees[t].n_links; i++)
            m->usage[pool->trees[t].links[i]] += share[t];
    struct espi_priced_value value = espi_priced_evaluate(m, m->usage);
    if (m->stock && espi_priced_stock_put(m->stock, m, pool, share, n))
        return -1;
    int better = best->n == 0 || value.objective < best->value.objective ||
                 (!isfinite(best->value.objective) && value.excess < best->value.excess);
    if (!better)
        return 0;
    if (espi_grow((void **)&best->share, &best->room, (size_t)n, sizeof *best->share))
        return -1;
    memmove(best->share, share, (size_t)n * sizeof *share);
    best->n = n;
    best->value = value;
    return 1;
}

/* One partition goes another way, as long as that helps. */
static esp_status exchange_trees(struct espi_priced_master *r, double *share,
                                 struct espi_priced_mix *best, struct esp_err *err)
{
    int n = r->pool->n_trees;
    double part = 1.0 / r->m->task->partitions;
    for (int sweep = 0; sweep < ESPI_PRICED_SWEEPS; sweep++) {
        int improved = 0;
        for (int from = 0; from < n; from++)
            for (int to = 0; to < n; to++) {
                memset(share, 0, (size_t)n * sizeof *share);
                memcpy(share, best->share, (size_t)best->n * sizeof *share);
                if (share[from] < part * (1 - ESPI_PRICED_WHOLE))
                    break;
                if (from == to)
                    continue;
                share[from] -= part;
                if (share[from] < part * ESPI_PRICED_WHOLE)
                    share[from] = 0;
                share[to] += part;
                int took = espi_priced_mix_offer(r->m, r->pool, share, n, best);
                if (took < 0)
                    return espi_err_nomem(err);
                improved |= took;
            }
        if (!improved)
            break;
    }
    return ESP_OK;
}

/* Trees for all partitions that have none. */
static esp_status give_rest(struct espi_priced_master *r, int rounds, double *share,
                            struct espi_priced_mix *best, struct esp_err *err)
{
    while (r->left > 0) {
        espi_priced_master_set_given(r);
        int more = r->columns < ESPI_PRICED_TREES ? ESPI_PRICED_TREES - r->columns : 0;
        esp_status st = espi_priced_master_solve(r, more < rounds ? more : rounds, err);
        if (st)
            return st;
        if (r->m->task->partitions)
            give_some(r, share);
        else
            take_all(r, share);
        rounds = ESPI_PRICED_ASKED_LATER;
    }
    return espi_priced_mix_offer(r->m, r->pool, share, r->pool->n_trees, best) < 0
               ? espi_err_nomem(err)
               : ESP_OK;
}

static void take_back_all(struct espi_priced_master *r, double *share)
{
    memset(share, 0, (size_t)r->room * sizeof *share);
    memset(r->given, 0, (size_t)r->n_resources * sizeof *r->given);
    memset(r->taken, 0, (size_t)r->n_resources * sizeof *r->taken);
    r->left = r->m->task->partitions ? r->m->task->partitions : 1;
}

static esp_status dive(struct espi_priced_master *r, double *share,
                       struct espi_priced_mix *best, struct esp_err *err)
{
    take_back_all(r, share);
    esp_status st = give_rest(r, ESPI_PRICED_ASKED, share, best, err);
    return st || !r->m->task->partitions ? st : exchange_trees(r, share, best, err);
}

/* Takes partitions at random out of the best mix, and holds the others. */
static void hold_most(struct espi_priced_master *r, const struct espi_priced_mix *best,
                      struct espi_rng *rng, double *share)
{
    int P = r->m->task->partitions, half = P / 2;
    int out = P < 2 ? P : 2 + (int)espi_rng_below(rng, (uint32_t)(half > 1 ? half : 1));
    take_back_all(r, share);
    memcpy(share, best->share, (size_t)best->n * sizeof *share);
    out = out < P ? out : P;
    for (int i = 0; i < out; i++) {
        int which = (int)espi_rng_below(rng, (uint32_t)(P - i));
        for (int t = 0; t < best->n; t++) {
            int parts = (int)(share[t] * P + 0.5);
            if (which < parts) {
                share[t] = parts > 1 ? (double)(parts - 1) / P : 0;
                break;
            }
            which -= parts;
        }
    }
    for (int t = 0; t < best->n; t++)
        if (share[t] > 0)
            espi_priced_master_give(r, t, share[t]);
    r->left = out;
}

/* ---- the whole ---- */

/* P. Shaw, Using constraint programming and local search methods to solve vehicle routing
 * problems, 1998: a large neighbourhood of the best mix is searched by the program. */
static esp_status search_around(struct espi_priced_master *r, int around, double *share,
                                struct espi_priced_mix *best, struct esp_err *err)
{
    struct espi_rng rng;
    esp_status st = ESP_OK;
    espi_rng_seed(&rng, 1);
    for (int i = 0, idle = 0; i < ESPI_PRICED_AROUND_MOST && idle < around && !st; i++) {
        struct espi_priced_value before = best->value;
        hold_most(r, best, &rng, share);
        st = give_rest(r, ESPI_PRICED_ASKED_LATER, share, best, err);
        idle =
            best->value.objective < before.objective || best->value.excess < before.excess
                ? 0
                : idle + 1;
    }
    return st ? st : exchange_trees(r, share, best, err);
}

esp_status espi_priced_mix(struct espi_priced_model *m,
                           const struct espi_priced_bound *bound,
                           struct espi_priced_pool *pool, int around,
                           struct espi_arena *arena, struct espi_priced_mix *best,
                           struct esp_err *err)
{
    struct espi_priced_master r = {
        .m = m, .bound = bound, .pool = pool, .n = m->net.g.n, .links = m->net.g.m};
    esp_status st = espi_priced_master_init(&r, arena, err);
    r.room = pool->n_trees + 2 * ESPI_PRICED_TREES; /* a tree more for each round */
    double *share = ESPI_ARENA_NEW(arena, double, r.room + 1);
    if (!st && !share)
        st = espi_err_nomem(err);
    if (!st)
        st = dive(&r, share, best, err);
    if (!st && around && m->task->partitions)
        st = search_around(&r, around, share, best, err);
    espi_lp_free(r.lp);
    return st;
}
