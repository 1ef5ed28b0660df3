/* Max-min fair rates of flows over resources, kept up to date while flows come and go.
 *
 * A resource has capacity 1; a flow of rate x uses x * part of each of its resources.
 * Rates are fair when each flow has a resource that holds it: one that is full, and of
 * whose flows none has a higher rate. There is one such set of rates (Bertsekas and
 * Gallager, Data Networks, 1992), and who holds whom says what a change touches.
 *
 * An update opens the flows that came and fills by levels from below, as progressive
 * filling does, while all other flows keep their rates. It opens more as it meets them:
 * at a resource that fills up at some level, flows of higher rates; at one whose level
 * has come and that is not full any more, the flows that it held. Both are opened at a
 * level no higher than their rates, so that what was fixed below it stays right. The
 * rates of flows that are not opened are those that filling all of it anew would give.
 * One that goes and is back before the next update, as the next slice of a stream does,
 * changes nothing.
 *
 * Complexity of an update: O(log resources) a use of each flow that is opened, and O(its
 * flows) for each resource that holds one of them. Memory: linear in uses. */
#ifndef ESPI_GRAPH_FAIR_RATES_H
#define ESPI_GRAPH_FAIR_RATES_H

#include "base/arena.h"
#include "base/heap.h"

struct espi_fair_resource {
    double used;   /* by flows that are not open */
    double weight; /* of the open ones: what a rate of 1 for each takes */
    double level;  /* the rate of the flows it holds */
    int first;     /* of its uses, as a list */
    int n_there, n_open;
    int n_held;   /* not counting those that this update has looked at */
    int n_stuck;  /* flows that it cannot carry at all: infinite parts */
    int n_summed; /* changes of `used` since it was added up */
};

struct espi_fair_rates {
    int n_flows, n_resources;
    /* the caller's: flow -> its uses, as rows */
    const int *use_start, *use_resource;
    double *part; /* by use: share of the resource for a rate of 1; may be infinite */
    double *rate; /* by flow, as of the last update */
    /* flows that the last update looked at */
    int *updated, n_updated;
    /* our own */
    struct espi_fair_resource *resource;
    int *flow_of;                        /* use -> its flow */
    int *next, *before;                  /* use -> its neighbours in the list */
    int *holder;                         /* flow -> the resource that holds it; -1 */
    double *rate_before;                 /* of flows that are open */
    unsigned char *phase;                /* by flow: kept, open, fixed */
    unsigned char *is_wanted, *is_there; /* by flow: now, at the last update */
    unsigned char *is_pending;           /* by flow: to be looked at */
    int *pending, n_pending;             /* flows that came or went */
    struct espi_heap due;                /* resources by the level at which they act */
    unsigned char *is_changed; /* by resource: when it acts is to be found anew */
    int *changed, n_changed;
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
