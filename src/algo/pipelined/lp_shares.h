/* What the optimal steady state sends over each arc, for trees that follow it. */
#ifndef ESPI_ALGO_PIPELINED_LP_SHARES_H
#define ESPI_ALGO_PIPELINED_LP_SHARES_H

#include "algo/algo.h"

/* share[e], of all arcs of the view: the part of the slices that crosses arc e in the
 * optimum of least total time, in steps of 1e-7 so that rounding decides no tie. Sets the
 * plan's bound. NULL: see *st. */
long *espi_lp_shares(const struct espi_task *task, struct esp_plan *plan, esp_status *st,
                     struct esp_err *err);

#endif
