/* From a plan to the order of its sends: the round and the order chosen for a message. */
#ifndef ESPI_SCHEDULE_ARRANGE_H
#define ESPI_SCHEDULE_ARRANGE_H

#include "schedule/order.h"
#include "schedule/round.h"

/* Messages of so many slices and more are all sent in one order: their steady state is
 * that of the plan. */
enum { ESPI_LONG_MESSAGE = 1 << 13 };

struct espi_arrangement {
    struct espi_legs legs;
    struct espi_round round; /* all that the order repeats: slots and shares */
    struct espi_order order;
};

/* Does the order of sends make a difference for this plan? Not where one tree leads to
 * every host once, on ports that send and receive at once or on links that are resources
 * of their own: there the order of its edges is as good as any. */
int espi_needs_order(const struct esp_platform *p, const struct esp_plan *plan);

/* Chooses both for a checked plan that needs an order. -1 when out of memory. */
int espi_arrange(struct espi_arrangement *a, const struct esp_platform *p,
                 const struct esp_plan *plan, const struct espi_round_options *o,
                 struct espi_arena *arena);

/* How long a slice takes in the midst of a long message, in the order of programs. 0:
 * as long as its busiest resource, which needs no timing. -1 when out of memory. */
int espi_long_pace(const struct esp_platform *p, const struct esp_plan *plan,
                   double slice_bytes, struct espi_arena *arena, double *pace_s);

/* When a short message is everywhere, its sends played one by one in the order of
 * programs. 0: it is there when the closed form of its cost says. -1 when out of memory.
 */
int espi_short_finish(const struct esp_platform *p, const struct esp_plan *plan,
                      int64_t n_slices, double slice_bytes, struct espi_arena *arena,
                      double *finish_s);

#endif
