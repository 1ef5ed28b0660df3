/* Plans by price and by time: espalier plan --minimize, espalier compare --front. */
#ifndef ESPI_CLI_COMMANDS_PRICED_H
#define ESPI_CLI_COMMANDS_PRICED_H

#include "cli/options/plans.h"
#include "solve/priced/front.h"

#define CLI_PRICED_OPTIONS                                                               \
    {.name = "partitions",                                                               \
     .kind = CLI_INT,                                                                    \
     .value = "N",                                                                       \
     .limited = true,                                                                    \
     .max = ESPI_PARTITIONS_MAX,                                                         \
     .fallback = "0",                                                                    \
     .help = "By price: cut the message into this many equal partitions, each sent "     \
             "along one tree; 0: parts of any size."},                                   \
    {                                                                                    \
        .name = "machines", .kind = CLI_INT, .value = "N", .limited = true, .min = 1,    \
        .max = 1000000,                                                                  \
        .help = "By price: rent at most this many machines at a node, even where the "   \
                "platform allows more."                                                  \
    }

#define CLI_POINTS_OPTION                                                                \
    {                                                                                    \
        .name = "points", .kind = CLI_INT, .limited = true, .min = 2, .max = 1000,       \
        .fallback = "8", .help = "With --front: the number of deadlines."                \
    }

/* What is asked for, but for objective, deadline and budget. CLI_OK, or a sentence on
 * stderr and the exit code. */
int cli_priced_task(const struct cli_question *q, struct espi_priced_task *task);

/* How many nodes relay that want nothing. */
int cli_priced_relays(const struct espi_priced_task *task, const struct espi_priced *a);

/* Of a link and the cables on it. */
double cli_priced_usd_per_GB(const struct esp_platform *p, int link);

/* The plan, to be freed by the caller. */
esp_status cli_priced_make_plan(const struct espi_priced_task *task,
                                const struct espi_priced *is, esp_op op, const char *algo,
                                struct esp_plan **out, struct esp_err *err);

/* The points of the curve, with what --points and the other options ask for; free with
 * espi_free. CLI_OK, or a sentence on stderr and the exit code. */
int cli_priced_front(const struct cli_question *q, struct espi_priced_task *task,
                     struct espi_arena *arena, struct espi_priced_point **out, int *n);

/* A point whose plan comes again with a later deadline. */
int cli_priced_comes_again(const struct espi_priced_point *front, int i, int n);

/* espalier show --front: the curve as a picture, or a page with the plan of each point.
 */
int cli_show_price_front(const struct cli_question *q, const char *path);

int cli_plan_by_price(struct cli_question *q);
int cli_price_front(struct cli_question *q);

#endif
