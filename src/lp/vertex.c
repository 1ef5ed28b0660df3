/* A degenerate program has many optimal solutions, and which of them the simplex method
 * ends in hangs on its pivots, and these on the last digits of its numbers, which differ
 * between processors. So the choice is made by a rule: among the optimal values those
 * that are least by a second cost, and among the optimal duals those that are least by a
 * second right-hand side. Both are pseudo-random, so that one vertex alone is least. Who
 * states a second cost of his own has the values that are least by it, and only among
 * these the pseudo-random one decides.
 *
 * Values: whatever has a reduced cost or a dual is held where it is, which leaves the
 * optimal solutions and no others; these are searched by the next cost. Duals: those
 * that are optimal with these values are the duals of the program in which only the
 * directions count that lead out of the vertex, whose right-hand side is the second one.
 *
 * Reference: the optimal face and the cone of directions at a vertex are those of
 * A. Schrijver, Theory of linear and integer programming, 1986, sections 8 and 10.
 * Complexity: two or three solves, each from an optimal basis, of few iterations; none
 * where a face is one point, as every second is. */
#include "lp/vertex.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "lp/basis.h"

/* rounding: below this a reduced cost is none, and a value lies on its bound. It is above
 * the solver's tolerance and its rounding, so that what is zero is seen as such
 * everywhere.
 */
static const double NONE = 1e-10;

struct face {
    Clp_Simplex *model;
    int rows, columns;
    double *lower, *upper;   /* of columns, then rows, as they were */
    double *cost;            /* as it was */
    double *value, *reduced; /* of columns, then rows: the last solution */
    double *last;            /* pseudo-random costs */
    double *room;
};

/* In [1, 2), of an index alone. */
static double second_of(int index)
{
    uint64_t z = (uint64_t)(unsigned)index * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return 1 + (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void read_solution(struct face *f)
{
    size_t n = (size_t)f->columns, m = (size_t)f->rows;
    memcpy(f->value, Clp_primalColumnSolution(f->model), n * sizeof *f->value);
    memcpy(f->value + n, Clp_primalRowSolution(f->model), m * sizeof *f->value);
    memcpy(f->reduced, Clp_dualColumnSolution(f->model), n * sizeof *f->reduced);
    memcpy(f->reduced + n, Clp_dualRowSolution(f->model), m * sizeof *f->reduced);
}

static int face_init(struct face *f, Clp_Simplex *model)
{
    *f = (struct face){.model = model};
    f->rows = Clp_numberRows(model);
    f->columns = Clp_numberColumns(model);
    size_t n = (size_t)f->columns, m = (size_t)f->rows;
    f->room = ESPI_NEW(double, 6 * n + 4 * m + 1);
    if (!f->room)
        return -1;
    f->lower = f->room;
    f->upper = f->lower + n + m;
    f->value = f->upper + n + m;
    f->reduced = f->value + n + m;
    f->cost = f->reduced + n + m;
    f->last = f->cost + n;
    memcpy(f->lower, Clp_getColLower(model), n * sizeof *f->lower);
    memcpy(f->lower + n, Clp_getRowLower(model), m * sizeof *f->lower);
    memcpy(f->upper, Clp_getColUpper(model), n * sizeof *f->upper);
    memcpy(f->upper + n, Clp_getRowUpper(model), m * sizeof *f->upper);
    memcpy(f->cost, Clp_getObjCoefficients(model), n * sizeof *f->cost);
    for (int j = 0; j < f->columns; j++)
        f->last[j] = second_of(j);
    read_solution(f);
    return 0;
}

static void set_bounds(struct face *f, int i, double lower, double upper)
{
    int row = i - f->columns;
    *(row < 0 ? Clp_columnLower(f->model) + i : Clp_rowLower(f->model) + row) = lower;
    *(row < 0 ? Clp_columnUpper(f->model) + i : Clp_rowUpper(f->model) + row) = upper;
}

static void restore(struct face *f)
{
    for (int i = 0; i < f->columns + f->rows; i++)
        set_bounds(f, i, f->lower[i], f->upper[i]);
    Clp_chgObjCoefficients(f->model, f->cost);
}

/* Does the value lie on the bound? */
static int is_at(double value, double bound)
{
    return fabs(bound) < 1e20 && fabs(value - bound) <= NONE * (1 + fabs(bound));
}

/* The bound that the value is held at, or the value where it is between. */
static double held_at(const struct face *f, int i)
{
    if (is_at(f->value[i], f->lower[i]))
        return f->lower[i];
    return is_at(f->value[i], f->upper[i]) ? f->upper[i] : f->value[i];
}

/* What the reduced costs of columns and the duals of rows are measured by. */
static double largest_of(const double *x, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Holds what has a reduced cost or a dual where it is. */
static void hold_to_face(struct face *f, const double *cost)
{
    double most = largest_of(cost, f->columns);
    double dual = largest_of(f->reduced + f->columns, f->rows);
    for (int i = 0; i < f->columns + f->rows; i++) {
        double own = i < f->columns ? fabs(cost[i]) : dual;
        if (fabs(f->reduced[i]) > NONE * (own > 0 ? own : most)) {
            double at = held_at(f, i);
            set_bounds(f, i, at, at);
        }
    }
}

enum { BASIC = 1, STATUS_BITS = 7 }; /* code: of the solver */

static int is_basic(const struct face *f, int i)
{
    return (Clp_statusArray(f->model)[i] & STATUS_BITS) == BASIC;
}

/* Is all that is not in the basis held? Then the basis has but the one solution. */
static int is_point(const struct face *f)
{
    const double *lower = Clp_getColLower(f->model), *upper = Clp_getColUpper(f->model);
    const double *low = Clp_getRowLower(f->model), *high = Clp_getRowUpper(f->model);
    for (int i = 0; i < f->columns; i++)
        if (lower[i] < upper[i] && !is_basic(f, i))
            return 0;
    for (int i = 0; i < f->rows; i++)
        if (low[i] < high[i] && !is_basic(f, f->columns + i))
            return 0;
    return 1;
}

/* Among the solutions that are as good by the cost as the last one, the least by the next
 * cost. 0: it is the last solution now. */
static int search_face(struct face *f, const double *cost, const double *next)
{
    hold_to_face(f, cost);
    if (is_point(f))
        return 0;
    memcpy(Clp_objective(f->model), next, (size_t)f->columns * sizeof *next);
    Clp_primal(f->model, 0);
    if (Clp_status(f->model))
        return -1;
    read_solution(f);
    return 0;
}

/* The values that the rule chooses. 0: they are the last solution now. */
static int choose_values(struct face *f, const double *second)
{
    if (!second || largest_of(second, f->columns) == 0)
        return search_face(f, f->cost, f->last);
    return search_face(f, f->cost, second) || search_face(f, second, f->last);
}

/* Is the vertex that of one basis, which has but the one dual? */
static int is_of_one_basis(const struct face *f)
{
    for (int i = 0; i < f->columns + f->rows; i++)
        if ((is_at(f->value[i], f->lower[i]) || is_at(f->value[i], f->upper[i])) ==
            is_basic(f, i))
            return 0;
    return 1;
}

/* The duals that are least by the second right-hand side among those that are optimal
 * with the values. 0: they stand in the model now. */
static int choose_duals(struct face *f)
{
    for (int i = 0; i < f->columns + f->rows; i++) {
        double x = f->value[i];
        double width = i < f->columns ? 0 : second_of(i - f->columns);
        int low = is_at(x, f->lower[i]), high = is_at(x, f->upper[i]);
        if (low && high)
            width = 0;
        set_bounds(f, i, low ? -width : -DBL_MAX, high ? width : DBL_MAX);
    }
    Clp_dual(f->model, 0);
    return Clp_status(f->model);
}

/* The numbers of the values that were chosen, anew from the basis; *duals is scratch. */
static int compute_values(struct face *f, double *values, double *duals)
{
    memcpy(values, f->value, (size_t)f->columns * sizeof *values);
    for (int i = 0; i < f->columns + f->rows; i++)
        f->value[i] = held_at(f, i);
    return espi_basis_solve(f->model, f->value, f->cost, values, duals);
}

int espi_vertex_choose_values(Clp_Simplex *model, const double *second, double *values,
                              double *duals)
{
    struct face f;
    size_t columns = (size_t)Clp_numberColumns(model),
           rows = (size_t)Clp_numberRows(model);
    size_t size = columns + rows;
    unsigned char *basis = ESPI_NEW(unsigned char, size + 1);
    int st = 0;
    if (!basis || face_init(&f, model)) {
        espi_free(basis);
        return -1;
    }
    memcpy(basis, Clp_statusArray(model), size);
    memcpy(values, f.value, (size_t)f.columns * sizeof *values);
    if (!choose_values(&f, second))
        st = compute_values(&f, values, duals);
    restore(&f);
    /* the next solve starts from the basis that is best by the first cost */
    Clp_copyinStatus(model, basis);
    espi_free(f.room);
    espi_free(basis);
    return st < 0 ? -1 : 0;
}

int espi_vertex_choose(Clp_Simplex *model, const double *second, double *values,
                       double *duals)
{
    struct face f;
    if (face_init(&f, model))
        return -1;
    size_t n = (size_t)f.columns * sizeof *values, m = (size_t)f.rows * sizeof *duals;
    memcpy(values, f.value, n);
    memcpy(duals, f.reduced + f.columns, m);
    int st = 0;
    if (!choose_values(&f, second)) {
        memcpy(values, f.value, n);
        restore(&f);
        int chosen = is_of_one_basis(&f);
        if (!chosen && !choose_duals(&f)) {
            memcpy(duals, Clp_dualRowSolution(model), m);
            chosen = 1;
        }
        if (chosen) {
            for (int i = 0; i < f.columns + f.rows; i++)
                f.value[i] = held_at(&f, i);
            st = espi_basis_solve(model, f.value, f.cost, values, duals);
        }
    }
    restore(&f);
    espi_free(f.room);
    return st < 0 ? -1 : 0;
}
