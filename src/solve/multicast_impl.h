/* What the parts of the multicast solver share: the trees found so far. */
#ifndef ESPI_SOLVE_MULTICAST_IMPL_H
#define ESPI_SOLVE_MULTICAST_IMPL_H

#include "solve/multicast.h"
#include "solve/tree_mix_lp.h"

/* A tree that was found: a column of the mixer. */
struct espi_mc_column {
    struct espi_steiner_tree tree;
    uint64_t hash;
};

struct espi_mc {
    const struct espi_flow_net *net;
    struct espi_arena *arena;
    struct espi_tree_mix_lp mx;
    struct espi_steiner s;
    int exact;
    struct espi_mc_column *columns;
    size_t n_columns, cap;
    double *best_price;   /* that asks for trees near those of the bound */
    double *mixed, *load; /* scratch, by resource */
    double *cost;         /* scratch, by link */
    double bound_s;
    int rounds;
};

/* What a slice along the tree takes of each resource. */
void espi_mc_loads(const struct espi_mc *mc, const struct espi_steiner_tree *t,
                   double *load_s);

/* Keeps the tree that was found last: 1, 0 if it is there already, -1: out of memory.
 * Its column is in *at. */
int espi_mc_keep(struct espi_mc *mc, int *at);

/* Costs of links at prices of resources, in mc->cost. */
void espi_mc_set_costs(struct espi_mc *mc, const double *price);

/* Leaves at most max_trees columns allowed, the best that can be found, solved. */
esp_status espi_mc_few(struct espi_mc *mc, int max_trees, struct esp_err *err);

#endif
