/* What the MPI test programs share: bytes that tell where they belong, and an end that
 * tells whether all was well. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank, check_size, check_bad;

__attribute__((unused)) static void check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition) && check_bad++ < 10)                                            \
            fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__,          \
                    check_rank, #condition);                                             \
    } while (0)

/* Byte number i of a message. */
__attribute__((unused)) static unsigned char check_byte(unsigned seed, size_t i)
{
    unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
    return (unsigned char)(x >> 53);
}

__attribute__((unused)) static void check_fill(unsigned char *at, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        at[i] = check_byte(seed, i);
}

/* The number of the first wrong byte, or -1. */
__attribute__((unused)) static long check_wrong(const unsigned char *at, size_t n,
                                                unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] != check_byte(seed, i))
            return (long)i;
    return -1;
}

__attribute__((unused)) static void *check_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p)
        abort();
    return p;
}

/* 0 on all ranks when no rank found anything, and "ok" from rank 0. */
__attribute__((unused)) static int check_end(void)
{
    int all = 0;
    MPI_Allreduce(&check_bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (check_rank == 0 && !all)
        printf("ok\n");
    return all ? 1 : 0;
}

#endif
