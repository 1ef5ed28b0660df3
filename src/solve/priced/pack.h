/* Trees from numbers of partitions on links. */
#ifndef ESPI_SOLVE_PRICED_PACK_H
#define ESPI_SOLVE_PRICED_PACK_H

#include "solve/priced/mix.h"

/* Cuts as many trees as the task has partitions from parts[e] partitions on each link,
 * keeps them in the pool and offers the mix of them: 1: it was better than best, 0: it
 * was not, or there are no such trees; -1: out of memory. */
int espi_priced_pack(struct espi_priced_model *m, struct espi_priced_pool *pool,
                     const int *parts, struct espi_arena *arena,
                     struct espi_priced_mix *best);

#endif
