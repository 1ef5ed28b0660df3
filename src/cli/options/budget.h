/* The time that a command was given (--budget), and how it is shared out among what the
 * command does. */
#ifndef ESPI_CLI_OPTIONS_BUDGET_H
#define ESPI_CLI_OPTIONS_BUDGET_H

#include <stddef.h>

#include "cli/command.h"

struct cli_budget {
    double start_s, total_s; /* 0: as much as it takes */
};

/* The time counts from the start of the program: what was read so far is in it. Starts a
 * progress bar, too: of the time where there is a limit. */
void cli_budget_begin(struct cli_budget *b, const struct cli_args *args, double total_s,
                      const char *label);
void cli_budget_end(const struct cli_budget *b);

/* How long a step may take that gets this part of what is left: no longer than most_s,
 * and always a little. Without a budget most_s. */
double cli_budget_step_s(const struct cli_budget *b, double part, double most_s);

/* How long one of so many jobs may take that are left to be done side by side; 0: without
 * a budget, as long as it takes. */
double cli_budget_share_s(const struct cli_budget *b, size_t jobs_left);

/* Is nothing left of it? */
int cli_budget_is_over(const struct cli_budget *b);

#endif
