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
    int is_thorough;  /* all plans that there are were weighed, */
    double bytes;     /* for this size, */
    double *factor;   /* and what was believed of resources, */
    double message_s; /* and of messages */
    int is_given;     /* it is what ranks have from elsewhere, if they use it */
};

void espi_told_clear(struct espi_told *t);

/* A broadcast that reports come in of. */
struct espi_open_call {
    uint64_t call;
    int root;
    double bytes, slices;
    int window;
    int is_cut;                  /* not all ways are told of */
    struct espi_report *reports; /* by node; magic 0: none */
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
    struct esp_plan *given; /* that ranks have from elsewhere, or NULL */
    int turn;               /* of the sizes to plan for */
    double thorough_s;      /* what it took last to weigh all plans */
    struct espi_rng rng;
};

/* ---- what was said (told_plans.c) ---- */

/* About that root and class; NULL: nothing. */
struct espi_told *espi_told_of(struct espi_advisor *a, int root, int size_class);

/* Keeps a copy of the plan, and for which network it was; all else as given. ESP_ENOMEM
 * is the only failure. */
esp_status espi_told_keep(struct espi_advisor *a, const struct esp_plan *plan,
                          const struct espi_told *about, double now_s,
                          struct esp_err *err);

/* The resource of which something else is believed than when that was said, by most;
 * gives its factors now and then. -1: nothing that would change a plan. */
int espi_told_moved(const struct espi_advisor *a, const struct espi_told *t, double now_s,
                    double *factor, double *before);

/* A call was cut into so many slices: if nothing was said about such ones, it will have
 * been by the plan that ranks have from elsewhere. */
esp_status espi_told_ran(struct espi_advisor *a, int root, double bytes, double slices,
                         double now_s, struct esp_err *err);

/* All have told of the call: if it was not, that was wrong. */
void espi_told_check(struct espi_advisor *a, int root, double bytes,
                     const struct espi_report *reports);

/* Is it still the best there is for so many bytes, since nothing has changed? */
int espi_told_stands(const struct espi_advisor *a, const struct espi_told *t,
                     double bytes, double now_s);

#endif
