/* The cost of plans with steps. */
#ifndef ESPI_COST_POST_COST_H
#define ESPI_COST_POST_COST_H

#include "cost/cost.h"

/* Finish: messages start in the order in which they can, each as soon as its sender has
 * the data and its resources are free; of a host's messages the next one only when all
 * before it have started. In the hnow model processors send what they can, and else
 * receive what came first. Where resources are asked for in an order that the network
 * would not keep (several hosts want one receiver) the figure is an estimate, else exact.
 * Throughput: of such operations back to back, by the load of the busiest resource.
 * O(posts * log hosts), and the length of a queue of messages for each in hnow. */
esp_status espi_post_cost(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, struct espi_arena *arena,
                          struct espi_cost *out, struct esp_err *err);

#endif
