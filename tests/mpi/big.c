/* Messages of more than 2^31 bytes, by types of a mebibyte each and, where the MPI has
 * them, by large counts; two ranks. Every word is looked at. */
#include <stdint.h>

#include "check.h"

#define MIB       ((size_t)1 << 20)
#define ALL_BYTES (2052 * MIB)

static uint64_t word(uint64_t seed, uint64_t i)
{
    return (i + seed) * 0x9e3779b97f4a7c15ull;
}

/* Words [from, to) of the message. */
static void fill(uint64_t *data, size_t from, size_t to, uint64_t seed)
{
    for (size_t i = from; i < to; i++)
        data[i] = word(seed, i);
}

static size_t count_wrong(const uint64_t *data, size_t n, uint64_t seed)
{
    size_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad += data[i] != word(seed, i);
    return bad;
}

static void bcast(uint64_t *data, size_t n, MPI_Datatype mebibyte)
{
    if (check_rank == 1)
        fill(data, 0, n, 11);
    CHECK(MPI_Bcast(data, (int)(ALL_BYTES / MIB), mebibyte, 1, MPI_COMM_WORLD) ==
          MPI_SUCCESS);
    CHECK(count_wrong(data, n, 11) == 0);
}

static void allgather(uint64_t *data, size_t n, MPI_Datatype mebibyte)
{
    size_t part = n / (size_t)check_size, first = part * (size_t)check_rank;
    fill(data, first, first + part, 12);
    CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data,
                        (int)(ALL_BYTES / MIB) / check_size, mebibyte,
                        MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(count_wrong(data, n, 12) == 0);
}

/* All ranks have the same numbers, so that the sum is known. */
static void reduce(uint64_t *data, size_t n)
{
    size_t bad = 0;
    fill(data, 0, n, 13);
    CHECK(MPI_Reduce(check_rank == 0 ? MPI_IN_PLACE : data, check_rank == 0 ? data : NULL,
                     (int)n, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (size_t i = 0; check_rank == 0 && i < n; i++)
        bad += data[i] != (uint64_t)check_size * word(13, i);
    CHECK(bad == 0);
}

#if MPI_VERSION >= 4
static void large_count(uint64_t *data, size_t n)
{
    if (check_rank == 0)
        fill(data, 0, n, 14);
    CHECK(MPI_Bcast_c(data, (MPI_Count)ALL_BYTES, MPI_BYTE, 0, MPI_COMM_WORLD) ==
          MPI_SUCCESS);
    CHECK(count_wrong(data, n, 14) == 0);
}
#endif

int main(int argc, char **argv)
{
    size_t n = ALL_BYTES / sizeof(uint64_t);
    MPI_Datatype mebibyte;
    check_begin(&argc, &argv);
    uint64_t *data = check_alloc(ALL_BYTES);
    MPI_Type_contiguous((int)MIB, MPI_BYTE, &mebibyte);
    MPI_Type_commit(&mebibyte);
    bcast(data, n, mebibyte);
    allgather(data, n, mebibyte);
    reduce(data, n);
#if MPI_VERSION >= 4
    large_count(data, n);
#endif
    MPI_Type_free(&mebibyte);
    free(data);
    return check_end();
}
