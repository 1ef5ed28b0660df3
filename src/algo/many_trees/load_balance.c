/* The packing is content when no resource is more than full. But what is full queues:
 * where many transfers share a cable as TCP does, without a schedule, a host whose port
 * is just full passes on everything late, all that comes after it in the trees is late,
 * and cables beyond run dry. Of the many mixes with the same throughput this finds one in
 * which only those resources are full that must be. (64 hosts in four sites, 16 MB in
 * fluid simulation: 1.03 times the bound instead of 1.20.)
 *
 * Reference: none, ours: local search. A move gives a host of one tree another sender
 * that is not below it, over an arc of the view. It must lower
 *
 *   sum over resources of (part of the time in use)^8
 *     + ESPI_BALANCE_DEEP * mean depth of hosts in the trees, weighted by rates
 *
 * and must not load a resource beyond its time. Each host of each tree makes its best
 * move, in turn, until there is none or ESPI_BALANCE_WORK is used up; ties go to the
 * first arc. Complexity: O(trees * (arcs * uses of an arc + hosts^2)) a pass, some ten
 * passes. Guarantee: rates and throughput stay; the sum does not grow. */
#include "algo/many_trees/load_balance.h"

#include <string.h>

#include "algo/tuning.h"

#define FULL (1 + 1e-10) /* rounding */

struct way {
    const int *hops;
    int n, from; /* links, and the host they start at */
};

struct relief {
    const struct espi_view *v;
    int root, n;
    double *in_use; /* resource -> part of the time */
    double *change; /* of it by a move; 0 between moves */
    int *changed, n_changed;
    /* of the tree that is looked at: */
    double rate, part; /* slices a second, and as a part of all */
    struct way *way;   /* host -> how it is served */
    int *order;        /* hosts, senders first */
    int *depth, *first_kid, *next_kid;
    unsigned char *below; /* is it the host that moves, or below? */
};

static int relief_init(struct relief *s, struct espi_arena *a)
{
    s->in_use = ESPI_ARENA_ZNEW(a, double, s->v->links.n);
    s->change = ESPI_ARENA_ZNEW(a, double, s->v->links.n);
    s->changed = ESPI_ARENA_NEW(a, int, s->v->links.n);
    s->order = ESPI_ARENA_NEW(a, int, s->n);
    s->depth = ESPI_ARENA_NEW(a, int, s->n);
    s->first_kid = ESPI_ARENA_NEW(a, int, s->n);
    s->next_kid = ESPI_ARENA_NEW(a, int, s->n);
    s->below = ESPI_ARENA_NEW(a, unsigned char, s->n);
    return s->in_use && s->change && s->changed && s->order && s->depth && s->first_kid &&
                   s->next_kid && s->below
               ? 0
               : -1;
}

/* Order and depths, breadth first. */
static void walk_tree(struct relief *s)
{
    int count = 1;
    for (int h = 0; h < s->n; h++)
        s->first_kid[h] = -1;
    for (int h = s->n - 1; h >= 0; h--)
        if (h != s->root) {
            s->next_kid[h] = s->first_kid[s->way[h].from];
            s->first_kid[s->way[h].from] = h;
        }
    s->order[0] = s->root;
    s->depth[s->root] = 0;
    for (int i = 0; i < count; i++)
        for (int k = s->first_kid[s->order[i]]; k >= 0; k = s->next_kid[k]) {
            s->depth[k] = s->depth[s->order[i]] + 1;
            s->order[count++] = k;
        }
}

/* Marks the host and all below it; how many. */
static int mark_below(struct relief *s, int host)
{
    int count = 1;
    memset(s->below, 0, (size_t)s->n);
    s->below[host] = 1;
    for (int i = 1; i < s->n; i++) {
        int h = s->order[i];
        if (h != host && s->below[s->way[h].from]) {
            s->below[h] = 1;
            count++;
        }
    }
    return count;
}

/* ---- loads ---- */

static void add_way(struct relief *s, const struct way *way, double rate)
{
    const struct espi_resources *links = &s->v->links;
    for (int i = 0; i < way->n; i++)
        for (int k = links->start[way->hops[i]]; k < links->start[way->hops[i] + 1];
             k++) {
            int r = links->resource[k];
            if (s->change[r] == 0)
                s->changed[s->n_changed++] = r;
            s->change[r] += rate * links->time_s[k];
            if (s->change[r] == 0) /* then it is still in the list: next to nothing */
                s->change[r] = 1e-300;
        }
}

static double strain(double in_use)
{
    double squared = in_use * in_use, fourth = squared * squared;
    return fourth * fourth;
}

/* By how much the strain grows; *fits: no resource is beyond its time. */
static double weigh_move(const struct relief *s, int *fits)
{
    double grows = 0;
    *fits = 1;
    for (int i = 0; i < s->n_changed; i++) {
        int r = s->changed[i];
        double after = s->in_use[r] + s->change[r];
        grows += strain(after) - strain(s->in_use[r]);
        if (s->change[r] > 1e-12 && after > FULL)
            *fits = 0;
    }
    return grows;
}

static void forget_move(struct relief *s)
{
    for (int i = 0; i < s->n_changed; i++)
        s->change[s->changed[i]] = 0;
    s->n_changed = 0;
}

static void settle_loads(struct relief *s)
{
    for (int i = 0; i < s->n_changed; i++)
        s->in_use[s->changed[i]] += s->change[s->changed[i]];
    forget_move(s);
}

/* ---- moves ---- */

static struct way way_of_arc(const struct espi_view *v, int arc)
{
    return (struct way){v->hops + v->hop_start[arc],
                        v->hop_start[arc + 1] - v->hop_start[arc], v->g.tail[arc]};
}

static void replace_way(struct relief *s, int host, const struct way *way)
{
    add_way(s, &s->way[host], -s->rate);
    add_way(s, way, s->rate);
}

/* The host's best move, if there is one. */
static int move_host(struct relief *s, int host)
{
    const struct espi_digraph *g = &s->v->g;
    int followers = mark_below(s, host), best = -1;
    double least = -1e-9;
    for (int k = g->in.start[host]; k < g->in.start[host + 1]; k++) {
        struct way way = way_of_arc(s->v, g->in.item[k]);
        int fits, deeper = s->depth[way.from] - s->depth[s->way[host].from];
        if (s->below[way.from] || way.from == s->way[host].from)
            continue;
        replace_way(s, host, &way);
        double grows = weigh_move(s, &fits) +
                       ESPI_BALANCE_DEEP * s->part * deeper * followers / s->n;
        forget_move(s);
        if (fits && grows < least) {
            least = grows;
            best = g->in.item[k];
        }
    }
    if (best < 0)
        return 0;
    struct way way = way_of_arc(s->v, best);
    replace_way(s, host, &way);
    settle_loads(s);
    s->way[host] = way;
    walk_tree(s);
    return 1;
}

static int relieve_tree(struct relief *s)
{
    int moves = 0;
    walk_tree(s);
    for (int h = 0; h < s->n; h++)
        if (h != s->root)
            moves += move_host(s, h);
    return moves;
}

/* ---- all trees ---- */

static struct way *ways_of(const struct relief *s, const struct espi_packing_tree *t,
                           struct espi_arena *a)
{
    const struct esp_platform *p = s->v->p;
    struct way *way = ESPI_ARENA_ZNEW(a, struct way, s->n);
    for (int h = 0; h < s->n && way; h++)
        if (h != s->root)
            way[h] = (struct way){t->hops + t->hop_start[h],
                                  t->hop_start[h + 1] - t->hop_start[h],
                                  s->v->host[p->tail[t->hops[t->hop_start[h]]]]};
    return way;
}

static int write_tree(const struct relief *s, const struct way *way,
                      struct espi_packing_tree *t, struct espi_arena *a)
{
    int n_hops = 0, at = 0;
    for (int h = 0; h < s->n; h++)
        n_hops += way[h].n;
    int *start = ESPI_ARENA_NEW(a, int, (size_t)s->n + 1);
    int *hops = ESPI_ARENA_NEW(a, int, n_hops);
    if (!start || !hops)
        return -1;
    for (int h = 0; h < s->n; h++) {
        start[h] = at;
        for (int i = 0; i < way[h].n; i++)
            hops[at++] = way[h].hops[i];
    }
    start[s->n] = at;
    t->hop_start = start;
    t->hops = hops;
    return 0;
}

/* Passes over all trees until nothing moves. */
static void relieve_all(struct relief *s, const struct espi_packing *packing,
                        struct way **ways)
{
    int moves = 1;
    for (double work = 0; moves && work < ESPI_BALANCE_WORK;) {
        moves = 0;
        for (int t = 0; t < packing->n_trees; t++) {
            s->rate = packing->tree[t].rate;
            s->part = s->rate / packing->rate;
            s->way = ways[t];
            moves += relieve_tree(s);
            work += s->v->g.m + (double)s->n * s->n;
        }
    }
}

int espi_balance_loads(const struct espi_view *v, int root, struct espi_packing *packing,
                       struct espi_arena *arena)
{
    struct relief s = {.v = v, .root = root, .n = v->g.n};
    struct way **ways = ESPI_ARENA_NEW(arena, struct way *, packing->n_trees);
    if (!ways || relief_init(&s, arena))
        return -1;
    for (int t = 0; t < packing->n_trees; t++) {
        ways[t] = ways_of(&s, &packing->tree[t], arena);
        if (!ways[t])
            return -1;
        for (int h = 0; h < s.n; h++)
            add_way(&s, &ways[t][h], packing->tree[t].rate);
    }
    settle_loads(&s);
    relieve_all(&s, packing, ways);
    for (int t = 0; t < packing->n_trees; t++)
        if (write_tree(&s, ways[t], &packing->tree[t], arena))
            return -1;
    return 0;
}
