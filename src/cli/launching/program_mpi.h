/* Which MPI was a program linked with? */
#ifndef ESPI_CLI_LAUNCHING_PROGRAM_MPI_H
#define ESPI_CLI_LAUNCHING_PROGRAM_MPI_H

#include <limits.h>

/* By the libraries that the file, or the command as the shell finds it, says it needs:
 * CLI_OPENMPI or CLI_MPICH; -1: it needs neither, both, or is no program. */
int cli_program_mpi(const char *command);

/* The file that a command names, as the shell would find it, behind all links; 0, or
 * -1. */
int cli_program_file(const char *command, char out[PATH_MAX]);

#endif
