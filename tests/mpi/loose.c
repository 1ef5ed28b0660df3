/* Broadcast does not synchronise: a root goes on while others are late, ranks enter one
 * after the other, and messages of the user's own cross. */
#include "check.h"

/* The root sends short messages and only then what the others wait for first. */
static void root_runs_ahead(void)
{
    int word = check_rank == 0 ? 77 : 0, go = 0;
    for (int i = 0; i < 20; i++) {
        if (check_rank == 0) {
            word = 77 + i;
            MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
            for (int r = 1; r < check_size; r++)
                MPI_Send(&go, 1, MPI_INT, r, 3, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&go, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
            CHECK(word == 77 + i);
        }
    }
}

/* Receives from anyone with any tag are under way all the time and must not see us. */
static void wildcards(void)
{
    enum { BYTES = 200000 };
    int got = -1, mine = check_rank;
    MPI_Request r;
    unsigned char *data = check_alloc(BYTES);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    for (int root = 0; root < check_size; root++) {
        if (check_rank == root)
            check_fill(data, BYTES, (unsigned)root);
        MPI_Bcast(data, BYTES, MPI_BYTE, root, MPI_COMM_WORLD);
        CHECK(check_wrong(data, BYTES, (unsigned)root) == -1);
    }
    MPI_Send(&mine, 1, MPI_INT, (check_rank + 1) % check_size, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got == (check_rank + check_size - 1) % check_size);
    free(data);
}

/* Ranks wait for each other outside: each enters when the one before has left. */
static void one_after_the_other(void)
{
    int word = check_rank == 0 ? 5 : 0, token = 0;
    if (check_rank > 0)
        MPI_Recv(&token, 1, MPI_INT, check_rank - 1, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (check_rank + 1 < check_size)
        MPI_Send(&token, 1, MPI_INT, check_rank + 1, 9, MPI_COMM_WORLD);
    CHECK(word == 5);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    root_runs_ahead();
    wildcards();
    if (check_size == 2) /* with more, a rank in the middle may have to wait */
        one_after_the_other();
    return check_end();
}
