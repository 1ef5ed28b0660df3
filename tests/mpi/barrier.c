/* Barriers: nobody leaves before all have come, whoever is late, on communicators of all
 * kinds; and wrong ones end as the library's do. Who has come is counted in memory that
 * all ranks share. */
#include "shared.h"

enum { ROUNDS = 40 };

/* Another rank is late each time. The counter is that of the communicator's ranks. */
static void meet(MPI_Comm comm, atomic_long *came)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == i % size && i % 3 == 0)
            usleep(2000);
        atomic_fetch_add(came, 1);
        CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
        CHECK(atomic_load(came) >= (long)(i + 1) * size);
    }
}

static void on_halves(atomic_long *came)
{
    MPI_Comm half, other, both;
    int color = check_rank % 2, last = check_size - 1; /* of all, and of its half */
    int remote = last % 2 == color ? last - 1 : last;
    MPI_Comm_split(MPI_COMM_WORLD, color, -check_rank, &half);
    meet(half, came + color);
    if (check_size > 1) { /* between the two: the library's own */
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, remote, 5, &other);
        atomic_fetch_add(came + 2, 1);
        CHECK(MPI_Barrier(other) == MPI_SUCCESS);
        /* all of the other group have come, and perhaps not all of the own */
        CHECK(atomic_load(came + 2) >= check_size / 2);
        MPI_Intercomm_merge(other, color, &both);
        CHECK(MPI_Barrier(both) == MPI_SUCCESS);
        MPI_Comm_free(&both);
        MPI_Comm_free(&other);
    }
    MPI_Comm_free(&half);
}

/* Messages of the user's own that cross must not see ours. */
static void beside_wildcards(void)
{
    int got = -1, next = (check_rank + 1) % check_size;
    MPI_Request r;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    for (int i = 0; i < 5; i++)
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Send(&check_rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got == (check_rank + check_size - 1) % check_size);
}

/* Barriers and short collectives in turn, without gaps. */
static void in_turn(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        long mine = check_rank + i, sum = 0, least = mine;
        CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD) == 0);
        CHECK(sum == (long)check_size * i + (long)check_size * (check_size - 1) / 2);
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
        CHECK(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD) ==
              0);
        CHECK(least == i);
    }
}

static void wrong_ones(void)
{
    int ours, theirs, a, b;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    theirs = NATIVE(Barrier)(MPI_COMM_NULL);
    ours = MPI_Barrier(MPI_COMM_NULL);
    MPI_Error_class(theirs, &a);
    MPI_Error_class(ours, &b);
    CHECK(theirs != MPI_SUCCESS && a == b);
    CHECK(MPI_Barrier(MPI_COMM_SELF) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    check_begin(&argc, &argv);
    atomic_long *came = share(8);
    meet(MPI_COMM_WORLD, came);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    meet(dup, came + 1);
    MPI_Comm_free(&dup);
    on_halves(came + 2);
    beside_wildcards();
    in_turn();
    wrong_ones();
    return check_end();
}
