/* The inside of the advisor: what it heard of calls, what it believes, what it said. */
#ifndef ESPI_ADVISOR_ADVISOR_IMPL_H
#define ESPI_ADVISOR_ADVISOR_IMPL_H

#include "advisor/advisor.h"
#include "advisor/belief.h"
#include "advisor/connection_history.h"
#include "advisor/probe_planner.h"
#include "advisor/slow_link_diagnosis.h"
#include "advisor/tuning.h"
#include "base/rng.h"

enum {
    ESPI_OPEN_CALLS = 4, /* limit: broadcasts of which reports may still come */
    ESPI_TOLD_MAX = 64,  /* roots and sizes of which the last advice is kept */
};

struct espi_told {
    int root, size_class;
    struct esp_plan *plan;
};

/* A broadcast that reports come in of. */
struct espi_open_call {
    uint64_t call;
    int root;
    double bytes, slices;
    struct espi_report *reports; /* by node; magic 0: none */
    unsigned char *is_first;     /* by node: its parent had never sent to it */
    int n_reports, n_expected;   /* 0: nothing is to come */
};

struct espi_advisor {
    const struct esp_platform *net;
    struct espi_advisor_options options;
    struct espi_belief belief;
    struct espi_blames blames;
    struct espi_probe_planner *planner; /* NULL: no probes */
    /* ranks may be ahead of others, and letters late */
    struct espi_open_call open[ESPI_OPEN_CALLS];
    int next_open;
    struct espi_report *reports; /* of all of them */
    unsigned char *is_first;
    struct espi_connection_history connections;
    /* the application */
    long calls, whole; /* whole: of which all ranks told */
    int root;
    double last_s;
    double sizes[ESPI_CALL_HISTORY], gaps[ESPI_CALL_HISTORY]; /* oldest first */
    int n_sizes, n_gaps;
    /* what was said */
    struct espi_told told[ESPI_TOLD_MAX];
    int n_told;
    int turn; /* of the sizes to plan for */
    struct espi_rng rng;
};

#endif
