/* Jobs side by side, one a processor. */
#ifndef ESPI_BASE_PARALLEL_H
#define ESPI_BASE_PARALLEL_H

#include <stddef.h>

struct espi_jobs {
    size_t n;
    void (*job)(void *arg, size_t i); /* each works on its own data */
    void *arg;
    void (*progress)(void *arg, size_t done); /* from any thread; or NULL */
    void *progress_arg;
};

/* Runs job(arg, 0) .. job(arg, n - 1), started in this order; returns when all are
 * done. */
void espi_parallel(const struct espi_jobs *jobs);

/* How many of so many jobs run at a time. */
size_t espi_parallel_threads(size_t n_jobs);

#endif
