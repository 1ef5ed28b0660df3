#include "base/portable_math.h"

#include <math.h>
#include <stdint.h>

/* ln 2 in two parts: the first has so many zeroes at its end that its product with an
 * exponent is exact. */
/* derived: mathematics. */
static const double LN2_HIGH = 0x1.62e42fee00000p-1, LN2_LOW = 0x1.a39ef35793c76p-33;
static const double LN2_INVERSE = 0x1.71547652b82fep+0;  /* derived: mathematics */
static const double LN10_INVERSE = 0x1.bcb7b1526e50ep-2; /* derived: mathematics */
static const double TURN = 0x1.921fb54442d18p+2;         /* derived: 2 pi */

/* Of exp, 1 / 13! to 1 / 0!: the rest is below 1e-17 for |x| <= ln 2 / 2. Of log: 1 / 23,
 * 1 / 21 to 1 / 3. */
static const double FACTORIALS[] = {1.0 / 6227020800,
                                    1.0 / 479001600,
                                    1.0 / 39916800,
                                    1.0 / 3628800,
                                    1.0 / 362880,
                                    1.0 / 40320,
                                    1.0 / 5040,
                                    1.0 / 720,
                                    1.0 / 120,
                                    1.0 / 24,
                                    1.0 / 6,
                                    1.0 / 2,
                                    1,
                                    1};
static const double ODD[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                             1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
enum {
    N_FACTORIALS = sizeof FACTORIALS / sizeof *FACTORIALS,
    N_ODD = sizeof ODD / sizeof *ODD
};

/* For |x| <= ln 2 / 2. */
static double exp_near_zero(double x)
{
    double sum = 0;
    for (int i = 0; i < N_FACTORIALS; i++)
        sum = sum * x + FACTORIALS[i];
    return sum;
}

/* x * 2^k, of x near 1: a product where ldexp() has nothing to round. */
static double scale(double x, int k)
{
    union {
        uint64_t bits;
        double value;
    } power = {.bits = (uint64_t)(1023 + k) << 52};
    return k > -1000 && k < 1000 ? x * power.value : ldexp(x, k);
}

/* floor() of what an int holds, without a call. */
static double round_down(double x)
{
    double whole = (double)(int)x;
    return whole > x ? whole - 1 : whole;
}

double espi_exp(double x)
{
    if (!(x < 710)) /* or not a number */
        return x != x ? x : INFINITY;
    if (x < -746)
        return 0;
    double k = round_down(x * LN2_INVERSE + 0.5);
    return scale(exp_near_zero((x - k * LN2_HIGH) - k * LN2_LOW), (int)k);
}

double espi_exp2(double x)
{
    if (!(x < 1024))
        return x != x ? x : INFINITY;
    if (x < -1080)
        return 0;
    double k = round_down(x + 0.5);
    return scale(exp_near_zero((x - k) * (LN2_HIGH + LN2_LOW)), (int)k);
}

double espi_log(double x)
{
    if (!(x > 0) || x == INFINITY)
        return x == 0 ? -INFINITY : x > 0 || x != x ? x : NAN;
    int k;
    double m = frexp(x, &k);
    if (m < 0x1.6a09e667f3bcdp-1) { /* sqrt(1/2) */
        m *= 2;
        k--;
    }
    double s = (m - 1) / (m + 1), z = s * s,
           sum = 0; /* log m = 2 artanh s, |s| < 0.172 */
    for (int i = 0; i < N_ODD; i++)
        sum = (sum + ODD[i]) * z;
    return k * LN2_HIGH + (2 * s + (2 * s * sum + k * LN2_LOW));
}

double espi_log1p(double x)
{
    double u = 1 + x;
    /* what rounding did to u is undone by the quotient (Kahan) */
    return u == 1 || u == INFINITY ? x : espi_log(u) * (x / (u - 1));
}

double espi_power(double x, int n)
{
    double result = 1;
    for (unsigned k = n < 0 ? 0u - (unsigned)n : (unsigned)n; k; k >>= 1) {
        if (k & 1)
            result *= x;
        x *= x;
    }
    return n < 0 ? 1 / result : result;
}

int espi_decade(double x)
{
    int e = (int)floor(espi_log10(x));
    if (espi_power(10, e + 1) <= x)
        e++;
    return espi_power(10, e) > x ? e - 1 : e;
}

double espi_log10(double x)
{
    return espi_log(x) * LN10_INVERSE;
}

double espi_hypot(double x, double y)
{
    return sqrt(x * x + y * y);
}

/* By Taylor's series, for |x| <= pi / 4. */
static void sin_cos_near_zero(double x, double *sine, double *cosine)
{
    double s = 1, c = 1;
    for (int i = 18; i > 0; i -= 2) {
        s = 1 - s * x * x / (i * (i + 1));
        c = 1 - c * x * x / (i * (i - 1));
    }
    *sine = s * x;
    *cosine = c;
}

void espi_sin_cos(double angle, double *sine, double *cosine)
{
    double quarters = floor(angle * 4 / TURN + 0.5), s, c;
    sin_cos_near_zero(angle - quarters * (TURN / 4), &s, &c);
    int quarter = (int)(quarters - 4 * floor(quarters / 4));
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}
