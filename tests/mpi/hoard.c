/* As many communicators as the MPI library has, some of them used: how many there are is
 * on standard output behind "ok". */
#include "check.h"

enum { MOST = 3000, USED = 90, SURE = 1900, BYTES = 20000 };

static MPI_Comm comms[MOST];
static unsigned char data[BYTES];

static void use(MPI_Comm comm, int seed)
{
    memset(data, 0, BYTES);
    if (check_rank == 1)
        check_fill(data, BYTES, (unsigned)seed);
    MPI_Bcast(data, BYTES, MPI_BYTE, 1, comm);
    CHECK(check_wrong(data, BYTES, (unsigned)seed) == -1);
}

int main(int argc, char **argv)
{
    int n = 0;
    check_begin(&argc, &argv);
    for (; n < SURE; n++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]);
        if (n < USED)
            use(comms[n], n);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]) == MPI_SUCCESS)
        n++;
    for (int i = 0; i < USED; i++)
        use(comms[i], i + 1);
    use(MPI_COMM_WORLD, 7);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    use(comms[0], 8);
    MPI_Comm_free(&comms[0]);
    int bad = check_end();
    if (check_rank == 0)
        printf("%d\n", n);
    return bad;
}
