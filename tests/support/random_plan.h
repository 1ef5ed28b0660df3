/* Random plans: trees grown arc by arc. */
#ifndef TESTS_SUPPORT_RANDOM_PLAN_H
#define TESTS_SUPPORT_RANDOM_PLAN_H

#include <espalier/espalier.h>

#include "base/rng.h"

/* A plan of random spanning trees from node 0 (which reaches all; no switches), each edge
 * a link, in random order. Weights: equal, or uneven and awkward. */
struct esp_plan *random_plan(const struct esp_platform *p, struct espi_rng *rng,
                             int n_trees, int equal);

#endif
