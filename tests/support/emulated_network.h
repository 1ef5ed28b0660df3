/* A network that is known, in place of a real one: a platform of the capacity model whose
 * hosts have links to each other, and that answers the trials of a probe as TCP would:
 * transfers share cables, not quite fairly; values are noisy, some far off, and now and
 * then a whole round is slow since the machines are busy. */
#ifndef TESTS_SUPPORT_EMULATED_NETWORK_H
#define TESTS_SUPPORT_EMULATED_NETWORK_H

#include <stdio.h>

#include <espalier/platform.h>

#include "base/rng.h"
#include "measure/measured.h"
#include "measure/probe.h"

struct emulated_network {
    const struct esp_platform *truth;
    double noise;    /* relative deviation of rates */
    double blunders; /* part of the values that are far off */
    double stalls;   /* part of the rounds in which all are held up */
    double unfair;   /* relative deviation of the shares of transfers */
    struct espi_rng rng;
    double now_s;
    int rounds, flows_most; /* what the probe did */
    FILE *log;              /* if not NULL: what the stages of the probe took */
    const char *stage;
    double stage_from_s;
    int stage_first;
};

/* With all that disturbs, as judgements are made. */
struct emulated_network emulate_network(const struct esp_platform *truth, uint64_t seed);

/* Rates of transfers that run at once: all grow in proportion to their weights (NULL: all
 * alike) until something is full. */
void emulated_rates(const struct esp_platform *p, const struct espi_trial_flow *flows,
                    int n, const double *weight, double *Bps);

/* A prober on the network, and samples with its hosts and nothing else. */
struct espi_probe_driver emulated_prober(struct emulated_network *net, double budget_s);
esp_status emulated_hosts(const struct emulated_network *net,
                          struct espi_samples *samples);

#endif
