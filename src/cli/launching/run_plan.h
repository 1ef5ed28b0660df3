/* Plans that `espalier run` makes before it starts the program: those of algorithms that
 * solve linear programs, which the library inside the program does not, and of `auto`,
 * which takes its time; the same as `espalier plan` makes for messages of that size. */
#ifndef ESPI_CLI_LAUNCHING_RUN_PLAN_H
#define ESPI_CLI_LAUNCHING_RUN_PLAN_H

#include <limits.h>

#include "cli/command.h"

struct cli_run_plan {
    char path[PATH_MAX]; /* the file that it is in, to be removed at the end; "": none */
};

/* Whether the command line has what the plan needs. CLI_OK, or a sentence on stderr and
 * the exit code. */
int cli_run_plan_check(const struct cli_args *args);

/* Where --algo names such an algorithm, or nobody names any, makes a plan of it for
 * --platform and sets
 * ESPALIER_PLAN and ESPALIER_ALGO for it. It travels in the environment where it is short
 * enough, else in a file, in a folder that all hosts see if there is one. After a check
 * that found nothing. CLI_OK, or a sentence on stderr and the exit code. */
int cli_run_plan(const struct cli_args *args, struct cli_run_plan *out);

#endif
