#include "solve/tree_mix_lp.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

/* A row a group, and one for each resource that may be used. */
static int add_rows(struct espi_tree_mix_lp *mx, int n_rows, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *lower = ESPI_ARENA_ZNEW(arena, double, n_rows);
    double *upper = ESPI_ARENA_NEW(arena, double, n_rows);
    double *value = ESPI_ARENA_NEW(arena, double, n_rows);
    int *start = ESPI_ARENA_ZNEW(arena, int, (size_t)n_rows + 1);
    int *index = ESPI_ARENA_ZNEW(arena, int, n_rows);
    if (!lower || !upper || !value || !start || !index)
        return -1;
    static const double one = 1; /* code: a factor of the program */
    int empty[2] = {0, 0};
    struct espi_lp_vectors period = {.count = 1, .cost = &one, .start = empty};
    espi_lp_add_columns(mx->lp, &period);
    for (int i = 0; i < n_rows; i++) {
        int is_group = i < mx->n_groups;
        upper[i] = is_group ? 1.0 / mx->n_groups : INFINITY;
        lower[i] = is_group ? upper[i] : 0;
        value[i] = 1;
        start[i + 1] = start[i] + !is_group;
    }
    struct espi_lp_vectors rows = {.count = n_rows,
                                   .lower = lower,
                                   .upper = upper,
                                   .start = start,
                                   .index = index,
                                   .value = value};
    espi_lp_add_rows(mx->lp, &rows);
    espi_arena_release(arena, mark);
    return 0;
}

esp_status espi_tree_mix_lp_init_groups(struct espi_tree_mix_lp *mx, int n_groups,
                                        int n_resources, const unsigned char *used,
                                        double unit_s, struct espi_arena *arena,
                                        struct esp_err *err)
{
    int n_rows = n_groups;
    *mx = (struct espi_tree_mix_lp){
        .n_groups = n_groups, .n_resources = n_resources, .unit_s = unit_s};
    mx->group_worth_s = ESPI_ARENA_ZNEW(arena, double, n_groups);
    mx->row = ESPI_ARENA_ZNEW(arena, int, n_resources);
    mx->price = ESPI_ARENA_ZNEW(arena, double, n_resources);
    if (!mx->group_worth_s || !mx->row || !mx->price)
        return espi_err_nomem(err);
    for (int r = 0; r < n_resources; r++)
        if (!used || used[r])
            mx->row[r] = n_rows++;
    esp_status st = espi_lp_create(&mx->lp, err);
    if (!st)
        espi_lp_round(mx->lp);
    if (!st && add_rows(mx, n_rows, arena))
        st = espi_err_nomem(err);
    if (st)
        espi_tree_mix_lp_free(mx);
    return st;
}

esp_status espi_tree_mix_lp_init(struct espi_tree_mix_lp *mx, int n_resources,
                                 const unsigned char *used, double unit_s,
                                 struct espi_arena *arena, struct esp_err *err)
{
    return espi_tree_mix_lp_init_groups(mx, 1, n_resources, used, unit_s, arena, err);
}

void espi_tree_mix_lp_free(struct espi_tree_mix_lp *mx)
{
    espi_lp_free(mx->lp);
    espi_free(mx->waiting.start);
    espi_free(mx->waiting.index);
    espi_free(mx->waiting.value);
    mx->waiting = (struct espi_tree_mix_columns){.n = 0};
    mx->lp = NULL;
}

/* ---- columns: the program copies all it has whenever some join, so that they wait for
 * one another until it is needed ---- */

static int grow_waiting(struct espi_tree_mix_columns *w, size_t entries)
{
    void *start = w->start, *index = w->index, *value = w->value;
    int bad = espi_grow(&start, &w->start_room, w->n + 2, sizeof *w->start);
    w->start = start;
    bad = bad || espi_grow(&index, &w->index_room, entries, sizeof *w->index);
    w->index = index;
    bad = bad || espi_grow(&value, &w->value_room, entries, sizeof *w->value);
    w->value = value;
    return bad ? -1 : 0;
}

static void add_waiting(struct espi_tree_mix_lp *mx)
{
    struct espi_tree_mix_columns *w = &mx->waiting;
    struct espi_lp_vectors columns = {
        .count = (int)w->n, .start = w->start, .index = w->index, .value = w->value};
    if (w->n > 0)
        espi_lp_add_columns(mx->lp, &columns);
    w->n = 0;
}

void espi_tree_mix_lp_add(struct espi_tree_mix_lp *mx, const double *load_s)
{
    espi_tree_mix_lp_add_to(mx, 0, load_s);
}

void espi_tree_mix_lp_add_to(struct espi_tree_mix_lp *mx, int group, const double *load_s)
{
    struct espi_tree_mix_columns *w = &mx->waiting;
    int at = w->n > 0 ? w->start[w->n] : 0;
    if (at > ESPI_WAITING_MOST) { /* positions are of 32 bits */
        add_waiting(mx);
        at = 0;
    }
    mx->n_columns++;
    mx->starved |= grow_waiting(w, (size_t)at + (size_t)mx->n_resources + 1) != 0;
    if (mx->starved)
        return;
    w->start[w->n] = at;
    w->index[at] = group;
    w->value[at++] = 1;
    for (int r = 0; r < mx->n_resources; r++)
        if (load_s[r] > 0) {
            w->index[at] = mx->row[r];
            w->value[at++] = -load_s[r] / mx->unit_s;
        }
    w->start[++w->n] = at;
}

void espi_tree_mix_lp_allow(struct espi_tree_mix_lp *mx, int column, int allowed)
{
    add_waiting(mx);
    espi_lp_set_upper(mx->lp, column + 1, allowed ? INFINITY : 0);
}

esp_status espi_tree_mix_lp_solve(struct espi_tree_mix_lp *mx, espi_lp_method method,
                                  struct espi_solve_budget *budget, struct esp_err *err)
{
    espi_lp_method other = method == ESPI_LP_DUAL ? ESPI_LP_PRIMAL : ESPI_LP_DUAL;
    struct espi_solve_budget endless = espi_solve_budget_endless();
    struct espi_solve_budget *p = budget ? budget : &endless;
    add_waiting(mx);
    if (mx->starved)
        return espi_err_nomem(err);
    espi_lp_result result = espi_solve_budget_solve(p, mx->lp, method);
    if (result != ESPI_LP_OPTIMAL && result != ESPI_LP_STOPPED)
        result = espi_solve_budget_solve(p, mx->lp, other);
    if (result != ESPI_LP_OPTIMAL)
        return espi_lp_error(result, "the program of the shares was not solved", err);
    const double *dual = espi_lp_duals(mx->lp);
    double sum = 0;
    for (int r = 0; r < mx->n_resources; r++) {
        mx->price[r] = mx->row[r] ? fmax(dual[mx->row[r]], 0) : 0;
        sum += mx->price[r];
    }
    for (int r = 0; r < mx->n_resources && sum > 0; r++)
        mx->price[r] /= sum;
    for (int i = 0; i < mx->n_groups; i++)
        mx->group_worth_s[i] = dual[i] * mx->unit_s;
    mx->worth_s = mx->group_worth_s[0];
    mx->period_s = espi_lp_values(mx->lp)[0] * mx->unit_s;
    mx->share = espi_lp_values(mx->lp) + 1;
    return ESP_OK;
}

double espi_tree_mix_lp_cost_s(const struct espi_tree_mix_lp *mx, const double *load_s)
{
    double cost_s = 0;
    for (int r = 0; r < mx->n_resources; r++)
        cost_s += mx->price[r] * load_s[r];
    return cost_s;
}

/* ---- given columns ---- */

/* The weights as they are after rounding: not negative, sum 1; and what they give. */
static double settle_weights(int n, int n_resources, const double *const *load_s,
                             const double *share, double *weight)
{
    double sum = 0, most = 0;
    for (int i = 0; i < n; i++) {
        weight[i] = share[i] > 1e-9 ? share[i] : 0;
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

esp_status espi_tree_mix_weights(int n, int n_resources, const double *const *load_s,
                                 struct espi_arena *arena, double *weight,
                                 double *period_s, struct esp_err *err)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    unsigned char *used = ESPI_ARENA_ZNEW(arena, unsigned char, n_resources);
    struct espi_tree_mix_lp mx;
    double most_s = 0;
    if (!used)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n_resources; k++) {
            used[k] |= load_s[i][k] > 0;
            most_s = fmax(most_s, load_s[i][k]);
        }
    esp_status st = espi_tree_mix_lp_init(&mx, n_resources, used, most_s, arena, err);
    if (st)
        return st;
    for (int i = 0; i < n; i++)
        espi_tree_mix_lp_add(&mx, load_s[i]);
    st = espi_tree_mix_lp_solve(&mx, ESPI_LP_DUAL, NULL, err);
    if (!st)
        *period_s = settle_weights(n, n_resources, load_s, mx.share, weight);
    espi_tree_mix_lp_free(&mx);
    espi_arena_release(arena, mark);
    return st;
}

/* Loads of one slice along each tree. */
static double **tree_loads(const struct espi_view *v,
                           const struct espi_packing_tree *tree, int count,
                           struct espi_arena *a)
{
    const struct espi_resources *r = &v->links;
    double **load = ESPI_ARENA_NEW(a, double *, count);
    for (int i = 0; i < count && load; i++) {
        load[i] = ESPI_ARENA_ZNEW(a, double, r->n);
        if (!load[i])
            return NULL;
        for (int k = tree[i].hop_start[0]; k < tree[i].hop_start[v->g.n]; k++)
            espi_resources_add(r, tree[i].hops[k], 1, load[i]);
    }
    return load;
}

esp_status espi_tree_mix_rates(const struct espi_view *v, struct espi_packing_tree *tree,
                               int count, struct espi_arena *arena, double *sum,
                               struct esp_err *err)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double period_s = 0, *weight = ESPI_ARENA_NEW(arena, double, count);
    double **load_s = tree_loads(v, tree, count, arena);
    if (!load_s || !weight)
        return espi_err_nomem(err);
    esp_status st = espi_tree_mix_weights(
        count, v->links.n, (const double *const *)load_s, arena, weight, &period_s, err);
    for (int i = 0; i < count && !st; i++)
        tree[i].rate = weight[i] / period_s;
    if (!st)
        *sum = 1 / period_s;
    espi_arena_release(arena, mark);
    return st;
}
