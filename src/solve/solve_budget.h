/* How long a solver may go on: until some time, or for some work. Work is counted in
 * steps of about a microsecond that are the same on every machine, so that what ends for
 * lack of it ends at the same place everywhere. */
#ifndef ESPI_SOLVE_PATIENCE_H
#define ESPI_SOLVE_PATIENCE_H

#include "lp/lp.h"

struct espi_patience {
    double stop_s;           /* espi_now_s() by which to stop; INFINITY: none */
    double work, work_limit; /* done so far, and how much there may be; INFINITY: any */
    int stopped;             /* a program was, on the way */
};

/* Limits as callers give them, 0 being none. */
struct espi_patience espi_patience_of(double time_limit_s, double work_limit);

int espi_patience_is_over(const struct espi_patience *p);
double espi_patience_left_s(const struct espi_patience *p);

/* Notes the work of looking at so many things once, such as arcs. */
void espi_patience_look(struct espi_patience *p, double things);

/* Solves within what is left and notes the work. */
espi_lp_result espi_patience_solve(struct espi_patience *p, struct espi_lp *lp,
                                   espi_lp_method method);

#endif
