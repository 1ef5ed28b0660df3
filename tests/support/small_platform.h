/* Small platforms for tests of algorithms, with times that are exact. */
#ifndef TESTS_SUPPORT_SMALL_PLATFORM_H
#define TESTS_SUPPORT_SMALL_PLATFORM_H

#include <espalier/espalier.h>

#include "base/rng.h"

struct small_arc {
    int from, to;
    double time_s;
};

/* Hosts p0, p1, ... and links that take time_s for a slice of 1 byte, to the last bit
 * (latency, with a bandwidth beyond all measure: not for the capacity model). */
struct esp_platform *small_platform(esp_model model, int n, const struct small_arc *arcs,
                                    int m);

struct small_options {
    int n;
    double density; /* of arcs beyond a random tree from node 0 */
    int whole;      /* times 1 .. whole, with many ties; 0: uniform in 1 .. 10 */
    esp_model model;
    int cables; /* each shared by about half of the links */
};

/* A seeded random one in which node 0 reaches all. */
struct esp_platform *small_random(struct espi_rng *rng, const struct small_options *o);

/* Three sites of two hosts each behind switches, in the capacity model. */
struct esp_platform *small_grid(void);

#endif
