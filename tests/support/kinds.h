/* Platforms of the kinds that plans are checked on. */
#ifndef TESTS_SUPPORT_KINDS_H
#define TESTS_SUPPORT_KINDS_H

#include <espalier/espalier.h>

/* 0 random, 1 hub, 2 tiers, 3 sites with cables or switches */
enum { KINDS = 4 };

/* Of about n hosts; sites of a few. */
esp_status kind_generate(int kind, int n, uint64_t seed, struct esp_platform **p);

/* The same, in a model; ends the test when there is no memory. */
struct esp_platform *kind_platform(int kind, int n, uint64_t seed, esp_model model);

#endif
