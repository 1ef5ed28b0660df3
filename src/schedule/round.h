/* Rounds: how many slices of the message travel along each tree before all starts over.
 */
#ifndef ESPI_SCHEDULE_ROUND_H
#define ESPI_SCHEDULE_ROUND_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "platform/platform.h"

struct espi_round {
    int slots;
    int *count; /* by tree; sums to slots */
};

/* What plans are scheduled with unless told otherwise: two parts in a thousand of the
 * throughput are given for a short round. */
#define ESPI_MAX_SLOTS       1024
#define ESPI_ROUND_TOLERANCE 2e-3

struct espi_round_options {
    int64_t n_slices;
    int max_slots;
    double slice_bytes; /* for the loads */
    double tolerance;   /* how much longer a slice may take than with exact shares */
    int depth;          /* of the trees: long rounds take long to fill; 0: never mind */
};

/* Chooses a round, up to max_slots and up to the number of slices, in which no tree's
 * share is off its weight by more than 0.03 (of the whole) and the busiest
 * resource is no busier than the weights of the trees ask for, within the tolerance: the
 * shortest such, or a shorter one when with its few slices in flight the message is
 * through earlier; when none is that short, the best one. Filling the trees is taken to
 * last half a round for each step of depth. O(slots * trees), and the whole plan
 * once for each round that comes closer to the weights than all shorter ones. -1 when out
 * of memory. Where the message has parts every part gets as many slots, so that there are
 * at least as many slots as parts. */
int espi_round_choose(const struct esp_platform *p, const struct esp_plan *plan,
                      const struct espi_round_options *o, struct espi_arena *arena,
                      struct espi_round *out);

#endif
