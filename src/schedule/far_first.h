/* What goes far leaves first. */
#ifndef ESPI_SCHEDULE_FAR_FIRST_H
#define ESPI_SCHEDULE_FAR_FIRST_H

#include "plan/legs.h"
#include "schedule/round.h"

/* Fills lag[tree]: the rounds by which slices of the tree follow those of the one that
 * goes farthest. For scatters and alltoalls of the capacity model; 0 for all others. -1
 * when out of memory. O(trees * (resources + uses of legs)). */
int espi_far_first(const struct esp_platform *p, const struct espi_legs *legs,
                   const struct espi_round *round, const struct espi_round_options *o,
                   struct espi_arena *arena, int *lag);

#endif
