#include "lp/lp.h"

#include <coin/Clp_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/err.h"

enum { PERTURB_ON = 50, PERTURB_OFF = 102, BASIC = 1 };

struct espi_lp {
    Clp_Simplex *model;
    int perturb;
    int wild; /* a number that CLP would end the process for */
};

esp_status espi_lp_create(struct espi_lp **out, struct esp_err *err)
{
    struct espi_lp *lp = ESPI_NEW(struct espi_lp, 1);
    if (!lp)
        return espi_err_nomem(err);
    lp->perturb = lp->wild = 0;
    lp->model = Clp_newModel();
    if (!lp->model) {
        espi_free(lp);
        return espi_err_nomem(err);
    }
    Clp_setLogLevel(lp->model, 0);
    Clp_setOptimizationDirection(lp->model, 1);
    espi_lp_tolerance(lp, 1e-9, 1e-9);
    *out = lp;
    return ESP_OK;
}

void espi_lp_free(struct espi_lp *lp)
{
    if (!lp)
        return;
    Clp_deleteModel(lp->model);
    espi_free(lp);
}

void espi_lp_perturb(struct espi_lp *lp, int on)
{
    lp->perturb = on;
}

void espi_lp_time_limit(struct espi_lp *lp, double seconds)
{
    Clp_setMaximumSeconds(lp->model, seconds);
}

void espi_lp_iteration_limit(struct espi_lp *lp, double iterations)
{
    Clp_setMaximumIterations(lp->model, (int)fmin(fmax(iterations, 1), INT_MAX));
}

void espi_lp_tolerance(struct espi_lp *lp, double primal, double dual)
{
    Clp_setPrimalTolerance(lp->model, primal);
    Clp_setDualTolerance(lp->model, dual);
}

static void watch(struct espi_lp *lp, const double *x, int n)
{
    for (int i = 0; i < n && x; i++)
        lp->wild |= !(fabs(x[i]) < 1e20);
}

void espi_lp_add_rows(struct espi_lp *lp, const struct espi_lp_vectors *rows)
{
    watch(lp, rows->value, rows->start[rows->count]);
    Clp_addRows(lp->model, rows->count, rows->lower, rows->upper, rows->start,
                rows->index, rows->value);
}

void espi_lp_add_columns(struct espi_lp *lp, const struct espi_lp_vectors *columns)
{
    watch(lp, columns->value, columns->start[columns->count]);
    watch(lp, columns->cost, columns->count);
    Clp_addColumns(lp->model, columns->count, columns->lower, columns->upper,
                   columns->cost, columns->start, columns->index, columns->value);
}

void espi_lp_drop_rows(struct espi_lp *lp, int count, const int *which)
{
    if (count > 0)
        Clp_deleteRows(lp->model, count, which);
}

void espi_lp_drop_columns(struct espi_lp *lp, int count, const int *which)
{
    if (count > 0)
        Clp_deleteColumns(lp->model, count, which);
}

void espi_lp_set_costs(struct espi_lp *lp, const double *cost)
{
    watch(lp, cost, Clp_numberColumns(lp->model));
    Clp_chgObjCoefficients(lp->model, cost);
}

void espi_lp_set_upper(struct espi_lp *lp, int column, double upper)
{
    Clp_columnUpper(lp->model)[column] = upper;
}

void espi_lp_set_row(struct espi_lp *lp, int row, double lower, double upper)
{
    Clp_rowLower(lp->model)[row] = lower;
    Clp_rowUpper(lp->model)[row] = upper;
}

espi_lp_result espi_lp_solve(struct espi_lp *lp, espi_lp_method method)
{
    static const espi_lp_result results[] = {ESPI_LP_OPTIMAL, ESPI_LP_INFEASIBLE,
                                             ESPI_LP_UNBOUNDED, ESPI_LP_STOPPED,
                                             ESPI_LP_FAILED};
    if (lp->wild)
        return ESPI_LP_FAILED;
    Clp_setPerturbation(lp->model, lp->perturb ? PERTURB_ON : PERTURB_OFF);
    Clp_setNumberIterations(lp->model, 0);
    if (method == ESPI_LP_PRIMAL)
        Clp_primal(lp->model, 0);
    else
        Clp_dual(lp->model, 0);
    int status = Clp_status(lp->model);
    return status >= 0 && status <= 4 ? results[status] : ESPI_LP_FAILED;
}

int espi_lp_rows(const struct espi_lp *lp)
{
    return Clp_numberRows(lp->model);
}

int espi_lp_columns(const struct espi_lp *lp)
{
    return Clp_numberColumns(lp->model);
}

double espi_lp_objective(const struct espi_lp *lp)
{
    return Clp_objectiveValue(lp->model);
}

const double *espi_lp_values(const struct espi_lp *lp)
{
    return Clp_primalColumnSolution(lp->model);
}

const double *espi_lp_activities(const struct espi_lp *lp)
{
    return Clp_primalRowSolution(lp->model);
}

const double *espi_lp_duals(const struct espi_lp *lp)
{
    return Clp_dualRowSolution(lp->model);
}

const double *espi_lp_reduced_costs(const struct espi_lp *lp)
{
    return Clp_dualColumnSolution(lp->model);
}

int espi_lp_is_basic(const struct espi_lp *lp, int column)
{
    return Clp_getColumnStatus(lp->model, column) == BASIC;
}

int espi_lp_row_is_basic(const struct espi_lp *lp, int row)
{
    return Clp_getRowStatus(lp->model, row) == BASIC;
}

int espi_lp_iterations(const struct espi_lp *lp)
{
    return Clp_numberIterations(lp->model);
}
