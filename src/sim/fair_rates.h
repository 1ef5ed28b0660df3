/* Max-min fair rates of flows over resources, kept up to date while flows come and go.
 *
 * A resource has capacity 1; a flow of rate x uses x * part of each of its resources.
 * Rates by progressive filling: the resource that offers its flows least fixes theirs,
 * and so on with what is left. The rates of flows depend only on flows that they share a
 * resource with, directly or by way of others: only those are computed anew that are so
 * joined to one that came or went. One that goes and is back before the next update, as
 * the next slice of a stream does, changes nothing.
 *
 * Complexity of an update: O(uses of the flows concerned), and for each level of the
 * filling O(resources concerned). */
#ifndef ESPI_SIM_FAIR_RATES_H
#define ESPI_SIM_FAIR_RATES_H

#include "base/arena.h"

struct espi_fair_rates {
    /* the caller's: flow -> its uses, as rows */
    const int *use_start, *use_resource;
    double *part; /* by use: share of the resource for a rate of 1; may be infinite */
    double *rate; /* by flow, as of the last update */
    /* flows that the last update looked at */
    int *updated, n_updated;
    /* our own */
    int *flow_of;                        /* use -> its flow */
    int *first, *next, *before;          /* resource -> its uses, as a list */
    unsigned char *is_wanted, *is_there; /* by flow: now, at the last update */
    unsigned char *is_pending, *is_open; /* by flow: to be looked at; not fixed yet */
    int *pending, n_pending;             /* flows that came or went */
    int *touched, n_touched;             /* resources concerned */
    double *room, *weight;               /* by resource; weight < 0: not touched */
};

/* Room for so many flows, whose uses are given, each with parts still to be set. -1 when
 * out of memory. */
int espi_fair_rates_init(struct espi_fair_rates *x, int n_flows, int n_resources,
                         const int *use_start, const int *use_resource,
                         struct espi_arena *arena);

/* A flow comes or goes. Its parts stay as they are while it is there. */
void espi_fair_rates_set(struct espi_fair_rates *x, int flow, int is_there);

/* The parts of a flow are about to change: it leaves its resources, and is back with the
 * next update if it is there. */
void espi_fair_rates_drop(struct espi_fair_rates *x, int flow);

void espi_fair_rates_update(struct espi_fair_rates *x);

#endif
