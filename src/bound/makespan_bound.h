/* How soon a message of a given size can be where it is to be, whatever the plan and its
 * slices: latency and throughput together. */
#ifndef ESPI_BOUND_MAKESPAN_BOUND_H
#define ESPI_BOUND_MAKESPAN_BOUND_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "graph/dijkstra.h"
#include "platform/resources.h"

struct espi_makespan_task {
    const struct esp_platform *p;
    esp_op op;
    int root;
    int n_targets;
    const int *targets; /* NULL: all hosts but the root */
    double size_bytes;
    /* Transfers hold what they use exclusively: one arrives when its links have let it
     * through, though a slower cable is held for longer. 0: they share, as TCP's do. */
    int exclusive;
    double time_limit_s; /* of linear programs; 0: none */
};

/* Seconds; 0 where there is nobody to send to. */
esp_status espi_makespan_bound(const struct espi_makespan_task *task, double *bound_s,
                               struct esp_err *err);

/* ---- parts ---- */

/* When a byte on a link uses what the link needs, seen from its sender and its receiver:
 * before its latency passes (capacity), after it (ports are taken for the latency first),
 * or, as far as anything is proven, at some time between. */
typedef enum espi_latency_place {
    ESPI_LATENCY_LAST,
    ESPI_LATENCY_FIRST,
    ESPI_LATENCY_UNKNOWN
} espi_latency_place;

/* The relaxed platform, on which a byte over a link takes of each resource what it takes
 * at least, in whatever slices; and what delays it. */
struct espi_cut_net {
    const struct esp_platform *p; /* latencies as they are */
    struct espi_resources uses;   /* of a slice of slice_bytes on the relaxed platform */
    double slice_bytes;
    espi_latency_place place;
    struct espi_dijkstra *paths;
    int *last_arc; /* scratch */
    struct espi_arena *arena;
};

/* Latency of the shortest paths from a node to all, or from all to it; -1: no memory. */
void espi_cut_net_from(const struct espi_cut_net *net, int node, double *from_s);
void espi_cut_net_to(const struct espi_cut_net *net, int node, double *to_s);
/* From all to the nearest of some. */
void espi_cut_net_to_any(const struct espi_cut_net *net, const int *nodes, int n,
                         double *to_s);

/* After which delay a link can be used at the earliest if nodes have data after ready_s,
 * and how long before the end at the latest if bytes then need left_s from nodes on. Both
 * are of nodes, switches included; either may be NULL: 0 everywhere. Fills before_s and
 * after_s of all links. -1 when out of memory. */
int espi_cut_net_windows(const struct espi_cut_net *net, const double *ready_s,
                         const double *left_s, double *before_s, double *after_s);

/* The earliest end if so many bytes have to cross a cut of n links, each at some time
 * after before_s of the link and before after_s ahead of the end. The list is used up.
 * Negative when out of memory. */
double espi_cut_s(const struct espi_cut_net *net, int *links, int n, double bytes,
                  const double *before_s, const double *after_s);

/* The earliest end T such that sum of Bps * max(0, T - delay) = bytes. Sorts both. */
struct espi_delayed {
    double Bps, delay_s;
};
double espi_delayed_s(struct espi_delayed *at, int n, double bytes);

#endif
