/* The order in which a round of a schedule sends whole slices: what programs follow.
 *
 * All sends of a round stand in one total order, and every rank sends and receives in
 * that order, round after round. */
#ifndef ESPI_SCHEDULE_ORDER_H
#define ESPI_SCHEDULE_ORDER_H

#include "schedule/legs.h"

struct espi_op {
    int leg;
    int slice;             /* which of the tree's slices of a round */
    int lag;               /* of the round so many before */
    double start_s, end_s; /* from the start of a round, all before being on time */
};

struct espi_order {
    int n;
    struct espi_op *op;
    int repeat;    /* a round is so many periods of the schedule */
    double pace_s; /* a round every so often, in the long run */
    double span_s; /* from the start of a round to the arrival of its last slice */
};

struct espi_order_options {
    const int *tree_slices; /* of a period */
    int slices;             /* of all trees */
    int64_t n_slices;       /* of the message */
    int max_slots;          /* slices in a round */
};

/* Tries a few orders, of rounds of 1, 2, 4, ... periods, and takes the one with which the
 * message is through first. -1 when out of memory.
 *
 * Following it never ends in a deadlock: number the sends of all rounds by (round, place
 * in the order). What a send waits for has a smaller number: the sends and receives
 * before it at its two ranks by construction, its data because lags are chosen so. Of the
 * sends still to be done the one with the smallest number can always start as soon as its
 * resources are free, and these are held by nothing but sends under way. */
int espi_order_init(struct espi_order *o, const struct espi_legs *legs,
                    const struct espi_arc_uses *uses,
                    const struct espi_order_options *options, struct espi_arena *arena);

/* When a message of so many slices is everywhere. */
double espi_order_finish_s(const struct espi_order *o,
                           const struct espi_order_options *options);

#endif
