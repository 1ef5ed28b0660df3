/* Small networks: all trees, and all ways to give them to the partitions. */
#include "solve/priced/small.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "solve/priced/tuning.h"

struct small_search {
    struct espi_priced_model *m;
    struct espi_priced_pool *pool;
    struct espi_priced_mix *best;
    int *arc; /* into each node; -1: it is not in the tree */
    double *share;
    int failed; /* out of memory */
};

/* Are these links a tree to all targets, in which every relay sends? */
static int is_tree(const struct small_search *s)
{
    const struct espi_digraph *g = &s->m->net.g;
    int root = s->m->net.root;
    for (int v = 0; v < g->n; v++) {
        int u = v, steps = 0, sends = 0;
        if (v == root || (s->arc[v] < 0 && !s->m->must[v]))
            continue;
        for (; u != root && s->arc[u] >= 0 && steps <= g->n; steps++)
            u = g->tail[s->arc[u]];
        if (u != root)
            return 0;
        for (int w = 0; w < g->n; w++)
            sends |= s->arc[w] >= 0 && g->tail[s->arc[w]] == v;
        if (!s->m->must[v] && !sends)
            return 0;
    }
    return 1;
}

/* Every link, or none, into each node from v on. */
static void list_from(struct small_search *s, int v)
{
    const struct espi_digraph *g = &s->m->net.g;
    if (s->failed || s->pool->n_trees > ESPI_PRICED_SMALL_TREES)
        return;
    if (v == g->n) {
        if (is_tree(s))
            s->failed = espi_priced_pool_keep(s->pool, s->arc) < 0;
        return;
    }
    s->arc[v] = -1;
    list_from(s, v + 1);
    for (int k = g->in.start[v]; v != s->m->net.root && k < g->in.start[v + 1]; k++) {
        s->arc[v] = g->in.item[k];
        list_from(s, v + 1);
    }
    s->arc[v] = -1;
}

static void give_from(struct small_search *s, int tree, int left)
{
    int P = s->m->task->partitions;
    if (s->failed || (!left && espi_priced_mix_offer(s->m, s->pool, s->share,
                                                     s->pool->n_trees, s->best) < 0)) {
        s->failed = 1;
        return;
    }
    for (int t = tree; left && t < s->pool->n_trees; t++) {
        double before = s->share[t];
        s->share[t] += 1.0 / P;
        give_from(s, t, left - 1);
        s->share[t] = before;
    }
}

/* Ways to choose P of n, again and again. */
static double count_ways(int n, int P)
{
    double ways = 1;
    for (int i = 1; i <= P && ways <= ESPI_PRICED_SMALL_WAYS; i++)
        ways *= (double)(n + i - 1) / i;
    return ways;
}

esp_status espi_priced_try_all(struct espi_priced_model *m, struct espi_priced_pool *pool,
                               struct espi_arena *arena, struct espi_priced_mix *best,
                               int *all, struct esp_err *err)
{
    struct small_search s = {.m = m, .pool = pool, .best = best};
    *all = 0;
    if (m->net.g.n > ESPI_PRICED_SMALL_HOSTS || !m->task->partitions)
        return ESP_OK;
    s.arc = ESPI_ARENA_NEW(arena, int, m->net.g.n);
    if (!s.arc)
        return espi_err_nomem(err);
    list_from(&s, 0);
    if (s.failed)
        return espi_err_nomem(err);
    if (pool->n_trees > ESPI_PRICED_SMALL_TREES ||
        count_ways(pool->n_trees, m->task->partitions) > ESPI_PRICED_SMALL_WAYS)
        return ESP_OK;
    s.share = ESPI_ARENA_ZNEW(arena, double, pool->n_trees + 1);
    if (!s.share)
        return espi_err_nomem(err);
    give_from(&s, 0, m->task->partitions);
    *all = !s.failed;
    return s.failed ? espi_err_nomem(err) : ESP_OK;
}
