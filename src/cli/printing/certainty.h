/* How sure a platform is, in words and in JSON. */
#ifndef ESPI_CLI_PRINTING_CERTAINTY_H
#define ESPI_CLI_PRINTING_CERTAINTY_H

#include <jansson.h>
#include <stddef.h>

#include <espalier/bound.h>
#include <espalier/platform.h>

/* "2.9 MB/s to 3.1 MB/s", "at least 3 MB/s", or nothing. */
const char *cli_range_text(char *out, size_t size, struct esp_rate_range range);

/* "predicts transfers within 4% (median), 11% (95 of 100)"; nothing where it was not
 * checked. */
const char *cli_check_text(char *out, size_t size, const struct esp_platform *p);
/* "9 of 54 rates are at least what is said", or nothing. */
const char *cli_unsure_text(char *out, size_t size, const struct esp_platform *p);
/* A warning that belongs to what a platform was measured from, or NULL. */
const char *cli_measurement_warning(char *out, size_t size, const struct esp_platform *p);

/* Between which two the limit lies that the bound proves, as far as the rates of what
 * limits it are known; 0: these are said to be just so. */
int cli_bound_range(const struct esp_platform *p, const struct esp_bound *b,
                    struct esp_rate_range *out);

/* low_Bps, high_Bps (or null) and confidence, where they are known. */
void cli_json_range(json_t *json, struct esp_rate_range range);
/* An object, or null. */
json_t *cli_measurement_json(const struct esp_platform *p);

#endif
