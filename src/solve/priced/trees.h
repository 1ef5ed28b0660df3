/* Trees for plans by price: cheap ones at given prices of links, and those found so far.
 */
#ifndef ESPI_SOLVE_PRICED_TREES_H
#define ESPI_SOLVE_PRICED_TREES_H

#include <stdint.h>

#include "graph/arborescence.h"
#include "solve/priced/model.h"
#include "solve/steiner.h"

struct espi_priced_pool {
    const struct espi_priced_model *m;
    struct espi_arena *arena;
    struct espi_steiner steiner;
    int exact;    /* cheapest trees are found, not only cheap ones */
    int *link_of; /* tail x head -> link, -1: none */
    /* the tree at hand */
    int *parent, *order, *depth_mark, *arc;
    unsigned char *member;
    double *cost, *noisy;
    struct espi_arborescence arb;
    /* those that were kept */
    int n_trees;
    struct espi_priced_tree *trees;
    uint64_t *hash;
    size_t tree_room, hash_room;
};

/* Memory from the arena, and some that espi_priced_pool_done gives back. */
esp_status espi_priced_pool_init(struct espi_priced_pool *pool,
                                 const struct espi_priced_model *m,
                                 struct espi_arena *arena, struct esp_err *err);
void espi_priced_pool_done(struct espi_priced_pool *pool);

/* Looks for a tree that is cheap at the prices and keeps it: its number, whether it is
 * new or not, and its price in *sum. -1: out of memory; -2: some target cannot be
 * reached. */
int espi_priced_pool_find(struct espi_priced_pool *pool, const double *price,
                          double *sum);

/* Keeps the tree of the links into each node (-1: it is not in the tree): its number, or
 * -1: out of memory. */
int espi_priced_pool_keep(struct espi_priced_pool *pool, const int *arc);

/* Keeps a tree of another pool. */
int espi_priced_pool_take(struct espi_priced_pool *pool,
                          const struct espi_priced_tree *tree);

#endif
