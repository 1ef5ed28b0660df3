/* The optimal packing of trees as a plan. */
#ifndef TESTS_SUPPORT_PACKED_PLAN_H
#define TESTS_SUPPORT_PACKED_PLAN_H

#include <espalier/espalier.h>

/* From node 0, with slices of that size, for a message of n_slices; *bound (may be NULL)
 * gets the slices a second that no plan beats. */
struct esp_plan *packed_plan(const struct esp_platform *p, double slice_bytes,
                             double n_slices, double *bound);

#endif
