/* A simulation, and what is said about it. */
#ifndef ESPI_CLI_PRINTING_SIMULATE_H
#define ESPI_CLI_PRINTING_SIMULATE_H

#include <espalier/simulate.h>

#include "base/arena.h"
#include "cli/command.h"
#include "cli/options/budget.h"
#include "cost/cost.h"
#include "native/simulate.h"
#include "sim/trace.h"

struct cli_sim {
    const struct cli_args *args;
    struct esp_platform *p, *reality; /* reality NULL: p */
    struct esp_plan *plan;            /* native: without trees, for what is asked for */
    const struct espi_native_run *native; /* of an MPI library instead of a plan; NULL */
    struct esp_trace trace;
    struct esp_sim_options options;
    struct cli_budget budget;
    struct esp_sim_result *result;
    struct espi_arena arena;
    unsigned char *stops; /* node of p: does it stop? */
    long long seen;       /* transfers */
    double end_s;         /* of the last of them */
    double bound_s;       /* no plan ends sooner; 0: not known */
    int runs_left;        /* it is simulated so many times: for who looks at transfers */
};

/* How the message is cut. */
double cli_sim_size_bytes(const struct cli_sim *r);
struct espi_slices cli_sim_slices(const struct cli_sim *r);

/* Runs it once more, for those who look at the transfers: it is the same each time. */
esp_status cli_simulate_again(struct cli_sim *r,
                              void (*on_transfer)(void *,
                                                  const struct esp_sim_transfer *),
                              void *arg, struct esp_err *err);

/* The answer, for people and for programs; an exit code. */
int cli_print_sim(struct cli_sim *r);
int cli_print_sim_json(const struct cli_sim *r);

#endif
