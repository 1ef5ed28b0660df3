/* Whole slices put one after the other on the resources they need: one round. */
#ifndef ESPI_SCHEDULE_WEAVE_H
#define ESPI_SCHEDULE_WEAVE_H

#include "schedule/legs.h"

/* Sends in the order in which they start. */
struct espi_weave {
    int n;
    int *arc;
    double *start_s;
};

typedef enum espi_weave_rule {
    ESPI_WEAVE_BUSIEST, /* first the arcs whose resources have most left to do */
    ESPI_WEAVE_EVEN,    /* the same; of two as urgent, the one further behind its share */
} espi_weave_rule;

/* Sends count[a] slices over each arc a. Whenever a resource is free the most urgent arc
 * starts that finds all its resources free. The arrays of *w hold the sum of the counts
 * and are the caller's. O(sends * arcs at a resource * log of that); -1 when out of
 * memory. */
int espi_weave(struct espi_weave *w, const struct espi_arc_uses *uses, int n_arcs,
               const int *count, espi_weave_rule rule, struct espi_arena *arena);

/* How long a round lasts in the long run when rounds follow each other and each resource
 * serves its sends in the order of the weave; -1 when out of memory. */
double espi_weave_pace_s(const struct espi_weave *w, const struct espi_arc_uses *uses,
                         struct espi_arena *arena);

/* Moves the starts to those of a round in the midst of others, one every pace_s: a round
 * by itself starts some sends earlier, and who counts on that will wait for data. -1 when
 * out of memory. */
int espi_weave_settle(struct espi_weave *w, const struct espi_arc_uses *uses,
                      double pace_s, struct espi_arena *arena);

#endif
