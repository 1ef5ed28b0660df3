/* Broadcasts 8 MB from rank 0 ten times and tells how long one takes.
 *
 *   mpicc.openmpi -o hello_bcast hello_bcast.c
 *   espalier run -p platform.json --stats -- mpirun.openmpi -n 4 ./hello_bcast
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    enum { BYTES = 8000000, TIMES = 10 };
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *data = malloc(BYTES);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, rank == 0 ? 'x' : ' ', BYTES);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < TIMES; i++)
        MPI_Bcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, 8 MB: %.1f ms\n", size, (MPI_Wtime() - start) / TIMES * 1e3);

    int wrong = data[0] != 'x' || data[BYTES - 1] != 'x';
    free(data);
    MPI_Finalize();
    return wrong;
}
