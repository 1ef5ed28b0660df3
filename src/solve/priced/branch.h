/* Branch and cut over whole partitions, whole machines and time. */
#ifndef ESPI_SOLVE_PRICED_BRANCH_H
#define ESPI_SOLVE_PRICED_BRANCH_H

#include "solve/priced/mix.h"
#include "solve/priced/whole.h"

struct espi_priced_proof {
    double good_enough; /* asked: the search ends with a plan that has this or less */
    double effort;      /* asked: what may be spent, as ESPI_PRICED_EFFORT */
    double bound;       /* no plan of the task has less; infinite: there is none */
    int nodes;
};

/* Improves best (value.objective infinite: none is known) and the proof until they agree
 * or the work is spent. For tasks without a budget. */
esp_status espi_priced_branch(struct espi_priced_model *m,
                              const struct espi_priced_bound *plain,
                              struct espi_priced_pool *pool, struct espi_priced_mix *best,
                              struct espi_priced_proof *proof, struct esp_err *err);

#endif
