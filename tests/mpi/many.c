/* More non-blocking broadcasts under way than there are tags for: the call comes back all
 * the same, since what it waits for may be started only after it. */
#include "check.h"

enum { CALLS = 1100, BYTES = 3000 };

static unsigned char data[CALLS][BYTES];
static MPI_Request requests[CALLS];
static MPI_Status statuses[CALLS];

static void start_all(int root)
{
    for (int i = 0; i < CALLS; i++) {
        if (check_rank == root)
            check_fill(data[i], BYTES, (unsigned)i);
        MPI_Ibcast(data[i], BYTES, MPI_BYTE, root, MPI_COMM_WORLD, &requests[i]);
    }
}

/* The root starts when all others have. */
static void root_is_last(int root)
{
    int go = 1;
    if (check_rank != root) {
        start_all(root);
        MPI_Send(&go, 1, MPI_INT, root, 1, MPI_COMM_WORLD);
    } else {
        for (int r = 1; r < check_size; r++)
            MPI_Recv(&go, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        start_all(root);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int root = 0; root < 2; root++) {
        memset(data, 0, sizeof data);
        root_is_last(root);
        MPI_Waitall(CALLS, requests, statuses);
        for (int i = 0; i < CALLS; i++)
            CHECK(check_wrong(data[i], BYTES, (unsigned)i) == -1);
    }
    return check_end();
}
