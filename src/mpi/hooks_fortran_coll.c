/* The collectives that the shim takes, by their Fortran names, which lead to our C names.
 * Open MPI's Fortran calls PMPI_* directly; MPICH's gets to us through the C names, but
 * for a few. */
#include "mpi/hooks_fortran.h"

#pragma GCC visibility push(default)

#ifdef OPEN_MPI

/* clang-format off */
ALL(barrier, BARRIER, (BARRIER_LIST), MPI_Barrier(BARRIER_ARGS))
ALL(bcast, BCAST, (BCAST_LIST), MPI_Bcast(BCAST_ARGS))
ALL(scatter, SCATTER, (ROOTED_LIST), MPI_Scatter(ROOTED_ARGS))
ALL(gather, GATHER, (ROOTED_LIST), MPI_Gather(ROOTED_ARGS))
ALL(allgather, ALLGATHER, (ALLGATHER_LIST), MPI_Allgather(ALLGATHER_ARGS))
ALL(allgatherv, ALLGATHERV, (ALLGATHERV_LIST), MPI_Allgatherv(ALLGATHERV_ARGS))
ALL(alltoall, ALLTOALL, (ALLGATHER_LIST), MPI_Alltoall(ALLGATHER_ARGS))
ALL(reduce, REDUCE, (REDUCE_LIST), MPI_Reduce(REDUCE_ARGS))
ALL(allreduce, ALLREDUCE, (ALLREDUCE_LIST), MPI_Allreduce(ALLREDUCE_ARGS))
ALL(reduce_scatter, REDUCE_SCATTER, (REDUCE_SCATTER_LIST),
    MPI_Reduce_scatter(REDUCE_SCATTER_ARGS))
ALL(reduce_scatter_block, REDUCE_SCATTER_BLOCK, (ALLREDUCE_LIST),
    MPI_Reduce_scatter_block(ALLREDUCE_ARGS))
ALL(scatterv, SCATTERV, (SCATTERV_LIST), MPI_Scatterv(SCATTERV_ARGS))
ALL(gatherv, GATHERV, (GATHERV_LIST), MPI_Gatherv(GATHERV_ARGS))
ALL(alltoallv, ALLTOALLV, (ALLTOALLV_LIST), MPI_Alltoallv(ALLTOALLV_ARGS))
ALL(scan, SCAN, (ALLREDUCE_LIST), MPI_Scan(ALLREDUCE_ARGS))
ALL(exscan, EXSCAN, (ALLREDUCE_LIST), MPI_Exscan(ALLREDUCE_ARGS))
/* clang-format on */

#else

/* Of mpi_f08 those that have no buffer call PMPI_*. */
void mpi_barrier_f08_(MPI_Fint *comm, int *ierror);
void mpi_barrier_f08_(MPI_Fint *comm, int *ierror)
{
    int code = MPI_Barrier(PMPI_Comm_f2c(*comm));
    if (ierror)
        *ierror = code;
}

#endif

#pragma GCC visibility pop
