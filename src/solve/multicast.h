/* Multicast: the best mix of trees to some hosts, and bounds.
 *
 * Finding the optimum is NP-hard (Beaumont, Legrand, Marchal, Robert 2004): the master
 * program packs the trees found so far, and its prices ask for the next, which is a
 * cheapest Steiner arborescence. With few targets or nodes that is found exactly, and so
 * is the optimum; otherwise by heuristics, and the mix is as good as the trees are. */
#ifndef ESPI_SOLVE_MULTICAST_H
#define ESPI_SOLVE_MULTICAST_H

#include "solve/flow_net.h"
#include "solve/steiner.h"
#include <espalier/plan.h>

struct espi_multicast_options {
    /* Plans for the same multicast whose trees may be mixed too; the result is at least
     * as good as each of them. */
    const struct esp_plan *const *seeds;
    int n_seeds;
    double bound_s; /* no plan is known to have a shorter period; 0: nothing is known */
    int max_trees;  /* 0: any number */
    int max_rounds; /* of asking; 0: 400 */
};

struct espi_multicast {
    int n_trees;
    struct espi_steiner_tree *tree;
    double *weight; /* sum 1 */
    double period_s;
    double any_s;   /* the period with any number of trees */
    double bound_s; /* no plan has a shorter period; 0: nothing was proven */
    int exact;      /* the trees that were asked for were cheapest ones */
    int rounds, columns;
};

/* Results are in the arena. All targets must be reachable. */
esp_status espi_multicast_solve(const struct espi_flow_net *net,
                                const struct espi_multicast_options *options,
                                struct espi_arena *arena, struct espi_multicast *out,
                                struct esp_err *err);

/* Multicast-LB: no multicast has a shorter period. Infinite when a target cannot be
 * reached. */
esp_status espi_multicast_bound(const struct espi_flow_net *net, struct espi_arena *arena,
                                double *period_s, struct esp_err *err);

#endif
