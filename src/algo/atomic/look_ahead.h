/* The look-ahead values that are means; see look_ahead.c. */
#ifndef ESPI_ALGO_ATOMIC_LOOK_AHEAD_H
#define ESPI_ALGO_ATOMIC_LOOK_AHEAD_H

#include "algo/algo.h"

/* The slowest arc: what a missing one counts as. */
double espi_slowest_s(const struct espi_view *v);

/* Look-ahead avg, or set; adds the tree to the plan. */
esp_status espi_look_ahead_mean(const struct espi_task *task, int set,
                                struct esp_plan *plan, struct esp_err *err);

#endif
