/* The local searches for one tree. Both take a tree and a budget, and give back a tree
 * that is no worse. */
#ifndef ESPI_ALGO_SEARCH_SEARCH_H
#define ESPI_ALGO_SEARCH_SEARCH_H

#include <stdint.h>

#include "cost/cost.h"

struct espi_search {
    const struct espi_view *v;
    int root;
    uint64_t seed;
    double work;       /* how many arcs may be weighed: the same on every machine */
    double deadline_s; /* on the monotonic clock, in place of the above; 0: none */
    double goal_s;     /* no tree can do better: stop there; 0: not known */
    /* For the throughput: what other trees load each resource by, and the part of the
     * slices that this tree carries; NULL: it is alone. */
    const double *base_s;
    double scale;
    struct espi_arena *arena;
};

/* Is the budget used up, after so much work and so many steps? */
int espi_search_is_over(const struct espi_search *search, double work, long steps);

/* A period below which no tree gets, from what each host needs by itself. O(m). */
double espi_search_least_period_s(const struct espi_view *v, int root);

/* Lowers the period of the tree; parent_arc is replaced. 0, or -1 when out of memory. */
int espi_search_throughput(const struct espi_search *search, int *parent_arc);

/* Lowers the time until `count` slices have arrived everywhere, with no resource loaded
 * by more than limit_s (INFINITY: no limit). */
int espi_search_finish(const struct espi_search *search, double count, double limit_s,
                       int *parent_arc);

/* The arcs of the tree in the order of sends by which `count` slices arrive earliest on
 * it, and when they have. Of the search only view, root and arena matter. */
int espi_search_order(const struct espi_search *search, double count,
                      const int *parent_arc, int *arcs, double *finish_s);

#endif
