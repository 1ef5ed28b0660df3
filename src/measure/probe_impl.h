/* What the stages of the probe share; used by probe*.c only. */
#ifndef ESPI_MEASURE_PROBE_IMPL_H
#define ESPI_MEASURE_PROBE_IMPL_H

#include "base/err.h"
#include "base/rng.h"
#include "measure/measured.h"
#include "measure/platform_flows.h"
#include "measure/probe.h"

enum { ESPI_TESTED_MAX = 1024 }; /* limit: of memory */

/* By whom a port is filled, and what may run beside that. */
enum espi_fan_reach {
    ESPI_FAN_ALONE, /* by hosts of its site, of which nobody else does anything */
    ESPI_FAN_NEAR,  /* by hosts of its site */
    ESPI_FAN_FAR    /* by those of all sites */
};

struct espi_probing {
    const struct espi_probe_driver *prober;
    struct espi_samples *samples;
    struct espi_arena arena;
    struct espi_rng rng;
    int n, at_once, meet_at_once, round;
    double start_s;
    const char *stage;
    double stage_from, stage_to; /* parts of the budget */
    struct espi_measured net;    /* as of the last look() */
    struct espi_trial trial;
    int room;            /* for pairs of the trial */
    unsigned char *busy; /* hosts of the trial; bit 0: sends, bit 1: receives */
    int *order;          /* room for hosts */
    uint64_t tested[ESPI_TESTED_MAX]; /* limits, by what they are about */
    int n_tested;
    struct esp_err *err;
};

/* Lists of the hosts, which stay, come from `fixed`. */
esp_status espi_probing_init(struct espi_probing *p,
                             const struct espi_probe_driver *prober,
                             struct espi_samples *samples, struct espi_arena *fixed,
                             struct esp_err *err);
void espi_probing_done(struct espi_probing *p);

/* A stage that may take until this part of the budget. */
void espi_probe_begin_stage(struct espi_probing *p, const char *stage, double to);
/* Is the time of this stage up? */
int espi_probe_is_late(const struct espi_probing *p);
/* What is left of its time. */
double espi_probe_left_s(const struct espi_probing *p);
/* How far the stage is, of 1. */
void espi_probe_tell(const struct espi_probing *p, double part);
/* Adds a pair to the next trial, and runs it. */
void espi_probe_add(struct espi_probing *p, int from, int to);
esp_status espi_probe_run(struct espi_probing *p, enum espi_trial_kind kind,
                          double seconds);
/* Or leaves it. */
void espi_probe_forget(struct espi_probing *p);
/* Latencies and rates as the platform predicts them, where nothing is known yet; -1 when
 * out of memory. */
int espi_probe_expect(struct espi_probing *p, struct espi_platform_flows *x);
/* How long its transfers should last: do some go from site to site? */
double espi_probe_seconds(const struct espi_probing *p,
                          const struct espi_platform_flows *x);
/* Digests what there is so far; the arena is emptied first. */
esp_status espi_probe_look(struct espi_probing *p);
/* Repeats the rounds that are in doubt, and looks again, until none is or the time of the
 * stage is up. */
esp_status espi_probe_settle_doubts(struct espi_probing *p);
/* The members of all sites, one after the other; *start has a place for each site. NULL
 * when out of memory. */
int *espi_probe_members(struct espi_probing *p, int **start);

/* The stages. */
esp_status espi_probe_sites(struct espi_probing *p);
esp_status espi_probe_ports(struct espi_probing *p);
/* Tries to fill the ports of which nothing is sure. */
esp_status espi_probe_unsure_ports(struct espi_probing *p, enum espi_fan_reach reach);
esp_status espi_probe_areas(struct espi_probing *p);
esp_status espi_probe_cables(struct espi_probing *p);
esp_status espi_probe_self_check(struct espi_probing *p);
/* Random sets of transfers as check samples, held to what the platform predicts. */
esp_status espi_probe_random_sets(struct espi_probing *p, struct espi_platform_flows *x);
/* Rounds that put the limits within sites, or between them, to the test. */
esp_status espi_probe_test_limits(struct espi_probing *p, int far);
/* Fills whatever transfers between sites may share, as far as it has not been tried.
 * *any: was there something? */
esp_status espi_probe_fill_ways(struct espi_probing *p, int *any);

#endif
