/* The small platforms that every algorithm is swept over, and every algorithm with each
 * of its choices. */
#ifndef TESTS_SUPPORT_SWEEP_H
#define TESTS_SUPPORT_SWEEP_H

#include <espalier/espalier.h>

#include "algo/algo.h"

enum { SWEEP_PLACES_MAX = 64 };

struct sweep_places {
    struct esp_platform *p[SWEEP_PLACES_MAX];
    const char *what[SWEEP_PLACES_MAX];
    int n;
};

/* Made once; the caller ends with sweep_places_free. */
const struct sweep_places *sweep_places(void);
void sweep_places_free(void);

/* Calls fn for each algorithm and each of its choices, written as after --algo.
 * Algorithms that search are given little to do: how well they search is tested
 * elsewhere. */
typedef void (*sweep_fn)(const struct espi_algo *algo, const char *text, void *arg);
void sweep_algos(sweep_fn fn, void *arg);

#endif
