#include "base/select.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Splits values[lo..hi] by the middle one: up to *left none is larger, from *right on
 * none is smaller, and what is between equals it. */
static void split(double *values, int lo, int hi, int *left, int *right)
{
    double pivot = values[lo + (hi - lo) / 2];
    int i = lo, j = hi;
    while (i <= j) {
        while (values[i] < pivot)
            i++;
        while (values[j] > pivot)
            j--;
        if (i <= j) {
            double t = values[i];
            values[i++] = values[j];
            values[j--] = t;
        }
    }
    *left = j;
    *right = i;
}

double espi_select(double *values, int n, int k)
{
    enum { ROUNDS_MAX = 64 }; /* more happen only when someone means us harm */
    int lo = 0, hi = n - 1, left, right;
    for (int round = 0; lo < hi && round < ROUNDS_MAX; round++) {
        split(values, lo, hi, &left, &right);
        if (k <= left)
            hi = left;
        else if (k >= right)
            lo = right;
        else
            return values[k];
    }
    if (lo < hi)
        qsort(values + lo, (size_t)(hi - lo) + 1, sizeof *values, ascending);
    return values[k];
}
