/* Recursive doubling over an order of hosts. */
#ifndef ESPI_ALGO_ALLGATHER_DOUBLING_H
#define ESPI_ALGO_ALLGATHER_DOUBLING_H

#include "algo/exchange.h"

/* In round r place i exchanges all it has with place i xor 2^r. Where n is no power of
 * two the places beyond the largest one below n hand their parts to the places at the
 * front first, and get everything from them last. */
esp_status espi_double(struct espi_exchange *x, const int *order, struct esp_err *err);

#endif
