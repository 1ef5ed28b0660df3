/* Spanning arborescence of minimum cost. */
#ifndef ESPI_GRAPH_ARBORESCENCE_H
#define ESPI_GRAPH_ARBORESCENCE_H

#include "graph/csr.h"

struct espi_arb_arc;
struct espi_arb_heap_node;

/* Work space for one graph, used again by every call. */
struct espi_arborescence {
    int n;
    const int *head;
    /* arcs into each node, self-loops left out */
    int *start, *arc, *tail;
    /* live[start[v] .. start[v] + n_live[v]): once v is contracted, the arcs into it that
     * may still be chosen, the cheapest first; is_heap[v]: as a binary heap */
    struct espi_arb_arc *live;
    int *n_live;
    unsigned char *is_heap;
    struct espi_arb_heap_node *heap;
    /* 0..n-1 are nodes, from n on contracted cycles */
    int *set, *part_of, *top, *chosen, *path, *seen;
};

/* Memory from the arena for the graph, which must outlive the work space; -1 when out of
 * memory. */
int espi_arborescence_init(struct espi_arborescence *w, const struct espi_digraph *g,
                           struct espi_arena *arena);

/* The cheapest set of arcs that leads from the root to every node: parent_arc[v] is the
 * arc into v, -1 for the root. Costs are >= 0; an arc of infinite cost is not there.
 * Returns 0 and the sum of the costs in *total (may be NULL), or -1 when some node cannot
 * be reached from the root; the outputs are then untouched. Allocates nothing.
 * O(m log n). */
int espi_arborescence(struct espi_arborescence *w, int root, const double *cost,
                      int *parent_arc, double *total);

#endif
