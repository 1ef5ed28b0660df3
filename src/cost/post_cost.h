/* The cost of plans with steps. */
#ifndef ESPI_COST_POST_COST_H
#define ESPI_COST_POST_COST_H

#include "cost/cost.h"

/* Finish: each message starts as soon as its sender has the data, its turn has come and
 * its resources are free; a resource that is waited for goes to who has stood there
 * longest, and at one time data arrive before resources are given. In the hnow model
 * processors send what they can, and else receive what came first; in the capacity model
 * messages start in their order as soon as their data are there, and share what they meet
 * on (post_fluid.h). That is what the simulator finds (tests/unit/test_allgather.c,
 * test_finishes.c).
 * Throughput: of such operations back to back, by the load of the busiest resource.
 * O(posts * log hosts), and the length of a queue of messages for each in hnow. */
esp_status espi_post_cost(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, struct espi_arena *arena,
                          struct espi_cost *out, struct esp_err *err);

#endif
