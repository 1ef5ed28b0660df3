/* A broadcast of the MPI library that brings a wrong byte, for the test of what looks for
 * such bytes. */
#include <dlfcn.h>
#include <mpi.h>

enum { LONG_ENOUGH = 256 }; /* shorter ones are not the test's */

__attribute__((visibility("default"))) int
PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int (*real)(void *, int, MPI_Datatype, int, MPI_Comm);
    int rank = 0;
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Bcast");
    int code = real(buffer, count, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (type == MPI_INT && count >= LONG_ENOUGH && rank == 1)
        ((unsigned char *)buffer)[count] ^= 1;
    return code;
}
