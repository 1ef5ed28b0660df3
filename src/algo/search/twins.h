/* Hosts that differ in name only. */
#ifndef ESPI_ALGO_SEARCH_TWINS_H
#define ESPI_ALGO_SEARCH_TWINS_H

#include <stdint.h>

#include "platform/view.h"

/* twins[h] gets the set of hosts that could be exchanged with h without changing any
 * time, load or cable; the root has none. For at most 32 hosts. Finds none on platforms
 * with switches. O(n^3 degree). */
void espi_find_twins(const struct espi_view *v, int root, uint32_t *twins);

#endif
