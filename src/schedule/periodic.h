/* Periodic schedules: the slices of one round of a plan, put into slots of time so that
 * no resource is asked for more than it has, and that over and over.
 *
 * In a slot a set of arcs is active. An active arc uses each of its resources by the part
 * of its slice time for which a slice holds it: a port wholly, a cable that is ten times
 * as fast as the link by a tenth. No resource is used by more than 1 in any slot.
 *
 * With a period later for each leg from the root on, whatever is sent in a period came in
 * an earlier one: n slices are everywhere after (ceil(n / slices) + depth) periods, depth
 * counting the legs before the last one. */
#ifndef ESPI_SCHEDULE_PERIODIC_H
#define ESPI_SCHEDULE_PERIODIC_H

#include "schedule/legs.h"
#include "schedule/round.h"

struct espi_periodic {
    double period_s;
    int n_slots;
    double *duration_s;
    struct espi_rows arcs; /* slot -> the arcs that are active in it */
};

/* Slots for the round. One-port, and half-duplex where the arcs join two classes of nodes
 * (as with a single tree): the shortest period there is. Otherwise at most twice that,
 * and mostly a few parts in a hundred above it. -1 when out of memory. */
int espi_periodic_init(struct espi_periodic *s, const struct esp_platform *p,
                       const struct espi_legs *legs, const struct espi_arc_uses *uses,
                       const int *count, struct espi_arena *arena);

/* Does a schedule make a difference for this plan? Not where one tree runs on ports that
 * send and receive at once, and not where links are resources of their own. */
int espi_needs_schedule(const struct esp_platform *p, const struct esp_plan *plan);

/* The same as it stands in plans: the arcs' time is given to their trees, each in one
 * piece, in the order of the trees. */
esp_status espi_schedule_make(const struct esp_platform *p, const struct esp_plan *plan,
                              const struct espi_round_options *o,
                              struct espi_arena *arena, struct esp_schedule **out,
                              struct esp_err *err);

#endif
