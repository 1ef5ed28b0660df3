/* Their persistent kin, by their C names, and what starts and frees their requests. */
#include "mpi/hooks.h"

#if ESPI_HAS_INIT

#define INIT ESPI_BY_START(info, request)

/* As TAKE and its kin, by other names; a library may be without some of them. */
#define TEXT_OF(x)        #x
#define TEXT(x)           TEXT_OF(x)
#define INIT_LIST(params) (UNWRAP params, MPI_Info info, MPI_Request * request)
#define INIT_ARGS(args)   (UNWRAP args, info, request)
#define TAKE_INIT(Name, params, args, ours)                                              \
    static int(*real_##Name) INIT_LIST(params), (*tool_##Name)INIT_LIST(params);         \
    static int(*now_##Name) INIT_LIST(params), (*mpi_##Name)INIT_LIST(params);           \
    int ESPI_INIT_NAME(P, Name) INIT_LIST(params)                                        \
    {                                                                                    \
        return real_##Name INIT_ARGS(args);                                              \
    }                                                                                    \
    static int take_##Name INIT_LIST(params)                                             \
    {                                                                                    \
        return ours;                                                                     \
    }                                                                                    \
    int shown_P##Name INIT_LIST(params) __asm__(TEXT(ESPI_INIT_NAME(P, Name)));
#define FIND_INIT(Name, params, args, ours)                                              \
    real_##Name = (int(*) INIT_LIST(params))espi_behind_us(                              \
        TEXT(ESPI_INIT_NAME(P, Name)), (void *)shown_P##Name);                           \
    tool_##Name =                                                                        \
        (int(*) INIT_LIST(params))espi_tool_behind_us(TEXT(ESPI_INIT_NAME(, Name)));
#define SLEEP_INIT(Name, params, args, ours) SET_NOW(Name, real_##Name)
#define SHOW_INIT(Name, params, args, ours)                                              \
    int ESPI_INIT_NAME(, Name) INIT_LIST(params)                                         \
    {                                                                                    \
        return mpi_##Name INIT_ARGS(args);                                               \
    }                                                                                    \
    int shown_P##Name INIT_LIST(params)                                                  \
    {                                                                                    \
        return now_##Name INIT_ARGS(args);                                               \
    }

/* clang-format off */
#define PLAIN(X)                                                                         \
    X(Barrier_init, (BARRIER_LIST), (BARRIER_ARGS),                                          \
      espi_barrier(BARRIER_ARGS, INIT))                                                 \
    X(Bcast_init, (BCAST_LIST(int)), (BCAST_ARGS),                                           \
      espi_bcast(BCAST_ARGS, INIT))                                                     \
    X(Scatter_init, (ROOTED_LIST(int)), (ROOTED_ARGS),                                       \
      espi_scatter(ROOTED_ARGS, INIT))                                                  \
    X(Gather_init, (ROOTED_LIST(int)), (ROOTED_ARGS),                                        \
      espi_gather(ROOTED_ARGS, INIT))                                                   \
    X(Allgather_init, (ALLGATHER_LIST(int)), (ALLGATHER_ARGS),                               \
      espi_allgather(ALLGATHER_ARGS, INIT))                                             \
    X(Allgatherv_init, (ALLGATHERV_LIST(int, int)), (ALLGATHERV_ARGS),                       \
      OUR_ALLGATHERV(INIT))                                                             \
    X(Alltoall_init, (ALLGATHER_LIST(int)), (ALLGATHER_ARGS),                            \
      espi_alltoall(ALLGATHER_ARGS, INIT))                                               \
    X(Reduce_init, (REDUCE_LIST(int)), (REDUCE_ARGS),                                        \
      espi_reduce(REDUCE_ARGS, INIT))                                                   \
    X(Allreduce_init, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                               \
      espi_allreduce(ALLREDUCE_ARGS, INIT))                                             \
    X(Reduce_scatter_init, (REDUCE_SCATTER_LIST(int)), (REDUCE_SCATTER_ARGS),                \
      OUR_REDUCE_SCATTER(INIT))                                                         \
    X(Reduce_scatter_block_init, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                    \
      espi_reduce_scatter_block(ALLREDUCE_ARGS, INIT))                                   \
    X(Scatterv_init, (SCATTERV_LIST(int, int)), (SCATTERV_ARGS),                         \
      OUR_SCATTERV(SOME, INIT))                                                          \
    X(Gatherv_init, (GATHERV_LIST(int, int)), (GATHERV_ARGS),                            \
      OUR_GATHERV(SOME, INIT))                                                           \
    X(Alltoallv_init, (ALLTOALLV_LIST(int, int)), (ALLTOALLV_ARGS),                      \
      OUR_ALLTOALLV(SOME, INIT))                                                         \
    X(Scan_init, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                                \
      espi_scan(ALLREDUCE_ARGS, INIT))                                                   \
    X(Exscan_init, (ALLREDUCE_LIST(int)), (ALLREDUCE_ARGS),                              \
      espi_exscan(ALLREDUCE_ARGS, INIT))
#if MPI_VERSION >= 4
#define ALL(X)                                                                           \
    PLAIN(X)                                                                             \
    X(Bcast_init_c, (BCAST_LIST(MPI_Count)), (BCAST_ARGS),                                   \
      espi_bcast(BCAST_ARGS, INIT))                                                     \
    X(Scatter_init_c, (ROOTED_LIST(MPI_Count)), (ROOTED_ARGS),                               \
      espi_scatter(ROOTED_ARGS, INIT))                                                  \
    X(Gather_init_c, (ROOTED_LIST(MPI_Count)), (ROOTED_ARGS),                                \
      espi_gather(ROOTED_ARGS, INIT))                                                   \
    X(Allgather_init_c, (ALLGATHER_LIST(MPI_Count)), (ALLGATHER_ARGS),                       \
      espi_allgather(ALLGATHER_ARGS, INIT))                                             \
    X(Allgatherv_init_c, (ALLGATHERV_LIST(MPI_Count, MPI_Aint)), (ALLGATHERV_ARGS),          \
      OUR_ALLGATHERV_C(INIT))                                                           \
    X(Alltoall_init_c, (ALLGATHER_LIST(MPI_Count)), (ALLGATHER_ARGS),                    \
      espi_alltoall(ALLGATHER_ARGS, INIT))                                               \
    X(Reduce_init_c, (REDUCE_LIST(MPI_Count)), (REDUCE_ARGS),                                \
      espi_reduce(REDUCE_ARGS, INIT))                                                   \
    X(Allreduce_init_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                       \
      espi_allreduce(ALLREDUCE_ARGS, INIT))                                             \
    X(Reduce_scatter_init_c, (REDUCE_SCATTER_LIST(MPI_Count)), (REDUCE_SCATTER_ARGS),        \
      OUR_REDUCE_SCATTER_C(INIT))                                                       \
    X(Reduce_scatter_block_init_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),            \
      espi_reduce_scatter_block(ALLREDUCE_ARGS, INIT))                                   \
    X(Scatterv_init_c, (SCATTERV_LIST(MPI_Count, MPI_Aint)), (SCATTERV_ARGS),            \
      OUR_SCATTERV(LARGE, INIT))                                                         \
    X(Gatherv_init_c, (GATHERV_LIST(MPI_Count, MPI_Aint)), (GATHERV_ARGS),               \
      OUR_GATHERV(LARGE, INIT))                                                          \
    X(Alltoallv_init_c, (ALLTOALLV_LIST(MPI_Count, MPI_Aint)), (ALLTOALLV_ARGS),         \
      OUR_ALLTOALLV(LARGE, INIT))                                                        \
    X(Scan_init_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                        \
      espi_scan(ALLREDUCE_ARGS, INIT))                                                   \
    X(Exscan_init_c, (ALLREDUCE_LIST(MPI_Count)), (ALLREDUCE_ARGS),                      \
      espi_exscan(ALLREDUCE_ARGS, INIT))
#else
#define ALL(X) PLAIN(X)
#endif

#else
#define ALL(X)
#endif

#define STARTS(X)                                                                        \
    X(Start, (MPI_Request *request), (request), espi_start(request))                     \
    X(Startall, (int n, MPI_Request requests[]), (n, requests),                          \
      espi_start_all(n, requests))                                                       \
    X(Request_free, (MPI_Request *request), (request), espi_request_free(request))

ALL(TAKE_INIT)
STARTS(TAKE)

__attribute__((constructor)) static void find_native_init(void)
{
    ALL(FIND_INIT)
    ALL(FIRST)
    STARTS(FIND)
    STARTS(FIRST)
}

void espi_hooks_wake_init(void)
{
    ALL(WAKE)
    STARTS(WAKE)
}

void espi_hooks_sleep_init(int whole_job)
{
    ALL(SLEEP_INIT)
    STARTS(SLEEP)
}

#pragma GCC visibility push(default)

ALL(SHOW_INIT)
STARTS(SHOW)

#pragma GCC visibility pop
