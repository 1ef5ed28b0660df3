/* A command of which we read what it prints. */
#ifndef ESPI_CLI_LAUNCHING_LINES_H
#define ESPI_CLI_LAUNCHING_LINES_H

#include <stdio.h>
#include <sys/types.h>

/* Starts the command, ended by NULL, without standard input; *lines is what it prints.
 * CLI_OK, or a sentence on standard error and what to exit with, where *lines may be
 * open all the same. */
int cli_start_lines(const char *const *words, pid_t *pid, FILE **lines);

#endif
