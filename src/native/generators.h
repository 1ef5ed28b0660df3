/* The generators, one file a collective, and what they share. */
#ifndef ESPI_NATIVE_GENERATORS_H
#define ESPI_NATIVE_GENERATORS_H

#include "native/native.h"

typedef void espi_generator(struct espi_script *s, const struct espi_native_task *t);

espi_generator espi_bcast_linear, espi_bcast_chain, espi_bcast_pipeline,
    espi_bcast_split_binary, espi_bcast_binary, espi_bcast_binomial, espi_bcast_knomial,
    espi_bcast_scatter_allgather, espi_bcast_scatter_allgather_ring,
    espi_bcast_scatter_doubling, espi_bcast_scatter_ring, espi_bcast_one_by_one;

espi_generator espi_allgather_ring, espi_allgather_bruck, espi_allgather_doubling,
    espi_allgather_neighbour;

espi_generator espi_gather_linear, espi_gather_binomial, espi_gather_linear_sync,
    espi_scatter_linear, espi_scatter_binomial, espi_scatter_linear_nb;

espi_generator espi_reduce_linear, espi_reduce_chain, espi_reduce_pipeline,
    espi_reduce_binary, espi_reduce_binomial, espi_reduce_in_order_binary,
    espi_reduce_rabenseifner, espi_reduce_one_by_one, espi_reduce_scatter_gather;

espi_generator espi_allreduce_linear, espi_allreduce_nonoverlapping,
    espi_allreduce_doubling, espi_allreduce_ring, espi_allreduce_segmented_ring,
    espi_allreduce_rabenseifner, espi_allreduce_scatter_allgather;

espi_generator espi_reduce_scatter_nonoverlapping, espi_reduce_scatter_halving,
    espi_reduce_scatter_ring, espi_reduce_scatter_butterfly, espi_reduce_scatter_pairwise;

espi_generator espi_alltoall_linear, espi_alltoall_pairwise, espi_alltoall_bruck,
    espi_alltoall_scattered, espi_alltoall_pairwise_xor, espi_alltoall_by_rank;

/* The calls of one rank, which may stand behind or before others. */
void espi_bcast_linear_rank(struct espi_script *s, const struct espi_native_task *t,
                            int rank);
void espi_reduce_linear_rank(struct espi_script *s, const struct espi_native_task *t,
                             int rank);

/* The ring in which a rank combines a block and passes it on, until one has been round:
 * block `first` leaves it first, then the one before, and so on. block(t, of, i) says
 * where a block lies, round the end. */
typedef struct espi_script_block espi_ring_block_fn(const struct espi_native_task *t,
                                                    const void *of, int block);
void espi_ring_combine(struct espi_script *s, const struct espi_native_task *t, int rank,
                       int first, espi_ring_block_fn *block, const void *of);

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
