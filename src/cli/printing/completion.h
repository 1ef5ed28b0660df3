/* What the completions of all shells say of the values of options. */
#ifndef ESPI_CLI_PRINTING_COMPLETION_H
#define ESPI_CLI_PRINTING_COMPLETION_H

#include "cli/command.h"

/* Does the script know what may stand there: choices, the words of "a|b|c", algorithms?
 * Hosts it asks the program for. */
bool cli_knows_values(const struct cli_option *o);
/* These words, with spaces between them. */
void cli_put_values(FILE *out, const struct cli_option *o);

#endif
