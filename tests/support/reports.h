/* What the ranks of a broadcast would say of it to the advisor: the plan is run in the
 * simulator, on the network as it really is. */
#ifndef TESTS_SUPPORT_REPORTS_H
#define TESTS_SUPPORT_REPORTS_H

#include <espalier/plan.h>
#include <espalier/platform.h>

#include "advisor/advisor.h"

/* Fills out, which has room for all hosts, the root first; gives how many there are. The
 * broadcast begins at began_s and is call number `call`. */
int reports_of(const struct esp_platform *p, const struct esp_plan *plan,
               const struct esp_platform *reality, double bytes, uint64_t call,
               double began_s, struct espi_report *out);

#endif
