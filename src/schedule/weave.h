/* Whole slices put one after the other on the resources they need: one round. */
#ifndef ESPI_SCHEDULE_WEAVE_H
#define ESPI_SCHEDULE_WEAVE_H

#include "plan/legs.h"

/* What a round sends. */
struct espi_batch {
    const struct espi_legs *legs;
    const struct espi_arc_uses *uses;
    struct espi_rows on_arc; /* arc -> its legs */
    struct espi_rows users;  /* resource -> the arcs that use it */
    int *count;              /* leg -> slices */
    int *arc_count;          /* arc -> slices of all its legs */
    int n;                   /* sends in all */
};

/* Sends in the order in which they start. */
struct espi_weave {
    int n;
    int *leg;
    double *start_s;
};

struct espi_weave_rule {
    int flow;     /* a slice is sent on once it is there; else as if all were */
    double ahead; /* no arc sends more slices than so many before their even share */
};

/* Weaves the batch. Whenever a resource is free the most urgent arc starts that finds all
 * its resources free: the one with the resource that has least time to spare, if each is
 * to be done a round's length after it began; then the one most behind its share. Of the
 * arc's legs the one most behind goes. The round begins at
 * base_s, from which the starts count; free_s: from when on each resource is free, before
 * and afterwards. The arrays of *w are the caller's. O(sends * arcs at a resource * log
 * of that, and legs on an arc); -1 when out of memory. */
int espi_weave(struct espi_weave *w, const struct espi_batch *b,
               const struct espi_weave_rule *rule, double base_s, double *free_s,
               struct espi_arena *arena);

/* Moves the starts to those of a round in the midst of others that all serve their
 * resources in the order of the weave: a round by itself starts some sends earlier, and
 * who counts on that will wait for data. Gives how long a round then lasts; -1 when out
 * of memory. */
double espi_weave_settle(struct espi_weave *w, const struct espi_batch *b,
                         struct espi_arena *arena);

#endif
