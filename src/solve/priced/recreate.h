/* Plans of whole partitions within a deadline, made cheaper by taking some partitions out
 * and sending them anew. */
#ifndef ESPI_SOLVE_PRICED_RECREATE_H
#define ESPI_SOLVE_PRICED_RECREATE_H

#include "solve/priced/mix.h"

/* Improves best, which meets the deadline, by trees that it keeps in the pool. */
esp_status espi_priced_recreate(struct espi_priced_model *m,
                                struct espi_priced_pool *pool, struct espi_arena *arena,
                                struct espi_priced_mix *best, struct esp_err *err);

#endif
