/* A job in the simulator whose broadcasts follow an advisor. What the advisor publishes
 * between two calls travels with the next one, and is in force from the one after it. */
#ifndef ESPI_STUDY_ADVISED_JOB_H
#define ESPI_STUDY_ADVISED_JOB_H

#include <espalier/plan.h>
#include <espalier/platform.h>

#include "advisor/advisor.h"

/* Messages of up to 2 GiB. */
enum { ESPI_JOB_CLASSES = 32 };

struct espi_advised_job {
    struct espi_advisor *advisor;
    struct esp_plan *published[ESPI_JOB_CLASSES], *in_force[ESPI_JOB_CLASSES];
};

/* One broadcast. */
struct espi_job_call {
    const struct esp_platform *net, *reality; /* what plans are for, and what there is */
    const struct esp_plan *fallback;          /* where none is in force */
    uint64_t number;
    double now_s, bytes;
};

/* The advisor has a gap between two calls: time for so many plans. */
esp_status espi_advised_job_advise(struct espi_advised_job *j, int plans, double now_s,
                                   struct esp_err *err);

/* The same where there is time for the size of the next call alone. */
esp_status espi_advised_job_advise_for(struct espi_advised_job *j, int root, double bytes,
                                       double now_s, struct esp_err *err);

/* The broadcast, of which all ranks tell the advisor. */
esp_status espi_advised_job_call(struct espi_advised_job *j,
                                 const struct espi_job_call *call, double *took_s,
                                 struct esp_err *err);

void espi_advised_job_end(struct espi_advised_job *j);

#endif
