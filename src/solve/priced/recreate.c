/* Ruin and recreate (G. Schrimpf et al., Record breaking optimization results using the
 * ruin and recreate principle, 2000): a few partitions, drawn at random, lose their trees
 * and get the cheapest ones over links and ports that have room for a whole partition
 * within the deadline; the mix is kept if it is cheaper. A tree that crosses a port more
 * often than there is room is looked for again with that port's links dearer. */
#include "solve/priced/recreate.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/rng.h"
#include "solve/priced/tuning.h"

struct recreation {
    struct espi_priced_model *m;
    struct espi_priced_pool own; /* all that is tried; few of them are worth keeping */
    struct espi_arena *arena;
    struct espi_rng rng;
    int *count, *now; /* partitions by tree: of the best, and at hand */
    double *share;
    int *link_used, *limit_used; /* partitions, at hand */
    double *penalty;             /* by limit */
    double *price, dearest;
};

static int take_room(struct recreation *r, struct espi_arena *a, int trees)
{
    int links = r->m->net.g.m, limits = r->m->n_limits;
    r->count = ESPI_ARENA_ZNEW(a, int, trees);
    r->now = ESPI_ARENA_ZNEW(a, int, trees);
    r->share = ESPI_ARENA_ZNEW(a, double, trees);
    r->link_used = ESPI_ARENA_NEW(a, int, links + 1);
    r->limit_used = ESPI_ARENA_NEW(a, int, limits + 1);
    r->penalty = ESPI_ARENA_NEW(a, double, limits + 1);
    r->price = ESPI_ARENA_NEW(a, double, links + 1);
    return r->count && r->now && r->share && r->link_used && r->limit_used &&
                   r->penalty && r->price
               ? 0
               : -1;
}

/* ---- room ---- */

static void find_used(struct recreation *r)
{
    const struct espi_priced_model *m = r->m;
    memset(r->link_used, 0, (size_t)m->net.g.m * sizeof *r->link_used);
    for (int t = 0; t < r->own.n_trees; t++)
        for (int i = 0; r->now[t] && i < r->own.trees[t].n_links; i++)
            r->link_used[r->own.trees[t].links[i]] += r->now[t];
    for (int i = 0; i < m->n_limits; i++) {
        r->limit_used[i] = 0;
        for (int k = 0; k < m->limits[i].n_links; k++)
            r->limit_used[i] += r->link_used[m->limits[i].links[k]];
    }
}

static int limit_left(const struct recreation *r, int i)
{
    const struct espi_priced_limit *limit = &r->m->limits[i];
    int most = espi_priced_parts_within(
        r->m, limit->load_s, limit->node < 0 ? 1 : r->m->max_count[limit->node]);
    return most == INT_MAX ? INT_MAX : most - r->limit_used[i];
}

static int link_left(const struct recreation *r, int e)
{
    int a = r->m->max_count[r->m->net.g.tail[e]],
        b = r->m->max_count[r->m->net.g.head[e]];
    int most = espi_priced_parts_within(r->m, r->m->link_s[e], a < b ? a : b);
    return most == INT_MAX ? INT_MAX : most - r->link_used[e];
}

/* What has no room is so dear that only a tree that cannot do without takes it. */
static void find_link_costs(struct recreation *r)
{
    const struct espi_priced_model *m = r->m;
    double never = r->dearest * m->net.g.n;
    for (int e = 0; e < m->net.g.m; e++)
        r->price[e] = m->link_usd[e] + (link_left(r, e) <= 0 ? never : 0);
    for (int i = 0; i < m->n_limits; i++) {
        double more = limit_left(r, i) <= 0 ? never : r->penalty[i];
        for (int k = 0; more > 0 && k < m->limits[i].n_links; k++)
            r->price[m->limits[i].links[k]] += more;
    }
}

/* Raises the penalties of limits that the tree crosses too often: how many. */
static int raise_penalties(struct recreation *r, const struct espi_priced_tree *tree)
{
    const struct espi_priced_model *m = r->m;
    int raised = 0;
    for (int i = 0; i < m->n_limits; i++) {
        int crossed = 0;
        for (int k = 0; k < m->limits[i].n_links; k++)
            for (int j = 0; j < tree->n_links; j++)
                crossed += tree->links[j] == m->limits[i].links[k];
        if (crossed <= limit_left(r, i))
            continue;
        r->penalty[i] += r->dearest * ESPI_PRICED_PENALTY;
        raised++;
    }
    return raised;
}

/* ---- rounds ---- */

/* A tree for one more partition; -1: out of memory, -2: there is none. */
static int find_tree(struct recreation *r)
{
    double sum;
    int tree = -2;
    find_used(r);
    memset(r->penalty, 0, (size_t)r->m->n_limits * sizeof *r->penalty);
    for (int i = 0; i < ESPI_PRICED_RETRIES; i++) {
        find_link_costs(r);
        tree = espi_priced_pool_find(&r->own, r->price, &sum);
        if (tree < 0 || !raise_penalties(r, &r->own.trees[tree]))
            return tree;
    }
    return tree;
}

/* Takes one partition out of the mix at hand. */
static void take_out(struct recreation *r)
{
    int which = (int)espi_rng_below(&r->rng, (uint32_t)r->m->task->partitions);
    for (int again = 0; again < 2; again++)
        for (int t = 0; t < r->own.n_trees; t++) {
            which -= r->now[t];
            if (which < 0 && r->now[t]) {
                r->now[t]--;
                return;
            }
        }
}

/* 1: the mix became better; -1: out of memory. */
static int try_round(struct recreation *r, struct espi_priced_mix *best)
{
    int P = r->m->task->partitions;
    int out = 1 + (int)espi_rng_below(&r->rng, ESPI_PRICED_OUT);
    out = out < P ? out : P;
    memcpy(r->now, r->count, (size_t)r->own.n_trees * sizeof *r->now);
    for (int i = 0; i < out; i++)
        take_out(r);
    for (int i = 0; i < out; i++) {
        int tree = find_tree(r);
        if (tree < 0)
            return tree == -1 ? -1 : 0;
        r->now[tree]++;
    }
    for (int t = 0; t < r->own.n_trees; t++)
        r->share[t] = (double)r->now[t] / P;
    int took = espi_priced_mix_offer(r->m, &r->own, r->share, r->own.n_trees, best);
    if (took > 0)
        memcpy(r->count, r->now, (size_t)r->own.n_trees * sizeof *r->now);
    return took;
}

/* ---- from the pool and back ---- */

static int begin_with(struct recreation *r, const struct espi_priced_pool *pool,
                      const struct espi_priced_mix *best)
{
    for (int t = 0; t < best->n; t++) {
        if (!(best->share[t] > 0))
            continue;
        int kept = espi_priced_pool_take(&r->own, &pool->trees[t]);
        if (kept < 0)
            return -1;
        r->count[kept] += (int)(best->share[t] * r->m->task->partitions + 0.5);
    }
    for (int e = 0; e < r->m->net.g.m; e++)
        r->dearest = fmax(r->dearest, r->m->link_usd[e]);
    return 0;
}

static int give_to(struct recreation *r, struct espi_priced_pool *pool,
                   struct espi_priced_mix *best)
{
    int P = r->m->task->partitions;
    double *share = ESPI_ARENA_ZNEW(r->arena, double, pool->n_trees + P + 1);
    for (int t = 0; share && t < r->own.n_trees; t++) {
        int kept = r->count[t] ? espi_priced_pool_take(pool, &r->own.trees[t]) : 0;
        if (kept < 0)
            return -1;
        if (r->count[t])
            share[kept] += (double)r->count[t] / P;
    }
    return share ? espi_priced_mix_offer(r->m, pool, share, pool->n_trees, best) : -1;
}

esp_status espi_priced_recreate(struct espi_priced_model *m,
                                struct espi_priced_pool *pool, struct espi_arena *arena,
                                struct espi_priced_mix *best, struct esp_err *err)
{
    struct recreation r = {.m = m, .arena = arena};
    struct espi_priced_mix mix = {.value = best->value};
    int trees = m->task->partitions +
                ESPI_PRICED_RECREATIONS * ESPI_PRICED_OUT * ESPI_PRICED_RETRIES + 1;
    espi_rng_seed(&r.rng, 1);
    esp_status st = espi_priced_pool_init(&r.own, m, arena, err);
    r.own.exact = 0; /* thousands of trees are looked for */
    int bad = st || take_room(&r, arena, trees) || begin_with(&r, pool, best);
    mix.n = best->n; /* what is offered must be better */
    for (int i = 0; !bad && i < ESPI_PRICED_RECREATIONS; i++)
        bad = try_round(&r, &mix) < 0;
    bad = bad || give_to(&r, pool, best) < 0;
    espi_free(mix.share);
    espi_priced_pool_done(&r.own);
    return st ? st : bad ? espi_err_nomem(err) : ESP_OK;
}
