/* Who sends to whom in a script, over which links, and what that uses of the network. */
#ifndef ESPI_NATIVE_CONNECTIONS_H
#define ESPI_NATIVE_CONNECTIONS_H

#include "native/script.h"
#include "platform/resources.h"

struct espi_rank_connections {
    int n;
    int *from, *to; /* ranks */
    int *node;      /* rank -> node */
    double *latency_s;
    double *back_s; /* of the way back, which answers take */
    int *of_call;   /* send -> its connection; -1 for other calls */
    struct espi_resources links;
    /* connection -> what 1 B/s takes of resources of capacity 1, as rows */
    int *use_start, *use_resource;
    double *use_part;
};

/* nodes: rank -> its host; NULL: rank i is on host i. Messages go over the link from host
 * to host where there is one, else along a shortest path, over hosts too, as packets do.
 * ESP_EUNSUPPORTED where there is none, and in the hnow model. Everything lives in the
 * arena. */
esp_status espi_rank_connections_init(struct espi_rank_connections *c,
                                      const struct esp_platform *p,
                                      const struct espi_script *s, const int *nodes,
                                      struct espi_arena *arena, struct esp_err *err);

#endif
