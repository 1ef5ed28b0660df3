/* In which order hosts send the messages of a plan with steps. */
#ifndef ESPI_COST_POST_ORDER_H
#define ESPI_COST_POST_ORDER_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "platform/platform.h"

/* Gives the messages of a plan other steps, each one of its own: the order in which they
 * start where of those that can, their data being there and all that they use free, the
 * one goes first that uses, or leads to what uses, the resource with most left to do.
 * What travels together stays together, and over the same ways; only when changes.
 *
 * Reference: list schedules of open shops, T. Gonzalez, S. Sahni, Open shop scheduling to
 * minimize finish time, 1976, for total exchanges P. Bhat, V. Prasanna, C. Raghavendra,
 * Adaptive communication algorithms for distributed heterogeneous systems, 1999; here
 * cables and links are machines, too, and messages wait for data. As played here no
 * resource that a message could use alone is left free, so that messages of one part
 * between hosts that share nothing but ports are through within twice the optimum.
 *
 * Nothing changes in the hnow model, whose processors take what comes, nor where
 * transfers share the network (capacity) and no message waits for another. ESP_ENOMEM is
 * the only failure. O(messages * those that wait for a resource). */
esp_status espi_plan_order_messages(struct esp_plan *plan, const struct esp_platform *p,
                                    double size_bytes, struct espi_arena *arena);

#endif
