/* Runs the probe under the launcher that a command line names. */
#ifndef ESPI_CLI_LAUNCHING_PROBE_H
#define ESPI_CLI_LAUNCHING_PROBE_H

#include "cli/command.h"
#include "measure/samples.h"

/* Measures, or holds the platform in the file `check` to the network (NULL: does not),
 * for about so long. CLI_OK, or a sentence on standard error and what to exit with. */
int cli_run_probe(const struct cli_args *args, const char *budget, const char *check,
                  struct espi_samples *samples);

#endif
