/* Trees given as transfers between any two hosts, whether linked or not: where there is
 * no arc (or always, if so asked) a transfer goes over a shortest path, and the hosts on
 * the way forward it, each time they are on one. */
#ifndef ESPI_ALGO_TRANSFERS_H
#define ESPI_ALGO_TRANSFERS_H

#include "algo/algo.h"
#include "graph/dijkstra.h"
#include "graph/router.h"

typedef enum espi_route {
    ESPI_ROUTE_DIRECT,   /* the arc where there is one, else a shortest path */
    ESPI_ROUTE_SHORTEST, /* always a shortest path */
} espi_route;

struct espi_transfers {
    const struct espi_task *task;
    espi_route route;
    struct espi_router router; /* for the first few paths of a sender ... */
    struct espi_dijkstra work; /* ... and for more, from all of its distances */
    double *distance;
    int *last_arc, *path;
    int source, asked; /* sender of the last paths, -1: none yet; how many */
    int *arc_to;       /* host -> the arc to it from ... */
    int *arc_row;      /* ... the host in arc_row, if that is the sender */
    int row;           /* the sender whose arcs are in arc_to, -1: none yet */
    int *hop_from;     /* node -> the hop of a path that leaves it; -1: none */
    int n;
    int *start;        /* transfer -> hops */
    int *hops, n_hops; /* links */
    size_t start_cap, hops_cap;
};

esp_status espi_transfers_init(struct espi_transfers *t, const struct espi_task *task,
                               espi_route route, struct esp_err *err);

/* Adds the transfer from -> to (hosts); add those of one sender in its send order, and a
 * sender's after the one that brings it the data, and in one run if you can: its arcs are
 * looked through once a run, and there is at most one Dijkstra run for it. */
esp_status espi_transfers_add(struct espi_transfers *t, int from, int to,
                              struct esp_err *err);

/* Puts the transfers into the plan as its one tree; when some are routed, in the order of
 * their starts, else as they were added. */
esp_status espi_transfers_plan(struct espi_transfers *t, struct esp_plan *plan,
                               struct esp_err *err);

#endif
