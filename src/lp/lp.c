#include "lp/lp.h"

#include <coin/Clp_C_Interface.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "lp/tuning.h"
#include "lp/vertex.h"

enum { PERTURB_ON = 50, PERTURB_OFF = 102 }; /* published: of CLP */

struct espi_lp {
    Clp_Simplex *model;
    int perturb, rounds, values_only, take_any;
    int wild;               /* a number that CLP would end the process for */
    double *values, *duals; /* of the last solve */
    double *second;         /* costs of the columns; NULL: none were stated */
    size_t second_room;
    int values_room, duals_room;
    int starved;      /* out of memory, from then on */
    int added, fresh; /* rows and columns since the last solve; before it */
};

esp_status espi_lp_create(struct espi_lp **out, struct esp_err *err)
{
    struct espi_lp *lp = ESPI_NEW(struct espi_lp, 1);
    if (!lp)
        return espi_err_nomem(err);
    *lp = (struct espi_lp){.model = NULL};
    lp->model = Clp_newModel();
    if (!lp->model) {
        espi_free(lp);
        return espi_err_nomem(err);
    }
    Clp_setLogLevel(lp->model, 0);
    Clp_setOptimizationDirection(lp->model, 1);
    espi_lp_tolerance(lp, ESPI_LP_TOLERANCE, ESPI_LP_TOLERANCE);
    *out = lp;
    return ESP_OK;
}

void espi_lp_free(struct espi_lp *lp)
{
    if (!lp)
        return;
    Clp_deleteModel(lp->model);
    espi_free(lp->values);
    espi_free(lp->duals);
    espi_free(lp->second);
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

void espi_lp_round(struct espi_lp *lp)
{
    lp->rounds = 1;
}

void espi_lp_round_values(struct espi_lp *lp)
{
    lp->rounds = lp->values_only = 1;
}

void espi_lp_take_any(struct espi_lp *lp)
{
    lp->take_any = 1;
}

void espi_lp_tolerance(struct espi_lp *lp, double primal, double dual)
{
    Clp_setPrimalTolerance(lp->model, primal);
    Clp_setDualTolerance(lp->model, dual);
}

static void watch_point(struct espi_lp *lp, const double *x, int n)
{
    for (int i = 0; i < n && x; i++)
        lp->wild |= !(fabs(x[i]) < 1e20);
}

void espi_lp_add_rows(struct espi_lp *lp, const struct espi_lp_vectors *rows)
{
    watch_point(lp, rows->value, rows->start[rows->count]);
    lp->added += rows->count;
    Clp_addRows(lp->model, rows->count, rows->lower, rows->upper, rows->start,
                rows->index, rows->value);
}

/* Second costs of columns that are about to be added; those before that have none, 0. */
static void add_second(struct espi_lp *lp, const double *cost, int count)
{
    size_t had = (size_t)espi_lp_columns(lp), n = had + (size_t)count;
    void *second = lp->second;
    if (!cost && !second)
        return;
    if (espi_grow(&second, &lp->second_room, n, sizeof *lp->second)) {
        lp->starved = 1;
        return;
    }
    if (!lp->second)
        memset(second, 0, had * sizeof *lp->second);
    lp->second = second;
    for (int i = 0; i < count; i++)
        lp->second[had + (size_t)i] = cost ? cost[i] : 0;
}

/* Which of them are left when columns go. */
static void drop_second(struct espi_lp *lp, int count, const int *which)
{
    int n = espi_lp_columns(lp), left = 0;
    for (int i = 0; i < count; i++)
        lp->second[which[i]] = NAN;
    for (int j = 0; j < n; j++)
        if (!isnan(lp->second[j]))
            lp->second[left++] = lp->second[j];
}

void espi_lp_add_row(struct espi_lp *lp, int count, const int *index, const double *value,
                     double lower, double upper)
{
    int start[2] = {0, count};
    struct espi_lp_vectors row = {.count = 1,
                                  .lower = &lower,
                                  .upper = &upper,
                                  .start = start,
                                  .index = index,
                                  .value = value};
    espi_lp_add_rows(lp, &row);
}

void espi_lp_add_columns(struct espi_lp *lp, const struct espi_lp_vectors *columns)
{
    watch_point(lp, columns->value, columns->start[columns->count]);
    watch_point(lp, columns->cost, columns->count);
    watch_point(lp, columns->second_cost, columns->count);
    add_second(lp, columns->second_cost, columns->count);
    lp->added += columns->count;
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
    if (count > 0 && lp->second)
        drop_second(lp, count, which);
    if (count > 0)
        Clp_deleteColumns(lp->model, count, which);
}

void espi_lp_set_costs(struct espi_lp *lp, const double *cost)
{
    watch_point(lp, cost, Clp_numberColumns(lp->model));
    Clp_chgObjCoefficients(lp->model, cost);
}

void espi_lp_set_upper(struct espi_lp *lp, int column, double upper)
{
    Clp_columnUpper(lp->model)[column] = upper;
}

void espi_lp_set_lower(struct espi_lp *lp, int column, double lower)
{
    Clp_columnLower(lp->model)[column] = lower;
}

void espi_lp_set_row(struct espi_lp *lp, int row, double lower, double upper)
{
    Clp_rowLower(lp->model)[row] = lower;
    Clp_rowUpper(lp->model)[row] = upper;
}

/* To 31 bits; what is small beside the largest, to 31 bits of a 512th of that. */
static void round_all(double *x, int n)
{
    double largest = 0;
    int exponent;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    for (int i = 0; i < n; i++) {
        frexp(fmax(fabs(x[i]), largest / 512), &exponent);
        double unit = ldexp(1, exponent - 31);
        x[i] = unit > 0 ? nearbyint(x[i] / unit) * unit : x[i];
    }
}

static int make_room(double **array, int *room, int n)
{
    if (n <= *room)
        return 0;
    double *larger = ESPI_NEW(double, 2 * (size_t)n);
    if (!larger)
        return -1;
    espi_free(*array);
    *array = larger;
    *room = 2 * n;
    return 0;
}

/* Takes over the results of a solve; -1 when out of memory. */
static int take_results(struct espi_lp *lp)
{
    int rows = espi_lp_rows(lp), columns = espi_lp_columns(lp);
    if (make_room(&lp->values, &lp->values_room, columns) ||
        make_room(&lp->duals, &lp->duals_room, rows))
        return -1;
    memcpy(lp->values, Clp_primalColumnSolution(lp->model),
           (size_t)columns * sizeof(double));
    memcpy(lp->duals, Clp_dualRowSolution(lp->model), (size_t)rows * sizeof(double));
    if (Clp_status(lp->model) != 0 || lp->take_any)
        return 0;
    int st = lp->values_only
                 ? espi_vertex_choose_values(lp->model, lp->second, lp->values, lp->duals)
                 : espi_vertex_choose(lp->model, lp->second, lp->values, lp->duals);
    if (lp->rounds) {
        round_all(lp->values, columns);
        round_all(lp->duals, rows);
    }
    return st;
}

espi_lp_result espi_lp_solve(struct espi_lp *lp, espi_lp_method method)
{
    static const espi_lp_result results[] = {ESPI_LP_OPTIMAL, ESPI_LP_INFEASIBLE,
                                             ESPI_LP_UNBOUNDED, ESPI_LP_STOPPED,
                                             ESPI_LP_FAILED};
    if (lp->wild || lp->starved)
        return lp->wild ? ESPI_LP_FAILED : ESPI_LP_NO_MEMORY;
    Clp_setPerturbation(lp->model, lp->perturb ? PERTURB_ON : PERTURB_OFF);
    Clp_setNumberIterations(lp->model, 0);
    if (method == ESPI_LP_PRIMAL)
        Clp_primal(lp->model, 0);
    else
        Clp_dual(lp->model, 0);
    int status = Clp_status(lp->model);
    lp->fresh = lp->added;
    lp->added = 0;
    if (take_results(lp)) {
        lp->starved = 1;
        return ESPI_LP_NO_MEMORY;
    }
    return status >= 0 && status <= 4 ? results[status] : ESPI_LP_FAILED;
}

esp_status espi_lp_error(espi_lp_result result, const char *sentence, struct esp_err *err)
{
    return result == ESPI_LP_NO_MEMORY ? espi_err_nomem(err)
                                       : espi_err(err, ESP_EINTERNAL, "%s", sentence);
}

int espi_lp_rows(const struct espi_lp *lp)
{
    return Clp_numberRows(lp->model);
}

int espi_lp_columns(const struct espi_lp *lp)
{
    return Clp_numberColumns(lp->model);
}

const double *espi_lp_values(const struct espi_lp *lp)
{
    return lp->values;
}

const double *espi_lp_duals(const struct espi_lp *lp)
{
    return lp->duals;
}

double espi_lp_effort(const struct espi_lp *lp)
{
    return 1 + 0.5 * lp->fresh;
}
