/* What the hosts' own costs say of an allgather. */
#ifndef ESPI_BOUND_OWN_BOUND_H
#define ESPI_BOUND_OWN_BOUND_H

#include "platform/view.h"

/* The best period of trees from all hosts where every two are joined and a transfer takes
 * of its sender and of its receiver the same, whoever the other is, and of nothing else:
 * workstations of the model hnow. 0 where that is not so; -1 when out of memory.
 *
 * Host v takes in the parts of the n - 1 others and sends k(v) times a part, its own at
 * least once; all together n (n - 1) times. So the period is the least that leaves every
 * host time for its receives and one send, and all together for that many sends. It is
 * the optimum: whatever sends the hosts have beyond the first can be dealt out to the
 * trees, n - 2 to each, and there is a tree for all numbers of sends that add up to n - 1
 * with one for the root. O(arcs + 200 hosts). */
int espi_all_own_s(const struct espi_view *v, struct espi_arena *arena, double *period_s);

#endif
