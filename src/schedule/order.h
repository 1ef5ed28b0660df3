/* The order in which a round of a schedule sends whole slices: what programs follow.
 *
 * All sends of a round stand in one total order, and every rank sends and receives in
 * that order, round after round. */
#ifndef ESPI_SCHEDULE_ORDER_H
#define ESPI_SCHEDULE_ORDER_H

#include "plan/legs.h"
#include "schedule/round.h"

struct espi_op {
    int leg;
    int slice;             /* which of the tree's slices of a round */
    int lag;               /* of the round so many before */
    double start_s, end_s; /* from the start of a round, all before being on time */
};

struct espi_order {
    int n;
    struct espi_op *op;
    double pace_s;   /* a round every so often, in the long run */
    double finish_s; /* when the message is everywhere */
    int rule;        /* by which it was made */
    int64_t work;    /* sends handled until it was found, over and over */
};

struct espi_order_options {
    const struct espi_round *round;
    int64_t n_slices; /* of the message */
    int whole;        /* it is cut into whole rounds */
    int fair;         /* cables or the links between switches serve who comes first */
    int all;          /* the message is short: no rule is left out */
    int rule;         /* the only one to try; -1: several */
    double enough_s;  /* a finish as early as this needs no other to be looked at */
    int64_t max_work; /* no other rule is tried after so many sends; 0: any number */
    esp_model model;
};

/* Tries a few orders, or the one of the rule asked for, and takes the one with which the
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

/* Sets the finish of a message that is sent in this order, so many of its sends played
 * before its pace is taken, and as many after that; as a rule all. -1 when out of memory.
 */
int espi_order_play(struct espi_order *o, const struct espi_legs *legs,
                    const struct espi_arc_uses *uses,
                    const struct espi_order_options *options, int64_t sends,
                    struct espi_arena *arena);

/* Times an order of the round once more, and more patiently, for its pace: where cables
 * serve who comes first it may take long to settle. -1 when out of memory. */
int espi_order_settle(struct espi_order *o, const struct espi_legs *legs,
                      const struct espi_arc_uses *uses,
                      const struct espi_order_options *options, struct espi_arena *arena);

#endif
