/* What a platform says of transfers that run at once: their rates, which of its links and
 * cables are full then, and which of these are the reason why they are no faster. All
 * memory comes from the arena. */
#ifndef ESPI_MEASURE_PLATFORM_FLOWS_H
#define ESPI_MEASURE_PLATFORM_FLOWS_H

#include "base/arena.h"
#include "measure/measured.h"
#include "platform/platform.h"

/* Resources are cables, then links. */
struct espi_platform_flows {
    const struct esp_platform *p;
    int n_resources;
    int *node;              /* of the hosts of the samples, or -1 */
    double *capacity;       /* INFINITY: limits nothing that its cables do not */
    int *local;             /* resource -> its number in the round, or -1 */
    int *queue, *link_into; /* of nodes, while a route is looked for */
};

struct espi_round_forecast {
    int n_flows, n;    /* flows, resources that they use */
    int *resource;     /* which they are */
    int *start, *item; /* flow -> its resources, by their number here */
    double *rate;      /* of flows */
    double *load;      /* of resources: all their flows together */
    double *held_up;   /* of resources: what their flows would gain without it */
};

/* Each gives -1 when out of memory. Flows are of nodes that reach each other. */
int espi_platform_flows_init(struct espi_platform_flows *x, const struct esp_platform *p,
                             const struct espi_samples *samples,
                             struct espi_arena *arena);
/* Puts nodes in the place of hosts; rounds of hosts that are no nodes are left out. */
void espi_rounds_of_nodes(const struct espi_platform_flows *x,
                          struct espi_trial_rounds *rounds);
int espi_round_forecast(struct espi_platform_flows *x,
                        const struct espi_trial_flow *flows, int n,
                        struct espi_round_forecast *out, struct espi_arena *arena);

/* More than the resources that the rounds use, each counted in each round; 0 when out of
 * memory. */
size_t espi_rounds_uses(struct espi_platform_flows *x,
                        const struct espi_trial_rounds *rounds, struct espi_arena *arena);

/* Is the resource (by its number in the forecast) clearly the reason why its flows are no
 * faster? */
int espi_round_is_held(const struct espi_round_forecast *f, int resource);
/* What the flows of that resource were seen to get together. */
double espi_round_seen(const struct espi_round_forecast *f,
                       const struct espi_trial_flow *flows, int resource);

/* The links from one host to another, in a list with room for all nodes; gives how many,
 * or -1 when there is no way. */
int espi_platform_route(struct espi_platform_flows *x, int from, int to, int *links);

#endif
