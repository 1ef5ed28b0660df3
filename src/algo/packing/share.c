#include "algo/packing/share.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "lp/lp.h"

/* Rows of the program: that the weights sum to 1, and for each resource that is loaded at
 * all, that the period covers its load. Column 0 is the period, in units of `unit_s`. */
struct rows {
    int count, entries;
    int *start, *index;
    double *value, *lower, *upper;
};

static int rows_init(struct rows *r, int n, int n_resources, struct espi_arena *a)
{
    size_t most = (size_t)n_resources + 1, entries = most * ((size_t)n + 1);
    *r = (struct rows){0};
    r->start = ESPI_ARENA_NEW(a, int, most + 1);
    r->lower = ESPI_ARENA_NEW(a, double, most);
    r->upper = ESPI_ARENA_NEW(a, double, most);
    r->index = ESPI_ARENA_NEW(a, int, entries);
    r->value = ESPI_ARENA_NEW(a, double, entries);
    return r->start && r->lower && r->upper && r->index && r->value ? 0 : -1;
}

static void add_entry(struct rows *r, int column, double value)
{
    r->index[r->entries] = column;
    r->value[r->entries++] = value;
}

static void end_row(struct rows *r, double lower, double upper)
{
    r->lower[r->count] = lower;
    r->upper[r->count] = upper;
    r->start[++r->count] = r->entries;
}

static void fill_rows(struct rows *r, int n, int n_resources, const double *const *load_s,
                      double unit_s)
{
    r->start[0] = 0;
    for (int i = 0; i < n; i++)
        add_entry(r, i + 1, 1);
    end_row(r, 1, 1);
    for (int k = 0; k < n_resources; k++) {
        int first = r->entries;
        for (int i = 0; i < n; i++)
            if (load_s[i][k] > 0)
                add_entry(r, i + 1, -load_s[i][k] / unit_s);
        if (r->entries == first)
            continue;
        add_entry(r, 0, 1);
        end_row(r, 0, INFINITY);
    }
}

static double largest(int n, int n_resources, const double *const *load_s)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n_resources; k++)
            most = fmax(most, load_s[i][k]);
    return most;
}

/* The weights as they are after rounding: not negative, sum 1; and what they give. */
static double settle(int n, int n_resources, const double *const *load_s,
                     const double *value, double *weight)
{
    double sum = 0, most = 0;
    for (int i = 0; i < n; i++) {
        weight[i] = value[i + 1] > 1e-9 ? value[i + 1] : 0;
        sum += weight[i];
    }
    for (int i = 0; i < n; i++)
        weight[i] /= sum;
    for (int k = 0; k < n_resources; k++) {
        double load = 0;
        for (int i = 0; i < n; i++)
            load += weight[i] * load_s[i][k];
        most = fmax(most, load);
    }
    return most;
}

static esp_status solve(struct espi_lp *lp, int n, const struct rows *r,
                        struct esp_err *err)
{
    static const double costs[1] = {1};
    int empty[2] = {0, 0};
    struct espi_lp_vectors period = {.count = 1, .cost = costs, .start = empty};
    struct espi_lp_vectors one = {.count = 1, .start = empty};
    struct espi_lp_vectors rows = {.count = r->count,
                                   .lower = r->lower,
                                   .upper = r->upper,
                                   .start = r->start,
                                   .index = r->index,
                                   .value = r->value};
    espi_lp_add_columns(lp, &period);
    for (int i = 0; i < n; i++)
        espi_lp_add_columns(lp, &one);
    espi_lp_add_rows(lp, &rows);
    if (espi_lp_solve(lp, ESPI_LP_DUAL) == ESPI_LP_OPTIMAL)
        return ESP_OK;
    return espi_err(err, ESP_EINTERNAL, "the program of the weights was not solved");
}

esp_status espi_share(int n, int n_resources, const double *const *load_s,
                      struct espi_arena *arena, double *weight, double *period_s,
                      struct esp_err *err)
{
    struct espi_lp *lp = NULL;
    struct rows rows;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    esp_status st = espi_lp_create(&lp, err);
    if (st)
        return st;
    if (rows_init(&rows, n, n_resources, arena)) {
        espi_lp_free(lp);
        return espi_err_nomem(err);
    }
    fill_rows(&rows, n, n_resources, load_s, largest(n, n_resources, load_s));
    st = solve(lp, n, &rows, err);
    if (!st)
        *period_s = settle(n, n_resources, load_s, espi_lp_values(lp), weight);
    espi_lp_free(lp);
    espi_arena_release(arena, mark);
    return st;
}
