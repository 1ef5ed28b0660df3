/* Column generation: the restricted master program packs the trees found so far, its
 * prices ask for the next ones.
 *
 * Reference: G. Dantzig, P. Wolfe, Decomposition principle for linear programs, 1960;
 * P. Wentges, Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming,
 * 1997 (prices are smoothed toward the best ones). Resources enter as rows when some mix
 * over-uses them. Several trees enter a solve: at smoothed prices first, then nearer and
 * nearer to the master's own, which alone can tell that nothing is left to gain.
 * Guarantee: ends with a mix and prices whose bounds differ by at most the gap asked for,
 * or when no tree improves the master by more than rounding. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "lp/lp.h"
#include "solve/arcs.h"
#include "solve/packing_impl.h"
#include "solve/tuning.h"

static const double NEARLY = 1e-9;   /* rounding: part of other prices; nothing is free */
static const double NOTHING = 1e-12; /* rounding: a load below is none */

struct master {
    struct espi_pk *k;
    struct espi_arena *arena;
    struct espi_lp *lp; /* column j is tree j; minimises minus the sum of rates */
    double unit_s;      /* loads are in this unit */
    int n_rows;
    int *row_res;  /* row -> resource */
    int *res_row;  /* resource -> row or -1 */
    double *dual;  /* prices of resources, sum 1 */
    double dual_s; /* the period that they claim */
    double *mixed, *load, *value;
    int *index, *fresh;
    int stopped; /* given up, out of time or because of the numbers */
};

static int master_init(struct master *ma)
{
    size_t n = (size_t)ma->k->pr.n_res;
    struct espi_arena *a = ma->arena;
    ma->row_res = ESPI_ARENA_NEW(a, int, n);
    ma->res_row = ESPI_ARENA_NEW(a, int, n);
    ma->dual = ESPI_ARENA_NEW(a, double, n);
    ma->mixed = ESPI_ARENA_NEW(a, double, n);
    ma->load = ESPI_ARENA_NEW(a, double, n);
    ma->value = ESPI_ARENA_NEW(a, double, n);
    ma->index = ESPI_ARENA_NEW(a, int, n);
    ma->fresh = ESPI_ARENA_NEW(a, int, n);
    if (!ma->row_res || !ma->res_row || !ma->dual || !ma->mixed || !ma->load ||
        !ma->value || !ma->index || !ma->fresh)
        return -1;
    for (size_t r = 0; r < n; r++)
        ma->res_row[r] = -1;
    return 0;
}

static void tree_loads(struct master *ma, const struct espi_pk_tree *t)
{
    memset(ma->load, 0, (size_t)ma->k->pr.n_res * sizeof *ma->load);
    espi_pk_add_loads(&ma->k->pr, t, t->scale / ma->unit_s, ma->load);
}

/* Columns are scaled so that no load is above 1: times may differ by many orders. The
 * resource that the tree loads most may not be a row yet: the bound keeps the program
 * finite, and is high enough for the row to be missed. */
static void add_column(struct master *ma, struct espi_pk_tree *t)
{
    int start[2] = {0, 0};
    double most = 0;
    t->scale = 1;
    tree_loads(ma, t);
    for (int r = 0; r < ma->k->pr.n_res; r++)
        most = fmax(most, ma->load[r]);
    t->scale = 1 / fmax(most, 1);
    double cost = -t->scale, upper = 2 * fmax(most, 1) / most;
    for (int r = 0; r < ma->k->pr.n_res; r++)
        ma->load[r] *= t->scale;
    for (int i = 0; i < ma->n_rows; i++)
        if (ma->load[ma->row_res[i]] > NOTHING) {
            ma->index[start[1]] = i;
            ma->value[start[1]++] = ma->load[ma->row_res[i]];
        }
    struct espi_lp_vectors c = {.count = 1,
                                .upper = &upper,
                                .cost = &cost,
                                .start = start,
                                .index = ma->index,
                                .value = ma->value};
    espi_lp_add_columns(ma->lp, &c);
}

/* Adds rows for the `count` resources in ma->fresh: room for every tree in every row,
 * then the gaps are closed. */
static int add_rows(struct master *ma, int count)
{
    size_t trees = (size_t)espi_lp_columns(ma->lp), at = 0;
    struct espi_arena_mark mark = espi_arena_mark(ma->arena);
    int *start = ESPI_ARENA_ZNEW(ma->arena, int, (size_t)count + 1);
    double *upper = ESPI_ARENA_NEW(ma->arena, double, count);
    int *index = ESPI_ARENA_NEW(ma->arena, int, (size_t)count *trees);
    double *value = ESPI_ARENA_NEW(ma->arena, double, (size_t)count *trees);
    if (!start || !upper || !index || !value)
        return -1;
    for (size_t j = 0; j < trees; j++) {
        tree_loads(ma, ma->k->tree[j]);
        for (int i = 0; i < count; i++)
            if (ma->load[ma->fresh[i]] > NOTHING) {
                size_t to = (size_t)i * trees + (size_t)start[i + 1]++;
                index[to] = (int)j;
                value[to] = ma->load[ma->fresh[i]];
            }
    }
    for (int i = 0; i < count; i++) {
        size_t length = (size_t)start[i + 1], from = (size_t)i * trees;
        memmove(index + at, index + from, length * sizeof *index);
        memmove(value + at, value + from, length * sizeof *value);
        at += length;
        start[i + 1] = (int)at;
        upper[i] = 1;
        ma->res_row[ma->fresh[i]] = ma->n_rows;
        ma->row_res[ma->n_rows++] = ma->fresh[i];
    }
    struct espi_lp_vectors rows = {
        .count = count, .upper = upper, .start = start, .index = index, .value = value};
    espi_lp_add_rows(ma->lp, &rows);
    espi_arena_release(ma->arena, mark);
    return 0;
}

/* The trees with the largest shares and the resources they load most. */
static int master_start(struct master *ma)
{
    struct espi_pk *k = ma->k;
    int count = 0;
    espi_pk_sort(k);
    while (k->n_trees > ESPI_CG_START_TREES)
        espi_pk_give_back(k, k->tree[--k->n_trees]);
    espi_pk_measure(k);
    ma->unit_s = k->upper_s;
    for (int r = 0; r < k->pr.n_res; r++)
        if (k->load[r] > ESPI_CG_BUSY * k->upper_s)
            ma->fresh[count++] = r;
    for (size_t j = 0; j < k->n_trees; j++)
        add_column(ma, k->tree[j]);
    return add_rows(ma, count);
}

/* The mix of the last solve, if it is the best so far; k->work gets its loads. */
static void read_mix(struct master *ma)
{
    struct espi_pk *k = ma->k;
    const double *x = espi_lp_values(ma->lp);
    double sum = 0, most = 0;
    memset(k->work, 0, (size_t)k->pr.n_res * sizeof *k->work);
    for (size_t j = 0; j < k->n_trees; j++)
        if (x[j] > 0) {
            double rate = x[j] * k->tree[j]->scale;
            sum += rate;
            espi_pk_add_loads(&k->pr, k->tree[j], rate, k->work);
        }
    for (int r = 0; r < k->pr.n_res; r++)
        most = fmax(most, k->work[r]);
    if (!(most / sum < k->upper_s))
        return;
    k->upper_s = most / sum;
    for (size_t j = 0; j < k->n_trees; j++)
        k->tree[j]->x = x[j] > 0 ? x[j] * k->tree[j]->scale / sum : 0;
}

static void read_prices(struct master *ma)
{
    const double *dual = espi_lp_duals(ma->lp);
    double sum = 0;
    memset(ma->dual, 0, (size_t)ma->k->pr.n_res * sizeof *ma->dual);
    for (int i = 0; i < ma->n_rows; i++)
        sum += fmax(-dual[i], 0);
    for (int i = 0; i < ma->n_rows; i++)
        ma->dual[ma->row_res[i]] = fmax(-dual[i], 0) / sum;
    ma->dual_s = ma->unit_s / sum;
}

static espi_lp_result solve_master(struct master *ma, espi_lp_method method)
{
    ma->k->lp_solves++;
    return espi_solve_budget_solve(&ma->k->budget, ma->lp, method);
}

/* Solves, adding the rows of over-used resources, until none is; -1 when out of memory.
 * When the program is given up, for time or numbers, the best mix so far stands. */
static int master_solve(struct master *ma, espi_lp_method method)
{
    struct espi_pk *k = ma->k;
    for (int count = 1; count > 0; method = ESPI_LP_DUAL) {
        espi_lp_result res = solve_master(ma, method);
        if (res != ESPI_LP_OPTIMAL && res != ESPI_LP_STOPPED)
            res = solve_master(ma, ESPI_LP_PRIMAL);
        ma->stopped = res != ESPI_LP_OPTIMAL;
        if (ma->stopped)
            return res == ESPI_LP_NO_MEMORY ? -1 : 0;
        read_mix(ma);
        count = 0;
        for (int r = 0; r < k->pr.n_res; r++)
            if (ma->res_row[r] < 0 && k->work[r] > ma->unit_s * (1 + 1e-9))
                ma->fresh[count++] = r;
        if (count && add_rows(ma, count))
            return -1;
    }
    read_prices(ma);
    return 0;
}

/* Asks for a tree at prices between the best ones (smooth = 1) and the master's. 1: it
 * came in; 0: the master has no use for it; -1: out of memory. */
static int ask_for_trees(struct master *ma, double smooth)
{
    struct espi_pk *k = ma->k;
    int n = k->pr.n_res, fresh;
    size_t at;
    double cost = 0;
    for (int r = 0; r < n; r++)
        ma->mixed[r] = smooth * k->price[r] + (1 - smooth) * ma->dual[r];
    espi_pk_price(k, ma->mixed);
    espi_pricer_loads(&k->pr, k->work2);
    for (int r = 0; r < n; r++)
        cost += ma->dual[r] * k->work2[r];
    if (cost >= ma->dual_s * (1 - 1e-10))
        return 0;
    if (espi_pk_keep(k, &at, &fresh))
        return -1;
    if (fresh)
        add_column(ma, k->tree[at]);
    return fresh;
}

/* A tree that takes a million times longer than the period somewhere is worth a millionth
 * of the objective, and the solver may leave a price at none that has to be just above
 * it: the tree then proves a bound that is far too low, though the master has it. The
 * resource that it takes longest gets the price that makes it as dear as the others. */
static void price_out(struct master *ma, double cost)
{
    int n = ma->k->pr.n_res, longest = 0;
    double sum = 0;
    for (int r = 1; r < n; r++)
        if (ma->k->work2[r] > ma->k->work2[longest])
            longest = r;
    ma->dual[longest] += (ma->dual_s - cost) / ma->k->work2[longest];
    for (int r = 0; r < n; r++)
        sum += ma->dual[r];
    for (int r = 0; r < n; r++)
        ma->dual[r] /= sum;
}

/* Known trees that the master's prices leave too cheap are priced out, at most as many as
 * there are resources. 1: one came in that was not known; 0: none; -1: out of memory. */
static int price_out_known(struct master *ma)
{
    struct espi_pk *k = ma->k;
    int fresh = 0;
    for (int i = 0; i < k->pr.n_res && !fresh && !espi_pk_closed(k); i++) {
        size_t at;
        double cost = espi_pk_price(k, ma->dual);
        if (cost >= ma->dual_s * (1 - k->gap / 2))
            break;
        espi_pricer_loads(&k->pr, k->work2);
        if (espi_pk_keep(k, &at, &fresh))
            return -1;
        if (fresh)
            add_column(ma, k->tree[at]);
        else
            price_out(ma, cost);
    }
    return fresh;
}

/* Some trees for the next solve: how many, or -1. Better bounds keep asking at the same
 * distance, as the prices that were best move. */
static int ask_several(struct master *ma)
{
    int added = 0, got = 0;
    double smooth = ESPI_CG_SMOOTH;
    for (int i = 0; i < ESPI_CG_PER_SOLVE && got >= 0; i++) {
        double lower_s = ma->k->lower_s;
        got = ask_for_trees(ma, smooth);
        added += got > 0;
        if (ma->k->lower_s <= lower_s)
            smooth = smooth > ESPI_CG_SMOOTH_LEAST ? ESPI_CG_SMOOTH_BY * smooth : NEARLY;
    }
    if (!added && got >= 0 && smooth > NEARLY) {
        got = ask_for_trees(ma, NEARLY);
        added += got > 0;
    }
    return got < 0 ? -1 : added;
}

/* Would another way be faster by now? Not while a single pass of it takes more work than
 * all that was done. */
static int is_tedious(const struct espi_pk *k, int round, double work_before)
{
    double pass = ESPI_WORK_PER_THING * espi_arcs_pass_things(k->pr.v);
    return round >= ESPI_CG_PATIENCE && k->budget.work - work_before > pass;
}

static int generate_columns(struct master *ma, int give_up)
{
    struct espi_pk *k = ma->k;
    double work = k->budget.work;
    if (master_init(ma) || master_start(ma) || master_solve(ma, ESPI_LP_DUAL))
        return -1;
    for (int round = 0; !ma->stopped && !espi_pk_closed(k); round++) {
        if (espi_pk_out_of_time(k) || (give_up && is_tedious(k, round, work)))
            break;
        int added = ask_several(ma);
        if (!added)
            added = price_out_known(ma);
        if (added < 0)
            return -1;
        if (!added)
            break;
        if (master_solve(ma, ESPI_LP_PRIMAL))
            return -1;
    }
    return 0;
}

esp_status espi_pk_generate(struct espi_pk *k, int give_up, struct espi_arena *arena,
                            struct esp_err *err)
{
    struct master ma = {.k = k, .arena = arena};
    esp_status st = espi_lp_create(&ma.lp, err);
    if (st)
        return st;
    if (generate_columns(&ma, give_up))
        st = espi_err_nomem(err);
    espi_lp_free(ma.lp);
    return st;
}
