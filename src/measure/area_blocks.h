/* Which hosts of a site are behind the same uplink, by which transfers were held up. */
#ifndef ESPI_MEASURE_AREA_BLOCKS_H
#define ESPI_MEASURE_AREA_BLOCKS_H

#include "base/arena.h"

/* Transfers from a to b, hosts of the site by number, that ran beside enough others. */
struct espi_held_pair {
    int a, b;
    int fast, held; /* how often */
};

/* What came of it. */
struct espi_area_blocks {
    double likelihood; /* its logarithm */
    int unsure;        /* are there two areas that may as well be one? */
};

/* Makes the areas of n hosts likelier, from those of `area` (numbers below n) on; -1 when
 * out of memory. */
int espi_fit_area_blocks(int n, const struct espi_held_pair *pairs, int n_pairs,
                         int *area, struct espi_area_blocks *out,
                         struct espi_arena *arena);

#endif
