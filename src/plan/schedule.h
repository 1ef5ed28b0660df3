/* Schedules as parts of plans. */
#ifndef ESPI_PLAN_SCHEDULE_H
#define ESPI_PLAN_SCHEDULE_H

#include <espalier/plan.h>

#include "base/json_pull.h"

/* limit: rounds have no more slots, or one for each part of the message. */
#define ESPI_MAX_SLOTS 4096

/* limit: schedules have no more sends. */
enum { ESPI_MAX_SENDS = 1 << 25 };

/* How many rounds a send may lag behind, of so many in a round and so many on the longest
 * way from a root: as many as there is room for sends under way, and in any case a few
 * rounds, and two more for each step of the way. */
static inline int64_t espi_most_lag(int n_sends, int depth)
{
    enum { MAX_UNDER_WAY = 1 << 16, FEW_ROUNDS = 32 }; /* limit: of the format */
    return MAX_UNDER_WAY / (n_sends > 0 ? n_sends : 1) + FEW_ROUNDS + 2 * (int64_t)depth;
}

void espi_schedule_free(struct esp_schedule *schedule);

/* NULL when out of memory. */
struct esp_schedule *espi_schedule_copy(const struct esp_schedule *s, int n_trees);

/* Can the schedule be followed? The plan's trees have been checked. */
esp_status espi_schedule_check(const struct esp_schedule *s, const struct esp_plan *plan,
                               const struct esp_platform *p, struct esp_err *err);

/* Reads the value of a plan's member "schedule"; *n_trees gets the length of
 * tree_slices. On failure *out is untouched and the reader says what was wrong. */
esp_status espi_schedule_read(struct espi_json *json, struct esp_schedule **out,
                              int *n_trees);

#endif
