/* Repair: hosts that a race has left without the message are adopted by those that have
 * it. */
#ifndef ESPI_SIM_REPAIR_H
#define ESPI_SIM_REPAIR_H

#include "sim/path_sim.h"

struct espi_repair {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    const struct esp_sim_options *options;
    struct espi_path_sim *path_sim; /* of the race: gets the busy times */
    double timeout;                 /* times the believed time of silence: given up */
    const double *ready_s;          /* rank -> when it has nothing to do any more */
    double *delivered_s;            /* rank; infinity: not. Filled in. */
    /* Each transfer; lost ones too. */
    void (*on_transfer)(void *arg, int from, int to, double start_s, double end_s,
                        int lost);
    void *arg;
    int adopted; /* how many got it */
};

/* Those that have the message send it to those that have not, again and again the
 * transfer that by belief would be over first (ECEF), over any links of the platform.
 * What fails is not tried again over the same way. So in the end a host that never stops
 * is without only if no path of hosts that never stop and links that stay up leads to it
 * from one that has the message. */
esp_status espi_repair(struct espi_repair *r, struct espi_arena *arena,
                       struct esp_err *err);

#endif
