/* The soft maximum of loads: prices that are its gradient, and how far to go towards
 * other loads. Loads and prices are of n resources. */
#ifndef ESPI_BASE_SOFTMAX_PRICE_H
#define ESPI_BASE_SOFTMAX_PRICE_H

/* The largest load. */
double espi_softmax_largest(const double *load, int n);

/* Prices with sum 1: the gradient of log(sum of exp(eta * load / largest)). */
void espi_softmax_prices(const double *load, int n, double eta, double *price);

/* The share of `column` with which the soft maximum of (1 - share) * load + share *
 * column is least. scratch: 2 n doubles. */
double espi_softmax_share(const double *load, const double *column, int n, double eta,
                          double *scratch);

#endif
