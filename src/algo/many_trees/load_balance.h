/* Trees of a mix turned to hosts and cables that have time to spare. */
#ifndef ESPI_ALGO_MANY_TREES_LOAD_BALANCE_H
#define ESPI_ALGO_MANY_TREES_LOAD_BALANCE_H

#include "solve/packing.h"

/* Changes who sends to whom in the trees, not their rates: resources that are less than
 * full get even loads, and trees get flatter. No resource becomes fuller than it may be,
 * so that the throughput stays. In place; new memory from the arena. -1 when out of
 * memory. */
int espi_balance_loads(const struct espi_view *v, int root, struct espi_packing *packing,
                       struct espi_arena *arena);

#endif
