/* How well a measured platform predicts transfers that it was not made from. */
#ifndef ESPI_MEASURE_SELF_CHECK_H
#define ESPI_MEASURE_SELF_CHECK_H

#include "measure/measured.h"

/* Holds what the platform says of the transfers of check samples to what was seen; where
 * there are none, there are no rounds. *surprises (or NULL): transfers that came out
 * otherwise again and again, for which the platform must be wrong. -1 when out of memory.
 */
int espi_self_check(const struct esp_platform *p, const struct espi_samples *samples,
                    struct esp_measurement *out, int *surprises,
                    struct espi_arena *arena);

/* Does the platform predict worse than transfers deviate by themselves? */
int espi_measurement_is_bad(const struct esp_measurement *m);
/* Did so many rounds come out otherwise when run again that the network, or its hosts,
 * must have been under load? */
int espi_measurement_is_disturbed(const struct esp_measurement *m);

#endif
