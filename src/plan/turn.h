/* Plans turned round: what flows from a root on one platform flows to it on the other. */
#ifndef ESPI_PLAN_TURN_H
#define ESPI_PLAN_TURN_H

#include <espalier/plan.h>

/* The plan with all edges turned round and in the opposite order, as one for `op` on `p`,
 * which is the platform of the plan reversed. Of an allreduce only the edges towards the
 * root are taken, and no schedule; otherwise that is turned round with them. Figures are
 * not. */
esp_status espi_plan_turn(const struct esp_plan *plan, esp_op op,
                          const struct esp_platform *p, struct esp_plan **out,
                          struct esp_err *err);

/* Adds a tree of another plan, with a weight of its own. */
esp_status espi_plan_copy_tree(struct esp_plan *plan, const struct esp_platform *p,
                               const struct esp_plan *from, int tree, double weight,
                               struct esp_err *err);

/* Adds to an allreduce the trees of two plans: those of a reduce, then those of a
 * broadcast, each part of the message with one of each. */
esp_status espi_plan_add_both(struct esp_plan *plan, const struct esp_platform *p,
                              const struct esp_plan *reduce, const struct esp_plan *bcast,
                              struct esp_err *err);

#endif
