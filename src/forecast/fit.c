#include <math.h>

#include "base/portable_math.h"
#include "forecast/forecast.h"

/* The line through the values (or their logarithms), at index n. */
static double line_at_end(const double *values, int n, int logarithms)
{
    double middle = 0.5 * (n - 1), mean = 0, up = 0, wide = 0;
    for (int i = 0; i < n; i++)
        mean += (logarithms ? espi_log(values[i]) : values[i]) / n;
    for (int i = 0; i < n; i++) {
        double y = logarithms ? espi_log(values[i]) : values[i];
        up += (i - middle) * (y - mean);
        wide += (i - middle) * (i - middle);
    }
    double next = wide > 0 ? mean + up / wide * (n - middle) : mean;
    return logarithms ? espi_exp(next) : next;
}

double espi_fit_next(const double *values, int n)
{
    return line_at_end(values, n, 0);
}

double espi_fit_next_positive(const double *values, int n)
{
    int positive = 1;
    for (int i = 0; i < n; i++)
        positive = positive && values[i] > 0;
    return fmax(line_at_end(values, n, positive), 0);
}
