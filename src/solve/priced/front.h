/* Price against time: the fastest plan, the cheapest, and the cheapest within deadlines
 * between. */
#ifndef ESPI_SOLVE_PRICED_FRONT_H
#define ESPI_SOLVE_PRICED_FRONT_H

#include "solve/priced/multicast.h"

struct espi_priced_point {
    double deadline_s;     /* INFINITY: none */
    struct espi_priced is; /* the cheapest within it; bound: of the price */
};

/* Of all that are fastest within deadline and budget, the cheapest that is found; bound
 * is that of the time. Weights of the task are not looked at, here and below. */
esp_status espi_priced_fastest(const struct espi_priced_task *task,
                               struct espi_arena *arena, struct espi_priced *out,
                               struct esp_err *err);

/* n >= 2 points, from the fastest plan to the cheapest, with deadlines between that grow
 * by equal factors. Neither price nor bound rises from one to the next: a plan within a
 * deadline is one within any later, and what no plan within a deadline costs less than,
 * none within an earlier one does. For tasks
 * without deadline and budget; progress (may be NULL) is called between. */
esp_status espi_priced_front(const struct espi_priced_task *task, int n,
                             struct espi_arena *arena, struct espi_priced_point *out,
                             void (*progress)(long long done), struct esp_err *err);

#endif
