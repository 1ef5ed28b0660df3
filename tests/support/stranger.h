/* Small networks and plans by the public library alone. */
#ifndef TESTS_SUPPORT_STRANGER_H
#define TESTS_SUPPORT_STRANGER_H

#include <espalier/espalier.h>

/* Two sites of three hosts. */
struct esp_platform *stranger_sites(void);

/* Three fast workstations and three slow ones, which share no cables. */
struct esp_platform *stranger_workstations(void);

/* For 600 kB from node 0, in slices of 50 kB but for algorithms that choose them (auto).
 */
struct esp_plan *stranger_plan(const struct esp_platform *p, esp_op op, const char *algo);

#endif
