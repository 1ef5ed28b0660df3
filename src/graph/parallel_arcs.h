/* Arcs between the same two nodes, put together. */
#ifndef ESPI_GRAPH_PARALLEL_ARCS_H
#define ESPI_GRAPH_PARALLEL_ARCS_H

#include "base/arena.h"

struct espi_parallel_arc {
    int from, to;
    int id; /* the caller's; smaller ones stand first */
};

struct espi_parallel_arcs {
    int n;           /* pairs of nodes with arcs from the one to the other */
    int *start, *id; /* pair -> its arcs, as rows */
    int *node_start; /* node -> the pairs of which it is the first, as rows */
};

/* Sorts arc[]. Everything lives in the arena; -1 when out of memory. O(n log n + nodes).
 */
int espi_parallel_arcs_init(struct espi_parallel_arcs *p, struct espi_parallel_arc *arc,
                            int n, int n_nodes, struct espi_arena *arena);

#endif
