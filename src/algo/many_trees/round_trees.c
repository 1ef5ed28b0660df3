/* K trees of one weight, made to be run.
 *
 * The packing says how much each resource has to carry at best; k whole trees are drawn
 * from it one after the other, as randomised rounding would, but each choice is the one
 * with which the expected outcome is best (the method of conditional probabilities):
 * while tree t is grown, every resource counts with what the trees before it carry and
 * with the share of the packing that is still to be turned into trees. A tree grows from
 * the root, host by host. The next is the one that costs least,
 *
 *   rounds * (by how much the resources used become more than full, softly)
 *     + (when the first slice would arrive there along this tree),
 *
 * which is what the makespan of a message is made of: so short messages get shallow
 * trees, long ones balanced loads, and where resources are not scarce depth decides.
 * Softly: a resource whose load is u of a round counts exp(sharp * (u - 1)) / sharp, so
 * that each is left some slack where that costs nothing. A connection gets one share of
 * what it meets others on, however many trees it carries: so trees avoid each other's
 * arcs where they can. Afterwards each tree in turn is grown anew among the others, some
 * times, the best set is kept, and single hosts of it are moved (move_hosts.c).
 *
 * Wide trees: the expected outcome gives every tree its part of every port, so that a
 * host whose port is needed to the last sends to one other in each of the trees, and
 * these get as deep as there are hosts. But of k trees a host may as well send to k
 * others in one, and to none in the rest. So what belongs to one sender (but for the
 * root) counts only with what whole trees carry, hosts whose ports are full already join
 * a tree when all others have, as leaves, and a tree fills one sender before it begins
 * with the next.
 *
 * Reference: Raghavan, Thompson 1987 and Raghavan 1988 for rounding and its
 * derandomisation. Ours: trees that grow instead of columns that are drawn, and arrivals.
 * Hosts that are inner nodes of one tree only: M. Castro and others, SplitStream, 2003;
 * P. Sanders, J. Speck, J. L. Traff, Two-tree algorithms for full bandwidth broadcast,
 * reduction and scan, 2009.
 * Complexity: a tree O(arcs * uses of an arc + hosts * log hosts), and an arc is weighed
 * again only when what it cost before could still make it the best to its host; k trees,
 * five times. */
#include "algo/many_trees/round_trees.h"

#include <math.h>
#include <string.h>

#include "algo/many_trees/move_hosts.h"
#include "platform/platform.h"
#include "algo/tuning.h"
#include "base/heap.h"
#include "base/portable_math.h"
#include "base/watch.h"

/* derived: to pass an arc by takes a tenth of the time that weighing it does. */
static const double ARCS_PASSED = 10;

struct grower {
    const struct espi_view *v;
    int root, n, k;
    double round_s; /* what a round takes at best */
    double rounds;  /* of the message */
    double sharp;   /* of the soft maximum */
    double *load;   /* resource -> part of round_s, of whole trees */
    double *rest;   /* ... of the packing's share that is left */
    double *over;   /* resource -> load + rest - 1, as of its weight */
    double *weight; /* resource -> exp(sharp * over) */
    double *factor; /* use of an arc -> by how much its weight then grows */
    double *free_s; /* resource -> when this tree's slice is through with it */
    double *at_s;   /* host -> when the slice is there */
    int *parent;    /* of this tree */
    int *used;      /* arc -> trees that have it */
    unsigned char *inside;
    double *least_s; /* place among the arcs into a host -> it costs no less */
    int *place;      /* arc -> that place */
    double work;     /* arcs weighed */
    struct espi_heap outside;
    int wide;
    /* of wide trees: */
    int *sender;  /* resource -> the only host that sends over it; -1: several */
    double *slot; /* resource -> part of a round that a slice takes; 0: no port */
    unsigned char *is_full; /* host: its port is; it joins when the others have */
};

static void set_weight(struct grower *g, int r)
{
    double over = g->load[r] + g->rest[r] - 1;
    if (over == g->over[r])
        return;
    g->over[r] = over;
    g->weight[r] = espi_exp(fmin(g->sharp * over, ESPI_MOST_EXPONENT));
}

/* When the slice would be at the arc's head. In wide trees it does not count whose turn
 * it is at a port, so that the next to send is who got the slice first until it is full.
 */
static double arrival_s(const struct grower *g, int arc)
{
    const struct espi_view *v = g->v;
    double start_s = g->at_s[v->g.tail[arc]];
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1] && !g->wide; k++)
        start_s = espi_max(start_s, g->free_s[v->use_resource[k]]);
    return start_s + v->lag_s[arc];
}

/* The innermost loop: as arrival_s(), and what the uses cost, in one go. */
static double cost_s(const struct grower *g, int arc)
{
    const struct espi_view *v = g->v;
    double rise = 0, start_s = g->at_s[v->g.tail[arc]];
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        int r = v->use_resource[k];
        rise += g->weight[r] * g->factor[k];
        start_s = espi_max(start_s, g->free_s[r]);
    }
    if (g->wide)
        start_s = g->at_s[v->g.tail[arc]];
    double over = rise / g->sharp + ESPI_ROUND_TREES_REUSE * g->used[arc];
    return g->rounds * g->round_s * over + (start_s + v->lag_s[arc]);
}

static void take_arc(struct grower *g, int host, int arc)
{
    const struct espi_view *v = g->v;
    double at_s = arrival_s(g, arc), start_s = at_s - v->lag_s[arc];
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
        int r = v->use_resource[k];
        g->free_s[r] = start_s + v->use_s[k];
        g->load[r] += v->use_s[k] / g->round_s;
        set_weight(g, r);
    }
    g->parent[host] = arc;
    g->used[arc]++;
    g->at_s[host] = at_s;
}

/* The best arc to a host from inside, its cost into the heap; the first of equals. now_s:
 * what the one costs that was the best. Costs only rise: who was dearer than the best of
 * now needs no second look. */
static void find_arc(struct grower *g, int host, double now_s)
{
    const struct espi_digraph *d = &g->v->g;
    int best = g->place[g->parent[host]];
    double least_s = g->least_s[best] = now_s;
    for (int i = d->in.start[host]; i < d->in.start[host + 1]; i++) {
        if (g->least_s[i] * (1 - 1e-12) > least_s) /* rounding */
            continue;
        double s = g->least_s[i] = cost_s(g, d->in.item[i]);
        g->work++;
        if (s < least_s || (s == least_s && i < best)) {
            least_s = s;
            best = i;
        }
    }
    g->work += (d->in.start[host + 1] - d->in.start[host]) / ARCS_PASSED;
    g->parent[host] = d->in.item[best];
    espi_heap_set(&g->outside, host, least_s);
}

static void join_tree(struct grower *g, int host)
{
    const struct espi_digraph *d = &g->v->g;
    g->inside[host] = 1;
    for (int i = d->out.start[host]; i < d->out.start[host + 1]; i++) {
        int arc = d->out.item[i], to = d->head[arc];
        if (g->inside[to] || (g->wide && g->is_full[to]))
            continue;
        double s = g->least_s[g->place[arc]] = cost_s(g, arc);
        g->work++;
        if (!espi_heap_has(&g->outside, to) || s < g->outside.key[to]) {
            g->parent[to] = arc;
            espi_heap_set(&g->outside, to, s);
        }
    }
}

/* Those outside join by what costs least. Costs only rise while a tree grows, so that a
 * key that still holds is the least. Returns when the last of them has the slice. */
static double take_outside(struct grower *g)
{
    double fill_s = 0;
    while (g->outside.size > 0) {
        int host = espi_heap_top(&g->outside);
        double key = g->outside.key[host], now_s = cost_s(g, g->parent[host]);
        if (now_s > key) {
            find_arc(g, host, now_s);
            if (g->outside.key[host] > key) /* others may come first now */
                continue;
        }
        espi_heap_pop(&g->outside);
        take_arc(g, host, g->parent[host]);
        fill_s = espi_max(fill_s, g->at_s[host]);
        join_tree(g, host);
    }
    return fill_s;
}

/* Whose ports have no room for another slice a round? */
static void mark_full(struct grower *g)
{
    memset(g->is_full, 0, (size_t)g->n);
    for (int r = 0; r < g->v->links.n; r++)
        if (g->sender[r] >= 0 && g->slot[r] > 0 && g->load[r] + g->slot[r] > 1 + 1e-9)
            g->is_full[g->sender[r]] = 1; /* rounding */
}

/* They come last. */
static double take_full(struct grower *g)
{
    memset(g->is_full, 0, (size_t)g->n);
    for (int h = 0; h < g->n; h++)
        if (g->inside[h])
            join_tree(g, h);
    return take_outside(g);
}

/* Grows a tree among what the others carry. */
static double grow_tree(struct grower *g, int *parent)
{
    g->parent = parent;
    memset(g->inside, 0, (size_t)g->n);
    for (int i = 0; i < g->v->g.m; i++)
        g->least_s[i] = INFINITY; /* not yet from inside */
    for (int r = 0; r < g->v->links.n; r++) {
        g->free_s[r] = 0;
        set_weight(g, r);
    }
    espi_heap_clear(&g->outside);
    parent[g->root] = -1;
    g->at_s[g->root] = 0;
    if (g->wide)
        mark_full(g);
    join_tree(g, g->root);
    double fill_s = take_outside(g);
    return g->wide ? espi_max(fill_s, take_full(g)) : fill_s;
}

static void drop_tree(struct grower *g, const int *parent)
{
    const struct espi_view *v = g->v;
    for (int h = 0; h < g->n; h++) {
        int arc = parent[h];
        if (arc < 0)
            continue;
        g->used[arc]--;
        for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
            g->load[v->use_resource[k]] -= v->use_s[k] / g->round_s;
    }
}

static double busiest_part(const struct grower *g)
{
    double most = 0;
    for (int r = 0; r < g->v->links.n; r++)
        most = espi_max(most, g->load[r]);
    return most;
}

/* What the packing loads resources by, full being 1. */
static void load_packing(const struct espi_view *v, const struct espi_packing *packing,
                         double *load)
{
    for (int t = 0; t < packing->n_trees; t++) {
        const struct espi_packing_tree *tree = &packing->tree[t];
        for (int i = 0; i < tree->hop_start[v->g.n]; i++)
            for (int k = v->links.start[tree->hops[i]];
                 k < v->links.start[tree->hops[i] + 1]; k++)
                load[v->links.resource[k]] += tree->rate * v->links.time_s[k];
    }
}

static int grower_init(struct grower *g, struct espi_arena *a)
{
    int n_resources = g->v->links.n;
    g->load = ESPI_ARENA_ZNEW(a, double, n_resources);
    g->rest = ESPI_ARENA_ZNEW(a, double, n_resources);
    g->over = ESPI_ARENA_NEW(a, double, n_resources);
    g->weight = ESPI_ARENA_ZNEW(a, double, n_resources);
    g->free_s = ESPI_ARENA_ZNEW(a, double, n_resources);
    g->at_s = ESPI_ARENA_ZNEW(a, double, g->n);
    g->inside = ESPI_ARENA_ZNEW(a, unsigned char, g->n);
    g->used = ESPI_ARENA_ZNEW(a, int, g->v->g.m);
    g->factor = ESPI_ARENA_NEW(a, double, g->v->use_start[g->v->g.m]);
    g->least_s = ESPI_ARENA_NEW(a, double, g->v->g.m);
    g->place = ESPI_ARENA_NEW(a, int, g->v->g.m);
    if (!g->least_s || !g->place || !g->used || !g->factor || !g->load || !g->rest ||
        !g->over || !g->weight || !g->free_s || !g->at_s || !g->inside)
        return -1;
    for (int r = 0; r < n_resources; r++)
        g->over[r] = INFINITY; /* none yet */
    for (int i = 0; i < g->v->g.m; i++)
        g->place[g->v->g.in.item[i]] = i;
    return espi_heap_init(&g->outside, a, g->n);
}

/* By how much weights grow. What goes over a resource mostly takes it for the same time.
 */
static int find_factors(struct grower *g, struct espi_arena *a)
{
    const struct espi_view *v = g->v;
    double *last_s = ESPI_ARENA_NEW(a, double, v->links.n);
    double *last = ESPI_ARENA_NEW(a, double, v->links.n);
    if (!last_s || !last)
        return -1;
    for (int r = 0; r < v->links.n; r++)
        last_s[r] = -1; /* none yet */
    for (int use = 0; use < v->use_start[v->g.m]; use++) {
        int r = v->use_resource[use];
        if (last_s[r] != v->use_s[use]) {
            last_s[r] = v->use_s[use];
            last[r] =
                espi_exp(fmin(g->sharp * last_s[r] / g->round_s, ESPI_MOST_EXPONENT)) - 1;
        }
        g->factor[use] = last[r];
    }
    return 0;
}

/* What belongs to one sender, and is needed by several of its arcs: a port. */
static int find_ports(struct grower *g, struct espi_arena *a)
{
    const struct espi_view *v = g->v;
    enum { NOBODY = -2 };
    int *arcs = ESPI_ARENA_ZNEW(a, int, v->links.n);
    g->sender = ESPI_ARENA_NEW(a, int, v->links.n);
    g->slot = ESPI_ARENA_ZNEW(a, double, v->links.n);
    g->is_full = ESPI_ARENA_ZNEW(a, unsigned char, g->n);
    if (!arcs || !g->sender || !g->slot || !g->is_full)
        return -1;
    for (int r = 0; r < v->links.n; r++)
        g->sender[r] = NOBODY;
    for (int arc = 0; arc < v->g.m; arc++)
        for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++) {
            int r = v->use_resource[k], from = v->g.tail[arc];
            g->sender[r] = g->sender[r] == NOBODY || g->sender[r] == from ? from : -1;
            g->slot[r] = espi_max(g->slot[r], v->use_s[k] / g->round_s);
            arcs[r]++;
        }
    for (int r = 0; r < v->links.n; r++)
        if (arcs[r] < 2 || g->sender[r] == g->root)
            g->slot[r] = 0;
    return 0;
}

/* Trees take turns with senders: what each is to carry of them in all is not kept for
 * trees to come. The root is in all of them. */
static void share_senders(const struct grower *g, double *share)
{
    for (int r = 0; r < g->v->links.n; r++)
        if (g->sender[r] >= 0 && g->sender[r] != g->root)
            share[r] = 0;
}

/* Keeps the set if it is the best. */
static void keep_best(const struct grower *g, int *const *tree, const double *fill_s,
                      struct espi_round_trees *best)
{
    double period_s = busiest_part(g) * g->round_s, slowest_s = 0;
    for (int t = 0; t < g->k; t++)
        slowest_s = espi_max(slowest_s, fill_s[t]);
    double makespan_s = period_s * g->rounds + slowest_s;
    if (!(makespan_s < best->makespan_s))
        return;
    best->period_s = period_s;
    best->fill_s = slowest_s;
    best->makespan_s = makespan_s;
    for (int t = 0; t < g->k; t++)
        memcpy(best->parent_arc[t], tree[t], (size_t)g->n * sizeof **tree);
}

static int **new_trees(int k, int n, struct espi_arena *a)
{
    int **tree = ESPI_ARENA_NEW(a, int *, k);
    for (int t = 0; t < k && tree; t++) {
        tree[t] = ESPI_ARENA_NEW(a, int, n);
        if (!tree[t])
            return NULL;
    }
    return tree;
}

/* The first trees, each in the place of its share of the packing. */
static void round_packing(struct grower *g, const double *share, int **tree,
                          double *fill_s)
{
    for (int t = 0; t < g->k; t++) {
        for (int r = 0; r < g->v->links.n; r++)
            g->rest[r] = share[r] * (g->k - t - 1) / g->k;
        fill_s[t] = grow_tree(g, tree[t]);
    }
}

static void grow_again(struct grower *g, int **tree, double *fill_s,
                       struct espi_round_trees *best)
{
    for (int t = 0; t < g->k && !espi_watch_is_over(); t++) {
        drop_tree(g, tree[t]);
        fill_s[t] = grow_tree(g, tree[t]);
        keep_best(g, tree, fill_s, best);
    }
}

/* derived: slices of a round share ports on their way, so that of k that leave together
 * the mean one is late by half of a round. */
static const double LAST_ROUND = 0.5;

/* Moves single hosts at a price of arcs that other trees have, and tells what has become
 * of the trees. */
static int move_hosts(struct grower *g, double reuse, struct espi_arena *arena,
                      struct espi_round_trees *out)
{
    const struct espi_view *v = g->v;
    struct espi_move_task task = {.v = v,
                                  .root = g->root,
                                  .k = g->k,
                                  .round_s = g->round_s,
                                  .rounds = g->rounds,
                                  .sharp = g->sharp,
                                  .factor = g->factor,
                                  .reuse = reuse,
                                  .work = &g->work};
    if (espi_move_hosts(&task, out->parent_arc, arena, &out->fill_s))
        return -1;
    memset(g->load, 0, (size_t)v->links.n * sizeof *g->load);
    for (int t = 0; t < g->k; t++)
        for (int h = 0; h < g->n; h++) {
            int arc = out->parent_arc[t][h];
            for (int k = arc < 0 ? 0 : v->use_start[arc];
                 arc >= 0 && k < v->use_start[arc + 1]; k++)
                g->load[v->use_resource[k]] += v->use_s[k] / g->round_s;
        }
    out->period_s = busiest_part(g) * g->round_s;
    out->makespan_s = out->period_s * (g->rounds + LAST_ROUND) + out->fill_s;
    return 0;
}

/* Where transfers share the network, trees that share few connections are worth having,
 * but not any delay: hosts are moved with that in mind and without, and who shares more
 * has to be clearly earlier. Elsewhere transfers go one after the other, over whichever
 * connection. */
static int move_hosts_both_ways(struct grower *g, int **spare, struct espi_arena *arena,
                                struct espi_round_trees *out)
{
    struct espi_round_trees plain = *out;
    if (g->v->p->model != ESP_MODEL_CAPACITY)
        return move_hosts(g, 0, arena, out);
    plain.parent_arc = spare;
    for (int t = 0; t < g->k; t++)
        memcpy(spare[t], out->parent_arc[t], (size_t)g->n * sizeof *spare[t]);
    if (move_hosts(g, ESPI_ROUND_TREES_REUSE, arena, out) ||
        move_hosts(g, 0, arena, &plain))
        return -1;
    if (plain.makespan_s < out->makespan_s * (1 - ESPI_ROUND_TREES_SHARED))
        *out = plain;
    return 0;
}

int espi_round_trees(const struct espi_view *v, int root, int k, int wide,
                     double n_slices, const struct espi_packing *packing,
                     struct espi_arena *arena, struct espi_round_trees *out)
{
    struct grower g = {.v = v,
                       .root = root,
                       .n = v->g.n,
                       .k = k,
                       .wide = wide,
                       .round_s = k / packing->rate,
                       .rounds = n_slices / k,
                       .sharp = espi_log(v->links.n + 1) / ESPI_ROUND_TREES_SLACK};
    int **tree = new_trees(k, g.n, arena);
    double *fill_s = ESPI_ARENA_ZNEW(arena, double, k);
    double *share = ESPI_ARENA_ZNEW(arena, double, v->links.n);
    *out = (struct espi_round_trees){
        .k = k, .parent_arc = new_trees(k, g.n, arena), .makespan_s = INFINITY};
    if (!tree || !fill_s || !share || !out->parent_arc || grower_init(&g, arena) ||
        find_factors(&g, arena) || (wide && find_ports(&g, arena)))
        return -1;
    load_packing(v, packing, share);
    if (wide)
        share_senders(&g, share);
    round_packing(&g, share, tree, fill_s);
    keep_best(&g, tree, fill_s, out);
    for (int pass = 0; pass < ESPI_ROUND_TREES_PASSES && !espi_watch_is_over(); pass++)
        grow_again(&g, tree, fill_s, out);
    int failed = espi_watch_is_over() ? 0 : move_hosts_both_ways(&g, tree, arena, out);
    out->work = g.work;
    return failed;
}
