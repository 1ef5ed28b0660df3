/* Shortest paths from one or several sources. */
#ifndef ESPI_GRAPH_DIJKSTRA_H
#define ESPI_GRAPH_DIJKSTRA_H

#include "base/heap.h"
#include "graph/csr.h"

struct espi_dijkstra {
    struct espi_heap heap;
    unsigned char *settled;
};

/* Work space for graphs of at most n nodes; -1 when out of memory. */
int espi_dijkstra_init(struct espi_dijkstra *w, int n, struct espi_arena *arena);

struct espi_dijkstra_query {
    const double *weight; /* of each arc, >= 0; infinity: the arc is not there */
    const int *source;
    int n_sources;
    const unsigned char *may_pass; /* nodes that may stand between; NULL: all */
};

/* Fills distance[n] (infinity: not reached) and last_arc[n], the arc by which a shortest
 * path enters the node (-1 for sources and nodes not reached; the last arcs are a
 * forest). Returns the number of nodes reached. Among equal paths the last arc comes from
 * the node of the lowest index of those settled earlier, and of its arcs is the first.
 * A node that may not pass is reached but not left, and settled last; sources always are
 * left. */
int espi_dijkstra(struct espi_dijkstra *w, const struct espi_digraph *g,
                  const struct espi_dijkstra_query *query, double *distance,
                  int *last_arc);

/* The same in parts: start, then ask for one node after the other. When a node was asked
 * for, what is known of it and of the path to it is final; the rest may not be. */
void espi_dijkstra_start(struct espi_dijkstra *w, const struct espi_digraph *g,
                         const struct espi_dijkstra_query *query, double *distance,
                         int *last_arc);
void espi_dijkstra_reach(struct espi_dijkstra *w, const struct espi_digraph *g,
                         const struct espi_dijkstra_query *query, int node,
                         double *distance, int *last_arc);

#endif
