/* Trees from a root to some hosts, cheap at given prices of links. Hosts copy and
 * forward, switches only forward, so that a link is paid for each time it is used. */
#ifndef ESPI_SOLVE_STEINER_H
#define ESPI_SOLVE_STEINER_H

#include <stdint.h>

#include "graph/arborescence.h"
#include "graph/dijkstra.h"
#include "solve/flow_net.h"

/* A tree: transfers from host to host, senders first. */
struct espi_steiner_tree {
    int n_edges;
    int *from, *to; /* nodes */
    int *hop_start; /* n_edges + 1 */
    int *hops;      /* links */
};

struct espi_steiner {
    const struct espi_flow_net *net;
    struct espi_dijkstra dijkstra;
    struct espi_arborescence arb;
    double *distance, *cost, *least;
    int *last, *source, *path, *in_edge, *order, *parent_arc;
    unsigned char *in_tree, *wanted, *may_pass, *member;
    struct espi_steiner_tree tree; /* the one found last */
    struct espi_steiner_tree spare;
    int switched;
    /* exact: cheapest trees from each node to each set of targets */
    double *best; /* set x node */
    int *how;     /* >= 0: link taken first; < 0: -1 - subset that one branch serves */
};

/* Memory from the arena; -1 when there is none. */
int espi_steiner_init(struct espi_steiner *s, const struct espi_flow_net *net,
                      struct espi_arena *arena);

/* Can the exact method be afforded here? */
int espi_steiner_can_exact(const struct espi_flow_net *net);

/* Room for the exact method; -1 when out of memory. */
int espi_steiner_init_exact(struct espi_steiner *s, struct espi_arena *arena);

/* Each gives the cost of a tree to all targets, held in s->tree; infinity when some
 * cannot be reached. cost is of links, >= 0.
 *
 * Nearest target first, by cheapest paths from the tree so far: H. Takahashi, A.
 * Matsuyama, An approximate solution for the Steiner problem in graphs, 1980. Then,
 * without switches, the cheapest arborescence over the hosts of the tree, its idle leaves
 * cut off, as long as that helps. O(targets * m log n). */
double espi_steiner_grow(struct espi_steiner *s, const double *cost);

/* The cheapest arborescence over all hosts, idle leaves cut off. Not with switches. */
double espi_steiner_prune(struct espi_steiner *s, const double *cost);

/* The cheapest of all: S. Dreyfus, R. Wagner, The Steiner problem in graphs, 1971, for
 * directed links. O(3^targets * n + 2^targets * m log n). */
double espi_steiner_exact(struct espi_steiner *s, const double *cost);

/* Makes s->tree of any transfers that lead from the root to all targets: each host takes
 * its data from the first that brings them, and idle leaves are cut off. hops of transfer
 * i are hops[hop_start[i] .. hop_start[i+1]), in which hosts may stand; senders first. */
void espi_steiner_from_edges(struct espi_steiner *s, int n_edges, const int *hop_start,
                             const int *hops);

double espi_steiner_cost(const struct espi_steiner_tree *t, const double *cost);
uint64_t espi_steiner_hash(const struct espi_steiner_tree *t);

#endif
