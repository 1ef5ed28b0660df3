/* A network in the terms of what `espalier measure` finds: hosts with ports, areas
 * (sites, or parts of one site) and cables that all transfers between some areas share;
 * and its platform, as measuring writes it down (measure/platform.c). */
#ifndef ESPI_PLATFORM_MEASURED_NET_H
#define ESPI_PLATFORM_MEASURED_NET_H

#include "platform/generate_common.h"

/* What the transfers from one area to another share, for some pairs of areas. */
struct espi_net_shared {
    char name[32];
    double Bps;
    unsigned char *pairs; /* from area * n_areas + to area: is it one of them? */
};

struct espi_measured_net {
    int n_hosts, n_areas;
    int one_site;             /* areas are racks of one site */
    int *area;                /* of hosts */
    double *out_Bps, *in_Bps; /* of hosts, all transfers together */
    double *send_s, *recv_s;  /* of hosts, or ESP_UNSET */
    double *latency_s;        /* host * n_hosts + host */
    double *flow_Bps;         /* area * n_areas + area: one transfer; or INFINITY */
    struct espi_net_shared *shared;
    int n_shared, shared_room;
};

enum { ESPI_NET_SITES_MAX = 8 };

/* Takes memory for all of it; hosts are all of area 0 and nothing is known of them. */
esp_status espi_measured_net_init(struct espi_measured_net *net, struct espi_gen *g,
                                  int n_hosts, int n_areas, int shared_room);

/* What an area is called, and what its site is. */
const char *espi_measured_net_site(const struct espi_measured_net *net, int area);

/* Adds something shared by no pair so far; there must be room. */
struct espi_net_shared *espi_measured_net_share(struct espi_measured_net *net,
                                                double Bps);
/* Takes back what was added last if ports and single transfers alone limit as much. */
void espi_measured_net_settle(struct espi_measured_net *net);

/* Links from host to host, ports, then what is shared. */
esp_status espi_measured_net_build(const struct espi_measured_net *net,
                                   struct espi_gen *g);

#endif
