/* A command of which we read what it prints. */
#ifndef ESPI_CLI_LAUNCHING_LINES_H
#define ESPI_CLI_LAUNCHING_LINES_H

#include <stdio.h>
#include <sys/types.h>

#include "cli/command.h"

/* Starts the command, ended by NULL, without standard input; *lines is what it prints.
 * CLI_OK, or a sentence on standard error and what to exit with, where *lines may be
 * open all the same. */
int cli_start_lines(const char *const *words, pid_t *pid, FILE **lines);

/* The launcher's words, with those of the program, ended by NULL, in the place of '{}',
 * or behind them; ended by NULL. Room for all, and one more. */
void cli_put_program(const struct cli_args *args, const char *const *program,
                     const char **words);

/* A line that is not for us, on standard error. */
void cli_pass_line_on(char *line);

#endif
