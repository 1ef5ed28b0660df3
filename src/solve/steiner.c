#include "solve/steiner.h"

#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "solve/tuning.h"

static int tree_init(struct espi_steiner_tree *t, const struct espi_flow_net *net,
                     struct espi_arena *a)
{
    size_t hosts = (size_t)net->p->n_hosts;
    size_t switches = (size_t)(net->p->n_nodes - net->p->n_hosts);
    t->from = ESPI_ARENA_NEW(a, int, hosts);
    t->to = ESPI_ARENA_NEW(a, int, hosts);
    t->hop_start = ESPI_ARENA_ZNEW(a, int, hosts + 1);
    t->hops = ESPI_ARENA_NEW(a, int, hosts *(switches + 1));
    return t->from && t->to && t->hop_start && t->hops ? 0 : -1;
}

int espi_steiner_init(struct espi_steiner *s, const struct espi_flow_net *net,
                      struct espi_arena *arena)
{
    int n = net->g.n, m = net->g.m;
    *s = (struct espi_steiner){.net = net};
    s->switched = net->p->n_hosts < n;
    s->distance = ESPI_ARENA_NEW(arena, double, n);
    s->least = ESPI_ARENA_NEW(arena, double, n);
    s->cost = ESPI_ARENA_NEW(arena, double, m);
    s->last = ESPI_ARENA_NEW(arena, int, n);
    s->source = ESPI_ARENA_NEW(arena, int, n);
    s->path = ESPI_ARENA_NEW(arena, int, n);
    s->in_edge = ESPI_ARENA_NEW(arena, int, n);
    s->order = ESPI_ARENA_NEW(arena, int, n);
    s->parent_arc = ESPI_ARENA_NEW(arena, int, n);
    s->in_tree = ESPI_ARENA_NEW(arena, unsigned char, n);
    s->wanted = ESPI_ARENA_NEW(arena, unsigned char, n);
    s->member = ESPI_ARENA_NEW(arena, unsigned char, n);
    if (!s->distance || !s->least || !s->cost || !s->last || !s->source || !s->path ||
        !s->in_edge || !s->order || !s->parent_arc || !s->in_tree || !s->wanted ||
        !s->member || tree_init(&s->tree, net, arena) ||
        tree_init(&s->spare, net, arena) || espi_dijkstra_init(&s->dijkstra, n, arena) ||
        (!s->switched && espi_arborescence_init(&s->arb, &net->g, arena)))
        return -1;
    return 0;
}

double espi_steiner_cost(const struct espi_steiner_tree *t, const double *cost)
{
    double sum = 0;
    for (int h = 0; h < t->hop_start[t->n_edges]; h++)
        sum += cost[t->hops[h]];
    return sum;
}

uint64_t espi_steiner_hash(const struct espi_steiner_tree *t)
{
    uint64_t sum = 0; /* the same in any order */
    for (int h = 0; h < t->hop_start[t->n_edges]; h++) {
        uint64_t x = (uint64_t)t->hops[h] + 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        sum += x ^ x >> 31;
    }
    return sum;
}

static void add_edge(struct espi_steiner_tree *t, const struct espi_digraph *g,
                     const int *hops, int n)
{
    int at = t->hop_start[t->n_edges];
    t->from[t->n_edges] = g->tail[hops[0]];
    t->to[t->n_edges] = g->head[hops[n - 1]];
    memcpy(t->hops + at, hops, (size_t)n * sizeof *hops);
    t->hop_start[++t->n_edges] = at + n;
}

/* Adds a path, in edges from host to host, but for what leads to hosts that have the data
 * already. */
static void add_path(struct espi_steiner *s, const int *hops, int n)
{
    const struct espi_flow_net *net = s->net;
    for (int first = 0, k = 0; k < n; k++) {
        int to = net->g.head[hops[k]];
        if (espi_is_switch(net->p, to))
            continue;
        if (!s->in_tree[to]) {
            s->in_tree[to] = 1;
            add_edge(&s->tree, &net->g, hops + first, k - first + 1);
        }
        first = k + 1;
    }
}

static void start_tree(struct espi_steiner *s)
{
    memset(s->in_tree, 0, (size_t)s->net->g.n);
    s->in_tree[s->net->root] = 1;
    s->tree.n_edges = 0;
}

/* Cuts off what leads to no target: from the last edge on, keep those whose receiver is
 * a target or sends on. */
static void cut_idle(struct espi_steiner *s)
{
    struct espi_steiner_tree *t = &s->tree;
    const struct espi_flow_net *net = s->net;
    memcpy(s->wanted, net->is_target, (size_t)net->g.n);
    for (int i = t->n_edges - 1; i >= 0; i--)
        if (s->wanted[t->to[i]])
            s->wanted[t->from[i]] = 1;
    int kept = 0, at = 0;
    for (int i = 0; i < t->n_edges; i++) {
        int first = t->hop_start[i], n = t->hop_start[i + 1] - first;
        if (!s->wanted[t->to[i]])
            continue;
        t->from[kept] = t->from[i];
        t->to[kept] = t->to[i];
        memmove(t->hops + at, t->hops + first, (size_t)n * sizeof *t->hops);
        t->hop_start[kept++] = at;
        at += n;
    }
    t->hop_start[kept] = at;
    t->n_edges = kept;
}

void espi_steiner_from_edges(struct espi_steiner *s, int n_edges, const int *hop_start,
                             const int *hops)
{
    start_tree(s);
    for (int i = 0; i < n_edges; i++)
        add_path(s, hops + hop_start[i], hop_start[i + 1] - hop_start[i]);
    cut_idle(s);
}

/* ---- nearest target first ---- */

/* The path into the node from the tree, in s->path from its start on; its length. */
static int path_to(struct espi_steiner *s, int node)
{
    int n = 0;
    for (int v = node; s->last[v] >= 0; v = s->net->g.tail[s->last[v]])
        n++;
    for (int v = node, i = n; i > 0; v = s->net->g.tail[s->last[v]])
        s->path[--i] = s->last[v];
    return n;
}

static double grow_tree(struct espi_steiner *s, const double *cost)
{
    const struct espi_flow_net *net = s->net;
    start_tree(s);
    for (;;) {
        int n_sources = 0, nearest = -1;
        for (int v = 0; v < net->g.n; v++)
            if (s->in_tree[v])
                s->source[n_sources++] = v;
        struct espi_dijkstra_query query = {cost, s->source, n_sources, NULL};
        espi_dijkstra(&s->dijkstra, &net->g, &query, s->distance, s->last);
        for (int i = 0; i < net->n_targets; i++) {
            int t = net->targets[i];
            if (!s->in_tree[t] && (nearest < 0 || s->distance[t] < s->distance[nearest]))
                nearest = t;
        }
        if (nearest < 0)
            break;
        if (!isfinite(s->distance[nearest]))
            return INFINITY;
        int length = path_to(s, nearest);
        add_path(s, s->path, length);
    }
    return espi_steiner_cost(&s->tree, cost);
}

/* ---- arborescences ---- */

/* s->tree from the arc into each host, breadth first. */
static void from_parents(struct espi_steiner *s)
{
    const struct espi_digraph *g = &s->net->g;
    int count = 0;
    start_tree(s);
    s->order[count++] = s->net->root;
    for (int i = 0; i < count; i++) {
        int u = s->order[i];
        for (int k = g->out.start[u]; k < g->out.start[u + 1]; k++) {
            int e = g->out.item[k];
            if (s->parent_arc[g->head[e]] != e)
                continue;
            add_path(s, &e, 1);
            s->order[count++] = g->head[e];
        }
    }
    cut_idle(s);
}

double espi_steiner_prune(struct espi_steiner *s, const double *cost)
{
    if (s->switched ||
        espi_arborescence(&s->arb, s->net->root, cost, s->parent_arc, NULL))
        return INFINITY;
    from_parents(s);
    return espi_steiner_cost(&s->tree, cost);
}

static void copy_tree(struct espi_steiner_tree *to, const struct espi_steiner_tree *from)
{
    int n = from->n_edges;
    to->n_edges = n;
    memcpy(to->from, from->from, (size_t)n * sizeof *to->from);
    memcpy(to->to, from->to, (size_t)n * sizeof *to->to);
    memcpy(to->hop_start, from->hop_start, ((size_t)n + 1) * sizeof *to->hop_start);
    memcpy(to->hops, from->hops, (size_t)from->hop_start[n] * sizeof *to->hops);
}

/* The cheapest arborescence over the hosts of the tree alone: others get an arc from the
 * root for nothing, by way of their cheapest arc in, and are cut off afterwards. */
static double repair(struct espi_steiner *s, const double *cost)
{
    const struct espi_digraph *g = &s->net->g;
    memset(s->member, 0, (size_t)g->n);
    s->member[s->net->root] = 1;
    for (int i = 0; i < s->tree.n_edges; i++)
        s->member[s->tree.to[i]] = 1;
    for (int e = 0; e < g->m; e++) {
        int to_member = s->member[g->head[e]], from_member = s->member[g->tail[e]];
        s->cost[e] = !to_member ? 0 : from_member ? cost[e] : INFINITY;
    }
    if (espi_arborescence(&s->arb, s->net->root, s->cost, s->parent_arc, NULL))
        return INFINITY;
    from_parents(s);
    return espi_steiner_cost(&s->tree, cost);
}

double espi_steiner_grow(struct espi_steiner *s, const double *cost)
{
    double best = grow_tree(s, cost);
    while (!s->switched && isfinite(best)) {
        copy_tree(&s->spare, &s->tree);
        double now = repair(s, cost);
        if (!(now < best * (1 - 1e-12))) {
            copy_tree(&s->tree, &s->spare);
            break;
        }
        best = now;
    }
    return best;
}

/* ---- exact ---- */

int espi_steiner_can_exact(const struct espi_flow_net *net)
{
    return net->n_targets <= ESPI_STEINER_TARGETS &&
           espi_power(3, net->n_targets) * net->g.n <= ESPI_STEINER_WORK;
}

int espi_steiner_init_exact(struct espi_steiner *s, struct espi_arena *arena)
{
    size_t states = ((size_t)1 << s->net->n_targets) * (size_t)s->net->g.n;
    s->best = ESPI_ARENA_NEW(arena, double, states);
    s->how = ESPI_ARENA_NEW(arena, int, states);
    return s->best && s->how ? 0 : -1;
}

/* Two branches from the same host; switches do not branch. */
static void join_branches(struct espi_steiner *s, unsigned set)
{
    size_t n = (size_t)s->net->g.n;
    double *best = s->best + set * n;
    for (unsigned part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
        const double *a = s->best + part * n, *b = s->best + (set ^ part) * n;
        for (int v = 0; v < (int)n; v++)
            if (a[v] + b[v] < best[v] && !espi_is_switch(s->net->p, v)) {
                best[v] = a[v] + b[v];
                s->how[set * n + (size_t)v] = -1 - (int)part;
            }
    }
}

/* A link first: shortest paths against the links, from what is known of each node. */
static void extend(struct espi_steiner *s, unsigned set, const double *cost)
{
    const struct espi_digraph *g = &s->net->g;
    double *best = s->best + (size_t)set * (size_t)g->n;
    int *how = s->how + (size_t)set * (size_t)g->n;
    memset(s->in_tree, 0, (size_t)g->n);
    for (;;) { /* n is small: no heap */
        int u = -1;
        for (int v = 0; v < g->n; v++)
            if (!s->in_tree[v] && isfinite(best[v]) && (u < 0 || best[v] < best[u]))
                u = v;
        if (u < 0)
            return;
        s->in_tree[u] = 1;
        for (int k = g->in.start[u]; k < g->in.start[u + 1]; k++) {
            int e = g->in.item[k], w = g->tail[e];
            if (!s->in_tree[w] && best[u] + cost[e] < best[w]) {
                best[w] = best[u] + cost[e];
                how[w] = e;
            }
        }
    }
}

struct branch {
    int node;
    unsigned set;
};

/* Writes the links of the cheapest tree down, from the root on, in s->tree. */
static void trace(struct espi_steiner *s)
{
    const struct espi_flow_net *net = s->net;
    size_t n = (size_t)net->g.n;
    struct branch stack[64];
    int depth = 0;
    start_tree(s);
    stack[depth++] = (struct branch){net->root, (1u << net->n_targets) - 1};
    while (depth > 0) {
        struct branch b = stack[--depth];
        int length = 0;
        for (;;) {
            /* The target here is served; what is left goes on. */
            int how = s->how[b.set * n + (size_t)b.node];
            if (how == INT32_MAX)
                break;
            if (how < 0) {
                stack[depth++] = (struct branch){b.node, b.set ^ (unsigned)(-1 - how)};
                b.set = (unsigned)(-1 - how);
                continue;
            }
            s->path[length++] = how;
            b.node = net->g.head[how];
            if (!espi_is_switch(net->p, b.node)) {
                add_path(s, s->path, length);
                length = 0;
            }
        }
    }
    cut_idle(s);
}

double espi_steiner_exact(struct espi_steiner *s, const double *cost)
{
    const struct espi_flow_net *net = s->net;
    size_t n = (size_t)net->g.n;
    unsigned all = (1u << net->n_targets) - 1;
    for (unsigned set = 1; set <= all; set++) {
        double *best = s->best + set * n;
        for (size_t v = 0; v < n; v++) {
            best[v] = INFINITY;
            s->how[set * n + v] = INT32_MAX;
        }
        if (!(set & (set - 1)))
            best[net->targets[__builtin_ctz(set)]] = 0;
        else
            join_branches(s, set);
        extend(s, set, cost);
    }
    double least = s->best[all * n + (size_t)net->root];
    if (isfinite(least))
        trace(s);
    return least;
}
