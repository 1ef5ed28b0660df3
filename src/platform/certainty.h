/* How sure the rates of a platform are, where that is known: ranges of links and cables,
 * and how the measurement that it comes from went. */
#ifndef ESPI_PLATFORM_CERTAINTY_H
#define ESPI_PLATFORM_CERTAINTY_H

#include <espalier/platform.h>

struct espi_ranges {
    struct esp_rate_range *at; /* of the first n; of the others nothing is said */
    size_t n, room;
};

struct espi_certainty {
    struct espi_ranges links, cables;
    struct esp_measurement measured; /* no rounds: it was not measured */
};

void espi_certainty_done(struct espi_certainty *c);

/* Range number i of a rate; ESP_EINPUT where it is none. */
esp_status espi_ranges_set(struct espi_ranges *r, int i, double Bps,
                           const struct esp_rate_range *range, struct esp_err *err);
/* Without one: just the rate, confidence ESP_UNSET. */
struct esp_rate_range espi_ranges_get(const struct espi_ranges *r, int i, double Bps);
void espi_ranges_scale(struct espi_ranges *r, int i, double factor);

esp_status espi_measurement_check(const struct esp_measurement *m, struct esp_err *err);

int espi_ranges_equal(const struct espi_ranges *a, const struct espi_ranges *b, int n);
int espi_measurement_equal(const struct esp_measurement *a,
                           const struct esp_measurement *b);

#endif
