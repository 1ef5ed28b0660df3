/* The network as flows see it: all nodes and links with the resources they use, a root
 * and targets. Switches are nodes like others: flows pass through them. */
#ifndef ESPI_SOLVE_FLOW_NET_H
#define ESPI_SOLVE_FLOW_NET_H

#include "base/arena.h"
#include "graph/csr.h"
#include "lp/lp.h"
#include "platform/resources.h"

struct espi_flow_net {
    const struct esp_platform *p;
    struct espi_digraph g; /* nodes and links of the platform */
    struct espi_resources res;
    double slice_bytes;
    double unit_s; /* times in programs are measured in it */
    int root;      /* nodes */
    int n_targets;
    const int *targets;
    unsigned char *is_target;
};

/* targets == NULL: all hosts but the root. -1 when out of memory. */
int espi_flow_net_init(struct espi_flow_net *net, const struct esp_platform *p,
                       double slice_bytes, int root, int n_targets, const int *targets,
                       struct espi_arena *arena);

/* Adds rows "sum of time * x <= column 0" for every resource that is used, where the link
 * e of each of n_copies is column 1 + copy * links + e. 0, or -1: out of memory. */
int espi_flow_net_add_loads(const struct espi_flow_net *net, int n_copies,
                            struct espi_lp *lp, struct espi_arena *arena);

/* The largest load of a resource when y slices cross each link, in seconds. NAN: out of
 * memory. */
double espi_flow_net_period_s(const struct espi_flow_net *net, const double *y,
                              struct espi_arena *arena);

#endif
