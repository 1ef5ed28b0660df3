/* The equal parts of a plan's message, and which of them each tree carries. */
#ifndef ESPI_PLAN_PARTS_H
#define ESPI_PLAN_PARTS_H

#include <espalier/plan.h>

#include "base/arena.h"

/* Tree -> its part: in the order of the hosts that have one, or of pairs of hosts, by
 * sender and then by receiver; 0 where the message is one part, -1 for a tree between
 * hosts that have none. The roots and targets of trees are nodes. NULL when out of
 * memory.
 */
int *espi_tree_parts(const struct esp_plan *plan, const struct esp_platform *p,
                     struct espi_arena *arena);

/* The nodes whose part it is: sender and receiver, or the same twice. Of a message that
 * is one part, the root. */
void espi_part_ends(const struct esp_plan *plan, const struct esp_platform *p, int part,
                    int *from, int *to);

#endif
