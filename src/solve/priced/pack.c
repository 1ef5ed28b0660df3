/* L. Lovasz, On two minimax theorems in graph theory, 1976: a tree grows link by link
 * from the root, by links without which all targets are still connected with the root as
 * many times as there are trees to come. Where all nodes are targets there always is such
 * a link (J. Edmonds, 1973); where some only relay there may be none, and what is left
 * takes links that are there, or the cheapest.
 *
 * Complexity: for each tree and link a flow to each target, on the links that carry
 * something. */
#include "solve/priced/pack.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/maxflow.h"
#include "solve/priced/tuning.h"

struct packing {
    struct espi_priced_model *m;
    struct espi_priced_pool *pool;
    struct espi_digraph g; /* links that carry something */
    struct espi_maxflow flow;
    int *link;     /* of g -> of the network */
    double *left;  /* partitions */
    double *price; /* where a tree takes other links */
    int *arc;      /* tree at hand: link into each node; -1 */
    unsigned char *member;
};

static int take_links(struct packing *k, const int *parts, struct espi_arena *arena)
{
    const struct espi_digraph *all = &k->m->net.g;
    int n = 0;
    for (int e = 0; e < all->m; e++)
        n += parts[e] > 0;
    int *tail = ESPI_ARENA_NEW(arena, int, n + 1),
        *head = ESPI_ARENA_NEW(arena, int, n + 1);
    k->link = ESPI_ARENA_NEW(arena, int, n + 1);
    k->left = ESPI_ARENA_NEW(arena, double, n + 1);
    k->price = ESPI_ARENA_NEW(arena, double, all->m + 1);
    k->arc = ESPI_ARENA_NEW(arena, int, all->n);
    k->member = ESPI_ARENA_NEW(arena, unsigned char, all->n);
    if (!tail || !head || !k->link || !k->left || !k->price || !k->arc || !k->member)
        return -1;
    n = 0;
    for (int e = 0; e < all->m; e++) {
        if (parts[e] <= 0)
            continue;
        tail[n] = all->tail[e];
        head[n] = all->head[e];
        k->left[n] = parts[e];
        k->link[n++] = e;
    }
    return espi_digraph_init(&k->g, all->n, n, tail, head, arena) ||
                   espi_maxflow_init(&k->flow, &k->g, arena)
               ? -1
               : 0;
}

/* Are so many trees still possible, as far as each target by itself goes? */
static int leaves_enough(struct packing *k, int trees)
{
    const struct espi_flow_net *net = &k->m->net;
    for (int i = 0; trees && i < net->n_targets; i++)
        if (espi_maxflow(&k->flow, k->left, net->root, net->targets[i], trees) < trees)
            return 0;
    return 1;
}

static int targets_missing(const struct packing *k)
{
    int missing = 0;
    for (int i = 0; i < k->m->net.n_targets; i++)
        missing += !k->member[k->m->net.targets[i]];
    return missing;
}

/* A link from a member to another node, without which enough is left; or any such: -1:
 * there is none. Targets come first. */
static int next_link(struct packing *k, int trees_after, int careful)
{
    for (int relays = 0; relays < 2; relays++)
        for (int i = 0; i < k->g.m; i++) {
            int v = k->g.head[i];
            if (!(k->left[i] > 0) || !k->member[k->g.tail[i]] || k->member[v] ||
                k->m->must[v] == relays)
                continue;
            k->left[i] -= 1;
            if (!careful || leaves_enough(k, trees_after))
                return i;
            k->left[i] += 1;
        }
    return -1;
}

static void grow(struct packing *k, int trees_after, int careful)
{
    while (targets_missing(k)) {
        int i = next_link(k, trees_after, careful);
        if (i < 0)
            return;
        k->arc[k->g.head[i]] = k->link[i];
        k->member[k->g.head[i]] = 1;
    }
}

/* Takes back links to relays that send to nobody. */
static void give_back(struct packing *k)
{
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < k->g.m; i++) {
            int v = k->g.head[i], sends = 0;
            if (k->arc[v] != k->link[i] || k->m->must[v])
                continue;
            for (int j = k->g.out.start[v]; j < k->g.out.start[v + 1]; j++)
                sends |= k->arc[k->g.head[k->g.out.item[j]]] == k->link[k->g.out.item[j]];
            if (sends)
                continue;
            k->arc[v] = -1;
            k->left[i] += 1;
            again = 1;
        }
    }
}

/* The cheapest tree, where links of which something is left cost nothing to speak of. */
static int any_tree(struct packing *k)
{
    double sum, dearest = 0;
    for (int e = 0; e < k->m->net.g.m; e++) {
        double cost = k->m->link_usd[e];
        k->price[e] = cost;
        dearest = cost > dearest ? cost : dearest;
    }
    for (int e = 0; e < k->m->net.g.m; e++)
        k->price[e] += dearest * ESPI_PRICED_ELSEWHERE;
    for (int i = 0; i < k->g.m; i++)
        if (k->left[i] > 0)
            k->price[k->link[i]] -= dearest * ESPI_PRICED_ELSEWHERE;
    int tree = espi_priced_pool_find(k->pool, k->price, &sum);
    for (int j = 0; tree >= 0 && j < k->pool->trees[tree].n_links; j++)
        for (int i = 0; i < k->g.m; i++)
            if (k->link[i] == k->pool->trees[tree].links[j] && k->left[i] > 0)
                k->left[i] -= 1;
    return tree;
}

static int next_tree(struct packing *k, int trees_after)
{
    memset(k->arc, 0xff, (size_t)k->g.n * sizeof *k->arc);
    memset(k->member, 0, (size_t)k->g.n);
    k->member[k->m->net.root] = 1;
    grow(k, trees_after, 1);
    grow(k, trees_after, 0);
    int missing = targets_missing(k);
    for (int i = 0; missing && i < k->g.m; i++)
        if (k->arc[k->g.head[i]] == k->link[i]) {
            k->left[i] += 1;
            k->arc[k->g.head[i]] = -1;
        }
    if (missing)
        return any_tree(k);
    give_back(k);
    return espi_priced_pool_keep(k->pool, k->arc);
}

int espi_priced_pack(struct espi_priced_model *m, struct espi_priced_pool *pool,
                     const int *parts, struct espi_arena *arena,
                     struct espi_priced_mix *best)
{
    int P = m->task->partitions, took = -1;
    struct packing k = {.m = m, .pool = pool};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int *trees = ESPI_ARENA_NEW(arena, int, P + 1);
    if (trees && take_links(&k, parts, arena) == 0) {
        took = 0;
        for (int i = 0; i < P && took == 0; i++) {
            trees[i] = next_tree(&k, P - 1 - i);
            took = trees[i] < 0 ? trees[i] : 0;
        }
        double *share = ESPI_ARENA_ZNEW(arena, double, pool->n_trees + 1);
        for (int i = 0; share && took == 0 && i < P; i++)
            share[trees[i]] += 1.0 / P;
        if (took == 0)
            took =
                share ? espi_priced_mix_offer(m, pool, share, pool->n_trees, best) : -1;
        took = took == -2 ? 0 : took;
    }
    espi_arena_release(arena, mark);
    return took;
}
