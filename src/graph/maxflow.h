/* Maximum flow and minimum cuts on real capacities. */
#ifndef ESPI_GRAPH_MAXFLOW_H
#define ESPI_GRAPH_MAXFLOW_H

#include "graph/csr.h"

/* Work space for one graph; each call brings its own capacities, source and sink. */
struct espi_maxflow {
    int n, m;
    int source, sink;
    int stopped; /* the last call ended at its limit: the cuts are not minimal */
    /* residual arcs by node: node u has slots start[u] .. start[u+1) */
    int *start, *to, *mate;
    double *left; /* what can still be sent through the slot */
    int *forward; /* arc -> its slot, -1 for a self-loop */
    int *level, *next, *queue, *path;
};

/* Memory from the arena; -1 when out of memory. The graph is not needed afterwards. */
int espi_maxflow_init(struct espi_maxflow *w, const struct espi_digraph *g,
                      struct espi_arena *arena);

/* The value of a maximum flow, or of some flow >= stop_at as soon as there is one
 * (w->stopped tells; INFINITY: never). Capacities are >= 0 and may be infinite; the value
 * is infinite when a path of such arcs leads to the sink, or source == sink (w->stopped
 * is set then too). Allocates nothing. */
double espi_maxflow(struct espi_maxflow *w, const double *capacity, int source, int sink,
                    double stop_at);

/* The flow on each arc after a call of finite value. */
void espi_maxflow_arcs(const struct espi_maxflow *w, double *flow);

/* The two extreme minimum cuts, side[v] = 1 on the source's side: the smallest such set,
 * and the largest. Not to be asked for when w->stopped. */
void espi_maxflow_source_cut(struct espi_maxflow *w, unsigned char *side);
void espi_maxflow_sink_cut(struct espi_maxflow *w, unsigned char *side);

#endif
