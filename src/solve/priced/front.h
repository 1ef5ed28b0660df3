/* Price against time: the fastest plan, the cheapest, and the cheapest within deadlines
 * between. */
#ifndef ESPI_SOLVE_PRICED_FRONT_H
#define ESPI_SOLVE_PRICED_FRONT_H

#include "solve/priced/multicast.h"

struct espi_priced_point {
    double deadline_s;     /* INFINITY: none */
    struct espi_priced is; /* the cheapest within it; bound: of the price */
};

/* n >= 2 points, from the fastest plan to the cheapest, with deadlines between that grow
 * by equal factors. Neither price nor bound rises from one to the next: a plan within a
 * deadline is one within any later, and what no plan within a deadline costs less than,
 * none within an earlier one does. For tasks
 * without deadline and budget; progress (may be NULL) is called between. */
esp_status espi_priced_front(const struct espi_priced_task *task, int n,
                             struct espi_arena *arena, struct espi_priced_point *out,
                             void (*progress)(long long done), struct esp_err *err);

#endif
