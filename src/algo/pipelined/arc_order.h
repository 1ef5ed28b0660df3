/* The arcs of a view sorted by time, as the topological heuristics take them. */
#ifndef ESPI_ALGO_PIPELINED_ARC_ORDER_H
#define ESPI_ALGO_PIPELINED_ARC_ORDER_H

#include "base/arena.h"
#include "platform/view.h"

typedef enum espi_arc_order { ESPI_FAST_FIRST, ESPI_SLOW_FIRST } espi_arc_order;

/* All arcs by (time, tail ascending, head ascending); NULL when out of memory.
 * O(m log m). */
int *espi_arcs_by_time(const struct espi_view *v, espi_arc_order order,
                       struct espi_arena *arena);

/* The same for each sender alone: those of host u are [v->g.out.start[u] ..
 * v->g.out.start[u + 1]). O(m log degree). */
int *espi_arcs_by_sender(const struct espi_view *v, espi_arc_order order,
                         struct espi_arena *arena);

#endif
