/* Prices that rise with the load: what spreads transfers around each other. */
#ifndef ESPI_ALGO_CONGESTION_H
#define ESPI_ALGO_CONGESTION_H

#include "platform/view.h"

struct espi_congestion {
    const struct espi_view *v;
    double *load_s, *price; /* of resources */
    double *weight;         /* of arcs: their time at the prices of what they use */
};

/* Nothing is loaded yet; -1 when out of memory. */
int espi_congestion_init(struct espi_congestion *c, const struct espi_view *v,
                         struct espi_arena *arena);

/* The load of the most loaded resource. */
double espi_congestion_most_s(const struct espi_congestion *c);

/* Sets prices and weights by the loads. Only sums and products, so that all machines find
 * the same. */
void espi_congestion_price(struct espi_congestion *c);

#endif
