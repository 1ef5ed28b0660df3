/* The k-th smallest of some numbers. */
#ifndef ESPI_BASE_SELECT_H
#define ESPI_BASE_SELECT_H

/* The number that stands at place k (0..n-1) when they are sorted; changes their order.
 * O(n) as a rule, O(n log n) at worst. No NaNs. */
double espi_select(double *values, int n, int k);

#endif
