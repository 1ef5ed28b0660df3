/* Random networks with prices and questions about them, and all plans that there are. */
#ifndef SUPPORT_PRICED_CASES_H
#define SUPPORT_PRICED_CASES_H

#include "base/rng.h"
#include "solve/priced/multicast.h"

enum { NODES_MAX = 5 }; /* of networks of which all plans are tried */

/* n up to 16 hosts n0, n1, ... of up to max_count machines, with prices of links and
 * machines; some have a port at n0, some a cable. */
struct esp_platform *priced_draw_network(struct espi_rng *rng, int n, int max_count);

/* From n0 to some of the others, in one or two partitions, by price. */
struct espi_priced_task priced_draw_task(struct espi_rng *rng,
                                         const struct esp_platform *p, int *targets);

/* The objective of the best plan there is; infinite: there is none. */
double priced_try_all_plans(const struct espi_priced_task *task);

#endif
