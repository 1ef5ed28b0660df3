/* What tests of redundant plans share. */
#ifndef TESTS_SUPPORT_RACES_H
#define TESTS_SUPPORT_RACES_H

#include <espalier/espalier.h>

#include "base/rng.h"

/* Six hosts, the example that the rules of races are explained with: as measured, or as
 * it really is. */
struct esp_platform *race_example(int real);

/* The same links as they might really be: each up to three times faster or slower; whole
 * times if so asked. For platforms whose times are latencies. */
struct esp_platform *race_reality(const struct esp_platform *p, struct espi_rng *rng,
                                  int whole);

#endif
