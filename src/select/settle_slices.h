/* The last word on the slices of a plan that was chosen. A contest times few sizes of
 * each plan, and some by what is known of others; the one that wins is held to its
 * neighbours by what they claim, so that none of these is better. */
#ifndef ESPI_SELECT_SETTLE_SLICES_H
#define ESPI_SELECT_SETTLE_SLICES_H

#include <espalier/algo.h>
#include <espalier/plan.h>

#include "cost/cost.h"

/* Gives the plan other slices of the list (slices.h), and with them no schedule, if they
 * are better; nothing where the request says which. Complexity: that of a claim, three
 * times or a few more, but for those that are known. claims: of the plan; those that are
 * found are added. */
esp_status espi_settle_slices(const struct esp_platform *p,
                              const struct esp_request *request, struct esp_plan *plan,
                              struct espi_played_claims *claims, struct esp_err *err);

#endif
