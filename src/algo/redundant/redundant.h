/* What algorithms that make redundant plans share. */
#ifndef ESPI_ALGO_REDUNDANT_REDUNDANT_H
#define ESPI_ALGO_REDUNDANT_REDUNDANT_H

#include "algo/algo.h"

/* Single-tree algorithms that use arcs only; for the option `base`. */
#define ESPI_REDUNDANT_BASES "ecef|fef|look-ahead|mateescu"

struct espi_redundant {
    int base; /* index into the bases */
    int trees;
    int aware;
    double patience;
};

/* Makes the plan: the first tree by the base, the others beside it. */
esp_status espi_redundant_plan(const struct espi_task *task,
                               const struct espi_redundant *options,
                               struct esp_plan *plan, struct esp_err *err);

#endif
