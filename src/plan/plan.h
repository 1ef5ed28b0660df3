/* What other rooms need to know of plans beyond the public header. */
#ifndef ESPI_PLAN_PLAN_H
#define ESPI_PLAN_PLAN_H

#include <espalier/plan.h>

/* The plan for those who do not race: of a redundant one its first tree, which is a plan
 * of its own. Borrows everything; do not free it. */
static inline struct esp_plan espi_plan_plain(const struct esp_plan *plan)
{
    struct esp_plan plain = *plan;
    if (plan->redundant) {
        plain.redundant = 0;
        plain.n_trees = 1;
    }
    return plain;
}

/* As esp_plan_write_stream, and how long planning took, if that is known: no two runs
 * take the same, so that it is no part of files. */
esp_status espi_plan_write_timed(const struct esp_plan *plan,
                                 const struct esp_platform *p, FILE *out,
                                 struct esp_err *err);

#endif
