#ifndef ESPI_SOLVE_PRICED_SMALL_H
#define ESPI_SOLVE_PRICED_SMALL_H

#include "solve/priced/mix.h"

/* On small networks and with few partitions, improves best by trying all plans there are,
 * and says so: *all. */
esp_status espi_priced_try_all(struct espi_priced_model *m, struct espi_priced_pool *pool,
                               struct espi_arena *arena, struct espi_priced_mix *best,
                               int *all, struct esp_err *err);

#endif
