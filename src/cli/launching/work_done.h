/* How much of a set of jobs is done, those under way included. Times are the caller's. */
#ifndef ESPI_CLI_LAUNCHING_WORK_DONE_H
#define ESPI_CLI_LAUNCHING_WORK_DONE_H

#include <stddef.h>

struct cli_work {
    size_t n;
    const double *cost; /* by job: expected, in whatever unit */
    double *start_s;    /* by job; below 0: it is not under way */
    double total, done; /* of the costs */
    double spent_s;     /* by the jobs that are done, one after the other */
};

/* cost and start_s have n places, and stay the caller's. */
void cli_work_init(struct cli_work *w, size_t n, const double *cost, double *start_s);
void cli_work_start(struct cli_work *w, size_t i, double now_s);
void cli_work_end(struct cli_work *w, size_t i, double now_s);

/* From 0 to 1: what is done, and of what is under way as much as the others would have
 * done by now, but no more than it is. 0 before the first has ended. */
double cli_work_part(const struct cli_work *w, double now_s);

#endif
