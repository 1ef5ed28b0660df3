/* The collectives that the shim takes, by their C names. While we have nothing to do each
 * is a jump and nothing else: a broadcast of a byte takes a tenth of a microsecond. */
#include "mpi/hooks.h"

/* clang-format off */
#define PLAIN(X)                                                                         \
    X(Barrier, (BARRIER_LIST), (BARRIER_ARGS),                                           \
      espi_barrier(BARRIER_ARGS, ESPI_NOW))                                              \
    X(Bcast, (BCAST_LIST(int)), (BCAST_ARGS),                                            \
      espi_bcast(BCAST_ARGS, ESPI_NOW))                                                  \
    X(Scatter, (ROOTED_LIST(int)), (ROOTED_ARGS),                                        \
      espi_scatter(ROOTED_ARGS, ESPI_NOW))                                               \
    X(Gather, (ROOTED_LIST(int)), (ROOTED_ARGS),                                         \
      espi_gather(ROOTED_ARGS, ESPI_NOW))                                                \
    X(Allgather, (ALLGATHER_LIST(int)), (ALLGATHER_ARGS),                                \
      espi_allgather(ALLGATHER_ARGS, ESPI_NOW))                                          \
    X(Allgatherv, (ALLGATHERV_LIST(int, int)), (ALLGATHERV_ARGS),                        \
      OUR_ALLGATHERV(ESPI_NOW))                                                          \
    X(Alltoall, (ALLGATHER_LIST(int)), (ALLGATHER_ARGS),                                 \
      espi_alltoall(ALLGATHER_ARGS, ESPI_NOW))                                           \
    X(Reduce, (REDUCE_LIST(int)), (REDUCE_ARGS),                                         \
      espi_reduce(REDUCE_ARGS, ESPI_NOW))                                                \
    X(Allreduce, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                                \
      espi_allreduce(ALLREDUCE_ARGS, ESPI_NOW))                                          \
    X(Reduce_scatter, (REDUCE_SCATTER_LIST(int)), (REDUCE_SCATTER_ARGS),                 \
      OUR_REDUCE_SCATTER(ESPI_NOW))                                                      \
    X(Reduce_scatter_block, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                     \
      espi_reduce_scatter_block(ALLREDUCE_ARGS, ESPI_NOW))                               \
    X(Scatterv, (SCATTERV_LIST(int, int)), (SCATTERV_ARGS),                              \
      OUR_SCATTERV(SOME, ESPI_NOW))                                                      \
    X(Gatherv, (GATHERV_LIST(int, int)), (GATHERV_ARGS),                                 \
      OUR_GATHERV(SOME, ESPI_NOW))                                                       \
    X(Alltoallv, (ALLTOALLV_LIST(int, int)), (ALLTOALLV_ARGS),                           \
      OUR_ALLTOALLV(SOME, ESPI_NOW))                                                     \
    X(Scan, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                                     \
      espi_scan(ALLREDUCE_ARGS, ESPI_NOW))                                               \
    X(Exscan, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                                   \
      espi_exscan(ALLREDUCE_ARGS, ESPI_NOW))
#if MPI_VERSION >= 4
#define ALL(X)                                                                           \
    PLAIN(X)                                                                             \
    X(Bcast_c, (BCAST_LIST(MPI_Count)), (BCAST_ARGS),                                    \
      espi_bcast(BCAST_ARGS, ESPI_NOW))                                                  \
    X(Scatter_c, (ROOTED_LIST(MPI_Count)), (ROOTED_ARGS),                                \
      espi_scatter(ROOTED_ARGS, ESPI_NOW))                                               \
    X(Gather_c, (ROOTED_LIST(MPI_Count)), (ROOTED_ARGS),                                 \
      espi_gather(ROOTED_ARGS, ESPI_NOW))                                                \
    X(Allgather_c, (ALLGATHER_LIST(MPI_Count)), (ALLGATHER_ARGS),                        \
      espi_allgather(ALLGATHER_ARGS, ESPI_NOW))                                          \
    X(Allgatherv_c, (ALLGATHERV_LIST(MPI_Count, MPI_Aint)), (ALLGATHERV_ARGS),           \
      OUR_ALLGATHERV_C(ESPI_NOW))                                                        \
    X(Alltoall_c, (ALLGATHER_LIST(MPI_Count)), (ALLGATHER_ARGS),                         \
      espi_alltoall(ALLGATHER_ARGS, ESPI_NOW))                                           \
    X(Reduce_c, (REDUCE_LIST(MPI_Count)), (REDUCE_ARGS),                                 \
      espi_reduce(REDUCE_ARGS, ESPI_NOW))                                                \
    X(Allreduce_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                        \
      espi_allreduce(ALLREDUCE_ARGS, ESPI_NOW))                                          \
    X(Reduce_scatter_c, (REDUCE_SCATTER_LIST(MPI_Count)), (REDUCE_SCATTER_ARGS),         \
      OUR_REDUCE_SCATTER_C(ESPI_NOW))                                                    \
    X(Reduce_scatter_block_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),             \
      espi_reduce_scatter_block(ALLREDUCE_ARGS, ESPI_NOW))                               \
    X(Scatterv_c, (SCATTERV_LIST(MPI_Count, MPI_Aint)), (SCATTERV_ARGS),                 \
      OUR_SCATTERV(LARGE, ESPI_NOW))                                                     \
    X(Gatherv_c, (GATHERV_LIST(MPI_Count, MPI_Aint)), (GATHERV_ARGS),                    \
      OUR_GATHERV(LARGE, ESPI_NOW))                                                      \
    X(Alltoallv_c, (ALLTOALLV_LIST(MPI_Count, MPI_Aint)), (ALLTOALLV_ARGS),              \
      OUR_ALLTOALLV(LARGE, ESPI_NOW))                                                    \
    X(Scan_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                             \
      espi_scan(ALLREDUCE_ARGS, ESPI_NOW))                                               \
    X(Exscan_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                           \
      espi_exscan(ALLREDUCE_ARGS, ESPI_NOW))
#else
#define ALL(X) PLAIN(X)
#endif

ALL(TAKE)

__attribute__((constructor)) static void find_native_now(void)
{
    ALL(FIND)
    ALL(FIRST)
}

void espi_hooks_wake(void)
{
    ALL(WAKE)
}

void espi_hooks_sleep(int whole_job)
{
    ALL(SLEEP)
}

#pragma GCC visibility push(default)

ALL(SHOW)

#pragma GCC visibility pop
