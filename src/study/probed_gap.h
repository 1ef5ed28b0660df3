/* Probes between the calls of a job in the simulator, as its advisor asks for them, at
 * their true cost: a train takes its time, a call waits for one that is under way, and
 * what is seen of a rate is off by up to a tenth. */
#ifndef ESPI_STUDY_PROBED_GAP_H
#define ESPI_STUDY_PROBED_GAP_H

#include "advisor/advisor.h"
#include "base/arena.h"
#include "base/rng.h"
#include "platform/view.h"

struct espi_probed_net {
    struct espi_view ways; /* by which probes go */
    struct espi_arena arena;
    struct espi_rng noise;
    /* what a train that is alone on the network gets of a link at that time */
    double (*link_Bps)(const void *arg, int link, double now_s);
    const void *arg;
};

struct espi_probed_gap {
    double from_s, until_s;
    long probes;   /* filled in, as is: */
    double late_s; /* that the call waits for one under way */
};

/* All hosts of that advisor's network can probe from now on. */
esp_status espi_probed_net_init(struct espi_probed_net *w, const struct esp_platform *p,
                                struct espi_advisor *advisor, uint64_t seed,
                                struct esp_err *err);
void espi_probed_net_done(struct espi_probed_net *w);

esp_status espi_probe_gap(struct espi_probed_net *w, struct espi_advisor *advisor,
                          struct espi_probed_gap *gap, struct esp_err *err);

#endif
