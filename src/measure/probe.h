/* What to measure next: plans rounds of trials from what was measured so far, until the
 * network is known or the time is up. How a round is run is the caller's affair: over MPI
 * in the probe, on a simulated network in tests. */
#ifndef ESPI_MEASURE_PROBE_H
#define ESPI_MEASURE_PROBE_H

#include "measure/samples.h"
#include "measure/tuning.h"

enum espi_trial_kind {
    /* Two hosts, `from` first: a few short messages to and fro for latency, send and
     * recv; unless the other is far (ESPI_FAR_S), some packets each way for quick. */
    ESPI_TRIAL_MEET,
    /* Transfers that last `seconds`, all at once: rate. */
    ESPI_TRIAL_FLOWS,
};

struct espi_trial_pair {
    int from, to;
    double expect_Bps, latency_s; /* about; -1 where nothing is known */
};

struct espi_trial {
    enum espi_trial_kind kind;
    int round;
    double seconds;
    struct espi_trial_pair *pairs;
    int n;
};

struct espi_probe_driver {
    void *context;
    /* Runs the trial and adds what comes of it to the samples. */
    esp_status (*run)(void *context, const struct espi_trial *trial,
                      struct espi_samples *samples, struct esp_err *err);
    double (*now_s)(void *context);
    /* How far it is, of 1, and how many seconds are left, about; may be NULL. */
    void (*progress)(void *context, const char *what, double part, double left_s);
    double budget_s;
};

/* Measures the hosts that samples has. */
esp_status espi_probe(const struct espi_probe_driver *prober,
                      struct espi_samples *samples, struct esp_err *err);

#endif
