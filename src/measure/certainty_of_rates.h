/* How sure the rates of a measured platform are: a range for each that rounds of
 * transfers tell of. */
#ifndef ESPI_MEASURE_CERTAINTY_OF_RATES_H
#define ESPI_MEASURE_CERTAINTY_OF_RATES_H

#include "measure/measured.h"
#include "platform/certainty.h"

/* By the rate samples of hosts that are nodes. */
esp_status espi_certainty_of_rates(const struct esp_platform *p,
                                   const struct espi_samples *samples,
                                   struct espi_certainty *out, struct espi_arena *arena,
                                   struct esp_err *err);

/* Where the middle of what these are values of lies. n > 0. */
struct esp_rate_range espi_range_of_values(const double *sorted, int n);

#endif
