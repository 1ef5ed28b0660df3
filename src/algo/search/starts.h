/* Trees of other algorithms, for searches to start from. */
#ifndef ESPI_ALGO_SEARCH_STARTS_H
#define ESPI_ALGO_SEARCH_STARTS_H

#include "algo/algo.h"

/* The names after start=, "best" first: as choices of an option. */
#define ESPI_STARTS                                                                      \
    "best|grow|prune-degree|prune-simple|lp-prune|lp-grow|ecef|fef|look-ahead|"          \
    "multiport-grow|multiport-prune-degree"

/* Runs the named algorithm with its own options at their standard on the view of the
 * task; parent_arc gets its tree. ESP_EUNSUPPORTED when there is no such algorithm, or it
 * is not for this platform. */
esp_status espi_start_tree(const struct espi_task *task, const char *name, size_t length,
                           int *parent_arc, struct esp_err *err);

/* Takes the arcs that go over the links of one transfer into a tree under way, whose
 * other hosts have -1; hosts that have their arc already keep it. -1: there is no such
 * arc. */
int espi_tree_follow(const struct espi_view *v, int root, const int *hops, int n_hops,
                     int *parent_arc);

/* The tree of the plan as arcs of the view. A host that gets the data more than once, as
 * it passes on that of others, keeps the first: no resource is loaded by more. */
esp_status espi_tree_of_plan(const struct espi_view *v, int root,
                             const struct esp_tree *tree, int *parent_arc,
                             struct esp_err *err);

#endif
