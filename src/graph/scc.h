/* Strongly connected components. */
#ifndef ESPI_GRAPH_SCC_H
#define ESPI_GRAPH_SCC_H

#include "graph/csr.h"

/* Work space for graphs of at most n nodes. */
struct espi_scc {
    int *low, *number, *stack, *call, *next;
};

int espi_scc_init(struct espi_scc *w, int n, struct espi_arena *arena);

/* Fills component[n] with numbers 0..count-1 and returns count. Only arcs with
 * use[arc] != 0 are there; NULL: all. Numbers are in reverse topological order: an arc
 * between components leads to a smaller number. O(n + m). */
int espi_scc(struct espi_scc *w, const struct espi_digraph *g, const unsigned char *use,
             int *component);

#endif
