/* Where answers go: standard output, or a file that appears only when it is whole. */
#ifndef ESPI_CLI_PRINTING_OUTPUT_H
#define ESPI_CLI_PRINTING_OUTPUT_H

#include <stdio.h>

#include <jansson.h>

#include "cli/command.h"

/* Writes what to path; NULL and "-" are standard output. CLI_OK, or a sentence on stderr
 * and CLI_FAILED. */
int cli_write(const char *path,
              esp_status (*write)(const void *what, FILE *out, struct esp_err *err),
              const void *what);

/* Flushes standard output: a full disk must not pass for success. */
int cli_flush_stdout(void);

/* Prints json to standard output and drops the reference; CLI_OK or CLI_FAILED. NULL
 * stands for what memory did not suffice for. */
int cli_print_json(json_t *json);

/* Adds a number; null when it is not finite, which JSON cannot say. */
void cli_json_real(json_t *object, const char *key, double value);

#endif
