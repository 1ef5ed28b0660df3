/* An MPI library whose own collectives take longer: each call by NATIVE_US microseconds.
 * What the shim does by itself is as fast as ever. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void be_slow(void)
{
    const char *us = getenv("NATIVE_US");
    if (us)
        usleep((unsigned)atoi(us));
}

/* Short ones are the shim's own talk. */
#define SLOW(Name, params, args, is_long)                                                \
    __attribute__((visibility("default"))) int PMPI_##Name params                        \
    {                                                                                    \
        int(*next) params = dlsym(RTLD_NEXT, "PMPI_" #Name);                             \
        if (is_long)                                                                     \
            be_slow();                                                                   \
        return next args;                                                                \
    }

SLOW(Bcast, (void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (buffer, n, type, root, comm), n >= 1000)
SLOW(Allgather,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other,
      MPI_Comm comm),
     (from, n, type, to, m, other, comm), n >= 1000)
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
