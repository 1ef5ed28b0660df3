/* Recursive halving: a vector combined so that each of a power of two of ranks has a
 * piece of it, and the way back. What is left of the ranks stands aside. */
#ifndef ESPI_NATIVE_HALVING_H
#define ESPI_NATIVE_HALVING_H

#include "native/native.h"

enum { ESPI_HALVINGS_MAX = 31 }; /* limit: of ranks that an int counts */

struct espi_window {
    int64_t first, bytes;
};

struct espi_halving {
    const struct espi_native_task *t;
    int power, aside; /* a power of two of ranks, and how many are too many */
    int is_odd;       /* of two ranks of which one stands aside, the odd one stays */
    int steps;        /* log2 of power */
    int number;       /* the rank among those that stay; -1: it stands aside */
    struct espi_window keep[ESPI_HALVINGS_MAX], give[ESPI_HALVINGS_MAX]; /* by step */
};

/* by_blocks: MPICH halves blocks, one for each of power, of which the first are larger by
 * a byte; else halves are of bytes, the left one being the shorter. */
void espi_halving_init(struct espi_halving *h, const struct espi_native_task *t,
                       int is_odd, int by_blocks, int rank);

/* The same for a rank that takes over the part of the first one. */
void espi_halving_become_first(struct espi_halving *h, int by_blocks);

/* The rank that is of that number. */
int espi_halving_rank(const struct espi_halving *h, int number);

/* Is it one of two of which one stands aside? */
static inline int espi_halving_is_paired(const struct espi_halving *h, int rank)
{
    return rank < 2 * h->aside;
}

/* The largest power of two that is not larger. */
static inline int espi_power_below(int n)
{
    int power = 1;
    while (2 * power <= n)
        power *= 2;
    return power;
}

/* Ranks that stand aside give what they have to their partners: all of it, or first half
 * against half, each half combined by one of the two. */
void espi_fold_whole(struct espi_script *s, const struct espi_halving *h, int rank);
void espi_fold_halves(struct espi_script *s, const struct espi_halving *h, int rank);

/* The calls by which each has its piece. */
void espi_halve(struct espi_script *s, const struct espi_halving *h);

#endif
