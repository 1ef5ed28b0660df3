/* What the parts of the public bound share. */
#ifndef ESPI_BOUND_BOUND_H
#define ESPI_BOUND_BOUND_H

#include <espalier/bound.h>

#include "base/arena.h"
#include "solve/packing.h"

struct espi_bound_task {
    const struct esp_platform *p;
    const struct espi_view *v;
    int root; /* a host of the view */
    const struct esp_bound_options *options;
    struct espi_arena *arena;
};

/* Optimal rate and prices by the method asked for. With ESP_BOUND_TREES *packing is
 * filled, too. */
struct espi_bound_found {
    double rate;    /* no plan does better, slices a second */
    double reached; /* 0: no plan */
    double *price;  /* of resources, sum 1 */
    int exact;
    int n_trees;
    struct espi_packing packing;
};

/* The set of hosts that is dearest to get data into at these prices, by the dual of the
 * cheapest tree: inside[h] is 0 for them and 1 for the others, the root among these. -1
 * when out of memory. O(m) for each level of nesting. */
int espi_bound_cut(const struct espi_bound_task *task, const double *price,
                   unsigned char *inside);

/* Fills in bound->what_if from a packing: estimates, and for the best ones answers. */
esp_status espi_bound_what_if(const struct espi_bound_task *task,
                              const struct espi_packing *packing, struct esp_bound *bound,
                              struct esp_err *err);

/* The bound of a broadcast with all that explains it; root and options have been checked.
 */
esp_status espi_bound_bcast(const struct esp_platform *p, int root, double slice_bytes,
                            const struct esp_bound_options *options,
                            struct esp_bound **out, struct esp_err *err);

#endif
