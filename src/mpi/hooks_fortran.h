/* What the tables of Fortran's names share; most of it only where its Fortran does not
 * get to us through the C names. */
#ifndef ESPI_MPI_HOOKS_FORTRAN_H
#define ESPI_MPI_HOOKS_FORTRAN_H

#include "mpi/work.h"

#define UNWRAP(...) __VA_ARGS__

#define ONE(symbol, params, call)                                                        \
    void symbol(UNWRAP params, int *ierror);                                             \
    void symbol(UNWRAP params, int *ierror)                                              \
    {                                                                                    \
        int code = call;                                                                 \
        if (ierror)                                                                      \
            *ierror = code;                                                              \
    }

/* A call that gives a request, `made`. */
#define GIVING(call)                                                                     \
    ({                                                                                   \
        MPI_Request made = MPI_REQUEST_NULL;                                             \
        int code_ = call;                                                                \
        give_request(code_, made, request);                                              \
    })

__attribute__((unused)) static int give_request(int code, MPI_Request made,
                                                MPI_Fint *request)
{
    if (code == MPI_SUCCESS)
        *request = PMPI_Request_c2f(made);
    return code;
}

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

__attribute__((unused)) static void *c_address(void *at)
{
    if (IS(at, mpi_fortran_bottom, MPI_FORTRAN_BOTTOM))
        return MPI_BOTTOM;
    return IS(at, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE) ? MPI_IN_PLACE : at;
}

_Static_assert(_Generic((MPI_Fint)0, int : 1, default : 0), "counts need no conversion");

#define BARRIER_LIST MPI_Fint *comm
#define BCAST_LIST                                                                       \
    void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm
#define ROOTED_LIST                                                                      \
    void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to, MPI_Fint *to_count, \
        MPI_Fint *to_type, MPI_Fint *root, MPI_Fint *comm
#define ALLGATHER_LIST                                                                   \
    void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to, MPI_Fint *to_count, \
        MPI_Fint *to_type, MPI_Fint *comm
#define ALLGATHERV_LIST                                                                  \
    void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to, MPI_Fint *counts,   \
        MPI_Fint *at, MPI_Fint *to_type, MPI_Fint *comm
#define SCATTERV_LIST                                                                    \
    void *from, MPI_Fint *counts, MPI_Fint *at, MPI_Fint *from_type, void *to,           \
        MPI_Fint *to_count, MPI_Fint *to_type, MPI_Fint *root, MPI_Fint *comm
#define GATHERV_LIST                                                                     \
    void *from, MPI_Fint *from_count, MPI_Fint *from_type, void *to, MPI_Fint *counts,   \
        MPI_Fint *at, MPI_Fint *to_type, MPI_Fint *root, MPI_Fint *comm
#define ALLTOALLV_LIST                                                                   \
    void *from, MPI_Fint *from_counts, MPI_Fint *from_at, MPI_Fint *from_type, void *to, \
        MPI_Fint *counts, MPI_Fint *at, MPI_Fint *to_type, MPI_Fint *comm
#define REDUCE_LIST                                                                      \
    void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *root, \
        MPI_Fint *comm
#define ALLREDUCE_LIST                                                                   \
    void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm
#define REDUCE_SCATTER_LIST                                                              \
    void *from, void *to, MPI_Fint *counts, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm

#define C_COMM       PMPI_Comm_f2c(*comm)
#define BARRIER_ARGS C_COMM
#define BCAST_ARGS   c_address(buffer), *count, PMPI_Type_f2c(*type), *root, C_COMM
#define ALLGATHER_ARGS                                                                   \
    c_address(from), *from_count, PMPI_Type_f2c(*from_type), c_address(to), *to_count,   \
        PMPI_Type_f2c(*to_type), C_COMM
#define ROOTED_ARGS                                                                      \
    c_address(from), *from_count, PMPI_Type_f2c(*from_type), c_address(to), *to_count,   \
        PMPI_Type_f2c(*to_type), *root, C_COMM
#define ALLGATHERV_ARGS                                                                  \
    c_address(from), *from_count, PMPI_Type_f2c(*from_type), c_address(to), counts, at,  \
        PMPI_Type_f2c(*to_type), C_COMM
#define SCATTERV_ARGS                                                                    \
    c_address(from), counts, at, PMPI_Type_f2c(*from_type), c_address(to), *to_count,    \
        PMPI_Type_f2c(*to_type), *root, C_COMM
#define GATHERV_ARGS                                                                     \
    c_address(from), *from_count, PMPI_Type_f2c(*from_type), c_address(to), counts, at,  \
        PMPI_Type_f2c(*to_type), *root, C_COMM
#define ALLTOALLV_ARGS                                                                   \
    c_address(from), from_counts, from_at, PMPI_Type_f2c(*from_type), c_address(to),     \
        counts, at, PMPI_Type_f2c(*to_type), C_COMM
#define REDUCE_ARGS                                                                      \
    c_address(from), c_address(to), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),      \
        *root, C_COMM
#define ALLREDUCE_ARGS                                                                   \
    c_address(from), c_address(to), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), C_COMM
#define REDUCE_SCATTER_ARGS                                                              \
    c_address(from), c_address(to), counts, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), C_COMM

/* As compilers spell the name, and for mpi_f08. */
#define SPELLED_ALL(name, NAME, params, call)                                            \
    ONE(name##_, params, call)                                                           \
    ONE(name, params, call)                                                              \
    ONE(name##__, params, call)                                                          \
    ONE(NAME, params, call)                                                              \
    ONE(name##_f08_, params, call)
#define ALL(name, NAME, params, call) SPELLED_ALL(mpi_##name, MPI_##NAME, params, call)

#endif

#endif
