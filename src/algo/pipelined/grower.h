/* Growing a tree from the root, always by the arc that costs least, where the cost of an
 * arc depends on what its sender already does in the tree.
 *
 * Ties: smaller time, then smaller sender, then smaller receiver.
 *
 * The costs of a sender's arcs rise with each child it gets, so a heap of arcs would be
 * stale all the time. But for one sender the cheapest arc is always its fastest one that
 * leaves the tree (costs do not fall with time), and only the sender's own children
 * change its costs. So the heap holds one entry a sender, for the next arc in its row
 * sorted by time; an entry whose receiver has joined meanwhile moves on along the row
 * when it comes to the top. O(m log n) in all. */
#ifndef ESPI_ALGO_PIPELINED_GROWER_H
#define ESPI_ALGO_PIPELINED_GROWER_H

#include "algo/algo.h"

/* What each sender does in the tree so far. */
struct espi_grown {
    const struct espi_view *view;
    double *load_s;    /* a sum that the rule keeps; 0 at first */
    double *slowest_s; /* its slowest arc in the tree; 0 at first */
    int *children;
};

struct espi_grow_rule {
    /* Must not fall with time_s. */
    double (*cost_s)(const struct espi_grown *g, int sender, double time_s);
    /* What load_s grows by, once the arc is taken; cost_s is what it was then. */
    double (*load_s)(double time_s, double cost_s);
};

/* Fills parent_arc[n]; -1 for the root. Every host must be reachable. */
esp_status espi_grow_tree(const struct espi_view *view, int root,
                          const struct espi_grow_rule *rule, struct espi_arena *arena,
                          int *parent_arc, struct esp_err *err);

/* The same as the one tree of the task's plan. */
esp_status espi_grow_plan(const struct espi_task *task, const struct espi_grow_rule *rule,
                          struct esp_plan *plan, struct esp_err *err);

#endif
