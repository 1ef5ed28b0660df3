#include "base/rng.h"

#include <math.h>

#include "base/portable_math.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void espi_rng_seed(struct espi_rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&seed);
    r->has_spare = 0;
    r->spare = 0;
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t espi_rng_next(struct espi_rng *r)
{
    uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

uint32_t espi_rng_below(struct espi_rng *r, uint32_t n)
{
    uint64_t x = (espi_rng_next(r) >> 32) * n;
    if ((uint32_t)x < n) {
        uint32_t reject = -n % n;
        while ((uint32_t)x < reject)
            x = (espi_rng_next(r) >> 32) * n;
    }
    return (uint32_t)(x >> 32);
}

double espi_rng_uniform(struct espi_rng *r)
{
    return (double)(espi_rng_next(r) >> 11) * 0x1.0p-53;
}

double espi_rng_range(struct espi_rng *r, double lo, double hi)
{
    return lo + (hi - lo) * espi_rng_uniform(r);
}

double espi_rng_log_range(struct espi_rng *r, double lo, double hi)
{
    return espi_exp(espi_rng_range(r, espi_log(lo), espi_log(hi)));
}

double espi_rng_gaussian(struct espi_rng *r, double mean, double deviation)
{
    if (r->has_spare) {
        r->has_spare = 0;
        return mean + deviation * r->spare;
    }
    double u, v, q;
    do {
        u = 2 * espi_rng_uniform(r) - 1;
        v = 2 * espi_rng_uniform(r) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    double f = sqrt(-2 * espi_log(q) / q);
    r->spare = v * f;
    r->has_spare = 1;
    return mean + deviation * u * f;
}

void espi_rng_shuffle(struct espi_rng *r, int *values, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)espi_rng_below(r, (uint32_t)i + 1);
        int t = values[i];
        values[i] = values[j];
        values[j] = t;
    }
}
