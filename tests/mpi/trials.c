/* The same calls again and again, as trials want them: every rank gets the right bytes,
 * whoever makes the call, and whatever ranks are late. Sizes change between, and
 * communicators go while times are still told. TRIAL_CALLS: of each collective. */
#include <unistd.h>

#include "check.h"

enum { PART = 20000 };

static unsigned char *whole, *part;
static double *numbers, *sums;

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Some ranks, at some calls. */
static void come_late(unsigned *state)
{
    if (draw(state) % 8 == 0)
        usleep(draw(state) % 3000);
}

static void check_bcast(MPI_Comm comm, int rank, int bytes, unsigned seed)
{
    memset(whole, 0, (size_t)bytes);
    if (rank == 0)
        check_fill(whole, (size_t)bytes, seed);
    CHECK(MPI_Bcast(whole, bytes, MPI_BYTE, 0, comm) == MPI_SUCCESS);
    CHECK(check_wrong(whole, (size_t)bytes, seed) == -1);
}

static void check_allgather(MPI_Comm comm, int rank, int size, unsigned seed)
{
    check_fill(part, PART, seed + (unsigned)rank);
    memset(whole, 0, (size_t)size * PART);
    CHECK(!MPI_Allgather(part, PART, MPI_BYTE, whole, PART, MPI_BYTE, comm));
    for (int r = 0; r < size; r++)
        CHECK(check_wrong(whole + (size_t)r * PART, PART, seed + (unsigned)r) == -1);
}

static void check_scatter(MPI_Comm comm, int rank, int size, unsigned seed)
{
    for (int r = 0; rank == 0 && r < size; r++)
        check_fill(whole + (size_t)r * PART, PART, seed + (unsigned)r);
    memset(part, 0, PART);
    CHECK(!MPI_Scatter(whole, PART, MPI_BYTE, part, PART, MPI_BYTE, 0, comm));
    CHECK(check_wrong(part, PART, seed + (unsigned)rank) == -1);
}

static void check_gather(MPI_Comm comm, int rank, int size, unsigned seed)
{
    check_fill(part, PART, seed + (unsigned)rank);
    CHECK(!MPI_Gather(part, PART, MPI_BYTE, whole, PART, MPI_BYTE, 0, comm));
    for (int r = 0; rank == 0 && r < size; r++)
        CHECK(check_wrong(whole + (size_t)r * PART, PART, seed + (unsigned)r) == -1);
}

/* Whole numbers, of which sums are exact. */
static void check_reductions(MPI_Comm comm, int rank, int size, unsigned seed)
{
    int n = PART / (int)sizeof *numbers;
    for (int i = 0; i < n; i++)
        numbers[i] = (double)((seed + (unsigned)i) % 1000u) + rank;
    CHECK(!MPI_Reduce(numbers, sums, n, MPI_DOUBLE, MPI_SUM, 0, comm));
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; (pass || rank == 0) && i < n; i++)
            CHECK(sums[i] == size * ((double)((seed + (unsigned)i) % 1000u)) +
                                 size * (size - 1) / 2.0);
        if (!pass)
            CHECK(!MPI_Allreduce(numbers, sums, n, MPI_DOUBLE, MPI_SUM, comm));
    }
    n /= size;
    CHECK(!MPI_Reduce_scatter_block(numbers, sums, n, MPI_DOUBLE, MPI_SUM, comm));
    for (int i = 0; i < n; i++)
        CHECK(sums[i] == size * ((double)((seed + (unsigned)(rank * n + i)) % 1000u)) +
                             size * (size - 1) / 2.0);
}

static void repeat(MPI_Comm comm, int calls)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    unsigned own = 77u + (unsigned)rank;
    for (int i = 0; i < calls; i++) {
        unsigned seed = (unsigned)i * 13u;
        int longer = i % 7 == 3 || i > calls / 2; /* another size of the same class */
        come_late(&own);
        check_bcast(comm, rank, longer ? 60000 : 40000, seed);
        come_late(&own);
        check_allgather(comm, rank, size, seed);
        check_scatter(comm, rank, size, seed);
        come_late(&own);
        check_gather(comm, rank, size, seed);
        check_reductions(comm, rank, size, seed);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm twin, half;
    const char *asked = getenv("TRIAL_CALLS");
    int calls = asked ? atoi(asked) : 60;
    check_begin(&argc, &argv);
    whole = check_alloc((size_t)(check_size + 4) * PART);
    part = check_alloc(PART);
    numbers = check_alloc(PART);
    sums = check_alloc(PART);
    repeat(MPI_COMM_WORLD, calls);
    for (int i = 1; i <= 4; i++) { /* freed after so many calls */
        MPI_Comm_dup(MPI_COMM_WORLD, &twin);
        repeat(twin, i);
        MPI_Comm_free(&twin);
    }
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
    repeat(half, calls < 20 ? calls : 20);
    MPI_Comm_free(&half);
    free(whole);
    free(part);
    free(numbers);
    free(sums);
    return check_end();
}
