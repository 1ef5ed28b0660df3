/* Recursive halving: a vector combined so that each of a power of two of ranks has a
 * piece of it, and the way back. What is left of the ranks stands aside. */
#ifndef ESPI_NATIVE_HALVING_H
#define ESPI_NATIVE_HALVING_H

#include "native/native.h"

enum { ESPI_HALVINGS_MAX = 31 }; /* limit: of ranks that an int counts */

struct espi_window {
    int64_t first, bytes;
};

/* How a library goes about it. */
struct espi_halving_way {
    int is_odd;    /* of two ranks of which one stands aside, the odd one stays */
    int by_blocks; /* halves blocks, one for each of the power of two, of which the first
                    * are larger by a byte; else bytes, the left half being the shorter */
    int folds_halves; /* who stands aside combines one half before, and its partner the
                       * other; else the partner has it all to combine */
};

struct espi_halving {
    const struct espi_native_task *t;
    struct espi_halving_way way;
    int power, aside; /* a power of two of ranks, and how many are too many */
    int steps;        /* log2 of power */
    int number;       /* the rank among those that stay; -1: it stands aside */
    struct espi_window keep[ESPI_HALVINGS_MAX], give[ESPI_HALVINGS_MAX]; /* by step */
};

void espi_halving_init(struct espi_halving *h, const struct espi_native_task *t,
                       const struct espi_halving_way *way, int rank);

/* The same for a rank that takes over the part of the first one. */
void espi_halving_become_first(struct espi_halving *h);

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

/* Ranks that stand aside give all that they have to their partners. */
void espi_fold_whole(struct espi_script *s, const struct espi_halving *h, int rank);

/* The calls of all ranks by which each has its piece, and after them those of an end. */
typedef void (*espi_halving_end_fn)(struct espi_script *s, struct espi_halving *h,
                                    int rank);
void espi_halve_and_end(struct espi_script *s, const struct espi_native_task *t,
                        struct espi_halving_way way, espi_halving_end_fn end);

#endif
