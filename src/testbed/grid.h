/* A platform as wires and boxes: what the testbed builds of network namespaces.
 *
 * Every host is a box with one wire to a box that forwards. Platforms with switches, and
 * those in which not every host is linked with every other, are built as they stand: a
 * link and its opposite are one wire. Platforms of host-to-host links are built as what
 * such links are measured on: a router a site or rack, wires at the rates of the hosts,
 * and a wire for each cable that the links between sites or racks share. */
#ifndef ESPI_TESTBED_GRID_H
#define ESPI_TESTBED_GRID_H

#include "base/arena.h"
#include "platform/platform.h"
#include "testbed/tuning.h"

#define ESPI_GRID_BOXES_MAX 1000
#define ESPI_GRID_WIRES_MAX 4000
/* derived: what is sent on a wire for a byte of a program: 1514 bytes carry 1448. */
#define ESPI_GRID_WIRE_BYTES (1514.0 / 1448)

/* The first boxes are the nodes of the platform, in its order. */
struct espi_box {
    const char *name; /* the node's, or what the router is called */
    int node;         /* of the platform; -1: a router that the testbed adds */
    int host;         /* which host, 0, 1, ...; -1: forwards only */
    int n_wires;
};

struct espi_testbed_wire {
    int box[2];
    int port[2];          /* at each box, its how manieth wire */
    double rate_Bps[2];   /* from box[0] to box[1], and back; 0: as fast as can be */
    double latency_s[2];  /* likewise; 0: that of the machine */
    const char *cable[2]; /* the platform's name of it, or NULL */
};

struct espi_grid {
    const struct esp_platform *p;
    struct espi_box *boxes;
    int n_boxes, n_hosts;
    int *host_box; /* host -> box */
    struct espi_testbed_wire *wires;
    int n_wires;
    int *next_wire; /* box * n_hosts + host -> wire by which it is reached; -1: is it */
    long window_bytes; /* the largest send buffer that a connection is given */
    /* Links of the platform that are not what the wires give, and the worst of them. */
    int n_off, worst_link;
    double worst_ratio; /* what the wires give over what the link should */
    /* Of these, those that are slower than all wires on their way, since a link by itself
     * is not built: how many, and the slowest. */
    int n_too_fast, slowest_link;
};

/* Memory from the arena; p must outlive the grid. */
esp_status espi_grid_make(struct espi_grid *g, const struct esp_platform *p,
                          struct espi_arena *arena, struct esp_err *err);

/* Is this wire led through a delay line? */
static inline int espi_wire_delayed(const struct espi_testbed_wire *w)
{
    return w->latency_s[0] > 0 || w->latency_s[1] > 0;
}

/* What the user calls a link: the name of a cable, "FROM>TO" (both give the direction
 * dir) or "FROM<>TO" (dir is -1: both). ESP_EUSAGE and a sentence when there is none. */
esp_status espi_grid_find_wire(const struct espi_grid *g, const char *text, int *wire,
                               int *dir, struct esp_err *err);

/* "FROM>TO", or the cable's name. */
const char *espi_grid_wire_name(const struct espi_grid *g, int wire, int dir, char *out,
                                size_t size);

/* The box of that name, or -1. */
int espi_grid_find_box(const struct espi_grid *g, const char *name);

/* The rate and latency of the way from one host to another. */
void espi_grid_way(const struct espi_grid *g, int from_host, int to_host,
                   double *rate_Bps, double *latency_s);

#endif
