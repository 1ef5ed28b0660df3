/* What a copy learns of a network that nobody has described, while it copies, and plans
 * made anew for that. */
#ifndef ESPI_COPY_LEARN_H
#define ESPI_COPY_LEARN_H

#include <espalier/plan.h>

#include "copy/flows.h"
#include "copy/known.h"

/* A stream of the run of now. */
struct espi_stream_seen {
    struct espi_flow_count last;
    uint64_t at_us; /* of its sender's clock */
    double heard_s; /* of ours */
    double Bps, busy, choked;
    int times; /* of the first, TCP still looks for the rate */
};

struct espi_copy_learning {
    struct espi_stream_seen *seen; /* by stream of the run of now */
    int n_seen;
    int root; /* among the hosts that are known */
    double looked_s;
    double load_s; /* a byte, of the plan of now, when it was made or last compared */
    double planning_s;
    int changes;                       /* of plans, in the message of now */
    struct esp_platform *next_network; /* of the next plan; NULL: there is none */
    struct esp_plan *next_plan;
};

struct espi_copy_job;
struct espi_copy_host;

/* Who takes part is known by name from now on, and in sites. */
esp_status espi_copy_learn_names(struct espi_copy_job *job, struct esp_err *err);
/* Hosts ask each other how far they are, unless that is known of all. */
esp_status espi_copy_learn_sites(struct espi_copy_job *job, struct esp_err *err);
/* A host's answer. */
void espi_copy_learn_pinged(struct espi_copy_host *h, struct espi_wire_in *r);

/* A run begins. */
esp_status espi_copy_learn_begin(struct espi_copy_job *job, struct esp_err *err);
/* What a host tells of its streams. */
void espi_copy_learn_told(struct espi_copy_job *job, const struct espi_copy_host *h,
                          struct espi_wire_in *r);
/* 1: there is a better plan, for which the run should be stopped. */
int espi_copy_learn(struct espi_copy_job *job);

/* How long the plan takes for a byte, by what is known; 0: not known. */
double espi_copy_learned_load_s(const struct espi_copy_job *job,
                                const struct esp_platform *network,
                                const struct esp_plan *plan);
/* Would it now take much longer than it was thought to? */
int espi_copy_is_outdated(const struct espi_copy_job *job);
void espi_copy_learn_done(struct espi_copy_job *job);

#endif
