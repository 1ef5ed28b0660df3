/* The best rates of some given trees. */
#ifndef ESPI_COST_MIX_H
#define ESPI_COST_MIX_H

#include "cost/packing.h"

/* Sets tree[i].rate for i < count so that their sum, which is returned, is as large as
 * the resources allow; rates may be 0. Loads are kept exactly: no resource is used for
 * more than the whole time but for rounding. Returns -1 when out of memory or when the
 * program could not be solved. */
double espi_mix_rates(const struct espi_view *v, struct espi_packing_tree *tree,
                      int count, struct espi_arena *arena);

#endif
