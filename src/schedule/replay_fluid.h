/* Orders played through where transfers share what they meet on. */
#ifndef ESPI_SCHEDULE_REPLAY_FLUID_H
#define ESPI_SCHEDULE_REPLAY_FLUID_H

#include "schedule/arrange.h"

struct espi_fluid_message {
    const struct espi_arrangement *a;
    const struct espi_arc_uses *uses; /* for its slices */
    const double *latency_s;          /* by arc */
    int64_t n_slices;
};

/* When the message is everywhere. O(what of the network is joined by transfers that share
 * something) a transfer. -1 when out of memory. */
int espi_replay_fluid(const struct espi_fluid_message *m, struct espi_arena *arena,
                      double *finish_s);

/* The makespan of a message and, where it has more transfers than so many, the pace of a
 * slice that the rest of it is taken to follow at. -1 when out of memory. */
int espi_fluid_time(const struct esp_platform *p, const struct espi_arrangement *a,
                    const struct espi_round_options *o, int64_t most_sends,
                    struct espi_arena *arena, struct espi_played *out);

#endif
