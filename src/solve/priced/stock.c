#include "solve/priced/stock.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

esp_status espi_priced_stock_init(struct espi_priced_stock *stock,
                                  const struct espi_priced_model *m,
                                  struct espi_arena *arena, struct esp_err *err)
{
    *stock = (struct espi_priced_stock){.arena = arena};
    return espi_priced_pool_init(&stock->pool, m, arena, err);
}

void espi_priced_stock_done(struct espi_priced_stock *stock)
{
    if (stock->arena)
        espi_priced_pool_done(&stock->pool);
    espi_free(stock->plans);
    espi_free(stock->offers);
    *stock = (struct espi_priced_stock){.n_plans = 0};
}

/* ---- putting in ---- */

static double usd_of(const struct espi_priced_offer *offer)
{
    return offer->usd_bytes + offer->usd_machines;
}

/* Offers that take no longer. */
static int count_before(const struct espi_priced_stock *stock, double time_s)
{
    int low = 0, high = stock->n_offers;
    while (low < high) {
        int middle = (low + high) / 2;
        if (stock->offers[middle].time_s <= time_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of those that take no longer the last costs least. Nor may it cost less than the
 * cheapest of all. */
static int is_beaten(const struct espi_priced_stock *stock,
                     const struct espi_priced_value *value)
{
    int before = count_before(stock, value->time_s);
    double usd = value->usd_bytes + value->usd_machines;
    return usd < stock->floor_usd ||
           (before && usd_of(&stock->offers[before - 1]) <= usd);
}

static int keep_plan(struct espi_priced_stock *stock, const struct espi_priced_pool *pool,
                     const double *share, int n)
{
    struct espi_priced_plan plan = {.n = 0};
    int used = 0;
    for (int t = 0; t < n; t++)
        used += share[t] > 0;
    plan.tree = ESPI_ARENA_NEW(stock->arena, int, used + 1);
    plan.share = ESPI_ARENA_NEW(stock->arena, double, used + 1);
    if (!plan.tree || !plan.share ||
        espi_grow((void **)&stock->plans, &stock->plan_room, (size_t)stock->n_plans + 1,
                  sizeof plan))
        return -1;
    for (int t = 0; t < n; t++) {
        if (!(share[t] > 0))
            continue;
        int kept = espi_priced_pool_take(&stock->pool, &pool->trees[t]);
        if (kept < 0)
            return -1;
        plan.tree[plan.n] = kept;
        plan.share[plan.n++] = share[t];
    }
    stock->plans[stock->n_plans++] = plan;
    return 0;
}

/* Where it belongs; what it beats goes. */
static int insert(struct espi_priced_stock *stock, const struct espi_priced_offer *offer)
{
    int at = count_before(stock, offer->time_s), end = at;
    if (espi_grow((void **)&stock->offers, &stock->offer_room,
                  (size_t)stock->n_offers + 1, sizeof *offer))
        return -1;
    if (at && stock->offers[at - 1].time_s >= offer->time_s)
        at--; /* as fast, and dearer */
    while (end < stock->n_offers && usd_of(&stock->offers[end]) >= usd_of(offer))
        end++;
    memmove(stock->offers + at + 1, stock->offers + end,
            (size_t)(stock->n_offers - end) * sizeof *offer);
    stock->n_offers += at + 1 - end;
    stock->offers[at] = *offer;
    return 0;
}

int espi_priced_stock_put(struct espi_priced_stock *stock,
                          const struct espi_priced_model *m,
                          const struct espi_priced_pool *pool, const double *share, int n)
{
    int kept = 0;
    for (int i = 0; i < m->n_values; i++) {
        const struct espi_priced_value *value = &m->values[i];
        if (is_beaten(stock, value))
            continue;
        if (!kept && keep_plan(stock, pool, share, n))
            return -1;
        kept = 1;
        struct espi_priced_offer offer = {value->usd_bytes, value->usd_machines,
                                          value->time_s, stock->n_plans - 1};
        if (insert(stock, &offer))
            return -1;
    }
    return 0;
}

/* ---- taking out ---- */

int espi_priced_stock_best(const struct espi_priced_stock *stock,
                           const struct espi_priced_task *task)
{
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < stock->n_offers; i++) {
        const struct espi_priced_offer *offer = &stock->offers[i];
        double usd = usd_of(offer);
        double objective = espi_priced_objective(task, usd, offer->time_s);
        if (!(espi_priced_excess(task, usd, offer->time_s) > 0) && objective < least) {
            best = i;
            least = objective;
        }
    }
    return best;
}

int espi_priced_stock_take(const struct espi_priced_stock *stock, int offer,
                           struct espi_priced_model *m, struct espi_priced_pool *pool,
                           struct espi_priced_mix *best)
{
    const struct espi_priced_plan *plan = &stock->plans[stock->offers[offer].plan];
    double *share = ESPI_NEW(double, pool->n_trees + plan->n + 1);
    int bad = !share;
    if (share)
        memset(share, 0, (size_t)(pool->n_trees + plan->n) * sizeof *share);
    for (int i = 0; !bad && i < plan->n; i++) {
        int kept = espi_priced_pool_take(pool, &stock->pool.trees[plan->tree[i]]);
        bad = kept < 0;
        if (!bad)
            share[kept] = plan->share[i];
    }
    bad = bad || espi_priced_mix_offer(m, pool, share, pool->n_trees, best) < 0;
    espi_free(share);
    return bad ? -1 : 0;
}
