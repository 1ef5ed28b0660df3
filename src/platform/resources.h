/* Resources: what a transfer occupies, and for how long. Every machine model is a way to
 * list them; bounds, packings, cost models and the simulator speak nothing else.
 *
 *   one-port     u -> v holds the send port of u and the receive port of v for its time
 *   half-duplex  a node has one port for both
 *   multi-port   u -> v holds the send port of u for the send overhead, the receive port
 *                of v for the receive overhead if it has one, and the link for its time
 *   capacity     u -> v holds the link for bytes / bandwidth (latency delays, but does
 *                not occupy)
 *   hnow         u -> v takes the processor of u for T_send and that of v for T_recv, and
 *                the network interface of u for T_hold if it has one; links do not limit
 *   switches     have no ports; a link between two switches is a resource of its own
 *   cables       a link that shares cables holds each for bytes / bandwidth of the cable
 */
#ifndef ESPI_PLATFORM_RESOURCES_H
#define ESPI_PLATFORM_RESOURCES_H

#include "base/arena.h"
#include "platform/platform.h"

typedef enum espi_resource_kind {
    ESPI_SEND_PORT, /* of a node; the only port in half-duplex; hnow: its processor */
    ESPI_RECV_PORT, /* of a node; hnow: its network interface */
    ESPI_LINK,      /* the link itself */
    ESPI_CABLE,     /* shared by links */
} espi_resource_kind;

/* Use k of link e is k = start[e] .. start[e+1): resource[k] is held for time_s[k]. */
struct espi_resources {
    int n; /* resources are 0..n-1; some may be used by nobody */
    int first_recv, first_link, first_cable; /* numbering: send ports come first */
    int *start;
    int *resource;
    double *time_s;
};

/* The resources that links need for a slice of that many bytes; -1 when out of memory. */
int espi_resources_init(struct espi_resources *r, const struct esp_platform *p,
                        double slice_bytes, struct espi_arena *arena);

/* Adds what so many slices over a link take of each resource. */
static inline void espi_resources_add(const struct espi_resources *r, int link,
                                      double slices, double *load_s)
{
    for (int k = r->start[link]; k < r->start[link + 1]; k++)
        load_s[r->resource[k]] += slices * r->time_s[k];
}

/* Use k of the link, had it to carry that many bytes. */
double espi_use_time_s(const struct espi_resources *r, const struct esp_platform *p,
                       int link, int k, double bytes);

/* What a resource is: its kind, and in *owner the node, link or cable. */
espi_resource_kind espi_resource_kind_of(const struct espi_resources *r, int resource,
                                         int *owner);

/* "the send port of n17", "the link a -> b", "the shared cable wan". Returns out. */
const char *espi_resource_text(const struct espi_resources *r,
                               const struct esp_platform *p, int resource, char *out,
                               size_t out_size);

/* The send overhead of a node in the multi-port model, and T_send of hnow: its own, or
 * 0.8 of its fastest outgoing link's time where the platform does not say (Beaumont,
 * Marchal, Robert 2005); 0 without links. */
double espi_send_overhead_s(const struct esp_platform *p, int node, double slice_bytes);

/* T_recv of the hnow model: the node's own, or 0.8 of its fastest incoming link's time.
 */
double espi_recv_overhead_s(const struct esp_platform *p, int node, double bytes);

/* T_hold of the hnow model: at least T_send. */
double espi_hold_s(const struct esp_platform *p, int node, double bytes);

#endif
