/* The best allreduce: pairs of trees, one towards a host and one from it. */
#ifndef ESPI_SOLVE_ALLREDUCE_H
#define ESPI_SOLVE_ALLREDUCE_H

#include "base/arena.h"
#include "platform/view.h"

/* Along `in` the part of the message is combined on its way to the root, along `out` it
 * goes from there to all. The links of host h are hops[start[h] .. start[h+1]): from it
 * in `in`, to it in `out`, none for the root. */
struct espi_tree_pair {
    double weight; /* of the message, sum 1 */
    int root;      /* host */
    int *in_start, *in_hops;
    int *out_start, *out_hops;
};

struct espi_allreduce {
    int n_pairs;
    struct espi_tree_pair *pair; /* heaviest first */
    double period_s;             /* seconds a slice of the message */
    double bound_s;              /* no mix of pairs has a shorter period */
    int rounds;
};

struct espi_allreduce_options {
    double gap;          /* stop at period / bound - 1 <= gap; 0: ESPI_PAIRS_GAP */
    double time_limit_s; /* then the best so far; 0: none */
    double max_trees;    /* that are looked at; then the best so far; 0: any number */
};

/* Of all plans that combine each part of the message at some one host and send it to the
 * others from there, the best. Every host must reach every other. Results are in the
 * arena. */
esp_status espi_allreduce_solve(const struct espi_view *v,
                                const struct espi_allreduce_options *options,
                                struct espi_arena *arena, struct espi_allreduce *out,
                                struct esp_err *err);

#endif
