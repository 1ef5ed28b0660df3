#include "solve/solve_budget.h"

#include <math.h>

#include "base/clock.h"
#include "solve/tuning.h"

struct espi_solve_budget espi_solve_budget_of(double time_limit_s, double work_limit)
{
    return (struct espi_solve_budget){
        .stop_s = fmin(time_limit_s > 0 ? espi_now_s() + time_limit_s : INFINITY,
                       espi_watch_stop_s()),
        .work_limit = work_limit > 0 ? work_limit : INFINITY};
}

struct espi_solve_budget espi_solve_budget_endless(void)
{
    return (struct espi_solve_budget){
        .stop_s = INFINITY, .work_limit = INFINITY, .endless = 1};
}

double espi_solve_budget_left_s(const struct espi_solve_budget *p)
{
    return isfinite(p->stop_s) ? p->stop_s - espi_now_s() : INFINITY;
}

int espi_solve_budget_is_late(const struct espi_solve_budget *p)
{
    return espi_solve_budget_left_s(p) < 0 || (!p->endless && espi_watch_is_over());
}

int espi_solve_budget_is_over(const struct espi_solve_budget *p)
{
    return p->stopped || p->work > p->work_limit || espi_solve_budget_is_late(p);
}

void espi_solve_budget_look(struct espi_solve_budget *p, double things)
{
    p->work += ESPI_WORK_PER_THING * things;
}

espi_lp_result espi_solve_budget_solve(struct espi_solve_budget *p, struct espi_lp *lp,
                                       espi_lp_method method)
{
    double left_s = espi_solve_budget_left_s(p);
    double per_iteration = ESPI_WORK_PER_ROW * (espi_lp_rows(lp) + 1);
    espi_lp_time_limit(lp, isfinite(left_s) ? fmax(left_s, 1e-3) : -1);
    if (isfinite(p->work_limit))
        espi_lp_iteration_limit(lp, ESPI_WORK_ASTRAY *
                                        ((p->work_limit - p->work) / per_iteration + 1));
    espi_lp_result result = espi_lp_solve(lp, method);
    p->work += per_iteration * espi_lp_effort(lp);
    p->stopped |= result == ESPI_LP_STOPPED;
    return result;
}
