#include "graph/parallel_arcs.h"

#include <stdlib.h>

static int compare_arcs(const void *x, const void *y)
{
    const struct espi_parallel_arc *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

int espi_parallel_arcs_init(struct espi_parallel_arcs *p, struct espi_parallel_arc *arc,
                            int n, int n_nodes, struct espi_arena *arena)
{
    p->n = 0;
    p->start = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    p->id = ESPI_ARENA_NEW(arena, int, n);
    p->node_start = ESPI_ARENA_ZNEW(arena, int, (size_t)n_nodes + 1);
    if (!p->start || !p->id || !p->node_start)
        return -1;
    qsort(arc, (size_t)n, sizeof *arc, compare_arcs);
    for (int i = 0; i < n; i++) {
        if (i == 0 || arc[i].from != arc[i - 1].from || arc[i].to != arc[i - 1].to) {
            p->start[p->n++] = i;
            p->node_start[arc[i].from + 1]++;
        }
        p->id[i] = arc[i].id;
    }
    p->start[p->n] = n;
    for (int v = 0; v < n_nodes; v++)
        p->node_start[v + 1] += p->node_start[v];
    return 0;
}
