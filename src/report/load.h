/* How busy a plan keeps the parts of the network. */
#ifndef ESPI_REPORT_LOAD_H
#define ESPI_REPORT_LOAD_H

#include <espalier/plan.h>

#include "platform/resources.h"

struct espi_load {
    const struct esp_platform *p;
    struct espi_resources resources;
    double *busy_s; /* resource -> how long it is held for each slice of the message */
    double most_s;  /* the busiest */
};

/* Of a plan in slices of that many bytes; memory from the arena, -1 when out of it. */
int espi_load_init(struct espi_load *load, const struct esp_platform *p,
                   const struct esp_plan *plan, double slice_bytes,
                   struct espi_arena *arena);

/* Of the busiest resource's time, what the node's busiest port has; in the
 * capacity model, its busiest link. */
double espi_load_of_node(const struct espi_load *load, int node);

#endif
