/* Directed graphs as flat arrays, and the index of the arcs of each node. Parallel arcs
 * and self-loops may be there: the kernels of this room take the first as they are and
 * pass over the second. */
#ifndef ESPI_GRAPH_CSR_H
#define ESPI_GRAPH_CSR_H

#include "base/arena.h"

/* Lists of ints, one after the other: row i is item[start[i] .. start[i+1]). */
struct espi_rows {
    int *start;
    int *item;
};

/* Nodes 0..n-1, arcs 0..m-1. Everything is borrowed: the arrays outlive the graph. */
struct espi_digraph {
    int n, m;
    const int *tail, *head;
    struct espi_rows out, in; /* node -> arcs, by arc number */
};

/* Sorts the items 0..m-1 into the rows key[item], each in 0..n-1; stable, so that each
 * row is in increasing order. The arrays of rows are the caller's: n + 1 and m ints.
 * O(n + m). */
void espi_rows_fill(struct espi_rows *rows, int n, int m, const int *key);

/* The same, with memory from the arena; -1 when out of memory. */
int espi_rows_build(struct espi_rows *rows, int n, int m, const int *key,
                    struct espi_arena *arena);

/* A graph over the caller's arrays, with its two indexes built in the arena; -1 when out
 * of memory. */
int espi_digraph_init(struct espi_digraph *g, int n, int m, const int *tail,
                      const int *head, struct espi_arena *arena);

#endif
