/* The command line that `espalier run` starts: the user's, and what its ranks need. */
#ifndef ESPI_CLI_LAUNCHING_RUN_LINE_H
#define ESPI_CLI_LAUNCHING_RUN_LINE_H

#include "base/arena.h"
#include "cli/command.h"

/* Which MPI the command line is for: by --mpi, else by the name of its launcher. CLI_OK,
 * or a sentence on stderr and the exit code. */
int cli_find_mpi(const struct cli_args *args, int *mpi);

/* The command line with the settings and the shim for all ranks; where no launcher is
 * known they are put into the environment, and a sentence says so. As long as the arena
 * lives; NULL: a sentence was said. */
const char **cli_run_line(const struct cli_args *args, int mpi, const char *shim,
                          struct espi_arena *arena);

#endif
