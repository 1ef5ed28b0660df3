/* How soon parts of a message can be with their targets, whatever the plan: flows and
 * latencies together. */
#ifndef ESPI_BOUND_PART_TIMES_H
#define ESPI_BOUND_PART_TIMES_H

#include "bound/makespan_bound.h"
#include "solve/flow_net.h"

struct espi_part_times {
    const struct espi_cut_net *net;
    const struct espi_flow_net *flows; /* relaxed; a slice is the part of a target */
    const double *from_s;              /* from the root, by node */
    double *before_s, *after_s;        /* by link; scratch */
};

/* Raises *end_s, before which nothing ends, where more can be proven. */
esp_status espi_parts_s(const struct espi_part_times *t, double *end_s,
                        struct esp_err *err);

#endif
