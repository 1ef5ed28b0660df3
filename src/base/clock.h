/* Time that passes. */
#ifndef ESPI_BASE_CLOCK_H
#define ESPI_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment; never goes back. */
static inline double espi_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the processor that this thread took so far: what others run does not count.
 */
static inline double espi_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
