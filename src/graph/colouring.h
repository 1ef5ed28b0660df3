/* Edges of a weighted bipartite graph shared out over matchings. */
#ifndef ESPI_GRAPH_COLOURING_H
#define ESPI_GRAPH_COLOURING_H

#include <stdint.h>

#include "graph/matching.h"

/* Matchings one after the other: number i lasts ticks[i] and holds the edges
 * edge[start[i] .. start[i+1]). */
struct espi_colouring {
    int n;
    int64_t total; /* of all ticks: the largest weight of a vertex */
    int64_t *ticks;
    int *start, *edge;
};

/* Edge e joins end_left[e] and end_right[e] and is in matchings that last weight[e] ticks
 * in all (not negative; all together below 2^62). The matchings last as long as the
 * heaviest vertex weighs, which no other set of matchings undercuts (Koenig). Memory from
 * the arena; -1 when out of memory. */
int espi_colouring_init(struct espi_colouring *c, int n_left, int n_right, int n_edges,
                        const int *end_left, const int *end_right, const int64_t *weight,
                        struct espi_arena *arena);

#endif
