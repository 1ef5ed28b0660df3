/* What the search for the best paths of all pairs and their mix share. */
#ifndef ESPI_SOLVE_ALL_PAIRS_IMPL_H
#define ESPI_SOLVE_ALL_PAIRS_IMPL_H

#include "solve/all_pairs.h"

/* A path for every pair of one sender: the links by which they come. */
struct espi_pairs_column {
    int source;   /* which of the hosts */
    int *into;    /* node -> the last link of the path to it */
    double share; /* of the best mix; those of a source sum to 1 / hosts */
};

/* The paths of the columns that have a share, each once, with weights that sum to 1 for
 * each pair, and the period with them; where there are few pairs those of the vertex of a
 * program with a row for each, so that few pairs are split. */
esp_status espi_pairs_take_paths(const struct espi_flow_net *net, const int *host, int n,
                                 const struct espi_pairs_column *columns, size_t count,
                                 struct espi_arena *arena, struct espi_all_pairs *out,
                                 struct esp_err *err);

#endif
