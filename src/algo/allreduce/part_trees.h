/* Allreduces that cut the message into equal parts, each combined at a host of its own
 * and sent from there to all: a tree towards that host and one from it. */
#ifndef ESPI_ALGO_ALLREDUCE_PART_TREES_H
#define ESPI_ALGO_ALLREDUCE_PART_TREES_H

#include "algo/algo.h"
#include "algo/partners.h"

/* limit: such a plan has the square of the number of hosts in transfers. */
enum { ESPI_PART_TREES_HOSTS = 256 };

/* Writes the sends of a part among n hosts, n - 1 each: to the host of that number, and
 * from it, senders behind those that bring them what they send. */
typedef void (*espi_part_trees_fn)(int part, int n, struct espi_place_send *in,
                                   struct espi_place_send *out);

esp_status espi_plan_part_trees(const struct espi_task *task, int parts,
                                espi_part_trees_fn trees, struct esp_plan *plan,
                                struct esp_err *err);

/* Halving by exchanges with partners, and doubling on the way back: a part for each of a
 * power of two of hosts. Hosts that are too many give all to others before, and get all
 * behind. */
esp_status espi_plan_halving(const struct espi_task *task, espi_partner_fn partner,
                             struct esp_plan *plan, struct esp_err *err);

#endif
