/* A broadcast in the simulator as its ranks would tell the advisor of it. */
#ifndef ESPI_STUDY_ARRIVALS_H
#define ESPI_STUDY_ARRIVALS_H

#include <espalier/plan.h>
#include <espalier/platform.h>

#include "advisor/advisor.h"

/* Of a receiver: when its first slice came and its last, both -1 if none did, and how
 * long all were under way. */
struct espi_arrival {
    double first_s, last_s, under_way_s;
};

/* Runs the plan on the network as it really is (NULL: as planned), transfers sharing
 * links as TCP does; out has room for all nodes. */
esp_status espi_arrivals(const struct esp_platform *p, const struct esp_plan *plan,
                         const struct esp_platform *reality, double bytes,
                         struct espi_arrival *out, double *took_s, struct esp_err *err);

/* What is alike in the reports of all ranks, as the root's; the plan has one tree. */
struct espi_report espi_arrivals_report(const struct esp_plan *plan, uint64_t call,
                                        double bytes);

/* What a sender, the report's node, says of those it sent to. */
void espi_arrivals_of_children(struct espi_report *r, const struct esp_plan *plan,
                               const struct espi_arrival *arrivals);

/* All ranks tell the advisor of the call; of one by several trees they say nothing. */
esp_status espi_arrivals_tell(struct espi_advisor *advisor, const struct esp_plan *plan,
                              const struct espi_arrival *arrivals, uint64_t call,
                              double bytes, double total_s, double now_s,
                              struct esp_err *err);

#endif
