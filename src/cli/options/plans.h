/* What the commands share that make plans or ask what plans can do. */
#ifndef ESPI_CLI_OPTIONS_PLANS_H
#define ESPI_CLI_OPTIONS_PLANS_H

#include <espalier/algo.h>

#include "algo/algo.h"
#include "cli/command.h"

extern const char *const cli_op_names[];

/* What is asked for: --op, --root and --targets. */
#define CLI_ENDS_OPTIONS                                                                 \
    {.name = "root",                                                                     \
     .letter = 'r',                                                                      \
     .kind = CLI_STRING,                                                                 \
     .value = "NODE",                                                                    \
     .names = CLI_NAMES_HOST,                                                            \
     .help = "The host that has the message, or that collects it, by name or number; "   \
             "without it, the first host of the platform."},                             \
        {.name = "op",                                                                   \
         .kind = CLI_CHOICE,                                                             \
         .value = "OPERATION",                                                           \
         .choices = cli_op_names,                                                        \
         .fallback = "bcast",                                                            \
         .help = "The collective operation."},                                           \
    {                                                                                    \
        .name = "targets", .kind = CLI_STRING, .value = "NODE,...",                      \
        .names = CLI_NAMES_HOST,                                                         \
        .help = "The hosts that a multicast or scatter is for, or that take part in a "  \
                "gather or reduce: names or numbers, @FILE with a list of them, or a "   \
                "share such as 50% of the hosts, drawn by --seed. Without it, all "      \
                "hosts."                                                                 \
    }
#define CLI_SIZE_OPTION                                                                  \
    {                                                                                    \
        .name = "size", .letter = 's', .kind = CLI_SIZE, .fallback = "64MB",             \
        .help = "The size of the message: of all parts together where each host has "    \
                "its own."                                                               \
    }
#define CLI_SLICE_HELP                                                                   \
    "The message is cut into equal slices, none larger than this, that follow one "      \
    "another; 0 sends it in one piece."
#define CLI_SEED_OPTION                                                                  \
    {                                                                                    \
        .name = "seed", .kind = CLI_SEED, .fallback = "1",                               \
        .help = "Seed of randomised algorithms: the same seed gives the same plan."      \
    }
#define CLI_BUDGET_OPTION                                                                \
    {                                                                                    \
        .name = "budget", .kind = CLI_TIME,                                              \
        .help = "Time limit for everything, reading and bounds included. Without it, "   \
                "searches have limits of their own, which do not depend on the machine." \
    }

/* A platform and what is asked of it. */
struct cli_question {
    const struct cli_args *args;
    const struct esp_platform *p;
    struct esp_request request;
};

/* Reads the platform of the first word, makes a request of the options above that the
 * command has, and of --algo, and calls answer. Its exit code, or a sentence on stderr
 * and the exit code. */
int cli_ask(const struct cli_args *args, int (*answer)(struct cli_question *q));

/* The list of --targets for a request whose root is known; free it with espi_free.
 * CLI_OK, or a sentence on stderr and the exit code. */
int cli_parse_targets(const struct esp_platform *p, const char *text, int root,
                      uint64_t seed, int **targets, int *n_targets);

/* How long planning by the algorithm is likely to take, as a multiple of a plain one's;
 * 0: it tries others, and takes as long as all of them. */
size_t cli_planning_cost(const struct espi_algo *algo);

/* The throughput that no plan for such a request in such slices can beat, as far as it is
 * known after so many seconds; 0: not known. From any thread. */
double cli_bound_Bps(const struct esp_platform *p, const struct esp_request *request,
                     double slice_bytes, double time_limit_s);

/* No plan for such a request ends sooner, in whatever slices; 0: not known. With
 * exclusive, that is so for transfers that have what they use for themselves, as figures
 * of plans take it (espi_makespan_task). From any thread. */
double cli_makespan_bound_s(const struct esp_platform *p,
                            const struct esp_request *request, bool exclusive,
                            double time_limit_s);

/* "from w3", "to w3" or "among 30 hosts", by what the operation does; 96 bytes are
 * enough. Returns out. */
const char *cli_short_ends(char *out, size_t size, const struct esp_platform *p,
                           esp_op op, int root);

/* "from n0 to 7 hosts", "from 7 hosts to n0", "among 8 hosts". */
const char *cli_ends_text(char *out, size_t size, const struct esp_platform *p, esp_op op,
                          int root, int n_targets);

/* Says that there is no such algorithm, perhaps what was meant; CLI_BAD_USAGE. */
int cli_no_such_algorithm(const char *name);

/* How many transfers deep the plan's deepest tree is; -1 when out of memory. */
int cli_plan_depth(const struct esp_plan *plan, const struct esp_platform *p);

/* Draws the trees of a plan, senders above their receivers; -1 when out of memory. */
int cli_draw_plan(const struct esp_plan *plan, const struct esp_platform *p);

#endif
