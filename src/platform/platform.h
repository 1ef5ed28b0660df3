/* The platform as the other rooms see it: flat arrays, read only. */
#ifndef ESPI_PLATFORM_PLATFORM_H
#define ESPI_PLATFORM_PLATFORM_H

#include <espalier/platform.h>
#include <stdatomic.h>

#include "graph/csr.h"
#include "platform/certainty.h"
#include "platform/names.h"
#include "platform/prices.h"

struct esp_platform {
    char *name;
    esp_model model;
    int n_nodes, n_hosts, n_links, n_shared, n_sites;
    struct espi_names nodes, sites, cables;

    /* nodes */
    unsigned char *node_kind;     /* esp_node_kind */
    int *node_site;               /* -1: none */
    double *send_s, *recv_s;      /* ESP_UNSET where absent */
    int has_send, has_recv;       /* does any node have one? */
    struct esp_node_rates *rates; /* NULL: none has any */

    /* links, in the order they were added */
    int *tail, *head;
    double *latency_s, *bandwidth_Bps;
    struct espi_rows out, in; /* node -> links, ascending */

    /* cables that links share */
    double *shared_Bps;
    struct espi_rows shared_links; /* cable -> links */
    struct espi_rows link_shared;  /* link -> cables; start is NULL when n_shared == 0 */

    struct espi_certainty certainty;
    struct espi_prices prices;

    struct espi_platform_turned *turned; /* NULL: a copy that does not own its arrays */
};

/* The platform with its links turned round, once somebody has asked for it. */
struct espi_platform_turned {
    _Atomic(struct esp_platform *) platform;
};

static inline const char *espi_node_name(const struct esp_platform *p, int node)
{
    return espi_names_text(&p->nodes, node);
}

static inline const char *espi_shared_name(const struct esp_platform *p, int cable)
{
    return espi_names_text(&p->cables, cable);
}

static inline int espi_is_switch(const struct esp_platform *p, int node)
{
    return p->node_kind[node] == ESP_NODE_SWITCH;
}

static inline double espi_link_time_s(const struct esp_platform *p, int link,
                                      double bytes)
{
    return p->latency_s[link] + bytes / p->bandwidth_Bps[link];
}

/* As esp_platform_reversed(), but made once: it is the platform's, and good as long as
 * that. From any thread. */
esp_status espi_platform_turned(const struct esp_platform *p,
                                const struct esp_platform **out, struct esp_err *err);

/* As esp_platform_reversed(), for slices of one size: what sends take where nothing is
 * said, which hangs on the size, is mirrored too. */
esp_status espi_platform_mirrored(const struct esp_platform *p, double slice_bytes,
                                  struct esp_platform **out, struct esp_err *err);

/* A builder with all that the platform has, to which more can be added. */
esp_status espi_platform_begin_copy(const struct esp_platform *p,
                                    struct esp_builder **out, struct esp_err *err);

/* A copy in which each link has its bandwidth times link_factor[link], and each cable its
 * times cable_factor[cable]; all factors positive. */
esp_status espi_platform_scaled(const struct esp_platform *p, const double *link_factor,
                                const double *cable_factor, struct esp_platform **out,
                                struct esp_err *err);

#endif
