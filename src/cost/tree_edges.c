/* Trees given by the links of each host, as transfers in an order that can run. */
#include <string.h>

#include "cost/cost.h"

/* Hosts breadth first from the root, in order; -1 when out of memory. */
static int walk_tree(const struct espi_view *v, int root, const int *hop_start,
                     const int *hops, int inward, struct espi_arena *a, int *order)
{
    int n = v->g.n, count = 1;
    int *parent = ESPI_ARENA_NEW(a, int, n);
    struct espi_rows kids;
    if (!parent)
        return -1;
    for (int h = 0; h < n; h++)
        parent[h] = h == root ? root
                    : inward  ? v->host[v->p->head[hops[hop_start[h + 1] - 1]]]
                              : v->host[v->p->tail[hops[hop_start[h]]]];
    if (espi_rows_build(&kids, n, n, parent, a))
        return -1;
    order[0] = root;
    for (int i = 0; i < count; i++)
        for (int k = kids.start[order[i]]; k < kids.start[order[i] + 1]; k++)
            if (kids.item[k] != root)
                order[count++] = kids.item[k];
    return 0;
}

int espi_edges_of(const struct espi_view *v, int root, const int *hop_start,
                  const int *hops, int inward, struct espi_arena *arena,
                  struct espi_edges *out)
{
    int n = v->g.n, *order = ESPI_ARENA_NEW(arena, int, n);
    struct espi_edges e = {.n = 0};
    e.start = ESPI_ARENA_ZNEW(arena, int, n);
    e.hops = ESPI_ARENA_NEW(arena, int, hop_start[n]);
    if (!order || !e.start || !e.hops ||
        walk_tree(v, root, hop_start, hops, inward, arena, order))
        return -1;
    for (int i = 1; i < n; i++) {
        int h = order[inward ? n - i : i], length = hop_start[h + 1] - hop_start[h];
        memcpy(e.hops + e.start[e.n], hops + hop_start[h], (size_t)length * sizeof *hops);
        e.start[e.n + 1] = e.start[e.n] + length;
        e.n++;
    }
    *out = e;
    return 0;
}
