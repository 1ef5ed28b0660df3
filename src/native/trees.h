/* The trees of Open MPI's collectives, over ranks counted from the root: rank 0 is the
 * root, whoever that is. */
#ifndef ESPI_NATIVE_TREES_H
#define ESPI_NATIVE_TREES_H

#include "base/arena.h"

struct espi_rank_tree {
    int n;
    int *parent;      /* -1: the root */
    int *child_start; /* rank -> its children in the order of sending, as rows */
    int *child;
};

/* Writes the children of a rank of n in their order, at most n, and gives their number.
 */
typedef int (*espi_children_fn)(int rank, int n, int fanout, int *out);

int espi_chain_children(int rank, int n, int fanout, int *out); /* so many chains */
int espi_binary_children(int rank, int n, int fanout, int *out);
int espi_binomial_children(int rank, int n, int fanout, int *out);
/* The same tree with subtrees of ranks that follow one another. */
int espi_in_order_binomial_children(int rank, int n, int fanout, int *out);
/* Here the root is the last rank: 0 is the last, 1 is rank 0, and so on. */
int espi_in_order_binary_children(int rank, int n, int fanout, int *out);
int espi_knomial_children(int rank, int n, int radix, int *out);

/* -1 when out of memory; free with espi_rank_tree_done. */
int espi_rank_tree_init(struct espi_rank_tree *tree, int n, int fanout,
                        espi_children_fn children);
void espi_rank_tree_done(struct espi_rank_tree *tree);

static inline int espi_child_count(const struct espi_rank_tree *tree, int rank)
{
    return tree->child_start[rank + 1] - tree->child_start[rank];
}

#endif
