/* K trees of one weight: a packing rounded to whole trees. */
#ifndef ESPI_ALGO_MANY_TREES_ROUND_TREES_H
#define ESPI_ALGO_MANY_TREES_ROUND_TREES_H

#include "base/arena.h"
#include "platform/view.h"
#include "solve/packing.h"

struct espi_round_trees {
    int k;
    int **parent_arc;  /* tree -> host -> arc of the view; -1 of the root */
    double period_s;   /* a round, a slice along each tree, takes its busiest resource */
    double fill_s;     /* until the first slice of the slowest tree is everywhere */
    double makespan_s; /* both together, for the message asked for */
    double work;       /* arcs weighed for them, or hosts looked at */
};

/* The best k trees that can be found for a message of so many slices, as the view has
 * them, given a packing. wide: hosts send much in few of them and nothing in the others.
 * Memory from the arena; -1 when there is none. */
int espi_round_trees(const struct espi_view *v, int root, int k, int wide,
                     double n_slices, const struct espi_packing *packing,
                     struct espi_arena *arena, struct espi_round_trees *out);

#endif
