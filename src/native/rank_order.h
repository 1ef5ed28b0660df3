/* Which host each rank is on: the order of hosts under which an MPI library's own
 * algorithms, that know nothing of the network, are earliest on it. */
#ifndef ESPI_NATIVE_RANK_ORDER_H
#define ESPI_NATIVE_RANK_ORDER_H

#include "native/simulate.h"

/* A call that counts, with how long it takes in the given order. */
struct espi_order_call {
    struct espi_native_run run; /* nodes and root are filled in */
    double base_s;
};

struct espi_order_search {
    const struct esp_platform *p;
    const struct espi_order_call *calls;
    int n_calls;
    int first;    /* the node that rank 0 is on; -1: any */
    int n_orders; /* how many are tried at most */
};

/* What a call counts that takes this part of its time in the given order: one that takes
 * longer than there counts more, for an order that helps some calls must not hurt others.
 */
double espi_order_cost(double part);

/* Orders to begin with. */
typedef enum espi_first_order {
    ESPI_ORDER_GIVEN,   /* rank i on host i; the first comes before the others */
    ESPI_ORDER_BY_SITE, /* hosts of a site beside each other */
    ESPI_ORDER_NEAREST, /* from each host to the nearest that has no rank yet */
    ESPI_FIRST_ORDERS
} espi_first_order;

/* Fills in the nodes of ranks 0, 1, ... */
esp_status espi_rank_order_first(const struct esp_platform *p, int first,
                                 espi_first_order which, int *nodes, struct esp_err *err);

/* Swaps and moves hosts of an order as long as calls then cost less together. */
esp_status espi_rank_order_improve(const struct espi_order_search *search, int *nodes,
                                   struct esp_err *err);

#endif
