/* Cheap Steiner arborescences: nearest target first, then one relay more or less, as long
 * as that helps, each time over the cheapest arborescence of the members. */
#include "solve/priced/trees.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"
#include "solve/priced/tuning.h"

#define GAIN 1e-9 /* rounding: relative, of the sum of prices */

esp_status espi_priced_pool_init(struct espi_priced_pool *pool,
                                 const struct espi_priced_model *m,
                                 struct espi_arena *arena, struct esp_err *err)
{
    size_t n = (size_t)m->net.g.n, links = (size_t)m->net.g.m;
    *pool = (struct espi_priced_pool){.m = m, .arena = arena};
    pool->link_of = ESPI_ARENA_NEW(arena, int, n *n);
    pool->parent = ESPI_ARENA_NEW(arena, int, n);
    pool->order = ESPI_ARENA_NEW(arena, int, n);
    pool->depth_mark = ESPI_ARENA_NEW(arena, int, n);
    pool->arc = ESPI_ARENA_NEW(arena, int, n);
    pool->member = ESPI_ARENA_NEW(arena, unsigned char, n);
    pool->cost = ESPI_ARENA_NEW(arena, double, links + 1);
    if (!pool->link_of || !pool->parent || !pool->order || !pool->depth_mark ||
        !pool->arc || !pool->member || !pool->cost ||
        espi_steiner_init(&pool->steiner, &m->net, arena) ||
        espi_arborescence_init(&pool->arb, &m->net.g, arena))
        return espi_err_nomem(err);
    pool->exact =
        m->net.n_targets <= ESPI_PRICED_EXACT_TARGETS && espi_steiner_can_exact(&m->net);
    if (pool->exact && espi_steiner_init_exact(&pool->steiner, arena))
        return espi_err_nomem(err);
    memset(pool->link_of, 0xff, n * n * sizeof *pool->link_of);
    for (int e = 0; e < m->net.g.m; e++)
        pool->link_of[(size_t)m->net.g.tail[e] * n + (size_t)m->net.g.head[e]] = e;
    return ESP_OK;
}

void espi_priced_pool_done(struct espi_priced_pool *pool)
{
    for (int i = 0; i < pool->n_trees; i++)
        espi_free(pool->trees[i].links);
    espi_free(pool->trees);
    espi_free(pool->hash);
    pool->trees = NULL;
    pool->hash = NULL;
    pool->n_trees = 0;
}

/* ---- the tree at hand: the arc into each member ---- */

static void take_steiner(struct espi_priced_pool *pool)
{
    const struct espi_steiner_tree *t = &pool->steiner.tree;
    const struct espi_digraph *g = &pool->m->net.g;
    memset(pool->member, 0, (size_t)g->n);
    memset(pool->arc, 0xff, (size_t)g->n * sizeof *pool->arc);
    pool->member[pool->m->net.root] = 1;
    for (int h = 0; h < t->hop_start[t->n_edges]; h++) {
        int v = g->head[t->hops[h]];
        pool->member[v] = 1;
        pool->arc[v] = t->hops[h];
    }
}

static double tree_price(const struct espi_priced_pool *pool, const double *price)
{
    double sum = 0;
    for (int v = 0; v < pool->m->net.g.n; v++)
        if (pool->arc[v] >= 0)
            sum += price[pool->arc[v]];
    return sum;
}

/* Cuts off relays that send to nobody. */
static void cut_idle_relays(struct espi_priced_pool *pool)
{
    const struct espi_digraph *g = &pool->m->net.g;
    for (int again = 1; again;) {
        again = 0;
        memset(pool->order, 0, (size_t)g->n * sizeof *pool->order);
        for (int v = 0; v < g->n; v++)
            if (pool->arc[v] >= 0)
                pool->order[g->tail[pool->arc[v]]]++;
        for (int v = 0; v < g->n; v++)
            if (pool->member[v] && !pool->m->must[v] && !pool->order[v]) {
                pool->member[v] = 0;
                pool->arc[v] = -1;
                again = 1;
            }
    }
}

/* The cheapest arborescence over the members; others hang on for nothing. */
static double span_members(struct espi_priced_pool *pool, const double *price)
{
    const struct espi_digraph *g = &pool->m->net.g;
    for (int e = 0; e < g->m; e++)
        pool->cost[e] = !pool->member[g->head[e]]  ? 0
                        : pool->member[g->tail[e]] ? price[e]
                                                   : INFINITY;
    if (espi_arborescence(&pool->arb, pool->m->net.root, pool->cost, pool->arc, NULL))
        return INFINITY;
    for (int v = 0; v < g->n; v++)
        if (!pool->member[v])
            pool->arc[v] = -1;
    cut_idle_relays(pool);
    return tree_price(pool, price);
}

/* What is saved when r joins, below the member that reaches it for least, and takes over
 * those whom it serves for less; those above it it cannot serve. */
static double gain_of_relay(struct espi_priced_pool *pool, const double *price, int r)
{
    const struct espi_digraph *g = &pool->m->net.g;
    int above = -1;
    double least = INFINITY, gain = 0;
    for (int k = g->in.start[r]; k < g->in.start[r + 1]; k++) {
        int e = g->in.item[k];
        if (pool->member[g->tail[e]] && price[e] < least) {
            least = price[e];
            above = g->tail[e];
        }
    }
    if (above < 0)
        return -INFINITY;
    memset(pool->depth_mark, 0, (size_t)g->n * sizeof *pool->depth_mark);
    for (int v = above; v >= 0; v = pool->arc[v] < 0 ? -1 : g->tail[pool->arc[v]])
        pool->depth_mark[v] = 1;
    for (int k = g->out.start[r]; k < g->out.start[r + 1]; k++) {
        int e = g->out.item[k], v = g->head[e];
        if (pool->arc[v] >= 0 && !pool->depth_mark[v] && price[e] < price[pool->arc[v]])
            gain += price[pool->arc[v]] - price[e];
    }
    return gain - least;
}

static void keep_tree(struct espi_priced_pool *pool, int *arc, unsigned char *member,
                      int restore)
{
    size_t n = (size_t)pool->m->net.g.n;
    if (restore) {
        memcpy(pool->arc, arc, n * sizeof *arc);
        memcpy(pool->member, member, n);
    } else {
        memcpy(arc, pool->arc, n * sizeof *arc);
        memcpy(member, pool->member, n);
    }
}

struct spare_tree {
    int *arc;
    unsigned char *member;
};

/* One relay more: 1 when that helped. */
static int add_relay(struct espi_priced_pool *pool, const double *price, double *sum,
                     struct spare_tree *spare)
{
    int best = -1, n = pool->m->net.g.n;
    double most = *sum * GAIN;
    for (int r = 0; r < n; r++) {
        double gain = pool->member[r] ? -INFINITY : gain_of_relay(pool, price, r);
        if (gain > most) {
            most = gain;
            best = r;
        }
    }
    if (best < 0)
        return 0;
    keep_tree(pool, spare->arc, spare->member, 0);
    pool->member[best] = 1;
    double now = span_members(pool, price);
    if (now < *sum * (1 - GAIN)) {
        *sum = now;
        return 1;
    }
    keep_tree(pool, spare->arc, spare->member, 1);
    return 0;
}

static int drop_relay(struct espi_priced_pool *pool, const double *price, double *sum,
                      struct spare_tree *spare)
{
    for (int r = 0; r < pool->m->net.g.n; r++) {
        if (!pool->member[r] || pool->m->must[r])
            continue;
        keep_tree(pool, spare->arc, spare->member, 0);
        pool->member[r] = 0;
        double now = span_members(pool, price);
        if (now < *sum * (1 - GAIN)) {
            *sum = now;
            return 1;
        }
        keep_tree(pool, spare->arc, spare->member, 1);
    }
    return 0;
}

/* ---- those that are kept ---- */

/* Links of the tree at hand, senders first. */
static int list_links(struct espi_priced_pool *pool, int *links)
{
    const struct espi_digraph *g = &pool->m->net.g;
    int n = 0, count = 0;
    pool->order[n++] = pool->m->net.root;
    for (int i = 0; i < n; i++)
        for (int v = 0; v < g->n; v++)
            if (pool->arc[v] >= 0 && g->tail[pool->arc[v]] == pool->order[i]) {
                links[count++] = pool->arc[v];
                pool->order[n++] = v;
            }
    return count;
}

static uint64_t hash_links(const int *links, int n)
{
    uint64_t sum = 0; /* the same in any order */
    for (int i = 0; i < n; i++) {
        uint64_t x = (uint64_t)links[i] + 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        sum += x ^ x >> 31;
    }
    return sum;
}

static int keep_in_pool(struct espi_priced_pool *pool)
{
    size_t n = (size_t)pool->n_trees;
    int *links = ESPI_NEW(int, pool->m->net.g.n);
    if (!links)
        return -1;
    int count = list_links(pool, links);
    uint64_t hash = hash_links(links, count);
    for (int i = 0; i < pool->n_trees; i++)
        if (pool->hash[i] == hash) {
            espi_free(links);
            return i;
        }
    if (espi_grow((void **)&pool->trees, &pool->tree_room, n + 1, sizeof *pool->trees) ||
        espi_grow((void **)&pool->hash, &pool->hash_room, n + 1, sizeof *pool->hash)) {
        espi_free(links);
        return -1;
    }
    pool->trees[n] = (struct espi_priced_tree){1, count, links};
    pool->hash[n] = hash;
    pool->n_trees++;
    return (int)n;
}

int espi_priced_pool_keep(struct espi_priced_pool *pool, const int *arc)
{
    memcpy(pool->arc, arc, (size_t)pool->m->net.g.n * sizeof *arc);
    return keep_in_pool(pool);
}

int espi_priced_pool_take(struct espi_priced_pool *pool,
                          const struct espi_priced_tree *tree)
{
    const struct espi_digraph *g = &pool->m->net.g;
    memset(pool->arc, 0xff, (size_t)g->n * sizeof *pool->arc);
    for (int i = 0; i < tree->n_links; i++)
        pool->arc[g->head[tree->links[i]]] = tree->links[i];
    return keep_in_pool(pool);
}

int espi_priced_pool_find(struct espi_priced_pool *pool, const double *price, double *sum)
{
    int n = pool->m->net.g.n;
    double best = pool->exact ? espi_steiner_exact(&pool->steiner, price)
                              : espi_steiner_grow(&pool->steiner, price);
    if (!isfinite(best))
        return -2;
    take_steiner(pool);
    struct espi_arena_mark mark = espi_arena_mark(pool->arena);
    struct spare_tree spare;
    spare.arc = ESPI_ARENA_NEW(pool->arena, int, n);
    spare.member = ESPI_ARENA_NEW(pool->arena, unsigned char, n);
    if (!spare.arc || !spare.member)
        return -1;
    while (!pool->exact && (add_relay(pool, price, &best, &spare) ||
                            drop_relay(pool, price, &best, &spare)))
        ;
    espi_arena_release(pool->arena, mark);
    *sum = best;
    return keep_in_pool(pool);
}
