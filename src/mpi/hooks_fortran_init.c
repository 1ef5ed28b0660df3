/* Their persistent kin, by their Fortran names, and what starts and frees their requests.
 */
#include "mpi/hooks_fortran.h"

static int start_one(MPI_Fint *request)
{
    MPI_Request started = PMPI_Request_f2c(*request);
    int code = MPI_Start(&started);
    *request = PMPI_Request_c2f(started);
    return code;
}

static int start_many(int n, MPI_Fint *requests)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < n && !code; i++)
        code = start_one(&requests[i]);
    return code;
}

static int free_request(MPI_Fint *request)
{
    MPI_Request freed = PMPI_Request_f2c(*request);
    int code = MPI_Request_free(&freed);
    if (code == MPI_SUCCESS)
        *request = PMPI_Request_c2f(freed);
    return code;
}

#pragma GCC visibility push(default)

/* clang-format off */
#ifdef OPEN_MPI

ALL(start, START, (MPI_Fint *request), start_one(request))
ALL(startall, STARTALL, (MPI_Fint *n, MPI_Fint *requests), start_many(*n, requests))
ALL(request_free, REQUEST_FREE, (MPI_Fint *request), free_request(request))

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(name, NAME, params, call)                                                   \
    SPELLED_ALL(mpix_##name##_init, MPIX_##NAME##_INIT,                                  \
                (UNWRAP params, MPI_Fint *info, MPI_Fint *request), GIVING(call))
#define REST PMPI_Info_f2c(*info), &made

INIT(barrier, BARRIER, (BARRIER_LIST),
     MPIX_Barrier_init(BARRIER_ARGS, REST))
INIT(bcast, BCAST, (BCAST_LIST),
     MPIX_Bcast_init(BCAST_ARGS, REST))
INIT(scatter, SCATTER, (ROOTED_LIST),
     MPIX_Scatter_init(ROOTED_ARGS, REST))
INIT(gather, GATHER, (ROOTED_LIST),
     MPIX_Gather_init(ROOTED_ARGS, REST))
INIT(allgather, ALLGATHER, (ALLGATHER_LIST),
     MPIX_Allgather_init(ALLGATHER_ARGS, REST))
INIT(allgatherv, ALLGATHERV, (ALLGATHERV_LIST),
     MPIX_Allgatherv_init(ALLGATHERV_ARGS, REST))
INIT(alltoall, ALLTOALL, (ALLGATHER_LIST),
     MPIX_Alltoall_init(ALLGATHER_ARGS, REST))
INIT(reduce, REDUCE, (REDUCE_LIST),
     MPIX_Reduce_init(REDUCE_ARGS, REST))
INIT(allreduce, ALLREDUCE, (ALLREDUCE_LIST),
     MPIX_Allreduce_init(ALLREDUCE_ARGS, REST))
INIT(reduce_scatter, REDUCE_SCATTER, (REDUCE_SCATTER_LIST),
     MPIX_Reduce_scatter_init(REDUCE_SCATTER_ARGS, REST))
INIT(reduce_scatter_block, REDUCE_SCATTER_BLOCK, (ALLREDUCE_LIST),
     MPIX_Reduce_scatter_block_init(ALLREDUCE_ARGS, REST))
INIT(scatterv, SCATTERV, (SCATTERV_LIST),
     MPIX_Scatterv_init(SCATTERV_ARGS, REST))
INIT(gatherv, GATHERV, (GATHERV_LIST),
     MPIX_Gatherv_init(GATHERV_ARGS, REST))
INIT(alltoallv, ALLTOALLV, (ALLTOALLV_LIST),
     MPIX_Alltoallv_init(ALLTOALLV_ARGS, REST))
INIT(scan, SCAN, (ALLREDUCE_LIST),
     MPIX_Scan_init(ALLREDUCE_ARGS, REST))
INIT(exscan, EXSCAN, (ALLREDUCE_LIST),
     MPIX_Exscan_init(ALLREDUCE_ARGS, REST))
#endif

#else

/* Those of mpi_f08 that call PMPI_*. */
ONE(mpi_start_f08_, (MPI_Fint *request), start_one(request))
ONE(mpi_startall_f08_, (MPI_Fint *n, MPI_Fint *requests), start_many(*n, requests))
ONE(mpi_request_free_f08_, (MPI_Fint *request), free_request(request))
#if MPI_VERSION >= 4
ONE(mpi_barrier_init_f08_, (MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request),
    GIVING(MPI_Barrier_init(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &made)))
#endif

#endif
/* clang-format on */

#pragma GCC visibility pop
