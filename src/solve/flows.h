/* Series of scatters, and of multicasts with several sources: flows whose loads add up.
 *
 * Reference: as in solve/cover.h. Sources S0 = root, S1, ... are ordered; each gets the
 * whole message from those before it, every other target from any of them. Sources with
 * the same origins need one flow together, so that k sources take k flows of as many
 * variables as links. With the root alone this is the scatter, and Multicast-UB.
 * Guarantee: the period is reached by sending along the flows' paths. */
#ifndef ESPI_SOLVE_FLOWS_H
#define ESPI_SOLVE_FLOWS_H

#include "solve/flow_net.h"

enum { ESPI_SOURCES_MAX = 64 };

struct espi_flows {
    const struct espi_flow_net *net;
    struct espi_arena *arena;
    struct espi_lp *lp; /* column 0: the period; then the flows, the last ones first */
    int n_sources;
    int source[ESPI_SOURCES_MAX];
    double period_s;
    int n_loads;     /* rows before those of nodes */
    int *row;        /* resource -> its row */
    int first_group; /* its row */
    double *x;       /* the columns' values, of the sources there are */
    size_t x_cap;
};

/* Starts with the root as the only source, solved. */
esp_status espi_flows_init(struct espi_flows *f, const struct espi_flow_net *net,
                           struct espi_arena *arena, struct esp_err *err);
void espi_flows_free(struct espi_flows *f);

/* Makes the node a source if that gives a period shorter than now by more than rounding;
 * *better says so. Otherwise nothing has changed but the time that has passed. */
esp_status espi_flows_try_source(struct espi_flows *f, int node, int *better,
                                 struct esp_err *err);

/* The earliest end of one message to these targets alone (by node), from the root alone,
 * if each resource can be used for all but delay_s of the time until then. */
esp_status espi_flows_delayed(struct espi_flows *f, const unsigned char *gets,
                              const double *delay_s, double *end_s, struct esp_err *err);

/* With the root alone: puts links into groups, of which any may be closed; group[link] is
 * -1 for those that always stay open. */
esp_status espi_flows_group(struct espi_flows *f, int n_groups, const int *group,
                            struct esp_err *err);
/* Nothing flows over links of the group from here on; the period and the flow are those
 * of the others, which have to reach all targets. */
esp_status espi_flows_close(struct espi_flows *f, int group, struct esp_err *err);

/* What flows on each link: flow 0 is for the targets that are no sources, flow i > 0 for
 * source i. Borrowed until the next call. */
const double *espi_flows_of(const struct espi_flows *f, int flow);

/* Who gets flow i: is the node a destination of it? */
int espi_flows_is_destination(const struct espi_flows *f, int flow, int node);

/* A path of a destination's data. */
struct espi_flow_path {
    int to, from;  /* nodes: destination and source */
    double weight; /* of the destination's 1 */
    int n_hops;
    const int *hops; /* links */
};

/* Takes the flows apart into paths, those of a destination together and in the order of
 * the sources (then targets as listed), weights of a destination summing to 1. Memory
 * from the arena. -1 when out of memory. */
int espi_flows_paths(const struct espi_flows *f, struct espi_flow_path **paths,
                     int *n_paths, struct espi_arena *arena);

#endif
