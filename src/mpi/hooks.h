/* What the tables of hooks share: a row is a collective's name, its parameters and its
 * arguments, both in parentheses, and what we do when it is called. */
#ifndef ESPI_MPI_HOOKS_H
#define ESPI_MPI_HOOKS_H

#include "mpi/work.h"

#define UNWRAP(...) __VA_ARGS__

/* What a call of the program may lead to: the library itself, or a tool behind us that
 * has the call under its MPI_ name and goes on by the PMPI_ one, which is ours; NULL:
 * there is none. Found when the shim is loaded. */
#define LEADS_TO(Name, params, args)                                                     \
    static int(*real_##Name) params, (*tool_##Name)params;                               \
    int shown_P##Name params __asm__("PMPI_" #Name);                                     \
    int PMPI_##Name params                                                               \
    {                                                                                    \
        return real_##Name args;                                                         \
    }
#define FIND(Name, params, args, ours)                                                   \
    real_##Name = (int(*) params)espi_behind_us("PMPI_" #Name, (void *)shown_P##Name);   \
    tool_##Name = (int(*) params)espi_tool_behind_us("MPI_" #Name);
#define FIRST(Name, params, args, ours) SET_NOW(Name, real_##Name)

/* now: what is done with the call. mpi: where the program's call goes, to the same or to
 * the tool. */
#define SET_NOW(Name, what)                                                              \
    now_##Name = what;                                                                   \
    mpi_##Name = tool_##Name ? tool_##Name : now_##Name;

/* A function that may be the library's own or ours. */
#define TAKE(Name, params, args, ours)                                                   \
    LEADS_TO(Name, params, args)                                                         \
    static int take_##Name params                                                        \
    {                                                                                    \
        return ours;                                                                     \
    }                                                                                    \
    static int(*now_##Name) params, (*mpi_##Name)params;
#define WAKE(Name, params, args, ours) SET_NOW(Name, take_##Name)
#define SLEEP(Name, params, args, ours)                                                  \
    SET_NOW(Name, real_##Name)                                                           \
    if (whole_job) {                                                                     \
        espi_bypass("MPI_" #Name, (void *)MPI_##Name, (void *)mpi_##Name);               \
        espi_bypass("PMPI_" #Name, (void *)shown_P##Name, (void *)real_##Name);          \
    }
#define SHOW(Name, params, args, ours)                                                   \
    int MPI_##Name params                                                                \
    {                                                                                    \
        return mpi_##Name args;                                                          \
    }                                                                                    \
    int shown_P##Name params                                                             \
    {                                                                                    \
        return now_##Name args;                                                          \
    }

/* A function in which we have something to do at all times. */
#define ALWAYS(Name, params, args, ours)                                                 \
    LEADS_TO(Name, params, args)                                                         \
    static int always_##Name params                                                      \
    {                                                                                    \
        return ours;                                                                     \
    }                                                                                    \
    static int(*now_##Name) params, (*mpi_##Name)params;
#define SET_ALWAYS(Name, params, args, ours) SET_NOW(Name, always_##Name)

#define BARRIER_LIST MPI_Comm comm
#define BCAST_LIST(count_t)                                                              \
    void *buffer, count_t count, MPI_Datatype type, int root, MPI_Comm comm
#define ROOTED_LIST(count_t)                                                             \
    const void *from, count_t from_count, MPI_Datatype from_type, void *to,              \
        count_t to_count, MPI_Datatype to_type, int root, MPI_Comm comm
#define ALLGATHER_LIST(count_t)                                                          \
    const void *from, count_t from_count, MPI_Datatype from_type, void *to,              \
        count_t to_count, MPI_Datatype to_type, MPI_Comm comm
#define ALLGATHERV_LIST(count_t, at_t)                                                   \
    const void *from, count_t from_count, MPI_Datatype from_type, void *to,              \
        const count_t counts[], const at_t at[], MPI_Datatype to_type, MPI_Comm comm
#define SCATTERV_LIST(count_t, at_t)                                                     \
    const void *from, const count_t counts[], const at_t at[], MPI_Datatype from_type,   \
        void *to, count_t to_count, MPI_Datatype to_type, int root, MPI_Comm comm
#define GATHERV_LIST(count_t, at_t)                                                      \
    const void *from, count_t from_count, MPI_Datatype from_type, void *to,              \
        const count_t counts[], const at_t at[], MPI_Datatype to_type, int root,         \
        MPI_Comm comm
#define ALLTOALLV_LIST(count_t, at_t)                                                    \
    const void *from, const count_t from_counts[], const at_t from_at[],                 \
        MPI_Datatype from_type, void *to, const count_t counts[], const at_t at[],       \
        MPI_Datatype to_type, MPI_Comm comm
#define REDUCE_LIST(count_t)                                                             \
    const void *from, void *to, count_t count, MPI_Datatype type, MPI_Op op, int root,   \
        MPI_Comm comm
#define ALLREDUCE_LIST(count_t)                                                          \
    const void *from, void *to, count_t count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define REDUCE_SCATTER_LIST(count_t)                                                     \
    const void *from, void *to, const count_t counts[], MPI_Datatype type, MPI_Op op,    \
        MPI_Comm comm

#define BARRIER_ARGS    comm
#define BCAST_ARGS      buffer, count, type, root, comm
#define ROOTED_ARGS     from, from_count, from_type, to, to_count, to_type, root, comm
#define ALLGATHER_ARGS  from, from_count, from_type, to, to_count, to_type, comm
#define ALLGATHERV_ARGS from, from_count, from_type, to, counts, at, to_type, comm
#define SCATTERV_ARGS   from, counts, at, from_type, to, to_count, to_type, root, comm
#define GATHERV_ARGS    from, from_count, from_type, to, counts, at, to_type, root, comm
#define ALLTOALLV_ARGS                                                                   \
    from, from_counts, from_at, from_type, to, counts, at, to_type, comm
#define REDUCE_ARGS         from, to, count, type, op, root, comm
#define ALLREDUCE_ARGS      from, to, count, type, op, comm
#define REDUCE_SCATTER_ARGS from, to, counts, type, op, comm

/* The calls of ours that take counts; how: the manner. */
#define OUR_ALLGATHERV(how)                                                              \
    espi_allgatherv(from, from_count, from_type, to,                                     \
                    &(struct espi_counts){.count = counts, .at = at}, to_type, comm,     \
                    how)
#define OUR_ALLGATHERV_C(how)                                                            \
    espi_allgatherv(from, from_count, from_type, to,                                     \
                    &(struct espi_counts){.large_count = counts, .large_at = at},        \
                    to_type, comm, how)
#define SOME(n, places) (&(struct espi_counts){.count = n, .at = places})
#define LARGE(n, places)                                                                 \
    (&(struct espi_counts){.large_count = n, .large_at = places, .is_large = 1})
#define OUR_SCATTERV(parts, how)                                                         \
    espi_scatterv(from, parts(counts, at), from_type, to, to_count, to_type, root, comm, \
                  how)
#define OUR_GATHERV(parts, how)                                                          \
    espi_gatherv(from, from_count, from_type, to, parts(counts, at), to_type, root,      \
                 comm, how)
#define OUR_ALLTOALLV(parts, how)                                                        \
    espi_alltoallv(from, parts(from_counts, from_at), from_type, to, parts(counts, at),  \
                   to_type, comm, how)
#define OUR_REDUCE_SCATTER(how)                                                          \
    espi_reduce_scatter(from, to, &(struct espi_counts){.count = counts}, type, op,      \
                        comm, how)
#define OUR_REDUCE_SCATTER_C(how)                                                        \
    espi_reduce_scatter(from, to, &(struct espi_counts){.large_count = counts}, type,    \
                        op, comm, how)

#endif
