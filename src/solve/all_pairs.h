/* The best paths of all pairs: every host sends as much to every other, and the busiest
 * resource is busy for the least time.
 *
 *   minimise period   such that   for each pair: shares of its paths sum to 1, and
 *                     for each resource: what paths take of it <= period
 *
 * the multicommodity flow of all pairs, by column generation. Results are the paths, and
 * prices of the resources that prove the bound: no plan takes less time than all pairs
 * pay together over their cheapest paths. */
#ifndef ESPI_SOLVE_ALL_PAIRS_H
#define ESPI_SOLVE_ALL_PAIRS_H

#include "solve/flow_net.h"
#include "solve/solve_budget.h"

struct espi_all_pairs_options {
    double gap;          /* between period and bound at which to stop; 0: the usual one */
    double time_limit_s; /* 0: none */
    double work_limit;   /* 0: none */
    int bound_only;      /* paths are not asked for */
};

struct espi_pair_path {
    int from, to;  /* nodes */
    double weight; /* of what the pair has */
    int n_hops;
    const int *hops; /* links */
};

struct espi_all_pairs {
    double period_s; /* with these paths, for a slice from each host to each other */
    double bound_s;  /* no plan takes less */
    double *price;   /* of resources, sum 1: they prove the bound */
    int n_paths;     /* those of a pair together, weights of a pair summing to 1 */
    struct espi_pair_path *path;
};

/* The root and the targets of the net do not matter. Results are in the arena. */
esp_status espi_all_pairs_solve(const struct espi_flow_net *net,
                                const struct espi_all_pairs_options *options,
                                struct espi_arena *arena, struct espi_all_pairs *out,
                                struct esp_err *err);

#endif
