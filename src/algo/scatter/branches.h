/* Paths of scatters, as the arcs by which they enter hosts. */
#ifndef ESPI_ALGO_SCATTER_BRANCHES_H
#define ESPI_ALGO_SCATTER_BRANCHES_H

#include "algo/algo.h"

/* The hosts that get a part, in `hosts`, which has room for all; gives their number. */
int espi_task_targets(const struct espi_task *task, int *hosts);

/* Adds the path that enters the host by parent_arc[host] and so on back to the root, for
 * that share of the message. */
esp_status espi_add_branch(const struct espi_task *task, const int *parent_arc, int host,
                           double weight, struct esp_plan *plan, struct esp_err *err);

#endif
