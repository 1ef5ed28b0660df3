#include "algo/pipelined/pruner.h"

#include <string.h>

/* A breadth-first tree: flat, so that climbs are short. */
static void first_certificate(struct espi_pruner *p)
{
    const struct espi_digraph *g = p->g;
    int size = 0;
    for (int v = 0; v < g->n; v++)
        p->parent_arc[v] = -1;
    p->queue[size++] = p->root;
    for (int i = 0; i < size; i++) {
        int u = p->queue[i];
        for (int k = g->out.start[u]; k < g->out.start[u + 1]; k++) {
            int e = g->out.item[k], v = g->head[e];
            if (v == p->root || p->parent_arc[v] >= 0)
                continue;
            p->parent_arc[v] = e;
            p->queue[size++] = v;
        }
    }
}

int espi_pruner_init(struct espi_pruner *p, const struct espi_digraph *g, int root,
                     struct espi_arena *a)
{
    *p = (struct espi_pruner){.g = g, .root = root, .n_left = g->m};
    p->parent_arc = ESPI_ARENA_NEW(a, int, g->n);
    p->removed = ESPI_ARENA_NEW(a, int, g->m);
    p->in_item = ESPI_ARENA_NEW(a, int, g->m);
    p->in_place = ESPI_ARENA_NEW(a, int, g->m);
    p->in_count = ESPI_ARENA_NEW(a, int, g->n);
    p->met = ESPI_ARENA_ZNEW(a, int, g->n);
    p->below = ESPI_ARENA_ZNEW(a, int, g->n);
    p->outside = ESPI_ARENA_ZNEW(a, int, g->n);
    p->queue = ESPI_ARENA_NEW(a, int, g->n);
    p->via = ESPI_ARENA_NEW(a, int, g->n);
    if (!p->parent_arc || !p->removed || !p->in_item || !p->in_place || !p->in_count ||
        !p->met || !p->below || !p->outside || !p->queue || !p->via)
        return -1;
    if (g->m)
        memcpy(p->in_item, g->in.item, (size_t)g->m * sizeof *p->in_item);
    for (int k = 0; k < g->m; k++)
        p->in_place[p->in_item[k]] = k;
    for (int v = 0; v < g->n; v++)
        p->in_count[v] = g->in.start[v + 1] - g->in.start[v];
    first_certificate(p);
    return 0;
}

/* Does the node hang below the one whose tree arc is to go? */
static int hangs_below(struct espi_pruner *p, int node)
{
    const int *tail = p->g->tail;
    int top = node;
    while (p->below[top] != p->search && p->outside[top] != p->search)
        top = tail[p->parent_arc[top]];
    int below = p->below[top] == p->search;
    int *side = below ? p->below : p->outside;
    for (; node != top; node = tail[p->parent_arc[node]])
        side[node] = p->search;
    return below;
}

/* Hangs the nodes from `node` to v on the way that the search found. */
static void rehang(struct espi_pruner *p, int node, int v)
{
    while (node != v) {
        int e = p->via[node];
        node = p->g->head[e];
        p->parent_arc[node] = e;
    }
}

/* Finds another way to the head of a tree arc and puts it into the tree. */
static int find_detour(struct espi_pruner *p, int arc)
{
    const struct espi_digraph *g = p->g;
    int v = g->head[arc], size = 0;
    p->search++;
    p->met[v] = p->below[v] = p->outside[p->root] = p->search;
    p->queue[size++] = v;
    for (int i = 0; i < size; i++) {
        int x = p->queue[i];
        for (int k = g->in.start[x]; k < g->in.start[x] + p->in_count[x]; k++) {
            int e = p->in_item[k], w = g->tail[e];
            if (e == arc || p->met[w] == p->search)
                continue;
            p->met[w] = p->search;
            p->via[w] = e;
            if (!hangs_below(p, w)) {
                rehang(p, w, v);
                return 1;
            }
            p->queue[size++] = w;
        }
    }
    return 0;
}

int espi_prune_arc(struct espi_pruner *p, int arc)
{
    int v = p->g->head[arc];
    if (p->parent_arc[v] == arc && (p->in_count[v] == 1 || !find_detour(p, arc)))
        return 0;
    int last = p->in_item[p->g->in.start[v] + --p->in_count[v]];
    p->in_item[p->in_place[arc]] = last;
    p->in_place[last] = p->in_place[arc];
    p->removed[p->n_removed++] = arc;
    p->n_left--;
    return 1;
}

void espi_prune_in_order(struct espi_pruner *p, const int *arcs)
{
    /* An arc that cannot be spared now never can: one pass is enough. */
    for (int i = 0; p->n_left > p->g->n - 1; i++)
        espi_prune_arc(p, arcs[i]);
}
