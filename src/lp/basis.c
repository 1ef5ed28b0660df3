/* The simplex method ends with a basis; CLP's numbers for it differ in their last digits
 * between processors, as some fuse multiplication and addition. Here they are computed
 * once more, by plain operations in a fixed order. Written by hand for that reason: no
 * library promises it.
 *
 * Only columns in the basis and rows at their bounds matter (the kernel); rows with a
 * slack in the basis have no dual. Complexity: a third of the cube of the kernel's size.
 */
#include "lp/basis.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "lp/tuning.h"

enum { BASIC = 1 }; /* published: as CLP counts */

struct kernel {
    int n;            /* basic columns, and rows whose bounds hold them */
    int *row, *place; /* of the program; row -> its place among them, or -1 */
    int *column, *turn;
    double *a; /* by rows; then its factors */
    double *b;
};

/* -1: out of memory; 0: there is none, or it is too large. */
static int kernel_init(struct kernel *k, Clp_Simplex *model)
{
    int n = 0;
    *k = (struct kernel){.n = 0};
    for (int j = 0; j < Clp_numberColumns(model); j++)
        n += Clp_getColumnStatus(model, j) == BASIC;
    if (n == 0 || n > ESPI_KERNEL_MAX)
        return 0;
    size_t size = (size_t)n;
    k->row = ESPI_NEW(int, 3 * size + (size_t)Clp_numberRows(model));
    k->a = ESPI_NEW(double, size *size + size);
    if (!k->row || !k->a)
        return -1;
    k->column = k->row + n;
    k->turn = k->column + n;
    k->place = k->turn + n;
    k->b = k->a + size * size;
    for (int j = 0; j < Clp_numberColumns(model); j++)
        if (Clp_getColumnStatus(model, j) == BASIC)
            k->column[k->n++] = j;
    n = 0;
    for (int i = 0; i < Clp_numberRows(model); i++) {
        k->place[i] = Clp_getRowStatus(model, i) == BASIC ? -1 : n;
        if (k->place[i] >= 0 && n < k->n)
            k->row[n] = i;
        n += k->place[i] >= 0;
    }
    return n == k->n;
}

static void kernel_fill(struct kernel *k, Clp_Simplex *model)
{
    const CoinBigIndex *start = Clp_getVectorStarts(model);
    const int *length = Clp_getVectorLengths(model), *index = Clp_getIndices(model);
    const double *value = Clp_getElements(model);
    memset(k->a, 0, (size_t)k->n * (size_t)k->n * sizeof *k->a);
    for (int c = 0; c < k->n; c++)
        for (int e = 0; e < length[k->column[c]]; e++) {
            CoinBigIndex at = start[k->column[c]] + e;
            if (k->place[index[at]] >= 0)
                k->a[(size_t)k->place[index[at]] * (size_t)k->n + (size_t)c] = value[at];
        }
}

/* Gaussian elimination; turn[i] is the row that became the i-th. 0: singular. */
static int kernel_factor(struct kernel *k)
{
    size_t n = (size_t)k->n;
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t r = i + 1; r < n; r++)
            if (fabs(k->a[r * n + i]) > fabs(k->a[best * n + i]))
                best = r;
        k->turn[i] = (int)best;
        if (!(fabs(k->a[best * n + i]) > 0))
            return 0;
        for (size_t c = 0; c < n && best != i; c++) {
            double t = k->a[i * n + c];
            k->a[i * n + c] = k->a[best * n + c];
            k->a[best * n + c] = t;
        }
        for (size_t r = i + 1; r < n; r++) {
            double by = k->a[r * n + i] / k->a[i * n + i];
            k->a[r * n + i] = by;
            for (size_t c = i + 1; c < n && by != 0; c++)
                k->a[r * n + c] -= by * k->a[i * n + c];
        }
    }
    return 1;
}

/* A x = b, in place. */
static void kernel_solve(struct kernel *k)
{
    size_t n = (size_t)k->n;
    for (size_t i = 0; i < n; i++) {
        double t = k->b[i];
        k->b[i] = k->b[k->turn[i]];
        k->b[k->turn[i]] = t;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < i; c++)
            k->b[i] -= k->a[i * n + c] * k->b[c];
    for (size_t i = n; i-- > 0;) {
        for (size_t c = i + 1; c < n; c++)
            k->b[i] -= k->a[i * n + c] * k->b[c];
        k->b[i] /= k->a[i * n + i];
    }
}

/* y A = b, in place. */
static void kernel_solve_transposed(struct kernel *k)
{
    size_t n = (size_t)k->n;
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < i; r++)
            k->b[i] -= k->a[r * n + i] * k->b[r];
        k->b[i] /= k->a[i * n + i];
    }
    for (size_t i = n; i-- > 0;)
        for (size_t r = i + 1; r < n; r++)
            k->b[i] -= k->a[r * n + i] * k->b[r];
    for (size_t i = n; i-- > 0;) {
        double t = k->b[i];
        k->b[i] = k->b[k->turn[i]];
        k->b[k->turn[i]] = t;
    }
}

/* What the rows of the kernel are held at, less what columns outside of the basis use. */
static void set_held(struct kernel *k, Clp_Simplex *model, const double *held,
                     double *values)
{
    const CoinBigIndex *start = Clp_getVectorStarts(model);
    const int *length = Clp_getVectorLengths(model), *index = Clp_getIndices(model);
    const double *value = Clp_getElements(model);
    int columns = Clp_numberColumns(model);
    for (int i = 0; i < k->n; i++)
        k->b[i] = held[columns + k->row[i]];
    for (int j = 0; j < columns; j++) {
        if (Clp_getColumnStatus(model, j) == BASIC)
            continue;
        values[j] = held[j];
        for (int e = 0; e < length[j] && values[j] != 0; e++)
            if (k->place[index[start[j] + e]] >= 0)
                k->b[k->place[index[start[j] + e]]] -= value[start[j] + e] * values[j];
    }
}

static void solve_kernel(struct kernel *k, Clp_Simplex *model, const double *held,
                         const double *cost, double *values, double *duals)
{
    set_held(k, model, held, values);
    kernel_solve(k);
    for (int c = 0; c < k->n; c++)
        values[k->column[c]] = k->b[c];
    for (int c = 0; c < k->n; c++)
        k->b[c] = cost[k->column[c]];
    kernel_solve_transposed(k);
    memset(duals, 0, (size_t)Clp_numberRows(model) * sizeof *duals);
    for (int i = 0; i < k->n; i++)
        duals[k->row[i]] = k->b[i];
}

int espi_basis_solve(Clp_Simplex *model, const double *held, const double *cost,
                     double *values, double *duals)
{
    struct kernel k;
    int found = kernel_init(&k, model);
    if (found > 0) {
        kernel_fill(&k, model);
        found = kernel_factor(&k);
    }
    if (found > 0)
        solve_kernel(&k, model, held, cost, values, duals);
    espi_free(k.row);
    espi_free(k.a);
    return found;
}
