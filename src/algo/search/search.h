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
    struct espi_arena *arena;
};

/* Lowers the period of the tree; parent_arc is replaced. 0, or -1 when out of memory. */
int espi_search_throughput(const struct espi_search *search, int *parent_arc);

#endif
