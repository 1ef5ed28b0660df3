/* A tool by the profiling interface: it counts calls, and goes on by their PMPI_ names.
 * So do tracers and profilers. Beside the collectives there are those calls by which the
 * shim talks, which nobody is to see. */
#include "../tracer.h"

#include <mpi.h>
#include <stddef.h>
#include <string.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define SHOWN __attribute__((visibility("default")))

/* clang-format off */
/* A collective and its non-blocking kin. */
#define UNWRAP(...) __VA_ARGS__
#define BOTH(X, Name, IName, params, args)                                               \
    X(Name, (UNWRAP params), (UNWRAP args))                                              \
    X(IName, (UNWRAP params, MPI_Request *request), (UNWRAP args, request))

#define PARTS                                                                            \
    const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other
#define ALIKE from, n, type, to, m, other
#define MANY(n) const int n[], const int n##_at[]
#define COMBINED                                                                         \
    (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define COMBINE (from, to, n, type, op, comm)

#define CALLS(X)                                                                         \
    X(Init, (int *argc, char ***argv), (argc, argv))                                     \
    X(Finalize, (void), ())                                                              \
    X(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))                               \
    X(Comm_size, (MPI_Comm comm, int *size), (comm, size))                               \
    X(Comm_dup, (MPI_Comm comm, MPI_Comm *fresh), (comm, fresh))                         \
    X(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *fresh),                  \
      (comm, color, key, fresh))                                                         \
    X(Comm_free, (MPI_Comm *comm), (comm))                                               \
    X(Comm_group, (MPI_Comm comm, MPI_Group *group), (comm, group))                      \
    X(Comm_get_attr, (MPI_Comm comm, int key, void *value, int *flag),                   \
      (comm, key, value, flag))                                                          \
    X(Comm_set_attr, (MPI_Comm comm, int key, void *value), (comm, key, value))          \
    X(Op_free, (MPI_Op *op), (op))                                                       \
    X(Type_get_extent, (MPI_Datatype type, MPI_Aint *low, MPI_Aint *extent),             \
      (type, low, extent))                                                               \
    BOTH(X, Barrier, Ibarrier, (MPI_Comm comm), (comm))                                  \
    BOTH(X, Bcast, Ibcast,                                                               \
         (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),                \
         (data, n, type, root, comm))                                                    \
    BOTH(X, Scatter, Iscatter, (PARTS, int root, MPI_Comm comm), (ALIKE, root, comm))    \
    BOTH(X, Gather, Igather, (PARTS, int root, MPI_Comm comm), (ALIKE, root, comm))      \
    BOTH(X, Allgather, Iallgather, (PARTS, MPI_Comm comm), (ALIKE, comm))                \
    BOTH(X, Alltoall, Ialltoall, (PARTS, MPI_Comm comm), (ALIKE, comm))                  \
    BOTH(X, Scatterv, Iscatterv,                                                         \
         (const void *from, MANY(n), MPI_Datatype type, void *to, int m,                 \
          MPI_Datatype other, int root, MPI_Comm comm),                                  \
         (from, n, n_at, type, to, m, other, root, comm))                                \
    BOTH(X, Gatherv, Igatherv,                                                           \
         (const void *from, int n, MPI_Datatype type, void *to, MANY(m),                 \
          MPI_Datatype other, int root, MPI_Comm comm),                                  \
         (from, n, type, to, m, m_at, other, root, comm))                                \
    BOTH(X, Allgatherv, Iallgatherv,                                                     \
         (const void *from, int n, MPI_Datatype type, void *to, MANY(m),                 \
          MPI_Datatype other, MPI_Comm comm),                                            \
         (from, n, type, to, m, m_at, other, comm))                                      \
    BOTH(X, Alltoallv, Ialltoallv,                                                       \
         (const void *from, MANY(n), MPI_Datatype type, void *to, MANY(m),               \
          MPI_Datatype other, MPI_Comm comm),                                            \
         (from, n, n_at, type, to, m, m_at, other, comm))                                \
    BOTH(X, Reduce, Ireduce,                                                             \
         (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root,     \
          MPI_Comm comm), (from, to, n, type, op, root, comm))                           \
    BOTH(X, Allreduce, Iallreduce, COMBINED, COMBINE)                                    \
    BOTH(X, Reduce_scatter_block, Ireduce_scatter_block, COMBINED, COMBINE)              \
    BOTH(X, Reduce_scatter, Ireduce_scatter,                                             \
         (const void *from, void *to, const int n[], MPI_Datatype type, MPI_Op op,       \
          MPI_Comm comm), (from, to, n, type, op, comm))                                 \
    BOTH(X, Scan, Iscan, COMBINED, COMBINE)                                              \
    BOTH(X, Exscan, Iexscan, COMBINED, COMBINE)                                          \
    X(Start, (MPI_Request *request), (request))                                          \
    X(Startall, (int n, MPI_Request requests[]), (n, requests))                          \
    X(Request_free, (MPI_Request *request), (request))                                   \
    X(Send, (const void *data, int n, MPI_Datatype type, int to, int tag,                \
      MPI_Comm comm), (data, n, type, to, tag, comm))                                    \
    X(Recv, (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,     \
      MPI_Status *status), (data, n, type, from, tag, comm, status))                     \
    X(Isend, (const void *data, int n, MPI_Datatype type, int to, int tag,               \
      MPI_Comm comm, MPI_Request *request), (data, n, type, to, tag, comm, request))     \
    X(Issend, (const void *data, int n, MPI_Datatype type, int to, int tag,              \
      MPI_Comm comm, MPI_Request *request), (data, n, type, to, tag, comm, request))     \
    X(Irecv, (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,    \
      MPI_Request *request), (data, n, type, from, tag, comm, request))                  \
    X(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status),         \
      (from, tag, comm, flag, status))                                                   \
    X(Wait, (MPI_Request *request, MPI_Status *status), (request, status))               \
    X(Test, (MPI_Request *request, int *flag, MPI_Status *status),                       \
      (request, flag, status))                                                           \
    X(Testsome, (int n, MPI_Request requests[], int *done, int indices[],                \
      MPI_Status statuses[]), (n, requests, done, indices, statuses))                    \
    X(Waitsome, (int n, MPI_Request requests[], int *done, int indices[],                \
      MPI_Status statuses[]), (n, requests, done, indices, statuses))
/* clang-format on */

#define NUMBER(Name, params, args) NUMBER_##Name,
enum { CALLS(NUMBER) NUMBER_Bcast_init, NUMBERS };

#define NAME(Name, params, args) #Name,
static const char *const names[NUMBERS] = {CALLS(NAME) "Bcast_init"};
static long counts[NUMBERS];

#define COUNT(Name, params, args)                                                        \
    SHOWN int MPI_##Name params                                                          \
    {                                                                                    \
        counts[NUMBER_##Name]++;                                                         \
        return PMPI_##Name args;                                                         \
    }
CALLS(COUNT)

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(front) front##MPIX_Bcast_init
#elif MPI_VERSION >= 4
#define INIT(front) front##MPI_Bcast_init
#endif
#ifdef INIT
SHOWN int INIT()(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm,
                 MPI_Info info, MPI_Request *request)
{
    counts[NUMBER_Bcast_init]++;
    return INIT(P)(data, n, type, root, comm, info, request);
}
#endif

SHOWN long tracer_count(const char *name)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (strcmp(names[i], name) == 0)
            return counts[i];
    return -1;
}
