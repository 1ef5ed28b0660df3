/* The names of a platform's hosts. */
#ifndef ESPI_CLI_PRINTING_HOST_NAMES_H
#define ESPI_CLI_PRINTING_HOST_NAMES_H

#include <espalier/platform.h>

#include "cli/command.h"

/* All of them, a name a line, as @FILE takes them; with --json their sites, too. */
int cli_print_hosts(const struct cli_args *args, const struct esp_platform *p);

/* "w0, w1, w2, ... l9": all where there are few. Returns out. */
const char *cli_host_names(char *out, size_t size, const struct esp_platform *p);

#endif
