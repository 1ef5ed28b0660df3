/* The collectives that the shim takes, by their C names. While we have nothing to do each
 * is a jump and nothing else: a broadcast of a byte takes a tenth of a microsecond. */
#include "mpi/shim.h"

/* A function that may be the library's own or ours. */
#define TAKE(Name, params, ours)                                                         \
    static int take_##Name params                                                        \
    {                                                                                    \
        return ours;                                                                     \
    }                                                                                    \
    static int(*now_##Name) params = PMPI_##Name;

#define WAKE(Name) now_##Name = take_##Name;
#define SLEEP(Name)                                                                      \
    now_##Name = PMPI_##Name;                                                            \
    if (whole_job)                                                                       \
        espi_bypass("MPI_" #Name, (void *)MPI_##Name, (void *)PMPI_##Name);

#define BCAST_PARAMS(count_t)                                                            \
    (void *buffer, count_t count, MPI_Datatype type, int root, MPI_Comm comm)
#define IBCAST_PARAMS(count_t)                                                           \
    (void *buffer, count_t count, MPI_Datatype type, int root, MPI_Comm comm,            \
     MPI_Request *request)
#define ROOTED_PARAMS(count_t)                                                           \
    (const void *from, count_t from_count, MPI_Datatype from_type, void *to,             \
     count_t to_count, MPI_Datatype to_type, int root, MPI_Comm comm)
#define ALLGATHER_PARAMS(count_t)                                                        \
    (const void *from, count_t from_count, MPI_Datatype from_type, void *to,             \
     count_t to_count, MPI_Datatype to_type, MPI_Comm comm)
#define ALLGATHERV_PARAMS(count_t, at_t)                                                 \
    (const void *from, count_t from_count, MPI_Datatype from_type, void *to,             \
     const count_t counts[], const at_t at[], MPI_Datatype to_type, MPI_Comm comm)
#define REDUCE_PARAMS(count_t)                                                           \
    (const void *from, void *to, count_t count, MPI_Datatype type, MPI_Op op, int root,  \
     MPI_Comm comm)
#define ALLREDUCE_PARAMS(count_t)                                                        \
    (const void *from, void *to, count_t count, MPI_Datatype type, MPI_Op op,            \
     MPI_Comm comm)
#define REDUCE_SCATTER_PARAMS(count_t)                                                   \
    (const void *from, void *to, const count_t counts[], MPI_Datatype type, MPI_Op op,   \
     MPI_Comm comm)

#define BARRIER_PARAMS (MPI_Comm comm)
#define BARRIER_ARGS   (comm)

#define BCAST_ARGS          (buffer, count, type, root, comm)
#define IBCAST_ARGS         (buffer, count, type, root, comm, request)
#define ROOTED_ARGS         (from, from_count, from_type, to, to_count, to_type, root, comm)
#define ALLGATHER_ARGS      (from, from_count, from_type, to, to_count, to_type, comm)
#define REDUCE_ARGS         (from, to, count, type, op, root, comm)
#define ALLREDUCE_ARGS      (from, to, count, type, op, comm)
#define ALLGATHERV_ARGS     (from, from_count, from_type, to, counts, at, to_type, comm)
#define REDUCE_SCATTER_ARGS (from, to, counts, type, op, comm)

static int hook_allgatherv(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                           void *to, struct espi_counts counts, MPI_Datatype to_type,
                           MPI_Comm comm)
{
    return espi_allgatherv(from, from_count, from_type, to, &counts, to_type, comm);
}

static int hook_reduce_scatter(const void *from, void *to, struct espi_counts counts,
                               MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return espi_reduce_scatter(from, to, &counts, type, op, comm);
}

TAKE(Barrier, BARRIER_PARAMS, espi_barrier BARRIER_ARGS)
TAKE(Bcast, BCAST_PARAMS(int), espi_bcast BCAST_ARGS)
TAKE(Ibcast, IBCAST_PARAMS(int), espi_ibcast IBCAST_ARGS)
TAKE(Scatter, ROOTED_PARAMS(int), espi_scatter ROOTED_ARGS)
TAKE(Gather, ROOTED_PARAMS(int), espi_gather ROOTED_ARGS)
TAKE(Allgather, ALLGATHER_PARAMS(int), espi_allgather ALLGATHER_ARGS)
TAKE(Allgatherv, ALLGATHERV_PARAMS(int, int),
     hook_allgatherv(from, from_count, from_type, to,
                     (struct espi_counts){.count = counts, .at = at}, to_type, comm))
TAKE(Alltoall, ALLGATHER_PARAMS(int), espi_alltoall ALLGATHER_ARGS)
TAKE(Reduce, REDUCE_PARAMS(int), espi_reduce REDUCE_ARGS)
TAKE(Allreduce, ALLREDUCE_PARAMS(int), espi_allreduce ALLREDUCE_ARGS)
TAKE(Reduce_scatter, REDUCE_SCATTER_PARAMS(int),
     hook_reduce_scatter(from, to, (struct espi_counts){.count = counts}, type, op, comm))
TAKE(Reduce_scatter_block, ALLREDUCE_PARAMS(int),
     espi_reduce_scatter_block ALLREDUCE_ARGS)

#if MPI_VERSION >= 4
TAKE(Bcast_c, BCAST_PARAMS(MPI_Count), espi_bcast BCAST_ARGS)
TAKE(Ibcast_c, IBCAST_PARAMS(MPI_Count), espi_ibcast IBCAST_ARGS)
TAKE(Scatter_c, ROOTED_PARAMS(MPI_Count), espi_scatter ROOTED_ARGS)
TAKE(Gather_c, ROOTED_PARAMS(MPI_Count), espi_gather ROOTED_ARGS)
TAKE(Allgather_c, ALLGATHER_PARAMS(MPI_Count), espi_allgather ALLGATHER_ARGS)
TAKE(Allgatherv_c, ALLGATHERV_PARAMS(MPI_Count, MPI_Aint),
     hook_allgatherv(from, from_count, from_type, to,
                     (struct espi_counts){.large_count = counts, .large_at = at}, to_type,
                     comm))
TAKE(Alltoall_c, ALLGATHER_PARAMS(MPI_Count), espi_alltoall ALLGATHER_ARGS)
TAKE(Reduce_c, REDUCE_PARAMS(MPI_Count), espi_reduce REDUCE_ARGS)
TAKE(Allreduce_c, ALLREDUCE_PARAMS(MPI_Count), espi_allreduce ALLREDUCE_ARGS)
TAKE(Reduce_scatter_c, REDUCE_SCATTER_PARAMS(MPI_Count),
     hook_reduce_scatter(from, to, (struct espi_counts){.large_count = counts}, type, op,
                         comm))
TAKE(Reduce_scatter_block_c, ALLREDUCE_PARAMS(MPI_Count),
     espi_reduce_scatter_block ALLREDUCE_ARGS)
#endif

/* The names of all, plain and large. */
#define PLAIN(X)                                                                         \
    X(Barrier)                                                                           \
    X(Bcast)                                                                             \
    X(Ibcast)                                                                            \
    X(Scatter)                                                                           \
    X(Gather)                                                                            \
    X(Allgather)                                                                         \
    X(Allgatherv)                                                                        \
    X(Alltoall)                                                                          \
    X(Reduce)                                                                            \
    X(Allreduce)                                                                         \
    X(Reduce_scatter)                                                                    \
    X(Reduce_scatter_block)
#if MPI_VERSION >= 4
#define ALL(X)                                                                           \
    PLAIN(X)                                                                             \
    X(Bcast_c)                                                                           \
    X(Ibcast_c)                                                                          \
    X(Scatter_c)                                                                         \
    X(Gather_c)                                                                          \
    X(Allgather_c)                                                                       \
    X(Allgatherv_c)                                                                      \
    X(Alltoall_c)                                                                        \
    X(Reduce_c)                                                                          \
    X(Allreduce_c)                                                                       \
    X(Reduce_scatter_c)                                                                  \
    X(Reduce_scatter_block_c)
#else
#define ALL(X) PLAIN(X)
#endif

void espi_hooks_wake(void)
{
    ALL(WAKE)
}

void espi_hooks_sleep(int whole_job)
{
    ALL(SLEEP)
}

#pragma GCC visibility push(default)

#define SHOW(Name, params, args)                                                         \
    int MPI_##Name params                                                                \
    {                                                                                    \
        return now_##Name args;                                                          \
    }

/* clang-format off */
SHOW(Barrier, BARRIER_PARAMS, BARRIER_ARGS)
SHOW(Bcast, BCAST_PARAMS(int), BCAST_ARGS)
SHOW(Ibcast, IBCAST_PARAMS(int), IBCAST_ARGS)
SHOW(Scatter, ROOTED_PARAMS(int), ROOTED_ARGS)
SHOW(Gather, ROOTED_PARAMS(int), ROOTED_ARGS)
SHOW(Allgather, ALLGATHER_PARAMS(int), ALLGATHER_ARGS)
SHOW(Allgatherv, ALLGATHERV_PARAMS(int, int), ALLGATHERV_ARGS)
SHOW(Alltoall, ALLGATHER_PARAMS(int), ALLGATHER_ARGS)
SHOW(Reduce, REDUCE_PARAMS(int), REDUCE_ARGS)
SHOW(Allreduce, ALLREDUCE_PARAMS(int), ALLREDUCE_ARGS)
SHOW(Reduce_scatter, REDUCE_SCATTER_PARAMS(int), REDUCE_SCATTER_ARGS)
SHOW(Reduce_scatter_block, ALLREDUCE_PARAMS(int), ALLREDUCE_ARGS)
#if MPI_VERSION >= 4
SHOW(Bcast_c, BCAST_PARAMS(MPI_Count), BCAST_ARGS)
SHOW(Ibcast_c, IBCAST_PARAMS(MPI_Count), IBCAST_ARGS)
SHOW(Scatter_c, ROOTED_PARAMS(MPI_Count), ROOTED_ARGS)
SHOW(Gather_c, ROOTED_PARAMS(MPI_Count), ROOTED_ARGS)
SHOW(Allgather_c, ALLGATHER_PARAMS(MPI_Count), ALLGATHER_ARGS)
SHOW(Allgatherv_c, ALLGATHERV_PARAMS(MPI_Count, MPI_Aint), ALLGATHERV_ARGS)
SHOW(Alltoall_c, ALLGATHER_PARAMS(MPI_Count), ALLGATHER_ARGS)
SHOW(Reduce_c, REDUCE_PARAMS(MPI_Count), REDUCE_ARGS)
SHOW(Allreduce_c, ALLREDUCE_PARAMS(MPI_Count), ALLREDUCE_ARGS)
SHOW(Reduce_scatter_c, REDUCE_SCATTER_PARAMS(MPI_Count), REDUCE_SCATTER_ARGS)
SHOW(Reduce_scatter_block_c, ALLREDUCE_PARAMS(MPI_Count), ALLREDUCE_ARGS)
#endif
/* clang-format on */

#pragma GCC visibility pop
