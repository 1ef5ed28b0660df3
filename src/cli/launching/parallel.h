/* Jobs side by side, one a processor, with a progress bar. */
#ifndef ESPI_CLI_LAUNCHING_PARALLEL_H
#define ESPI_CLI_LAUNCHING_PARALLEL_H

#include <stddef.h>

/* Runs job(arg, 0) .. job(arg, n - 1), started in this order, and returns when all are
 * done. Each works on its own data. */
void cli_parallel(size_t n, void (*job)(void *arg, size_t i), void *arg,
                  const char *what);

#endif
