/* The algorithms, as data. */
#include <string.h>

#include "base/err.h"
#include "native/generators.h"

static const struct espi_native_algo algorithms[] = {
    {"openmpi", ESP_OP_BCAST, "basic_linear", espi_bcast_linear, 0, 0,
     "the root sends to each"},
    {"openmpi", ESP_OP_BCAST, "chain", espi_bcast_chain, 1, 1,
     "chains from the root, as many as the fan-out"},
    {"openmpi", ESP_OP_BCAST, "pipeline", espi_bcast_pipeline, 1, 0,
     "one chain through all ranks"},
    {"openmpi", ESP_OP_BCAST, "split_binary_tree", espi_bcast_split_binary, 1, 0,
     "half of the message down each half of a binary tree, then halves swapped"},
    {"openmpi", ESP_OP_BCAST, "binary_tree", espi_bcast_binary, 1, 0, "a binary tree"},
    {"openmpi", ESP_OP_BCAST, "binomial", espi_bcast_binomial, 1, 0,
     "a binomial tree, all children at once"},
    {"openmpi", ESP_OP_BCAST, "knomial", espi_bcast_knomial, 1, 1,
     "a k-nomial tree, all children at once"},
    {"openmpi", ESP_OP_BCAST, "scatter_allgather", espi_bcast_scatter_allgather, 0, 0,
     "binomial scatter, recursive doubling"},
    {"openmpi", ESP_OP_BCAST, "scatter_allgather_ring", espi_bcast_scatter_allgather_ring,
     0, 0, "binomial scatter, ring"},
    {"mpich", ESP_OP_BCAST, "binomial", espi_bcast_one_by_one, 0, 0,
     "a binomial tree, one child after the other"},
    {"mpich", ESP_OP_BCAST, "scatter_recursive_doubling_allgather",
     espi_bcast_scatter_doubling, 0, 0, "binomial scatter, recursive doubling"},
    {"mpich", ESP_OP_BCAST, "scatter_ring_allgather", espi_bcast_scatter_ring, 0, 0,
     "binomial scatter, ring"},
    {"openmpi", ESP_OP_ALLGATHER, "bruck", espi_allgather_bruck, 0, 0,
     "Bruck's: twice as many blocks each step"},
    {"openmpi", ESP_OP_ALLGATHER, "recursive_doubling", espi_allgather_doubling, 0, 0,
     "recursive doubling; bruck if ranks are no power of two"},
    {"openmpi", ESP_OP_ALLGATHER, "ring", espi_allgather_ring, 0, 0, "a ring"},
    {"openmpi", ESP_OP_ALLGATHER, "neighbor", espi_allgather_neighbour, 0, 0,
     "two blocks to neighbours in turns; ring if ranks are odd"},
    {"openmpi", ESP_OP_ALLGATHER, "two_proc", espi_allgather_ring, 0, 0,
     "one exchange between two ranks"},
    {"mpich", ESP_OP_ALLGATHER, "recursive_doubling", espi_allgather_doubling, 0, 0,
     "recursive doubling; brucks if ranks are no power of two"},
    {"mpich", ESP_OP_ALLGATHER, "brucks", espi_allgather_bruck, 0, 0,
     "Bruck's: twice as many blocks each step"},
    {"mpich", ESP_OP_ALLGATHER, "ring", espi_allgather_ring, 0, 0, "a ring"},
    {"openmpi", ESP_OP_GATHER, "basic_linear", espi_gather_linear, 0, 0,
     "the root takes from one after the other"},
    {"openmpi", ESP_OP_GATHER, "binomial", espi_gather_binomial, 0, 0, "a binomial tree"},
    {"openmpi", ESP_OP_GATHER, "linear_sync", espi_gather_linear_sync, 1, 0,
     "the root asks one after the other"},
    {"mpich", ESP_OP_GATHER, "binomial", espi_gather_binomial, 0, 0, "a binomial tree"},
    {"openmpi", ESP_OP_SCATTER, "basic_linear", espi_scatter_linear, 0, 0,
     "the root sends to one after the other"},
    {"openmpi", ESP_OP_SCATTER, "binomial", espi_scatter_binomial, 0, 0,
     "a binomial tree"},
    {"openmpi", ESP_OP_SCATTER, "linear_nb", espi_scatter_linear_nb, 0, 0,
     "the root sends to all at once"},
    {"mpich", ESP_OP_SCATTER, "binomial", espi_scatter_binomial, 0, 0, "a binomial tree"},
    {"openmpi", ESP_OP_REDUCE, "linear", espi_reduce_linear, 0, 0,
     "the root takes from one after the other"},
    {"openmpi", ESP_OP_REDUCE, "chain", espi_reduce_chain, 1, 1,
     "chains to the root, as many as the fan-out"},
    {"openmpi", ESP_OP_REDUCE, "pipeline", espi_reduce_pipeline, 1, 0,
     "one chain through all ranks"},
    {"openmpi", ESP_OP_REDUCE, "binary", espi_reduce_binary, 1, 0, "a binary tree"},
    {"openmpi", ESP_OP_REDUCE, "binomial", espi_reduce_binomial, 1, 0, "a binomial tree"},
    {"openmpi", ESP_OP_REDUCE, "in-order_binary", espi_reduce_in_order_binary, 1, 0,
     "a binary tree to the last rank, then to the root"},
    {"openmpi", ESP_OP_REDUCE, "rabenseifner", espi_reduce_rabenseifner, 0, 0,
     "recursive halving, binomial gather"},
    {"mpich", ESP_OP_REDUCE, "binomial", espi_reduce_one_by_one, 0, 0, "a binomial tree"},
    {"mpich", ESP_OP_REDUCE, "reduce_scatter_gather", espi_reduce_scatter_gather, 0, 0,
     "recursive halving, binomial gather"},
    {"openmpi", ESP_OP_ALLREDUCE, "basic_linear", espi_allreduce_linear, 0, 0,
     "linear reduce, linear bcast"},
    {"openmpi", ESP_OP_ALLREDUCE, "nonoverlapping", espi_allreduce_nonoverlapping, 0, 0,
     "reduce (binomial), then bcast (knomial)"},
    {"openmpi", ESP_OP_ALLREDUCE, "recursive_doubling", espi_allreduce_doubling, 0, 0,
     "recursive doubling"},
    {"openmpi", ESP_OP_ALLREDUCE, "ring", espi_allreduce_ring, 0, 0,
     "a ring that combines, then one that passes on"},
    {"openmpi", ESP_OP_ALLREDUCE, "segmented_ring", espi_allreduce_segmented_ring, 1, 0,
     "the same, combining segment by segment"},
    {"openmpi", ESP_OP_ALLREDUCE, "rabenseifner", espi_allreduce_rabenseifner, 0, 0,
     "recursive halving, recursive doubling"},
    {"mpich", ESP_OP_ALLREDUCE, "recursive_doubling", espi_allreduce_doubling, 0, 0,
     "recursive doubling"},
    {"mpich", ESP_OP_ALLREDUCE, "reduce_scatter_allgather",
     espi_allreduce_scatter_allgather, 0, 0, "recursive halving, recursive doubling"},
    {"openmpi", ESP_OP_REDUCE_SCATTER, "non-overlapping",
     espi_reduce_scatter_nonoverlapping, 0, 0, "reduce, then linear scatter"},
    {"openmpi", ESP_OP_REDUCE_SCATTER, "recursive_halving", espi_reduce_scatter_halving,
     0, 0, "recursive halving"},
    {"openmpi", ESP_OP_REDUCE_SCATTER, "ring", espi_reduce_scatter_ring, 0, 0,
     "a ring that combines"},
    {"openmpi", ESP_OP_REDUCE_SCATTER, "butterfly", espi_reduce_scatter_butterfly, 0, 0,
     "halving with the nearest first, then home"},
    {"mpich", ESP_OP_REDUCE_SCATTER, "recursive_halving", espi_reduce_scatter_halving, 0,
     0, "recursive halving"},
    {"mpich", ESP_OP_REDUCE_SCATTER, "pairwise", espi_reduce_scatter_pairwise, 0, 0,
     "pairs exchange blocks in turns"},
    {"openmpi", ESP_OP_ALLTOALL, "linear", espi_alltoall_linear, 0, 0,
     "all blocks at once"},
    {"openmpi", ESP_OP_ALLTOALL, "pairwise", espi_alltoall_pairwise, 0, 0,
     "pairs exchange blocks in turns"},
    {"openmpi", ESP_OP_ALLTOALL, "modified_bruck", espi_alltoall_bruck, 0, 0,
     "Bruck's: blocks travel with others, a bit of their way each step"},
    {"openmpi", ESP_OP_ALLTOALL, "linear_sync", espi_alltoall_linear, 0, 0,
     "all blocks at once, unless a limit is set"},
    {"openmpi", ESP_OP_ALLTOALL, "two_proc", espi_alltoall_pairwise, 0, 0,
     "one exchange between two ranks"},
    {"mpich", ESP_OP_ALLTOALL, "brucks", espi_alltoall_bruck, 0, 0,
     "Bruck's: blocks travel with others, a bit of their way each step"},
    {"mpich", ESP_OP_ALLTOALL, "scattered", espi_alltoall_scattered, 0, 0,
     "blocks of 32 ranks at once"},
    {"mpich", ESP_OP_ALLTOALL, "pairwise", espi_alltoall_pairwise_xor, 0, 0,
     "pairs exchange blocks in turns"},
};

enum { N_ALGORITHMS = sizeof algorithms / sizeof *algorithms };

const struct espi_native_algo *espi_native_algos(int *n)
{
    *n = N_ALGORITHMS;
    return algorithms;
}

const struct espi_native_algo *espi_native_find(const char *library, esp_op op,
                                                const char *name)
{
    for (int i = 0; i < N_ALGORITHMS; i++)
        if (strcmp(algorithms[i].library, library) == 0 && algorithms[i].op == op &&
            strcmp(algorithms[i].name, name) == 0)
            return &algorithms[i];
    return NULL;
}

int espi_native_is_library(const char *name)
{
    for (int i = 0; i < N_ALGORITHMS; i++)
        if (strcmp(algorithms[i].library, name) == 0)
            return 1;
    return 0;
}

/* What the operation is about: one message, or one part for each rank. */
static int64_t whole_bytes(const struct espi_native_algo *algo,
                           const struct espi_native_task *t)
{
    switch (algo->op) {
    case ESP_OP_SCATTER:
    case ESP_OP_GATHER:
    case ESP_OP_ALLGATHER:
    case ESP_OP_REDUCE_SCATTER:
        return t->n_ranks * t->bytes;
    case ESP_OP_ALLTOALL: /* what it has, and what it gets */
        return 2 * t->n_ranks * t->bytes;
    default:
        return t->bytes;
    }
}

esp_status espi_native_write(const struct espi_native_algo *algo,
                             const struct espi_native_task *t, struct espi_script *s,
                             struct esp_err *err)
{
    if (espi_script_init(s, t->n_ranks, whole_bytes(algo, t)))
        return espi_err_nomem(err);
    if (t->n_ranks > 1 && t->bytes > 0)
        algo->write(s, t);
    esp_status st = espi_script_match(s, err);
    if (st)
        espi_script_done(s);
    return st;
}

/* Of MPI_Scatterv and its like, which leave no choice. */
static const struct espi_native_algo unequal[] = {
    {"openmpi", ESP_OP_SCATTER, "linear", espi_scatter_linear, 0, 0,
     "the root sends to one after the other"},
    {"openmpi", ESP_OP_GATHER, "linear", espi_gather_linear, 0, 0,
     "the root takes from one after the other"},
    {"openmpi", ESP_OP_ALLTOALL, "linear", espi_alltoall_by_rank, 0, 0,
     "all parts at once, in the order of ranks"},
    {"mpich", ESP_OP_SCATTER, "linear", espi_scatter_linear_nb, 0, 0,
     "the root sends to all at once"},
    {"mpich", ESP_OP_GATHER, "linear", espi_gather_linear, 0, 0,
     "the root takes from all"},
    {"mpich", ESP_OP_ALLTOALL, "scattered", espi_alltoall_scattered, 0, 0,
     "parts of 32 ranks at once"},
};

const struct espi_native_algo *espi_native_unequal(const char *library, esp_op op)
{
    for (size_t i = 0; i < sizeof unequal / sizeof *unequal; i++)
        if (unequal[i].op == op && strcmp(unequal[i].library, library) == 0)
            return &unequal[i];
    return NULL;
}
