/* espalier compare: what it compares, and its tables. */
#ifndef ESPI_CLI_COMMANDS_COMPARE_H
#define ESPI_CLI_COMMANDS_COMPARE_H

#include <stdatomic.h>

#include "algo/algo.h"
#include "base/err.h"
#include "cli/command.h"
#include "cli/options/budget.h"
#include "native/simulate.h"

/* One algorithm and what came of it. */
struct compare_entry {
    char *text;                   /* the name, perhaps with options */
    const struct espi_algo *algo; /* NULL: of an MPI library */
    struct espi_native_run native;
    esp_status status;
    struct esp_err err;
    int n_trees;
    double throughput_Bps, makespan_s, plan_s;
    double judged_s; /* the makespan as `auto` weighs it, what messages cost counted */
};

struct comparison {
    const struct cli_args *args;
    const struct esp_platform *p;
    struct esp_request request; /* but for the algorithm */
    struct compare_entry *entries;
    size_t n, capacity;
    size_t *turn; /* which entry is planned as number i */
    struct cli_budget budget;
    atomic_size_t jobs_left;
    double bound_Bps, makespan_bound_s; /* 0: not known */
};

/* Adds one by that name. CLI_OK, or a sentence on stderr and the exit code, as others. */
int cli_compare_add(struct comparison *c, const char *text, size_t length);

/* Adds those of MPI libraries that --native asks for; and where nothing is asked for,
 * algorithms of the field that are no plans. */
int cli_compare_add_libraries(struct comparison *c);
/* What one of them takes; in a job, while others run. */
void cli_compare_run_native(struct comparison *c, struct compare_entry *e,
                            double share_s);

/* Those that have been ranked, for people or for programs. */
int cli_compare_print(const struct comparison *c);

#endif
