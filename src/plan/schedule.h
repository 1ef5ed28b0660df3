/* Schedules as parts of plans. */
#ifndef ESPI_PLAN_SCHEDULE_H
#define ESPI_PLAN_SCHEDULE_H

#include <espalier/plan.h>

#include "base/json_pull.h"

void espi_schedule_free(struct esp_schedule *schedule);

/* Can the schedule be followed? The plan's trees have been checked. */
esp_status espi_schedule_check(const struct esp_schedule *s, const struct esp_plan *plan,
                               const struct esp_platform *p, struct esp_err *err);

/* Reads the value of a plan's member "schedule"; *n_trees gets the length of
 * tree_slices. On failure *out is untouched and the reader says what was wrong. */
esp_status espi_schedule_read(struct espi_json *json, struct esp_schedule **out,
                              int *n_trees);

#endif
