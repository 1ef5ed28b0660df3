/* Filling struct esp_err. */
#ifndef ESPI_BASE_ERR_H
#define ESPI_BASE_ERR_H

#include <espalier/status.h>

/* Fills err (if any) and returns status, so that `return espi_err(...)` reads well. */
esp_status espi_err(struct esp_err *err, esp_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the text already in err. */
esp_status espi_err_prefix(struct esp_err *err, esp_status status, const char *prefix);

esp_status espi_err_nomem(struct esp_err *err);

/* Copies text from outside into out so that it may stand in a message or on a terminal:
 * control bytes become '?', long text ends in "...". Returns out. */
const char *espi_quote(char *out, unsigned long out_size, const char *text);

#endif
