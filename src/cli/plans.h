/* What the commands share that make plans. */
#ifndef ESPI_CLI_PLANS_H
#define ESPI_CLI_PLANS_H

#include <espalier/algo.h>

#include "cli/command.h"

extern const char *const cli_op_names[];

#define CLI_ROOT_OPTION                                                                  \
    {                                                                                    \
        .name = "root", .letter = 'r', .kind = CLI_STRING, .value = "NODE",              \
        .help = "The host that has the message, by name or number; without it, the "     \
                "first host of the platform."                                            \
    }
#define CLI_OP_OPTION                                                                    \
    {                                                                                    \
        .name = "op", .kind = CLI_CHOICE, .value = "OPERATION", .choices = cli_op_names, \
        .fallback = "bcast", .help = "What is to be done."                               \
    }
#define CLI_SIZE_OPTION                                                                  \
    {                                                                                    \
        .name = "size", .letter = 's', .kind = CLI_SIZE, .fallback = "64MB",             \
        .help = "The size of the message."                                               \
    }
#define CLI_SLICE_HELP                                                                   \
    "The message is cut into equal slices, none larger than this, that follow one "      \
    "another; 0 sends it in one piece."
#define CLI_SEED_OPTION                                                                  \
    {                                                                                    \
        .name = "seed", .kind = CLI_SEED, .fallback = "1",                               \
        .help = "For algorithms that draw lots: the same seed, the same plan."           \
    }
#define CLI_BUDGET_OPTION                                                                \
    {                                                                                    \
        .name = "budget", .kind = CLI_TIME,                                              \
        .help = "How long algorithms may search that can go on for ever; without it, "   \
                "their own measure, which does not depend on the machine."               \
    }

/* --root, or the first host; it must reach all others. CLI_OK, or a sentence on stderr
 * and the exit code. */
int cli_request_root(const struct cli_args *args, const struct esp_platform *p,
                     const char *path, int *root);

/* The request of the options above and of --algo, for a platform read from path. CLI_OK,
 * or a sentence on stderr and the exit code. */
int cli_request(const struct cli_args *args, const struct esp_platform *p,
                const char *path, struct esp_request *request);

/* The throughput that no broadcast in such slices can beat, as far as it is known after
 * so many seconds; 0: not known. From any thread. */
double cli_bound_Bps(const struct esp_platform *p, int root, double slice_bytes,
                     double time_limit_s);

/* Says that there is no such algorithm, perhaps what was meant; CLI_BAD_USAGE. */
int cli_no_such_algorithm(const char *name);

/* How many transfers deep the plan's deepest tree is; -1 when out of memory. */
int cli_plan_depth(const struct esp_plan *plan, const struct esp_platform *p);

/* Draws the trees of a plan, senders above their receivers; -1 when out of memory. */
int cli_draw_plan(const struct esp_plan *plan, const struct esp_platform *p);

#endif
