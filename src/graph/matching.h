/* Matchings in bipartite graphs. */
#ifndef ESPI_GRAPH_MATCHING_H
#define ESPI_GRAPH_MATCHING_H

#include "graph/csr.h"

/* One side of the graph as the search sees it. */
struct espi_matching_side {
    int n;
    struct espi_rows edges; /* vertex -> its edges */
    const int *end;         /* edge -> its vertex on this side */
    int *mate;              /* vertex -> the edge that covers it, -1 when none */
};

/* Work space for one graph; each call brings its own mask of edges. */
struct espi_matching {
    struct espi_matching_side left, right;
    int *level, *next, *queue, *path; /* for the larger side */
    int *first_left, *first_right;    /* the first of two matchings to be merged */
    unsigned char *pick;              /* left vertex -> 1: take it from the first */
};

/* Edges join end_left[e] in 0..n_left-1 and end_right[e] in 0..n_right-1; the two arrays
 * outlive the work space. -1 when out of memory. */
int espi_matching_init(struct espi_matching *w, int n_left, int n_right, int n_edges,
                       const int *end_left, const int *end_right,
                       struct espi_arena *arena);

/* A matching of maximum cardinality among the edges with use[e] != 0 (NULL: all).
 * Returns its size; w->left.mate and w->right.mate hold it. O(m sqrt n). */
int espi_matching_max(struct espi_matching *w, const unsigned char *use);

/* A matching that covers every left vertex with need_left[v] != 0 and every right vertex
 * with need_right[v] != 0. Returns its size, or -1 when there is none (the mates are then
 * of no use). It need not be of maximum cardinality: espi_matching_extend makes it so. */
int espi_matching_cover(struct espi_matching *w, const unsigned char *use,
                        const unsigned char *need_left, const unsigned char *need_right);

/* Grows the matching of the call before, of the same or more edges, to maximum
 * cardinality. What is covered stays covered. Returns its size. */
int espi_matching_extend(struct espi_matching *w, const unsigned char *use);

#endif
