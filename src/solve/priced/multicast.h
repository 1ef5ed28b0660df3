/* Multicast by price and by time (issue of clouds): the cheapest plan that meets a
 * deadline, the fastest within a budget, or the least sum of both, weighted; and a bound
 * that no plan beats. model.h has the model. */
#ifndef ESPI_SOLVE_PRICED_MULTICAST_H
#define ESPI_SOLVE_PRICED_MULTICAST_H

#include <espalier/platform.h>

#include "base/arena.h"

struct espi_priced_task {
    const struct esp_platform *p;
    int root, n_targets;
    const int *targets; /* NULL: all hosts but the root */
    double size_bytes;
    int partitions;              /* 1 to ESPI_PARTITIONS_MAX; 0: of any sizes */
    int max_machines;            /* at a node, at most; 0: as the platform says */
    double usd_weight, s_weight; /* minimise usd_weight * USD + s_weight * s */
    double deadline_s;           /* INFINITY: none */
    double budget_usd;           /* INFINITY: none */
};

enum { ESPI_PARTITIONS_MAX = 1000 }; /* limit: of what is asked for */

struct espi_priced_tree {
    double share; /* of the message: a multiple of 1 / partitions */
    int n_links;
    int *links; /* senders first */
};

struct espi_priced {
    double usd_bytes, usd_machines, time_s;
    double objective;
    /* No plan within deadline and budget has less of the objective, in as many partitions
     * (with a budget, in however many); and none is faster, in however many and whatever
     * it costs. */
    double bound, fastest_s;
    int optimal; /* the two agree to a millionth */
    int n_trees;
    struct espi_priced_tree *trees;
    int *machines; /* by node */
    double *usage; /* by link: the part of the message that crosses it */
    int rounds, cuts, columns, nodes; /* of the search */
};

/* Results are in the arena. ESP_EUNSUPPORTED with a sentence where no plan meets deadline
 * or budget, or none was found; the sentence says which. */
esp_status espi_priced_solve(const struct espi_priced_task *task,
                             struct espi_arena *arena, struct espi_priced *out,
                             struct esp_err *err);

#endif
