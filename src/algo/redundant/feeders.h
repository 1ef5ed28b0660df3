/* Second and further senders for every host: trees that share no arc with the trees
 * before them. What `two-tree`, `patient` and the experiment on wrong measurements share.
 */
#ifndef ESPI_ALGO_REDUNDANT_FEEDERS_H
#define ESPI_ALGO_REDUNDANT_FEEDERS_H

#include "graph/earliest.h"

struct espi_feeders {
    const struct espi_digraph *g;
    const double *lag_s, *hold_s;
    int root;
    struct espi_earliest grower;
    unsigned char *level; /* arc: 0 free, 1 the reverse of a used one, 2 used */
    int *reverse;         /* arc -> the opposite one, -1: none */
    double *free_s;       /* host -> when it has made its sends so far, by forecast */
};

/* Memory for a graph, for many sets of times; -1 when out of memory. O(n + m). */
int espi_feeders_init(struct espi_feeders *f, const struct espi_digraph *g,
                      struct espi_arena *arena);

/* Forgets all trees; the times are borrowed. */
void espi_feeders_start(struct espi_feeders *f, int root, const double *lag_s,
                        const double *hold_s);

/* The first tree by ECEF: chosen has room for n - 1 arcs; gives how many there are. */
int espi_feeders_first(struct espi_feeders *f, int *chosen);

/* Takes a tree into account: its arcs, in send order, will not be used again, and their
 * reverses only if need be. */
void espi_feeders_use(struct espi_feeders *f, const int *arcs, int count);

/* The next tree: by ECEF over arcs that are free; where that leads no further, over
 * reverses of used ones too; what it then still does not reach gets its fastest free arc
 * from any host, so that it is no tree any more but a second sender all the same. Gives
 * the number of arcs, fewer than n - 1 when a host has no free arc at all. With `aware` a
 * host sends when it is through with the sends of the trees before. */
int espi_feeders_next(struct espi_feeders *f, int aware, int *chosen);

#endif
