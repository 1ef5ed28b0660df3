/* Few trees for a multicast: the best mix of at most k.
 *
 * From the best single tree to k, one more at a time: the column that helps most joins,
 * and then each tree in turn is taken out and the best one that can be found put in its
 * place, as long as that helps. Candidates are the columns that are cheapest at the
 * prices of the mix without the tree, and trees made for these prices and for others,
 * under which a resource is the dearer the busier it is.
 *
 * Reference: none, beyond the papers. Model: any, by its resources. Guarantee: one more
 * tree is never worse, and one tree never worse than any single one that was found
 * before. Complexity: O(k^2 * candidates) programs of k columns. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/portable_math.h"
#include "solve/multicast_impl.h"
#include "solve/tuning.h"

static const double SHARPNESS[] = {ESPI_FEW_BLUNT, ESPI_FEW_SHARP};

struct few {
    struct espi_mc *mc;
    int n;
    int *tree; /* columns in the mix */
    double period_s;
    double *base_s, *price; /* scratch, by resource */
    int n_candidates;
    int candidate[ESPI_FEW_CANDIDATES];
};

/* Solves for the columns of tree[0..n) but one, and perhaps another. */
static esp_status mix_without(struct few *f, int without, int with, struct esp_err *err)
{
    struct espi_tree_mix_lp *mx = &f->mc->mx;
    for (int i = 0; i < f->n; i++)
        espi_tree_mix_lp_allow(mx, f->tree[i], i != without);
    if (with >= 0)
        espi_tree_mix_lp_allow(mx, with, 1);
    esp_status st = espi_tree_mix_lp_solve(mx, ESPI_LP_DUAL, NULL, err);
    for (int i = 0; i < f->n; i++)
        espi_tree_mix_lp_allow(mx, f->tree[i], 0);
    if (with >= 0)
        espi_tree_mix_lp_allow(mx, with, 0);
    return st;
}

static int is_in(const int *list, int n, int what)
{
    for (int i = 0; i < n; i++)
        if (list[i] == what)
            return 1;
    return 0;
}

static void add_candidate(struct few *f, int column)
{
    if (f->n_candidates < ESPI_FEW_CANDIDATES && !is_in(f->tree, f->n, column) &&
        !is_in(f->candidate, f->n_candidates, column))
        f->candidate[f->n_candidates++] = column;
}

/* The columns that cost least at the prices. */
static void add_cheapest(struct few *f)
{
    struct espi_mc *mc = f->mc;
    int best[ESPI_FEW_CHEAPEST], n = 0;
    double cost_s[ESPI_FEW_CHEAPEST + 1];
    for (size_t c = 0; c < mc->n_columns; c++) {
        if (is_in(f->tree, f->n, (int)c))
            continue;
        espi_mc_loads(mc, &mc->columns[c].tree, mc->load);
        double s = 0;
        for (int r = 0; r < mc->net->res.n; r++)
            s += f->price[r] * mc->load[r];
        int at = n < ESPI_FEW_CHEAPEST ? n++ : ESPI_FEW_CHEAPEST;
        for (; at > 0 && s < cost_s[at - 1]; at--)
            if (at < ESPI_FEW_CHEAPEST) {
                best[at] = best[at - 1];
                cost_s[at] = cost_s[at - 1];
            }
        if (at < ESPI_FEW_CHEAPEST) {
            best[at] = (int)c;
            cost_s[at] = s;
        }
    }
    for (int i = 0; i < n; i++)
        add_candidate(f, best[i]);
}

/* Trees made for the prices. */
static int add_made(struct few *f)
{
    struct espi_mc *mc = f->mc;
    for (int way = 0; way < 2; way++) {
        int at;
        espi_mc_set_costs(mc, f->price);
        double s = way         ? espi_steiner_prune(&mc->s, mc->cost)
                   : mc->exact ? espi_steiner_exact(&mc->s, mc->cost)
                               : espi_steiner_grow(&mc->s, mc->cost);
        if (!isfinite(s))
            continue;
        int got = espi_mc_keep(mc, &at);
        if (got < 0)
            return -1;
        if (got)
            espi_tree_mix_lp_allow(&mc->mx, at, 0);
        add_candidate(f, at);
    }
    return 0;
}

/* What the columns in the mix load together, all but one. */
static void sum_loads(struct few *f, int without)
{
    struct espi_mc *mc = f->mc;
    int n = mc->net->res.n;
    memset(f->base_s, 0, (size_t)n * sizeof *f->base_s);
    for (int i = 0; i < f->n; i++) {
        double share = mc->mx.share[f->tree[i]];
        if (i == without || !(share > 0))
            continue;
        espi_mc_loads(mc, &mc->columns[f->tree[i]].tree, mc->load);
        for (int r = 0; r < n; r++)
            f->base_s[r] += share * mc->load[r];
    }
}

static void price_by_load(struct few *f, double sharpness)
{
    int n = f->mc->net->res.n;
    double most_s = 0, sum = 0;
    for (int r = 0; r < n; r++)
        most_s = fmax(most_s, f->base_s[r]);
    for (int r = 0; r < n; r++) {
        f->price[r] = f->mc->mx.row[r] && most_s > 0
                          ? espi_exp(sharpness * (f->base_s[r] / most_s - 1))
                          : 1;
        sum += f->price[r];
    }
    for (int r = 0; r < n; r++)
        f->price[r] /= sum;
}

/* Candidates to join the columns of the mix but one (-1: all), which is solved here. */
static esp_status find_candidates(struct few *f, int without, struct esp_err *err)
{
    size_t n = (size_t)f->mc->net->res.n;
    int only = f->n - (without >= 0) == 0;
    f->n_candidates = 0;
    esp_status st = mix_without(f, only ? -1 : without, -1, err);
    if (st)
        return st;
    memcpy(f->price, f->mc->mx.price, n * sizeof *f->price);
    sum_loads(f, only ? -1 : without);
    add_cheapest(f);
    if (add_made(f))
        return espi_err_nomem(err);
    for (size_t i = 0; i < sizeof SHARPNESS / sizeof *SHARPNESS; i++) {
        price_by_load(f, SHARPNESS[i]);
        if (add_made(f))
            return espi_err_nomem(err);
    }
    return ESP_OK;
}

/* The candidate that is best in place of a tree (-1: besides all), if it helps. */
static esp_status put_best(struct few *f, int place, int *helped, struct esp_err *err)
{
    int best = -1;
    double least_s = f->period_s * (1 - ESPI_PERIOD_SAME);
    esp_status st = find_candidates(f, place, err);
    for (int i = 0; i < f->n_candidates && !st; i++) {
        st = mix_without(f, place, f->candidate[i], err);
        if (!st && f->mc->mx.period_s < least_s) {
            least_s = f->mc->mx.period_s;
            best = f->candidate[i];
        }
    }
    *helped = !st && best >= 0;
    if (!*helped)
        return st;
    f->tree[place < 0 ? f->n++ : place] = best;
    f->period_s = least_s;
    return ESP_OK;
}

static esp_status improve_trees(struct few *f, struct esp_err *err)
{
    esp_status st = ESP_OK;
    int any = 1;
    for (int pass = 0; pass < ESPI_FEW_PASSES && any && !st; pass++) {
        any = 0;
        for (int i = 0; i < f->n && !st; i++) {
            int helped = 0;
            st = put_best(f, i, &helped, err);
            any |= helped;
        }
    }
    return st;
}

/* The best single column. */
static void take_one(struct few *f)
{
    struct espi_mc *mc = f->mc;
    f->n = 1;
    for (size_t c = 0; c < mc->n_columns; c++) {
        double most_s = 0;
        espi_mc_loads(mc, &mc->columns[c].tree, mc->load);
        for (int r = 0; r < mc->net->res.n; r++)
            most_s = fmax(most_s, mc->load[r]);
        if (most_s < f->period_s) {
            f->period_s = most_s;
            f->tree[0] = (int)c;
        }
    }
}

/* How many columns have a share; all others are forbidden. */
static int count_used(struct espi_mc *mc)
{
    int used = 0;
    for (size_t c = 0; c < mc->n_columns; c++)
        used += mc->mx.share[c] > 1e-9;
    return used;
}

esp_status espi_mc_few(struct espi_mc *mc, int max_trees, struct esp_err *err)
{
    struct few f = {.mc = mc, .period_s = INFINITY};
    double goal_s = mc->mx.period_s * (1 + ESPI_PERIOD_SAME);
    if (count_used(mc) <= max_trees)
        return ESP_OK;
    f.tree = ESPI_ARENA_NEW(mc->arena, int, max_trees);
    f.base_s = ESPI_ARENA_NEW(mc->arena, double, mc->net->res.n);
    f.price = ESPI_ARENA_NEW(mc->arena, double, mc->net->res.n);
    if (!f.tree || !f.base_s || !f.price)
        return espi_err_nomem(err);
    for (size_t c = 0; c < mc->n_columns; c++)
        espi_tree_mix_lp_allow(&mc->mx, (int)c, 0);
    take_one(&f);
    esp_status st = improve_trees(&f, err);
    int helped = 1;
    while (!st && helped && f.n < max_trees && f.period_s > goal_s) {
        st = put_best(&f, -1, &helped, err);
        if (!st && helped)
            st = improve_trees(&f, err);
    }
    return st ? st : mix_without(&f, -1, -1, err);
}
