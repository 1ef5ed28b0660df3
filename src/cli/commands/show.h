/* What `espalier show` gathers before it draws. */
#ifndef ESPI_CLI_COMMANDS_SHOW_H
#define ESPI_CLI_COMMANDS_SHOW_H

#include "cli/options/budget.h"
#include "cli/options/plans.h"
#include "report/page.h"

struct cli_show {
    const struct cli_question *q;
    struct espi_arena arena;
    struct esp_plan **plans;
    size_t n_plans, plans_capacity;
    struct esp_bound *bound;
    struct cli_budget budget;
    struct espi_page page;
};

/* The first slices of each plan, as the simulator sees them. CLI_OK, or a sentence on
 * stderr and the exit code. */
int cli_show_timelines(struct cli_show *s);

/* The algorithms of --compare for messages of all sizes. */
int cli_show_comparison(struct cli_show *s);

#endif
