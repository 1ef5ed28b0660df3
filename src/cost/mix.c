/* A linear program with one column a tree and one row a resource. */
#include "cost/mix.h"

#include <math.h>
#include <string.h>

#include "lp/lp.h"

/* Loads of one slice along each tree: row i is tree i. */
static double *tree_loads(const struct espi_view *v, const struct espi_packing_tree *tree,
                          int count, struct espi_arena *a)
{
    const struct espi_resources *r = &v->links;
    double *load = ESPI_ARENA_ZNEW(a, double, (size_t)count *(size_t)r->n);
    for (int i = 0; i < count && load; i++)
        for (int k = tree[i].hop_start[0]; k < tree[i].hop_start[v->g.n]; k++) {
            int e = tree[i].hops[k];
            for (int q = r->start[e]; q < r->start[e + 1]; q++)
                load[(size_t)i * (size_t)r->n + (size_t)r->resource[q]] += r->time_s[q];
        }
    return load;
}

/* Rows of resources that at least one tree uses, loads in units of the worst. */
static int build(struct espi_lp *lp, const double *load, int count, int n_res,
                 const double *worst, struct espi_arena *a)
{
    size_t rows = 0, entries = 0, width = (size_t)n_res;
    double *cost = ESPI_ARENA_NEW(a, double, count);
    int *none = ESPI_ARENA_ZNEW(a, int, (size_t)count + 1);
    double *upper = ESPI_ARENA_NEW(a, double, n_res);
    int *start = ESPI_ARENA_ZNEW(a, int, width + 1);
    int *index = ESPI_ARENA_NEW(a, int, width *(size_t)count);
    double *value = ESPI_ARENA_NEW(a, double, width *(size_t)count);
    if (!cost || !none || !upper || !start || !index || !value)
        return -1;
    /* a column is scaled by the worst load of its tree */
    for (int i = 0; i < count; i++)
        cost[i] = -worst[0] / worst[i];
    for (size_t r = 0; r < width; r++) {
        for (int i = 0; i < count; i++) {
            double x = load[(size_t)i * width + r] / worst[i];
            if (x > 1e-12) {
                index[entries] = i;
                value[entries++] = x;
            }
        }
        if ((size_t)start[rows] < entries) {
            upper[rows] = 1;
            start[++rows] = (int)entries;
        }
    }
    struct espi_lp_vectors columns = {
        .count = count, .cost = cost, .start = none, .index = none, .value = cost};
    struct espi_lp_vectors rv = {.count = (int)rows,
                                 .upper = upper,
                                 .start = start,
                                 .index = index,
                                 .value = value};
    espi_lp_add_columns(lp, &columns);
    espi_lp_add_rows(lp, &rv);
    return 0;
}

/* Rates from the program, scaled so that the busiest resource is just busy. */
static double read_rates(const struct espi_lp *lp, const double *load, int n_res,
                         const double *worst, struct espi_packing_tree *tree, int count)
{
    const double *x = espi_lp_values(lp);
    double busiest = 0, sum = 0;
    for (int i = 0; i < count; i++)
        tree[i].rate = fmax(x[i], 0) / worst[i];
    for (int r = 0; r < n_res; r++) {
        double used = 0;
        for (int i = 0; i < count; i++)
            used += tree[i].rate * load[(size_t)i * (size_t)n_res + (size_t)r];
        busiest = fmax(busiest, used);
    }
    for (int i = 0; i < count; i++) {
        tree[i].rate /= busiest;
        sum += tree[i].rate;
    }
    return sum;
}

double espi_mix_rates(const struct espi_view *v, struct espi_packing_tree *tree,
                      int count, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_lp *lp = NULL;
    int n_res = v->links.n;
    double sum = -1, *load = tree_loads(v, tree, count, arena);
    double *worst = ESPI_ARENA_ZNEW(arena, double, count);
    if (!load || !worst || espi_lp_create(&lp, NULL))
        return -1;
    for (int i = 0; i < count; i++)
        for (int r = 0; r < n_res; r++)
            worst[i] = fmax(worst[i], load[(size_t)i * (size_t)n_res + (size_t)r]);
    if (!build(lp, load, count, n_res, worst, arena) &&
        espi_lp_solve(lp, ESPI_LP_PRIMAL) == ESPI_LP_OPTIMAL)
        sum = read_rates(lp, load, n_res, worst, tree, count);
    espi_lp_free(lp);
    espi_arena_release(arena, mark);
    return sum;
}
