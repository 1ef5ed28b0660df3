/* Plans that `espalier run` makes before it starts the program: those of algorithms that
 * solve linear programs, which the library inside the program does not. */
#ifndef ESPI_CLI_RUN_PLAN_H
#define ESPI_CLI_RUN_PLAN_H

#include "cli/command.h"

enum { CLI_RUN_PLAN_MAX = 512 };

/* Where --algo names such an algorithm, writes a plan of it for --platform to a new file;
 * path: its name, "" when none is needed. CLI_OK, or a sentence on stderr and the exit
 * code. */
int cli_run_plan(const struct cli_args *args, char path[CLI_RUN_PLAN_MAX]);

#endif
