/* What transfers share: the few limits that predict what was seen. */
#ifndef ESPI_MEASURE_EXPLAIN_H
#define ESPI_MEASURE_EXPLAIN_H

#include "measure/measured.h"

/* Adds them to the network, whose areas and ports are known, and marks the rounds that
 * should be run again; -1 when out of memory. */
int espi_measured_explain(struct espi_measured *net, struct espi_arena *arena);

#endif
