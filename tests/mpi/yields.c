/* Ranks that wait for a plan's messages offer the processor to others between two looks:
 * else, where ranks are more than processors, whoever they wait for comes on only when a
 * time slice is over. The root comes late, when all others have offered it, as a preload
 * counts. YIELDS_LATER: in non-blocking calls; YIELDS_FIRST: in the first ones, in which
 * ranks agree on a plan, by word of the root or by a vote. */
#include <unistd.h>

#include "shared.h"

enum { BYTES = 300000, ROUNDS = 3, LOOKS = 3, WAITS_MAX = 20000, WAIT_US = 1000 };

/* Of those before this one some may have been in the call before. */
static void wait_for_looks(atomic_long *yields, int rank)
{
    long before = atomic_load(&yields[rank]);
    for (int i = 0; i < WAITS_MAX && atomic_load(&yields[rank]) < before + LOOKS; i++)
        usleep(WAIT_US);
    CHECK(atomic_load(&yields[rank]) >= before + LOOKS);
}

static void broadcast(unsigned char *data, int later)
{
    MPI_Request request;
    if (!later) {
        CHECK(MPI_Bcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
        return;
    }
    CHECK(MPI_Ibcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

static void check_call(atomic_long *yields, int later, unsigned seed)
{
    unsigned char *data = check_alloc(BYTES);
    if (check_rank == 0)
        check_fill(data, BYTES, seed);
    NATIVE(Barrier)(MPI_COMM_WORLD);
    for (int r = 1; r < check_size && check_rank == 0 && yields && !check_bad; r++)
        wait_for_looks(yields, r);
    broadcast(data, later);
    CHECK(check_wrong(data, BYTES, seed) < 0);
    free(data);
}

/* Nobody comes to the run of the plan before rank 0 has voted for it. */
static void check_votes(atomic_long *yields)
{
    int sum = 0;
    NATIVE(Barrier)(MPI_COMM_WORLD);
    for (int r = 1; r < check_size && check_rank == 0 && !check_bad; r++)
        wait_for_looks(yields, r);
    CHECK(!MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == check_size * (check_size - 1) / 2);
}

int main(int argc, char **argv)
{
    void (*count)(atomic_long *);
    int first = getenv("YIELDS_FIRST") != NULL;
    int later = getenv("YIELDS_LATER") != NULL;
    check_begin(&argc, &argv);
    atomic_long *yields = share((size_t)check_size);
    *(void **)&count = dlsym(RTLD_DEFAULT, "count_yields");
    if (!count)
        abort();
    if (!first)
        check_call(NULL, later, 0); /* ranks agree on a plan */
    count(&yields[check_rank]);
    if (first)
        check_votes(yields);
    for (unsigned i = 1; i <= ROUNDS; i++)
        check_call(yields, later, i);
    count(NULL);
    return check_end();
}
