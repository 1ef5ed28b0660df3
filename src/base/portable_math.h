/* Exponentials, logarithms, powers and angles that give the same bits on every machine.
 *
 * The C library's are not rounded alike everywhere: its exp on ARM uses fused
 * multiply-add and so does the one that x86-64 picks on newer processors. Whatever
 * decides a plan, or is printed, must not depend on that. These use the basic operations
 * of IEEE 754 only, without contraction, and are good to some units in the last place.
 * Exact everywhere, and so used as they are: sqrt, fabs, floor, ceil, round, fmod, ldexp,
 * frexp. */
#ifndef ESPI_BASE_PORTABLE_MATH_H
#define ESPI_BASE_PORTABLE_MATH_H

double espi_exp(double x);
double espi_exp2(double x);
double espi_log(double x);
double espi_log1p(double x);

/* x to an integer power, by repeated squaring. */
double espi_power(double x, int n);

/* The largest power of ten that is at most x, as its exponent; x > 0 and finite. */
int espi_decade(double x);
double espi_log10(double x);

/* Length of the hypotenuse; no care is taken of overflow. */
double espi_hypot(double x, double y);

/* For angles of some thousand turns at most. */
void espi_sin_cos(double angle, double *sine, double *cosine);

/* The larger of two numbers, neither of which is NaN: fmax() without a call. */
static inline double espi_max(double a, double b)
{
    return a > b ? a : b;
}

#endif
