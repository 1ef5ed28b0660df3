/* Networks drawn as measuring meets them, and what it finds of emulated ones. */
#ifndef TESTS_SUPPORT_MEASURED_NETWORK_H
#define TESTS_SUPPORT_MEASURED_NETWORK_H

#include <espalier/espalier.h>

#include "base/arena.h"
#include "measure/measured.h"
#include "support/emulated_network.h"

/* A network of a kind, the same whatever the seed of the test. */
struct esp_platform *network_of(int kind, int hosts, int areas, uint64_t seed);

/* The same from test_seed(seed). */
struct esp_platform *draw_network(int kind, int hosts, int areas, uint64_t seed);

/* A preset of the generator. */
struct esp_platform *preset_of(const char *name);

struct measured_network {
    struct espi_samples samples;
    struct espi_measured net;
    struct espi_arena arena;
    struct esp_platform *seen;
};

/* The network is probed and the samples are digested; fails the test if that fails. */
void measure_network(struct measured_network *m, struct emulated_network *truth,
                     double budget_s);

/* The same from the samples that are there. */
void digest_network(struct measured_network *m);

void forget_network(struct measured_network *m);

#endif
