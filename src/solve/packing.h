/* The best steady state of a broadcast: spanning trees with rates, as many slices a
 * second as the resources allow, and prices that prove it.
 *
 *   maximise  sum of rate(t)   such that   for each resource r:
 *             sum over trees t of rate(t) * load(t, r) <= 1
 *
 * load(t, r) being the time that one slice along t takes of r. For any prices pi >= 0 of
 * the resources no plan does better than sum(pi) / (cost of the cheapest tree at pi).
 * With switches the edges of trees are paths of links, chosen tree by tree. */
#ifndef ESPI_SOLVE_PACKING_H
#define ESPI_SOLVE_PACKING_H

#include "base/arena.h"
#include "platform/view.h"
#include "solve/tuning.h"

struct espi_packing_options {
    double gap;          /* stop at bound / rate - 1 <= gap; 0: ESPI_PACKING_GAP */
    double time_limit_s; /* then the best so far, with its proven gap; 0: none */
    double
        work_limit; /* the same by work instead of time (solve/solve_budget.h); 0: none */
    /* Called now and then on solves that last; may be NULL. */
    void (*progress)(void *arg, double gap, double elapsed_s);
    void *progress_arg;
};

/* A tree: the links by which host h gets the data are
 * hops[hop_start[h] .. hop_start[h+1]), in order from the sender; none for the root. */
struct espi_packing_tree {
    double rate; /* slices a second */
    const int *hop_start;
    const int *hops;
};

struct espi_packing {
    int n_hosts, n_trees;
    struct espi_packing_tree *tree; /* fastest first; of all roots: by root */
    const int *root;                /* tree -> host; NULL: all have the same */
    double rate;   /* slices a second, of all trees; infinite for 1 host */
    double bound;  /* no plan does better */
    double gap;    /* bound / rate - 1 */
    double *price; /* of each resource of the view, sum 1 */
    int rounds, pricings, lp_solves;
    double solve_s, work;
};

/* Packs trees from the root, a host of the view. Results are in the arena. Every host
 * must be reachable. */
esp_status espi_packing_solve(const struct espi_view *v, int root,
                              const struct espi_packing_options *options,
                              struct espi_arena *arena, struct espi_packing *out,
                              struct esp_err *err);

/* Packs trees from all hosts, each root's carrying an equal part of the message; rate and
 * bound are slices of the whole message a second. A gap of 0 is ESPI_PACKING_ALL_GAP.
 * Every host must reach every other. */
esp_status espi_packing_solve_all(const struct espi_view *v,
                                  const struct espi_packing_options *options,
                                  struct espi_arena *arena, struct espi_packing *out,
                                  struct esp_err *err);

#endif
