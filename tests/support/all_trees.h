/* Brute force: every tree of a small platform, and every order of sends on it. */
#ifndef TESTS_SUPPORT_ALL_TREES_H
#define TESTS_SUPPORT_ALL_TREES_H

#include "platform/view.h"

enum { ALL_TREES_MAX = 8 }; /* hosts */

/* Calls fn for each spanning tree, given by the arc into each host (-1 for the root).
 * Returns how many there are. */
typedef void (*all_trees_fn)(void *arg, const int *parent_arc);

long all_trees_visit(const struct espi_view *v, int root, all_trees_fn fn, void *arg);

struct all_trees_best {
    long n_trees;
    double period_s;   /* the least of any tree */
    double fill_s;     /* of one slice, over all trees and orders of sends */
    double makespan_s; /* of `count` slices, over all trees and orders of sends */
};

/* The best that one tree can do. With count == 0 only the period is found (orders do not
 * matter for it), which is much faster. */
struct all_trees_best all_trees_best(const struct espi_view *v, int root, double count);

#endif
