/* The best packing with few trees. */
#ifndef ESPI_ALGO_MANY_TREES_K_TREES_H
#define ESPI_ALGO_MANY_TREES_K_TREES_H

#include "algo/algo.h"
#include "algo/tuning.h"
#include "solve/packing.h"

struct espi_k_trees {
    int n;            /* trees, at most as many as asked for */
    double *weight;   /* > 0, sum 1; heaviest first */
    int **parent_arc; /* tree -> host -> arc of the view */
    double period_s;  /* seconds a slice of the message */
};

/* At most k trees on the view of the task that together take as little time a slice as
 * can be found, given the best packing of any number. A larger k is never worse. For each
 * number of trees the search begins anew up to `shakes` times; ESPI_SHAKES is a good
 * number, a few find most of it in a fifth of the time. Results are in the arena of the
 * task. */
esp_status espi_k_trees(const struct espi_task *task, int k, int shakes,
                        const struct espi_packing *packing, struct espi_k_trees *out,
                        struct esp_err *err);

/* Adds these trees to the plan. */
esp_status espi_plan_add_k_trees(const struct espi_task *task,
                                 const struct espi_k_trees *trees, struct esp_plan *plan,
                                 struct esp_err *err);

#endif
