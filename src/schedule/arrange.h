/* From a plan to the order of its sends: the round and the order chosen for a message. */
#ifndef ESPI_SCHEDULE_ARRANGE_H
#define ESPI_SCHEDULE_ARRANGE_H

#include "schedule/order.h"
#include "schedule/round.h"

struct espi_arrangement {
    struct espi_legs legs;
    struct espi_round round; /* all that the order repeats: slots and shares */
    struct espi_order order;
};

/* Does the order of sends make a difference for this plan? Not where one tree leads to
 * every host once, on ports that send and receive at once or on links that are resources
 * of their own: there the order of its edges is as good as any. */
int espi_needs_order(const struct esp_platform *p, const struct esp_plan *plan);

/* Do orders come as near as one likes to what the loads of the resources allow, given
 * long enough rounds? On full-duplex ports, since what they have to do can be cut into
 * matchings; so too where ports serve both ways but one tree is all there is; and where
 * all resources are links. Not where several trees meet on ports that serve both ways (of
 * three hosts that talk to each other only two can at a time), where cables are shared,
 * and where a send must find both its port and its link free. */
int espi_loads_are_reached(const struct esp_platform *p, const struct esp_plan *plan);

/* Chooses both for a checked plan that needs an order. -1 when out of memory. */
int espi_arrange(struct espi_arrangement *a, const struct esp_platform *p,
                 const struct esp_plan *plan, const struct espi_round_options *o,
                 struct espi_arena *arena);

#endif
