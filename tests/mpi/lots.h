/* Lots that are the same wherever the state is. */
#ifndef TESTS_MPI_LOTS_H
#define TESTS_MPI_LOTS_H

#include <stdint.h>

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static long below(uint64_t *state, long n)
{
    return (long)(draw(state) % (uint64_t)n);
}

#endif
