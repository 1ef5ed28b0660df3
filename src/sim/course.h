/* Paths through the reality: what sends of races and repairs take, whatever changes and
 * stops on the way. */
#ifndef ESPI_SIM_COURSE_H
#define ESPI_SIM_COURSE_H

#include "sim/sim.h"

/* Paths of links of the plan's platform: path i is hops[start[i] .. start[i+1]). */
struct espi_paths {
    int n;
    const int *start, *hops;
};

struct espi_course {
    struct espi_program
        prog; /* ranks; its streams are the parts of paths between hosts */
    struct espi_scene scene;
    int *first_stream; /* path -> its streams, as rows */
};

/* The message goes in one piece. Everything lives in the arena. */
esp_status espi_course_init(struct espi_course *c, const struct esp_platform *p,
                            const struct esp_plan *plan,
                            const struct esp_sim_options *options,
                            const struct espi_paths *paths, struct espi_arena *arena,
                            struct esp_err *err);

/* When a send over the path that starts at start_s has arrived; infinity: never, and
 * *silent_s is then when the last came through. An espi_race_arrival_fn. */
double espi_course_arrival_s(void *course, int path, double start_s, double *silent_s);

/* The time of the path while no rate changes. */
double espi_course_lag_s(const struct espi_course *c, int path);

/* Counts the resources of the path as busy, for no longer than most_s each. */
void espi_course_use(struct espi_course *c, int path, double most_s);

#endif
