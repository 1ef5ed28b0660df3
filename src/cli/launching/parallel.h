/* Jobs side by side, one a processor, with a progress bar. */
#ifndef ESPI_CLI_LAUNCHING_PARALLEL_H
#define ESPI_CLI_LAUNCHING_PARALLEL_H

#include <stddef.h>

struct cli_jobs {
    size_t n;
    void (*job)(void *arg, size_t i); /* each works on its own data */
    /* How long it is expected to take, in whatever unit is the same for all: the bar
     * moves by as much when it is done. */
    size_t (*cost)(const void *arg, size_t i);
    void *arg;
    const char *what;
};

/* Runs job(arg, 0) .. job(arg, n - 1), started in this order, and returns when all are
 * done. */
void cli_parallel(const struct cli_jobs *jobs);

#endif
