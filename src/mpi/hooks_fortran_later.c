/* Their non-blocking kin, by their Fortran names. */
#include "mpi/hooks_fortran.h"

static int free_op(MPI_Fint *op)
{
    MPI_Op freed = PMPI_Op_f2c(*op);
    int code = MPI_Op_free(&freed);
    if (code == MPI_SUCCESS)
        *op = PMPI_Op_c2f(freed);
    return code;
}

#pragma GCC visibility push(default)

/* clang-format off */
#ifdef OPEN_MPI

#define LATER(name, NAME, params, call)                                                  \
    ALL(name, NAME, (UNWRAP params, MPI_Fint * request), GIVING(call))

LATER(ibarrier, IBARRIER, (BARRIER_LIST), MPI_Ibarrier(BARRIER_ARGS, &made))
LATER(ibcast, IBCAST, (BCAST_LIST), MPI_Ibcast(BCAST_ARGS, &made))
LATER(iscatter, ISCATTER, (ROOTED_LIST), MPI_Iscatter(ROOTED_ARGS, &made))
LATER(igather, IGATHER, (ROOTED_LIST), MPI_Igather(ROOTED_ARGS, &made))
LATER(iallgather, IALLGATHER, (ALLGATHER_LIST), MPI_Iallgather(ALLGATHER_ARGS, &made))
LATER(iallgatherv, IALLGATHERV, (ALLGATHERV_LIST), MPI_Iallgatherv(ALLGATHERV_ARGS, &made))
LATER(ialltoall, IALLTOALL, (ALLGATHER_LIST), MPI_Ialltoall(ALLGATHER_ARGS, &made))
LATER(ireduce, IREDUCE, (REDUCE_LIST), MPI_Ireduce(REDUCE_ARGS, &made))
LATER(iallreduce, IALLREDUCE, (ALLREDUCE_LIST), MPI_Iallreduce(ALLREDUCE_ARGS, &made))
LATER(ireduce_scatter, IREDUCE_SCATTER, (REDUCE_SCATTER_LIST),
      MPI_Ireduce_scatter(REDUCE_SCATTER_ARGS, &made))
LATER(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, (ALLREDUCE_LIST),
      MPI_Ireduce_scatter_block(ALLREDUCE_ARGS, &made))
LATER(iscatterv, ISCATTERV, (SCATTERV_LIST), MPI_Iscatterv(SCATTERV_ARGS, &made))
LATER(igatherv, IGATHERV, (GATHERV_LIST), MPI_Igatherv(GATHERV_ARGS, &made))
LATER(ialltoallv, IALLTOALLV, (ALLTOALLV_LIST), MPI_Ialltoallv(ALLTOALLV_ARGS, &made))
LATER(iscan, ISCAN, (ALLREDUCE_LIST), MPI_Iscan(ALLREDUCE_ARGS, &made))
LATER(iexscan, IEXSCAN, (ALLREDUCE_LIST), MPI_Iexscan(ALLREDUCE_ARGS, &made))
ALL(op_free, OP_FREE, (MPI_Fint *op), free_op(op))

#else

/* Those of mpi_f08 that call PMPI_*. */
ONE(mpi_ibarrier_f08_, (MPI_Fint *comm, MPI_Fint *request),
    GIVING(MPI_Ibarrier(PMPI_Comm_f2c(*comm), &made)))
ONE(mpi_op_free_f08_, (MPI_Fint *op), free_op(op))

#endif
/* clang-format on */

#pragma GCC visibility pop
