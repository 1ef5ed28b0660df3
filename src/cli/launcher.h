/* Command lines that start MPI programs: mpirun.openmpi -n 4 ..., mpiexec.mpich ... */
#ifndef ESPI_CLI_LAUNCHER_H
#define ESPI_CLI_LAUNCHER_H

#include "cli/command.h"

enum { CLI_OPENMPI, CLI_MPICH, CLI_MPIS };

extern const char *const cli_mpi_names[]; /* ended by NULL */

/* Which MPI: by --mpi, or else by the name of the first word or of the file that it
 * leads to; -1: nobody knows. */
int cli_find_mpi(const struct cli_args *args);

/* Does it start ranks (and take options for them), or is it the program itself? */
int cli_is_launcher(const char *command);

#endif
