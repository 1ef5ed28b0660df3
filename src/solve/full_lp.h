/* The whole program of a broadcast's steady state, as it stands in the paper: a flow to
 * each target. The judge of the other methods on small platforms. */
#ifndef ESPI_SOLVE_FULL_LP_H
#define ESPI_SOLVE_FULL_LP_H

#include "base/arena.h"
#include "platform/view.h"

/* The optimal rate in slices a second, and in price (room for v->links.n, may be NULL)
 * what each resource has in it, sum 1. ESP_EUNSUPPORTED when the program is too large, or
 * did not end within time_limit_s (0: none). */
esp_status espi_full_lp_solve(const struct espi_view *v, int root, double time_limit_s,
                              struct espi_arena *arena, double *rate, double *price,
                              struct esp_err *err);

#endif
