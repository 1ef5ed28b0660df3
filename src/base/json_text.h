/* Writing: JSON strings, and whole files that appear complete or not at all. */
#ifndef ESPI_BASE_JSON_TEXT_H
#define ESPI_BASE_JSON_TEXT_H

#include <stdio.h>

#include <espalier/status.h>

/* A string in quotes; text is UTF-8. Escaped is what must be, and what a terminal must
 * not get (base/text.h): a reader finds the same text. */
void espi_json_put_string(FILE *out, const char *text);

/* The same; these characters of ASCII are escaped, too. */
void espi_json_put_string_but(FILE *out, const char *text, const char *also);

/* Calls write() on a temporary file beside path and renames it: a failure leaves what was
 * there before. "-" is standard output. */
esp_status espi_write_file(const char *path,
                           esp_status (*write)(const void *what, FILE *out,
                                               struct esp_err *err),
                           const void *what, struct esp_err *err);

#endif
