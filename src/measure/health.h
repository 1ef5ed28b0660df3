/* Links and cables that are slower than they should be: than another platform says, or
 * than most of their peers are. */
#ifndef ESPI_MEASURE_HEALTH_H
#define ESPI_MEASURE_HEALTH_H

#include <espalier/platform.h>

#include "base/arena.h"

struct espi_ailment {
    int is_cable, owner; /* a cable, or a link */
    double is_Bps, should_Bps;
    int n_peers; /* of which the middle one has should_Bps; 0: another platform says it */
};

/* Is the link as slow as this cable of its, and so no limit of its own? */
int espi_is_held(const struct esp_platform *p, int link, int cable);

/* Those whose rate is below what it should be by more than this part of it, the slowest
 * for its like first. Peers are the ports of the hosts of a site that lead the same way,
 * other cables that do, and the links from a site to another, or within one; fewer than
 * three say nothing. Links that a cable of theirs holds down are passed over: they are
 * slow with it. ESP_ENOMEM is the only failure. */
esp_status espi_health_by_peers(const struct esp_platform *p, double tolerance,
                                struct espi_arena *arena, struct espi_ailment **out,
                                int *n);

/* Against what is expected of links and cables of the same names; what is in one of the
 * two alone is passed over. */
esp_status espi_health_by_expected(const struct esp_platform *p,
                                   const struct esp_platform *expected, double tolerance,
                                   struct espi_arena *arena, struct espi_ailment **out,
                                   int *n);

#endif
