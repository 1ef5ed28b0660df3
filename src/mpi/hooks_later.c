/* Their non-blocking kin, by their C names: a parameter more. */
#include "mpi/hooks.h"

#define LATER ESPI_BY_REQUEST(request)
#define TAKE_LATER(Name, params, args, ours)                                             \
    TAKE(Name, (UNWRAP params, MPI_Request * request), (UNWRAP args, request), ours)
#define FIND_LATER(Name, params, args, ours)                                             \
    FIND(Name, (UNWRAP params, MPI_Request * request), (UNWRAP args, request), ours)
#define SHOW_LATER(Name, params, args, ours)                                             \
    SHOW(Name, (UNWRAP params, MPI_Request * request), (UNWRAP args, request), ours)

/* clang-format off */
#define PLAIN(X)                                                                         \
    X(Ibarrier, (BARRIER_LIST), (BARRIER_ARGS),                                          \
      espi_barrier(BARRIER_ARGS, LATER))                                                 \
    X(Ibcast, (BCAST_LIST(int)), (BCAST_ARGS),                                           \
      espi_bcast(BCAST_ARGS, LATER))                                                     \
    X(Iscatter, (ROOTED_LIST(int)), (ROOTED_ARGS),                                       \
      espi_scatter(ROOTED_ARGS, LATER))                                                  \
    X(Igather, (ROOTED_LIST(int)), (ROOTED_ARGS),                                        \
      espi_gather(ROOTED_ARGS, LATER))                                                   \
    X(Iallgather, (ALLGATHER_LIST(int)), (ALLGATHER_ARGS),                               \
      espi_allgather(ALLGATHER_ARGS, LATER))                                             \
    X(Iallgatherv, (ALLGATHERV_LIST(int, int)), (ALLGATHERV_ARGS),                       \
      OUR_ALLGATHERV(LATER))                                                             \
    X(Ialltoall, (ALLGATHER_LIST(int)), (ALLGATHER_ARGS),                                \
      espi_alltoall(ALLGATHER_ARGS, LATER))                                              \
    X(Ireduce, (REDUCE_LIST(int)), (REDUCE_ARGS),                                        \
      espi_reduce(REDUCE_ARGS, LATER))                                                   \
    X(Iallreduce, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                               \
      espi_allreduce(ALLREDUCE_ARGS, LATER))                                             \
    X(Ireduce_scatter, (REDUCE_SCATTER_LIST(int)), (REDUCE_SCATTER_ARGS),                \
      OUR_REDUCE_SCATTER(LATER))                                                         \
    X(Ireduce_scatter_block, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                    \
      espi_reduce_scatter_block(ALLREDUCE_ARGS, LATER))                                  \
    X(Iscatterv, (SCATTERV_LIST(int, int)), (SCATTERV_ARGS),                             \
      OUR_SCATTERV(SOME, LATER))                                                         \
    X(Igatherv, (GATHERV_LIST(int, int)), (GATHERV_ARGS),                                \
      OUR_GATHERV(SOME, LATER))                                                          \
    X(Ialltoallv, (ALLTOALLV_LIST(int, int)), (ALLTOALLV_ARGS),                          \
      OUR_ALLTOALLV(SOME, LATER))                                                        \
    X(Iscan, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                                    \
      espi_scan(ALLREDUCE_ARGS, LATER))                                                  \
    X(Iexscan, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                                  \
      espi_exscan(ALLREDUCE_ARGS, LATER))
#if MPI_VERSION >= 4
#define ALL(X)                                                                           \
    PLAIN(X)                                                                             \
    X(Ibcast_c, (BCAST_LIST(MPI_Count)), (BCAST_ARGS),                                   \
      espi_bcast(BCAST_ARGS, LATER))                                                     \
    X(Iscatter_c, (ROOTED_LIST(MPI_Count)), (ROOTED_ARGS),                               \
      espi_scatter(ROOTED_ARGS, LATER))                                                  \
    X(Igather_c, (ROOTED_LIST(MPI_Count)), (ROOTED_ARGS),                                \
      espi_gather(ROOTED_ARGS, LATER))                                                   \
    X(Iallgather_c, (ALLGATHER_LIST(MPI_Count)), (ALLGATHER_ARGS),                       \
      espi_allgather(ALLGATHER_ARGS, LATER))                                             \
    X(Iallgatherv_c, (ALLGATHERV_LIST(MPI_Count, MPI_Aint)), (ALLGATHERV_ARGS),          \
      OUR_ALLGATHERV_C(LATER))                                                           \
    X(Ialltoall_c, (ALLGATHER_LIST(MPI_Count)), (ALLGATHER_ARGS),                        \
      espi_alltoall(ALLGATHER_ARGS, LATER))                                              \
    X(Ireduce_c, (REDUCE_LIST(MPI_Count)), (REDUCE_ARGS),                                \
      espi_reduce(REDUCE_ARGS, LATER))                                                   \
    X(Iallreduce_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                       \
      espi_allreduce(ALLREDUCE_ARGS, LATER))                                             \
    X(Ireduce_scatter_c, (REDUCE_SCATTER_LIST(MPI_Count)), (REDUCE_SCATTER_ARGS),        \
      OUR_REDUCE_SCATTER_C(LATER))                                                       \
    X(Ireduce_scatter_block_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),            \
      espi_reduce_scatter_block(ALLREDUCE_ARGS, LATER))                                  \
    X(Iscatterv_c, (SCATTERV_LIST(MPI_Count, MPI_Aint)), (SCATTERV_ARGS),                \
      OUR_SCATTERV(LARGE, LATER))                                                        \
    X(Igatherv_c, (GATHERV_LIST(MPI_Count, MPI_Aint)), (GATHERV_ARGS),                   \
      OUR_GATHERV(LARGE, LATER))                                                         \
    X(Ialltoallv_c, (ALLTOALLV_LIST(MPI_Count, MPI_Aint)), (ALLTOALLV_ARGS),             \
      OUR_ALLTOALLV(LARGE, LATER))                                                       \
    X(Iscan_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                            \
      espi_scan(ALLREDUCE_ARGS, LATER))                                                  \
    X(Iexscan_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                          \
      espi_exscan(ALLREDUCE_ARGS, LATER))
#else
#define ALL(X) PLAIN(X)
#endif

ALL(TAKE_LATER)

__attribute__((constructor)) static void find_native_later(void)
{
    ALL(FIND_LATER)
    ALL(FIRST)
}

void espi_hooks_wake_later(void)
{
    ALL(WAKE)
}

void espi_hooks_sleep_later(int whole_job)
{
    ALL(SLEEP)
}

#pragma GCC visibility push(default)

ALL(SHOW_LATER)

#pragma GCC visibility pop
