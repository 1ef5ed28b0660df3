/* What an order comes to: its rounds played through on the resources. */
#ifndef ESPI_SCHEDULE_REPLAY_H
#define ESPI_SCHEDULE_REPLAY_H

#include "schedule/order.h"

/* A message in rounds. */
struct espi_message {
    int64_t rounds;  /* whole ones */
    const int *rest; /* tree -> its slices in the round after them */
};

/* Sets finish_s of an order whose sends are all assigned. The rounds are played from the
 * start, each send beginning when its data are there and its resources are free, in the
 * order of the sends; of a long message only as many as are under way at once and two
 * dozen more, and the others are taken to follow at the pace found, which pace_s gets.
 * first: leg -> its first send. -1 when out of memory. O(rounds played * sends). */
int espi_order_replay(struct espi_order *o, const struct espi_legs *legs,
                      const struct espi_arc_uses *uses, const int *first,
                      const struct espi_message *m, struct espi_arena *arena);

#endif
