/* Deleting arcs from a graph as long as every node stays reachable from the root.
 *
 * No search from scratch for each deletion: a spanning tree of the arcs still there is
 * kept as the certificate that all is reachable. An arc outside the tree goes for
 * nothing. When the tree arc into v is to go, v needs a detour: a search from v against
 * the arcs, which ends at the first node that does not hang below v in the tree. (Whether
 * a node does is found by climbing the tree; what was climbed is remembered for the
 * search.) The nodes of the detour then hang on it, and everything else stays where it
 * is. Without a detour the arc cannot go, now or later.
 *
 * A deletion costs O(1) off the tree, and on it what the search meets: usually a few arcs
 * and one climb, at worst O(n + m). */
#ifndef ESPI_ALGO_PIPELINED_PRUNER_H
#define ESPI_ALGO_PIPELINED_PRUNER_H

#include "algo/algo.h"

struct espi_pruner {
    const struct espi_digraph *g;
    int root;
    int n_left;      /* arcs still there */
    int *parent_arc; /* the certificate; the result once n - 1 arcs are left */
    int *removed;    /* arcs, in the order in which they went */
    int n_removed;
    /* arcs still there, by head: in_item[g->in.start[v] .. + in_count[v]) */
    int *in_item, *in_count;
    int *in_place; /* arc -> where it stands in in_item */
    /* one search; a mark is valid when it has the number of the search */
    int search;
    int *met, *below, *outside;
    int *queue, *via; /* via: the arc by which a node leads on to v */
};

/* Every node must be reachable from the root. -1 when out of memory. */
int espi_pruner_init(struct espi_pruner *p, const struct espi_digraph *g, int root,
                     struct espi_arena *arena);

/* Deletes an arc that is still there; 0 when it cannot be spared. */
int espi_prune_arc(struct espi_pruner *p, int arc);

/* ---- the two orders of deletion ---- */

/* Tries the arcs in the given order until a tree is left. */
void espi_prune_in_order(struct espi_pruner *p, const int *arcs);

/* What each sender would still send, were all arcs left used. */
struct espi_out_load {
    const struct espi_view *view;
    double *sum_s;     /* times of its arcs left, kept up by subtraction */
    double *slowest_s; /* of its arcs left; 0 without one */
    int *degree;
};

typedef double (*espi_out_load_fn)(const struct espi_out_load *load, int host);

/* Deletes an arc of the most loaded sender that has one to spare, its slowest first, and
 * starts over, until a tree is left. Ties: lower sender, lower receiver. -1 when out of
 * memory. */
int espi_prune_by_load(struct espi_pruner *p, const struct espi_view *view,
                       espi_out_load_fn load, struct espi_arena *arena);

double espi_out_load_sum_s(const struct espi_out_load *load, int host);
double espi_out_load_multiport_s(const struct espi_out_load *load, int host);

/* The tree of espi_prune_by_load as the one tree of the task's plan. */
esp_status espi_prune_by_load_plan(const struct espi_task *task, espi_out_load_fn load,
                                   struct esp_plan *plan, struct esp_err *err);

#endif
