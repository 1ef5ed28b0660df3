/* Fair shares: rates of flows that share resources, as TCP comes close to. */
#ifndef ESPI_MEASURE_MAX_MIN_FAIR_H
#define ESPI_MEASURE_MAX_MIN_FAIR_H

#include "base/arena.h"

/* Flow f uses resources item[start[f]] .. item[start[f + 1] - 1], each at least one. */
struct espi_max_min_fair {
    int n_flows, n_resources;
    const int *start, *item;
    const double *capacity;
};

/* Max-min fair rates: the fullest resource is divided evenly among its flows, they are
 * settled, and so on. O(resources x flows) at worst. -1 when out of memory. */
int espi_max_min_fair_rates(const struct espi_max_min_fair *fair, double *rate,
                            struct espi_arena *arena);

#endif
