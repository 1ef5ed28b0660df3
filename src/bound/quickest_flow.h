/* How soon all bytes of a message can be with one target, whatever the plan. */
#ifndef ESPI_BOUND_QUICKEST_FLOW_H
#define ESPI_BOUND_QUICKEST_FLOW_H

#include "bound/makespan_bound.h"

/* Raises *end_s, before which so many bytes are not all from the root with the target,
 * where more can be proven. Does nothing where there are switches, or nothing is known of
 * when a byte uses what it needs. */
esp_status espi_quickest_flow_s(const struct espi_cut_net *net, int root, int target,
                                double bytes, double *end_s, struct esp_err *err);

#endif
