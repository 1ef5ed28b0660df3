/* How a message is best shared out among given trees. */
#ifndef ESPI_ALGO_PACKING_SHARE_H
#define ESPI_ALGO_PACKING_SHARE_H

#include <espalier/status.h>

#include "base/arena.h"

/* The weights (>= 0, sum 1) of n trees, load_s[i] being the loads of tree i on the
 * n_resources resources, for which the largest load of all together is least; that load
 * in *period_s. A linear program of n + 1 columns. */
esp_status espi_share(int n, int n_resources, const double *const *load_s,
                      struct espi_arena *arena, double *weight, double *period_s,
                      struct esp_err *err);

#endif
