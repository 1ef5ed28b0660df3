/* The collectives that the shim takes, by their Fortran names. Open MPI's Fortran calls
 * PMPI_* directly; MPICH's gets to us through the C names, but for one. */
#include "mpi/shim.h"

#ifdef OPEN_MPI

/* Fortran's MPI_BOTTOM and MPI_IN_PLACE are the addresses of these, spelled as the
 * compiler does it. */
#define SPELLED(name, NAME)                                                              \
    extern int name##_;                                                                  \
    extern int name __attribute__((weak));                                               \
    extern int name##__ __attribute__((weak));                                           \
    extern int NAME __attribute__((weak));

SPELLED(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)
SPELLED(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)

#define IS(at, name, NAME)                                                               \
    ((at) && ((at) == (void *)&name##_ || (at) == (void *)&name ||                       \
              (at) == (void *)&name##__ || (at) == (void *)&NAME))

static void *c_address(void *at)
{
    if (IS(at, mpi_fortran_bottom, MPI_FORTRAN_BOTTOM))
        return MPI_BOTTOM;
    return IS(at, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE) ? MPI_IN_PLACE : at;
}

/* Ours when we are awake, else the library's. */
#define DO(ours, native) (espi_job.awake ? ours : native)

#define BCAST_PARAMS                                                                     \
    (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm,      \
     int *ierror)
#define IBCAST_PARAMS                                                                    \
    (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm,      \
     MPI_Fint *request, int *ierror)
#define ROOTED_PARAMS                                                                    \
    (void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to,                    \
     MPI_Fint *to_count, MPI_Fint *to_type, MPI_Fint *root, MPI_Fint *comm, int *ierror)
#define ALLGATHER_PARAMS                                                                 \
    (void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to,                    \
     MPI_Fint *to_count, MPI_Fint *to_type, MPI_Fint *comm, int *ierror)
#define ALLGATHERV_PARAMS                                                                \
    (void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to, MPI_Fint *counts,  \
     MPI_Fint *at, MPI_Fint *to_type, MPI_Fint *comm, int *ierror)
#define REDUCE_PARAMS                                                                    \
    (void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,                \
     MPI_Fint *root, MPI_Fint *comm, int *ierror)
#define ALLREDUCE_PARAMS                                                                 \
    (void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,                \
     MPI_Fint *comm, int *ierror)
#define REDUCE_SCATTER_PARAMS                                                            \
    (void *from, void *to, MPI_Fint *counts, MPI_Fint *type, MPI_Fint *op,               \
     MPI_Fint *comm, int *ierror)

#define BCAST_ARGS                                                                       \
    (c_address(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm))
#define ROOTED_ARGS                                                                      \
    (c_address(from), *from_count, PMPI_Type_f2c(*from_type), c_address(to), *to_count,  \
     PMPI_Type_f2c(*to_type), *root, PMPI_Comm_f2c(*comm))
#define ALLGATHER_ARGS                                                                   \
    (c_address(from), *from_count, PMPI_Type_f2c(*from_type), c_address(to), *to_count,  \
     PMPI_Type_f2c(*to_type), PMPI_Comm_f2c(*comm))
#define REDUCE_ARGS                                                                      \
    (c_address(from), c_address(to), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),     \
     *root, PMPI_Comm_f2c(*comm))
#define ALLREDUCE_ARGS                                                                   \
    (c_address(from), c_address(to), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),     \
     PMPI_Comm_f2c(*comm))

_Static_assert(_Generic((MPI_Fint)0, int : 1, default : 0), "counts need no conversion");

static int fortran_allgatherv(void *from, MPI_Fint from_count, MPI_Datatype from_type,
                              void *to, MPI_Fint *counts, MPI_Fint *at,
                              MPI_Datatype to_type, MPI_Comm comm)
{
    struct espi_counts c = {.count = counts, .at = at};
    return DO(
        espi_allgatherv(from, from_count, from_type, to, &c, to_type, comm),
        PMPI_Allgatherv(from, from_count, from_type, to, counts, at, to_type, comm));
}

static int fortran_reduce_scatter(void *from, void *to, MPI_Fint *counts,
                                  MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct espi_counts c = {.count = counts};
    return DO(espi_reduce_scatter(from, to, &c, type, op, comm),
              PMPI_Reduce_scatter(from, to, counts, type, op, comm));
}

static int ibcast(void *buffer, MPI_Fint count, MPI_Datatype type, MPI_Fint root,
                  MPI_Comm comm, MPI_Fint *request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int code = DO(espi_ibcast(buffer, count, type, root, comm, &made),
                  PMPI_Ibcast(buffer, count, type, root, comm, &made));
    if (code == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    return code;
}

#pragma GCC visibility push(default)

#define ONE(symbol, params, call)                                                        \
    void symbol params;                                                                  \
    void symbol params                                                                   \
    {                                                                                    \
        int code = call;                                                                 \
        if (ierror)                                                                      \
            *ierror = code;                                                              \
    }

/* As compilers spell the name, and for mpi_f08. */
#define ALL(name, NAME, params, call)                                                    \
    ONE(mpi_##name##_, params, call)                                                     \
    ONE(mpi_##name, params, call)                                                        \
    ONE(mpi_##name##__, params, call)                                                    \
    ONE(MPI_##NAME, params, call)                                                        \
    ONE(mpi_##name##_f08_, params, call)

ALL(barrier, BARRIER, (MPI_Fint * comm, int *ierror),
    DO(espi_barrier(PMPI_Comm_f2c(*comm)), PMPI_Barrier(PMPI_Comm_f2c(*comm))))
ALL(bcast, BCAST, BCAST_PARAMS, DO(espi_bcast BCAST_ARGS, PMPI_Bcast BCAST_ARGS))
ALL(ibcast, IBCAST, IBCAST_PARAMS,
    ibcast(c_address(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm),
           request))
ALL(scatter, SCATTER, ROOTED_PARAMS,
    DO(espi_scatter ROOTED_ARGS, PMPI_Scatter ROOTED_ARGS))
ALL(gather, GATHER, ROOTED_PARAMS, DO(espi_gather ROOTED_ARGS, PMPI_Gather ROOTED_ARGS))
ALL(allgather, ALLGATHER, ALLGATHER_PARAMS,
    DO(espi_allgather ALLGATHER_ARGS, PMPI_Allgather ALLGATHER_ARGS))
ALL(allgatherv, ALLGATHERV, ALLGATHERV_PARAMS,
    fortran_allgatherv(c_address(from), *from_count, PMPI_Type_f2c(*from_type),
                       c_address(to), counts, at, PMPI_Type_f2c(*to_type),
                       PMPI_Comm_f2c(*comm)))
ALL(alltoall, ALLTOALL, ALLGATHER_PARAMS,
    DO(espi_alltoall ALLGATHER_ARGS, PMPI_Alltoall ALLGATHER_ARGS))
ALL(reduce, REDUCE, REDUCE_PARAMS, DO(espi_reduce REDUCE_ARGS, PMPI_Reduce REDUCE_ARGS))
ALL(allreduce, ALLREDUCE, ALLREDUCE_PARAMS,
    DO(espi_allreduce ALLREDUCE_ARGS, PMPI_Allreduce ALLREDUCE_ARGS))
ALL(reduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER_PARAMS,
    fortran_reduce_scatter(c_address(from), c_address(to), counts, PMPI_Type_f2c(*type),
                           PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)))
ALL(reduce_scatter_block, REDUCE_SCATTER_BLOCK, ALLREDUCE_PARAMS,
    DO(espi_reduce_scatter_block ALLREDUCE_ARGS,
       PMPI_Reduce_scatter_block ALLREDUCE_ARGS))

#pragma GCC visibility pop

#else

#pragma GCC visibility push(default)

/* The one of them that calls PMPI_*. */
void mpi_barrier_f08_(MPI_Fint *comm, int *ierror);
void mpi_barrier_f08_(MPI_Fint *comm, int *ierror)
{
    int code = MPI_Barrier(PMPI_Comm_f2c(*comm));
    if (ierror)
        *ierror = code;
}

#pragma GCC visibility pop

#endif
