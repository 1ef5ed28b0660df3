/* Plans by price and by time: espalier plan --minimize, espalier compare --front. */
#ifndef ESPI_CLI_COMMANDS_PRICED_H
#define ESPI_CLI_COMMANDS_PRICED_H

#include "cli/options/plans.h"
#include "solve/priced_multicast.h"

#define CLI_PRICED_OPTIONS                                                               \
    {.name = "partitions",                                                               \
     .kind = CLI_INT,                                                                    \
     .value = "N",                                                                       \
     .limited = true,                                                                    \
     .max = ESPI_PARTITIONS_MAX,                                                         \
     .fallback = "0",                                                                    \
     .help = "By price: cut the message into so many equal partitions, each of which "   \
             "goes along one tree; 0: into parts of any size."},                         \
    {                                                                                    \
        .name = "machines", .kind = CLI_INT, .value = "N", .limited = true, .min = 1,    \
        .max = 1000000,                                                                  \
        .help = "By price: rent at most so many machines at a node, even where the "     \
                "platform allows more."                                                  \
    }

/* What is asked for, but for objective, deadline and budget. CLI_OK, or a sentence on
 * stderr and the exit code. */
int cli_priced_task(const struct cli_question *q, struct espi_priced_task *task);

/* How many nodes relay that want nothing. */
int cli_priced_relays(const struct espi_priced_task *task, const struct espi_priced *a);

int cli_plan_by_price(struct cli_question *q);
int cli_price_front(struct cli_question *q);

#endif
