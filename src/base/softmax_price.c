#include "base/softmax_price.h"

#include <math.h>

#include "base/portable_math.h"
#include "base/tuning.h"

double espi_softmax_largest(const double *load, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = load[i] > most ? load[i] : most;
    return most;
}

void espi_softmax_prices(const double *load, int n, double eta, double *price)
{
    double sum = 0, most = espi_softmax_largest(load, n);
    for (int r = 0; r < n; r++) {
        double z = eta * (load[r] / most - 1);
        price[r] = z < -40 ? 4e-18 : espi_exp(z); /* derived: exp(-40) */
        sum += price[r];
    }
    for (int r = 0; r < n; r++)
        price[r] /= sum;
}

struct line {
    int n;
    double *load, *delta; /* of the resources that can come near the maximum */
    double most;
};

/* Slope of the soft maximum at a share of the column; loads are relative to `most`. */
static double slope(const struct line *l, double eta, double share)
{
    double top = 0, sum = 0, rise = 0;
    for (int i = 0; i < l->n; i++)
        top = fmax(top, l->load[i] + share * l->delta[i]);
    for (int i = 0; i < l->n; i++) {
        double z = eta * (l->load[i] + share * l->delta[i] - top) / l->most;
        if (z > -40) {
            double e = espi_exp(z);
            sum += e;
            rise += e * l->delta[i];
        }
    }
    return rise / sum;
}

double espi_softmax_share(const double *load, const double *column, int n, double eta,
                          double *scratch)
{
    struct line l = {.load = scratch, .delta = scratch + n};
    l.most = espi_softmax_largest(load, n);
    double floor_s = l.most * (1 - 30 / eta);
    for (int r = 0; r < n; r++)
        if (load[r] > floor_s || column[r] > floor_s) {
            l.load[l.n] = load[r];
            l.delta[l.n++] = column[r] - load[r];
        }
    double lo = 0, hi = 1;
    if (slope(&l, eta, 1) <= 0)
        return 1;
    /* The optimal share is small and its size unknown: bisect on the exponent. */
    for (int i = 0; i < ESPI_SOFTMAX_STEPS; i++) {
        double mid = lo > 0 ? sqrt(lo * hi) : hi / 16;
        if (slope(&l, eta, mid) > 0)
            hi = mid;
        else
            lo = mid;
        if (hi < 1e-9)
            break;
    }
    return lo > 0 ? sqrt(lo * hi) : hi;
}
