/* The linear program of mix.h: trees by the part of the message that each carries. */
#ifndef ESPI_SOLVE_PRICED_MIX_IMPL_H
#define ESPI_SOLVE_PRICED_MIX_IMPL_H

#include "lp/lp.h"
#include "solve/priced/mix.h"

struct espi_priced_master {
    struct espi_priced_model *m;
    const struct espi_priced_bound *bound;
    struct espi_priced_pool *pool;
    struct espi_lp *lp;
    int n, links;
    int first_tree; /* column */
    int columns;    /* trees that have one */
    int room;       /* for shares of so many trees */
    /* resources: links at their tail and head, limits, and relays that are used at all */
    int n_resources, first_limit, first_relay;
    int *row;      /* of a resource; 0: nobody uses it */
    int *whole;    /* its row of partitions; 0: it has none */
    int *part_cap; /* partitions that fit it within the deadline */
    int *taken;    /* of those, given */
    double *load;  /* of a tree, by resource; of what is given, by resource */
    double *given; /* in units */
    int *touched;  /* resources */
    int n_touched;
    int *limit_start, *limit_item; /* link -> limits */
    int left;                      /* partitions without a tree */
    int *index;
    double *value, *price;
};

/* Memory from the arena, but for r->lp, which is freed by the caller. Trees of the pool
 * have columns. */
esp_status espi_priced_master_init(struct espi_priced_master *r, struct espi_arena *a,
                                   struct esp_err *err);

/* What partitions that are given take is no longer there. */
void espi_priced_master_set_given(struct espi_priced_master *r);
void espi_priced_master_give(struct espi_priced_master *r, int tree, double share);

/* Solves, and asks for trees that would make it better as long as there are any. */
esp_status espi_priced_master_solve(struct espi_priced_master *r, int rounds,
                                    struct esp_err *err);

#endif
