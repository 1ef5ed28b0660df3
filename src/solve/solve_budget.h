/* How long a solver may go on: until some time, or for some work. Work is counted in
 * steps of about a microsecond that are the same on every machine, so that what ends for
 * lack of it ends at the same place everywhere. */
#ifndef ESPI_SOLVE_SOLVE_BUDGET_H
#define ESPI_SOLVE_SOLVE_BUDGET_H

#include "base/err.h"
#include "base/watch.h"
#include "lp/lp.h"

struct espi_solve_budget {
    double stop_s;           /* espi_now_s() by which to stop; INFINITY: none */
    double work, work_limit; /* done so far, and how much there may be; INFINITY: any */
    int stopped;             /* a program was, on the way */
    int endless;             /* nobody's watch ends it */
};

/* For what has to be solved whatever the time is. */
struct espi_solve_budget espi_solve_budget_endless(void);

/* Limits as callers give them, 0 being none, and those of who watches (base/watch.h). */
struct espi_solve_budget espi_solve_budget_of(double time_limit_s, double work_limit);

int espi_solve_budget_is_over(const struct espi_solve_budget *p);
/* Is the time over, whatever the work? */
int espi_solve_budget_is_late(const struct espi_solve_budget *p);
/* The error of who has nothing to give by then, and whether it is that one: a bound is
 * not known then, and others have to plan. Here, since algorithms of the core give it,
 * which has no solvers. */
static inline esp_status espi_solve_budget_err(struct esp_err *err)
{
    return espi_err(err, ESP_EUNSUPPORTED,
                    "the time was over before anything was found: give it more "
                    "(--budget)");
}

static inline int espi_solve_budget_was_late(esp_status st)
{
    return st == ESP_EUNSUPPORTED && espi_watch_is_over();
}

double espi_solve_budget_left_s(const struct espi_solve_budget *p);

/* Notes the work of looking at so many things once, such as arcs. */
void espi_solve_budget_look(struct espi_solve_budget *p, double things);

/* Solves within what is left and notes the work. */
espi_lp_result espi_solve_budget_solve(struct espi_solve_budget *p, struct espi_lp *lp,
                                       espi_lp_method method);

#endif
