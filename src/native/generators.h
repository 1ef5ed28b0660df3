/* The generators, one file a collective, and what they share. */
#ifndef ESPI_NATIVE_GENERATORS_H
#define ESPI_NATIVE_GENERATORS_H

#include "native/native.h"

typedef void espi_generator(struct espi_script *s, const struct espi_native_task *t);

espi_generator espi_bcast_linear, espi_bcast_chain, espi_bcast_pipeline,
    espi_bcast_split_binary, espi_bcast_binary, espi_bcast_binomial, espi_bcast_knomial,
    espi_bcast_scatter_allgather, espi_bcast_scatter_allgather_ring,
    espi_bcast_scatter_doubling, espi_bcast_scatter_ring, espi_bcast_one_by_one;

/* The rank so many behind the root, round the end. */
static inline int espi_rank_from_root(const struct espi_native_task *t, int shifted)
{
    return (shifted + t->root) % t->n_ranks;
}

static inline int espi_rank_behind_root(const struct espi_native_task *t, int rank)
{
    return (rank - t->root + t->n_ranks) % t->n_ranks;
}

/* The last block that has the rank, in blocks of a power of two. */
static inline int espi_round_down(int rank, int power)
{
    return rank & ~(power - 1);
}

#endif
