/* Trees of equal weight made better by moves of single hosts from one parent to another.
 */
#ifndef ESPI_ALGO_MANY_TREES_MOVE_HOSTS_H
#define ESPI_ALGO_MANY_TREES_MOVE_HOSTS_H

#include "base/arena.h"
#include "platform/view.h"

/* Of weights by load: beyond this a load is hopeless, however much more.
 * derived: the square of its exponential is finite */
#define ESPI_MOST_EXPONENT 300.0

struct espi_move_task {
    const struct espi_view *v;
    int root, k;
    double round_s, rounds; /* a slice along each tree at best; of the message */
    double sharp;           /* of the soft maximum of loads (round_trees.c) */
    const double *factor;   /* use of an arc -> by how much its weight then grows */
    double reuse; /* price of an arc for each tree that has it, of the makespan */
    double *work; /* gets the arcs weighed and hosts looked at on top */
};

/* Moves hosts of the trees (tree -> host -> arc) as long as that helps, and tells when
 * the first slice is everywhere along the slowest of them. -1: out of memory. */
int espi_move_hosts(const struct espi_move_task *task, int *const *tree,
                    struct espi_arena *arena, double *fill_s);

#endif
