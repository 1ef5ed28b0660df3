/* Which tree each partition takes: the best mix of the trees found so far as a linear
 * program, whose prices ask for further trees; then partitions are given to trees, whole
 * ones first, and the program is solved again for the rest. */
#ifndef ESPI_SOLVE_PRICED_MIX_H
#define ESPI_SOLVE_PRICED_MIX_H

#include "solve/priced/bound.h"
#include "solve/priced/trees.h"

struct espi_priced_mix {
    struct espi_priced_value value;
    double *share; /* by tree of the pool, of the first n */
    size_t room;
    int n;
};

/* Improves best, which may hold a mix already (value.objective infinite: it does not);
 * then some partitions are given trees anew, the others held, until `around` times in
 * a row that was of no use. For
 * tasks without a budget. */
esp_status espi_priced_mix(struct espi_priced_model *m,
                           const struct espi_priced_bound *bound,
                           struct espi_priced_pool *pool, int around,
                           struct espi_arena *arena, struct espi_priced_mix *best,
                           struct esp_err *err);

/* Takes the mix of these shares, if it is better; 1: it was, -1: out of memory. */
int espi_priced_mix_offer(struct espi_priced_model *m,
                          const struct espi_priced_pool *pool, const double *share, int n,
                          struct espi_priced_mix *best);

#endif
