/* Seeded random numbers (xoshiro256**): the same seed gives the same stream on every
 * machine, which libc's generators do not promise. */
#ifndef ESPI_BASE_RNG_H
#define ESPI_BASE_RNG_H

#include <stdint.h>

struct espi_rng {
    uint64_t s[4];
    double spare;
    int has_spare;
};

void espi_rng_seed(struct espi_rng *r, uint64_t seed);
uint64_t espi_rng_next(struct espi_rng *r);

/* Uniform in [0, n), without modulo bias; n > 0. */
uint32_t espi_rng_below(struct espi_rng *r, uint32_t n);

/* Uniform in [0, 1) with 53 random bits. */
double espi_rng_uniform(struct espi_rng *r);

/* Uniform in [lo, hi), and uniform in the logarithm. */
double espi_rng_range(struct espi_rng *r, double lo, double hi);
double espi_rng_log_range(struct espi_rng *r, double lo, double hi);

double espi_rng_gaussian(struct espi_rng *r, double mean, double deviation);

/* Shuffles values[0..n). */
void espi_rng_shuffle(struct espi_rng *r, int *values, int n);

#endif
