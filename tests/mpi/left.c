/* Communicators that overlap, in another order on every rank, and are never freed: what
 * travels on them beside the data must not be left to MPI_Finalize. Nor may that wait for
 * a communicator. */
#include <unistd.h>

#include "check.h"

enum { BYTES = 300000, KINDS = 4, ROUNDS = 3 };

static MPI_Comm make(int kind)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (kind == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (kind == 1)
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &comm);
    else if (kind == 2)
        MPI_Comm_split(MPI_COMM_WORLD, check_rank < check_size / 2, -check_rank, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, check_rank ? 0 : MPI_UNDEFINED, 0, &comm);
    return comm;
}

static void broadcast(MPI_Comm comm, unsigned char *data, unsigned seed)
{
    int rank, size;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int root = (int)(seed % (unsigned)size);
    memset(data, 0, BYTES);
    if (rank == root)
        check_fill(data, BYTES, seed);
    MPI_Bcast(data, BYTES, MPI_BYTE, root, comm);
    CHECK(check_wrong(data, BYTES, seed) == -1);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[ROUNDS][KINDS];
    unsigned char *data = check_alloc(BYTES);
    check_begin(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            comms[round][kind] = make(kind);
            broadcast(comms[round][kind], data, (unsigned)(round * KINDS + kind));
        }
    free(data);
    usleep(20000 * (unsigned)check_rank); /* they come to the end one after the other */
    return check_end();
}
