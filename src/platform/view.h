/* The view that tree algorithms work on: hosts, and arcs by which one host can send to
 * another. Without switches the arcs are the links. With switches there is also an arc
 * for each pair of hosts that a path through switches joins (a shortest one for the given
 * slice), so that no algorithm needs to know about switches. */
#ifndef ESPI_PLATFORM_VIEW_H
#define ESPI_PLATFORM_VIEW_H

#include "graph/csr.h"
#include "platform/platform.h"
#include "platform/resources.h"

struct espi_view {
    const struct esp_platform *p;
    double slice_bytes;
    struct espi_digraph g; /* hosts 0..n-1 and arcs */
    double *time_s;        /* arc: latency + slice / bandwidth, the T of the papers */
    double *latency_s;     /* arc: of all its links */
    double *bandwidth_Bps; /* arc: of its slowest link */
    double *hold_s;        /* arc: how long a send keeps the sender from the next one */
    double *lag_s;         /* arc: from the start of a send to the arrival */
    int *node;             /* host -> node */
    int *host;             /* node -> host, -1 for switches */
    int *hop_start, *hops; /* arc -> links, as rows */
    struct espi_resources links; /* link -> resources */
    /* arc -> resources: those of its links, each resource once. Use k of arc e is
     * k = use_start[e] .. use_start[e+1). */
    int *use_start, *use_resource;
    double *use_s;
    double *send_s; /* host -> multi-port send overhead; 0 in the other models */
    /* Views with a source (espi_view_add_source), else 0: the last host of g stands for
     * all hosts, its arc to host h is the last but n_sources - 1 - h of g and, as a link,
     * number n_links + h, which uses a resource of its own. */
    int n_sources;
};

/* How long a send over a path of links holds its sender, and when the slice arrives after
 * the start of the send. Hosts on the way store and forward, switches pass it on. */
struct espi_path_time {
    double hold_s, lag_s;
};

struct espi_path_time espi_path_time(const struct esp_platform *p, double slice_bytes,
                                     const int *hops, int n_hops);

/* A copy of the view with a source that has an arc to every host, and no times but those
 * of resources: using an arc takes use_s of a resource of the arc's own. For the solvers
 * of packings only. -1 when out of memory. */
int espi_view_add_source(const struct espi_view *v, double use_s,
                         struct espi_arena *arena, struct espi_view *out);

/* Changes that time. */
void espi_view_set_source(struct espi_view *v, double use_s);

/* Memory from the arena; the platform must outlive the view. */
esp_status espi_view_init(struct espi_view *v, const struct esp_platform *p,
                          double slice_bytes, struct espi_arena *arena,
                          struct esp_err *err);

#endif
