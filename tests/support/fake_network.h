/* A network that is known, in place of a real one: answers the trials of a probe as TCP
 * would, with noise and blunders. */
#ifndef TESTS_SUPPORT_FAKE_NETWORK_H
#define TESTS_SUPPORT_FAKE_NETWORK_H

#include "base/rng.h"
#include "measure/measured.h"
#include "measure/probe.h"

enum { FAKE_HOSTS = 200, FAKE_SITES = 12 };

struct fake_network {
    int n, n_sites, n_clusters;
    int site[FAKE_HOSTS], cluster[FAKE_HOSTS];
    double out_Bps[FAKE_HOSTS], in_Bps[FAKE_HOSTS];
    /* 0: not limited */
    double uplink_Bps[FAKE_HOSTS], downlink_Bps[FAKE_HOSTS];  /* of clusters */
    double wan_Bps[FAKE_SITES][FAKE_SITES];                   /* from site to site */
    double site_out_Bps[FAKE_SITES], site_in_Bps[FAKE_SITES]; /* of sites */
    double core_Bps;                                          /* of all sites */
    double flow_Bps[FAKE_SITES][FAKE_SITES];                  /* of one transfer */
    double lan_s, wan_s[FAKE_SITES][FAKE_SITES];              /* latencies */
    double noise;    /* relative deviation of rates */
    double blunders; /* part of the values that are far off */
    double stalls;   /* part of the rounds in which all are held up: a busy machine */
    struct espi_rng rng;
    double now_s;
    int rounds, flows_most; /* what the probe did */
};

/* Rates of transfers that run at once: all grow alike until something is full. */
void fake_rates(const struct fake_network *net, const struct espi_trial_flow *flows,
                int n, double *Bps);

/* A prober on the network. */
struct espi_probe_driver fake_prober(struct fake_network *net, double budget_s);
/* Samples with the hosts h0, h1, ... */
void fake_hosts(const struct fake_network *net, struct espi_samples *samples);

#endif
