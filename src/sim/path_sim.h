/* Paths through the reality: what sends of races and repairs take, whatever changes and
 * stops on the way. */
#ifndef ESPI_SIM_PATH_SIM_H
#define ESPI_SIM_PATH_SIM_H

#include "sim/sim.h"

/* Paths of links of the plan's platform: path i is hops[start[i] .. start[i+1]). */
struct espi_paths {
    int n;
    const int *start, *hops;
};

struct espi_path_sim {
    struct espi_program
        prog; /* ranks; its streams are the parts of paths between hosts */
    struct espi_sim sim;
    int *first_stream; /* path -> its streams, as rows */
};

/* The message goes in one piece. Everything lives in the arena. */
esp_status espi_path_sim_init(struct espi_path_sim *c, const struct esp_platform *p,
                              const struct esp_plan *plan,
                              const struct esp_sim_options *options,
                              const struct espi_paths *paths, struct espi_arena *arena,
                              struct esp_err *err);

/* When a send over the path that starts at start_s has arrived; infinity: never, and
 * *silent_s is then when the last came through. An espi_race_arrival_fn. */
double espi_path_sim_arrival_s(void *path_sim, int path, double start_s,
                               double *silent_s);

/* The time of the path while no rate changes. */
double espi_path_sim_lag_s(const struct espi_path_sim *c, int path);

/* Counts the resources of the path as busy, for no longer than most_s each. */
void espi_path_sim_use(struct espi_path_sim *c, int path, double most_s);

#endif
