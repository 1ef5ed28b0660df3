#include "graph/reach.h"

#include <string.h>

static int walk_arcs(int n, const struct espi_rows *arcs, const int *far_end, int from,
                     const unsigned char *use, unsigned char *seen, int *order)
{
    int count = 0;
    memset(seen, 0, (size_t)n);
    seen[from] = 1;
    order[count++] = from;
    for (int i = 0; i < count; i++) {
        int u = order[i];
        for (int k = arcs->start[u]; k < arcs->start[u + 1]; k++) {
            int arc = arcs->item[k], v = far_end[arc];
            if (seen[v] || (use && !use[arc]))
                continue;
            seen[v] = 1;
            order[count++] = v;
        }
    }
    return count;
}

int espi_reach(const struct espi_digraph *g, int source, const unsigned char *use,
               unsigned char *seen, int *order)
{
    return walk_arcs(g->n, &g->out, g->head, source, use, seen, order);
}

int espi_reach_back(const struct espi_digraph *g, int target, const unsigned char *use,
                    unsigned char *seen, int *order)
{
    return walk_arcs(g->n, &g->in, g->tail, target, use, seen, order);
}
