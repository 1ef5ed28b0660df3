/* The best steady state as a program over arcs: shares y of slices that cross each arc,
 *
 *   minimise  rho   such that   for each resource: sum of time * y <= rho,
 *             y into each host = 1, and y into each set of hosts without the root >= 1,
 *
 * the last for all sets, found as they are violated. By Edmonds' theorem on disjoint
 * branchings 1 / rho is the optimal rate, and y is a mix of spanning trees. */
#ifndef ESPI_SOLVE_ARCS_H
#define ESPI_SOLVE_ARCS_H

#include "base/arena.h"
#include "platform/view.h"
#include "solve/solve_budget.h"

/* ---- cuts ---- */

/* Sets of arcs, one after the other; the caller frees them. */
struct espi_cuts {
    int n;
    size_t start_cap, arc_cap;
    int *start, *arc;
};

void espi_cuts_free(struct espi_cuts *cuts);

/* Finds sets of hosts into which y leads less than 1 - slack, nested ones too, and adds
 * the arcs into them to cuts. Returns how many; none means that y, but for the slack, is
 * a mix of trees. -1 when out of memory. */
int espi_cuts_find(const struct espi_digraph *g, int root, const double *y, double slack,
                   struct espi_cuts *cuts, struct espi_arena *arena);

/* ---- the program ---- */

struct espi_arcs_task {
    const struct espi_view *v;
    int root;
    double unit_s;       /* about the period: loads are measured in it */
    const double *load;  /* of resources at some good mix, or NULL */
    const double *inner; /* y of some mix of trees, or NULL */
    int max_passes;      /* 0: no limit */
    struct espi_solve_budget *budget;
    /* Of all best y the one of least sum of time * y. With `inner`, that one has to be a
     * best mix of period unit_s, and prices are not computed. */
    int least_time;
    /* Called with the prices of each solve; non-zero: enough. May be NULL, and has to be
     * where the least time is asked for. */
    int (*look)(void *arg, const double *price);
    void *arg;
};

struct espi_arcs {
    double period_s; /* rho; a bound from below unless complete */
    int complete;    /* y is a mix of trees */
    double *y;       /* of arcs */
    double *price;   /* of resources, sum 1 */
    int passes, cuts;
};

/* Results are in the arena. */
/* How many arcs the search for cuts of one pass looks at, about. */
double espi_arcs_pass_things(const struct espi_view *v);

esp_status espi_arcs_solve(const struct espi_arcs_task *task, struct espi_arena *arena,
                           struct espi_arcs *out, struct esp_err *err);

#endif
