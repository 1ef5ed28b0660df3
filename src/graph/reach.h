/* Which nodes can be reached. */
#ifndef ESPI_GRAPH_REACH_H
#define ESPI_GRAPH_REACH_H

#include "graph/csr.h"

/* Nodes that a path from source leads to, the source among them, in breadth-first order
 * in order[] (room for n ints); seen[node] is 1 for these and 0 for the others. Only arcs
 * with use[arc] != 0 are walked; NULL: all. Returns how many. O(n + m). */
int espi_reach(const struct espi_digraph *g, int source, const unsigned char *use,
               unsigned char *seen, int *order);

/* The same against the arcs: nodes from which a path leads to the target. */
int espi_reach_back(const struct espi_digraph *g, int target, const unsigned char *use,
                    unsigned char *seen, int *order);

#endif
