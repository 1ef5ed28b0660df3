/* Writing: JSON strings, and whole files that appear complete or not at all. */
#ifndef ESPI_BASE_JSON_TEXT_H
#define ESPI_BASE_JSON_TEXT_H

#include <stdio.h>

#include <espalier/status.h>

/* A string in quotes, escaped; text is UTF-8. */
void espi_json_put_string(FILE *out, const char *text);

/* Calls write() on a temporary file beside path and renames it: a failure leaves what was
 * there before. "-" is standard output. */
esp_status espi_write_file(const char *path,
                           esp_status (*write)(const void *what, FILE *out,
                                               struct esp_err *err),
                           const void *what, struct esp_err *err);

#endif
