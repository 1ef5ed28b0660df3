/* The shortest path between two nodes, without looking at all of the graph. */
#ifndef ESPI_GRAPH_ROUTER_H
#define ESPI_GRAPH_ROUTER_H

#include "base/heap.h"
#include "graph/csr.h"

/* One of the two searches, forward from the source or backward from the target. */
struct espi_router_side {
    struct espi_heap heap;
    double *distance;
    int *state; /* 2 * round: seen, 2 * round + 1: settled, in that round */
    /* of each arc in the rows that it follows, as they stand there; NULL: not gathered */
    const double *row_weight;
    const int *row_end;
};

struct espi_router {
    const struct espi_digraph *g;
    const double *weight; /* of each arc, >= 0 */
    struct espi_router_side side[2];
    int *last_arc;
    int round;
    double best;     /* shortest path known so far */
    double reach[2]; /* distance of the node that a side settled last */
};

/* For many queries on one graph; memory from the arena, -1 when there is none. */
int espi_router_init(struct espi_router *r, const struct espi_digraph *g,
                     const double *weight, struct espi_arena *arena);

/* Lays weights and ends of arcs out as the searches look at them, for as many queries as
 * take longer than O(arcs). -1 when there is no memory. */
int espi_router_gather(struct espi_router *r, struct espi_arena *arena);

/* Writes the arcs of the path that espi_dijkstra would find (the same among equals) into
 * path[n - 1] and gives their number; -1: no path leads there. */
int espi_route_between(struct espi_router *r, int from, int to, int *path);

#endif
