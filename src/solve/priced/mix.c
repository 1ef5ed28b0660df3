#include "solve/priced/mix_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
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
    struct espi_priced_value value = espi_priced_evaluate(m, m->usage, NULL);
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

static esp_status dive(struct espi_priced_master *r, struct espi_arena *arena,
                       struct espi_priced_mix *best, double *over_usd,
                       struct esp_err *err)
{
    int room = r->pool->n_trees + ESPI_PRICED_TREES, P = r->m->task->partitions;
    double *share = ESPI_ARENA_ZNEW(arena, double, room);
    if (!share)
        return espi_err_nomem(err);
    memset(r->given, 0, (size_t)r->n_resources * sizeof *r->given);
    memset(r->taken, 0, (size_t)r->n_resources * sizeof *r->taken);
    r->usd_given = 0;
    r->left = P ? P : 1;
    for (int first = 1; r->left > 0; first = 0) {
        espi_priced_master_set_given(r);
        int more = ESPI_PRICED_TREES - r->columns;
        int rounds = first ? ESPI_PRICED_ASKED : ESPI_PRICED_ASKED_LATER;
        esp_status st = espi_priced_master_solve(r, more < rounds ? more : rounds, err);
        if (st)
            return st;
        if (P)
            give_some(r, share);
        else
            take_all(r, share);
    }
    if (espi_priced_mix_offer(r->m, r->pool, share, r->columns, best) < 0)
        return espi_err_nomem(err);
    struct espi_priced_value value = espi_priced_evaluate(r->m, r->m->usage, NULL);
    *over_usd = value.usd_bytes + value.usd_machines - r->m->task->budget_usd;
    return P ? exchange_trees(r, share, best, err) : ESP_OK;
}

/* ---- the whole ---- */

esp_status espi_priced_mix(struct espi_priced_model *m,
                           const struct espi_priced_bound *bound,
                           struct espi_priced_pool *pool, struct espi_arena *arena,
                           struct espi_priced_mix *best, struct esp_err *err)
{
    struct espi_priced_master r = {.m = m,
                                   .bound = bound,
                                   .pool = pool,
                                   .n = m->net.g.n,
                                   .links = m->net.g.m,
                                   .budget_usd = m->task->budget_usd};
    esp_status st = espi_priced_master_init(&r, arena, err);
    double over_usd = 0;
    for (int i = 0; !st && i < ESPI_PRICED_BUDGETS; i++) {
        st = dive(&r, arena, best, &over_usd, err);
        if (!(over_usd > 0) || !isfinite(over_usd) || over_usd >= r.budget_usd)
            break;
        r.budget_usd -= over_usd;
    }
    espi_lp_free(r.lp);
    return st;
}
