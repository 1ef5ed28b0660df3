/* A broadcast in the simulator as its ranks would tell the advisor of it. */
#ifndef ESPI_STUDY_ARRIVALS_H
#define ESPI_STUDY_ARRIVALS_H

#include <espalier/plan.h>
#include <espalier/platform.h>

#include "advisor/advisor.h"

/* What was seen of a call. */
struct espi_arrivals {
    int n_nodes, n_trees;
    struct espi_seen_pair {
        int slices;
        double first_s, last_s; /* when they came */
        double under_way_s;     /* how long at least one was */
    } * pair;                   /* from * n_nodes + to */
    int *sender;                /* tree * n_nodes + to -> who sent; -1: nobody */
    int *slices;                /* the same -> how many came */
    double *first_s, *last_s;   /* by node: when slices came; -1: none did */
    double took_s;
};

/* Runs the plan on the network as it really is (NULL: as planned), transfers sharing
 * links as TCP does. */
esp_status espi_arrivals_run(const struct esp_platform *p, const struct esp_plan *plan,
                             const struct esp_platform *reality, double bytes,
                             struct espi_arrivals *out, struct esp_err *err);
void espi_arrivals_done(struct espi_arrivals *a);

/* How long it takes. */
esp_status espi_arrivals_time(const struct esp_platform *p, const struct esp_plan *plan,
                              const struct esp_platform *reality, double bytes,
                              double *took_s, struct esp_err *err);

/* What the rank at a node says of it. */
void espi_arrivals_report(const struct espi_arrivals *a, const struct esp_plan *plan,
                          int node, uint64_t call, double bytes, struct espi_report *out);

/* All ranks tell the advisor of the call. */
esp_status espi_arrivals_tell(struct espi_advisor *advisor, const struct esp_plan *plan,
                              const struct espi_arrivals *a, uint64_t call, double bytes,
                              double now_s, struct esp_err *err);

#endif
