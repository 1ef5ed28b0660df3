/* What cuts say of an allgather. */
#ifndef ESPI_SOLVE_CUT_BOUND_H
#define ESPI_SOLVE_CUT_BOUND_H

#include "platform/view.h"

/* The parts of the hosts on one side of a cut must cross it: no allgather takes less time
 * a slice than (hosts on the side / all hosts) / (slices a second that links out of it
 * carry), whatever the cut. The largest of these times, over all cuts with a host on both
 * sides; in the capacity model without shared cables that is the optimum. 0 in the other
 * models, where links are not what limits. side gets 1 for the nodes of the platform on
 * the sending side of that cut, 0 for the others. -1 when out of memory. Newton's method:
 * each step finds by maximum flows a cut that is violated, if there is one. */
int espi_all_cut_s(const struct espi_view *v, struct espi_arena *arena, double *period_s,
                   unsigned char *side);

/* Is that period the optimum, so that some plan has it? In the capacity model without
 * shared cables: without switches (Edmonds), and with switches, which pass on but do not
 * copy, where every node has as much bandwidth in as out, so that switches can be split
 * off (Bang-Jensen, Frank, Jackson 1995; ForestColl). -1 when out of memory. */
int espi_all_cut_is_tight(const struct espi_view *v, struct espi_arena *arena);

#endif
