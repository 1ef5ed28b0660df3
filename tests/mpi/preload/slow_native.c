/* An MPI library whose own collectives take longer: each call by NATIVE_US microseconds.
 * What the shim does by itself is as fast as ever, but for telling of sizes, which takes
 * TELLING_US longer. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void be_slow(const char *by)
{
    const char *us = getenv(by);
    if (us)
        usleep((unsigned)atoi(us));
}

/* It is alone in that. */
static void tell_slowly(MPI_Datatype type)
{
    if (type == MPI_UINT64_T)
        be_slow("TELLING_US");
}

/* Short ones are the shim's own talk. */
#define SLOW_IF(Name, params, args, is_long, also)                                       \
    __attribute__((visibility("default"))) int PMPI_##Name params                        \
    {                                                                                    \
        int(*next) params = dlsym(RTLD_NEXT, "PMPI_" #Name);                             \
        also;                                                                            \
        if (is_long)                                                                     \
            be_slow("NATIVE_US");                                                        \
        return next args;                                                                \
    }
#define SLOW(Name, params, args, is_long) SLOW_IF(Name, params, args, is_long, (void)0)

SLOW_IF(Bcast, (void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, n, type, root, comm), n >= 1000, tell_slowly(type))
SLOW_IF(Allgather,
        (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other,
         MPI_Comm comm),
        (from, n, type, to, m, other, comm), n >= 1000, tell_slowly(other))
SLOW(Scatter,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other,
      int root, MPI_Comm comm),
     (from, n, type, to, m, other, root, comm), n >= 1000)
SLOW(Gather,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other,
      int root, MPI_Comm comm),
     (from, n, type, to, m, other, root, comm), n >= 1000)
SLOW(Reduce,
     (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root,
      MPI_Comm comm),
     (from, to, n, type, op, root, comm), n >= 1000)
SLOW(Allreduce,
     (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, to, n, type, op, comm), n >= 1000)
SLOW(Reduce_scatter_block,
     (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, to, n, type, op, comm), n >= 500)
SLOW(Scatterv,
     (const void *from, const int n[], const int at[], MPI_Datatype type, void *to, int m,
      MPI_Datatype other, int root, MPI_Comm comm),
     (from, n, at, type, to, m, other, root, comm), 1)
SLOW(Gatherv,
     (const void *from, int n, MPI_Datatype type, void *to, const int m[], const int at[],
      MPI_Datatype other, int root, MPI_Comm comm),
     (from, n, type, to, m, at, other, root, comm), 1)
SLOW(Alltoallv,
     (const void *from, const int n[], const int at[], MPI_Datatype type, void *to,
      const int m[], const int places[], MPI_Datatype other, MPI_Comm comm),
     (from, n, at, type, to, m, places, other, comm), 1)
