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

/* Plays messages that differ in their number of slices only, each of no fewer than the
 * one before: what is the same for both is not played again. */
struct espi_fluid_player;

/* NULL when out of memory. */
struct espi_fluid_player *espi_fluid_player_new(const struct espi_fluid_message *m,
                                                struct espi_arena *arena);

/* When the message is everywhere. O(what of the network is joined by transfers that share
 * something) a transfer. -1 when out of memory. */
int espi_fluid_play(struct espi_fluid_player *x, int64_t n_slices, double *finish_s);

void espi_fluid_player_done(struct espi_fluid_player *x);

/* The makespan of a message and, where it has too many transfers to be played to its end,
 * the pace of a slice that the rest of it is taken to follow at; for a claim more are
 * played, until that has settled, or there are too many. -1 when out of memory. */
int espi_fluid_time(const struct esp_platform *p, const struct espi_arrangement *a,
                    const struct espi_round_options *o, int claim,
                    struct espi_arena *arena, struct espi_played *out);

/* What a slice more takes a message of so many, or of as many as are played for a claim;
 * 0 where nothing is sent. -1 when out of memory. */
int espi_fluid_pace(const struct esp_platform *p, const struct espi_arrangement *a,
                    const struct espi_round_options *o, struct espi_arena *arena,
                    double *pace_s);

#endif
