/* Few trees: the best packing with at most k of them.
 *
 * A runtime wants few trees, the optimum may need dozens. From one tree (that of refine)
 * to k, one more at a time: the column of the optimal packing that helps most joins, and
 * the set is then improved in turn by
 *   - the best weights for the trees as they are, a small linear program, and
 *   - the best tree in place of each one, with the weights and the other trees fixed: the
 *     tabu search of refine, under the loads of the others;
 * when neither helps any more, the weights are shaken and all trees searched anew, a
 * number of times. The set of k - 1 trees is where k begins, so that more trees are never
 * worse.
 *
 * Reference: none, beyond the papers. Model: any.
 * Guarantee: no worse than k - 1 trees, and than the single tree of refine.
 * Complexity: O(k^2) tabu searches of O(n) weighed arcs, and as many programs of k
 * columns. */
#include "algo/many_trees/k_trees.h"

#include <math.h>
#include <string.h>

#include "algo/search/search.h"
#include "algo/search/starts.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "base/rng.h"
#include "solve/tree_mix_lp.h"

struct set {
    int n;
    int **tree;      /* parent arcs */
    double **load_s; /* by resource */
    double *weight;
    double period_s;
};

struct k_search {
    const struct espi_task *task;
    struct set best, trial;
    struct set columns; /* of the optimal packing */
    int shakes;
    double *base_s;
    int *tree; /* scratch */
    struct espi_rng rng;
};

static int set_init(struct set *s, const struct espi_view *v, int most,
                    struct espi_arena *a)
{
    *s = (struct set){.period_s = INFINITY};
    s->tree = ESPI_ARENA_NEW(a, int *, most);
    s->load_s = ESPI_ARENA_NEW(a, double *, most);
    s->weight = ESPI_ARENA_ZNEW(a, double, most);
    if (!s->tree || !s->load_s || !s->weight)
        return -1;
    for (int i = 0; i < most; i++) {
        s->tree[i] = ESPI_ARENA_NEW(a, int, v->g.n);
        s->load_s[i] = ESPI_ARENA_NEW(a, double, v->links.n);
        if (!s->tree[i] || !s->load_s[i])
            return -1;
    }
    return 0;
}

static void put_tree(const struct k_search *k, struct set *s, int i, const int *tree)
{
    const struct espi_view *v = k->task->view;
    memcpy(s->tree[i], tree, (size_t)v->g.n * sizeof *tree);
    espi_tree_period_s(v, tree, s->load_s[i]);
}

static void copy_set(const struct k_search *k, const struct set *from, struct set *to)
{
    const struct espi_view *v = k->task->view;
    to->n = from->n;
    to->period_s = from->period_s;
    memcpy(to->weight, from->weight, (size_t)from->n * sizeof *to->weight);
    for (int i = 0; i < from->n; i++) {
        memcpy(to->tree[i], from->tree[i], (size_t)v->g.n * sizeof **to->tree);
        memcpy(to->load_s[i], from->load_s[i], (size_t)v->links.n * sizeof **to->load_s);
    }
}

static esp_status share_weights(struct k_search *k, struct set *s, struct esp_err *err)
{
    return espi_tree_mix_weights(s->n, k->task->view->links.n,
                                 (const double *const *)s->load_s, k->task->arena,
                                 s->weight, &s->period_s, err);
}

/* ---- searching ---- */

/* What all trees but one load the resources by. */
static void sum_others(struct k_search *k, const struct set *s, int but)
{
    int n_resources = k->task->view->links.n;
    memset(k->base_s, 0, (size_t)n_resources * sizeof *k->base_s);
    for (int i = 0; i < s->n; i++)
        for (int r = 0; r < n_resources && i != but; r++)
            k->base_s[r] += s->weight[i] * s->load_s[i][r];
}

/* A better tree in place of tree i, with the weights as they are. */
static esp_status search_tree(struct k_search *k, struct set *s, int i,
                              struct esp_err *err)
{
    const struct espi_task *task = k->task;
    struct espi_search search = {
        .v = task->view,
        .root = task->root,
        .seed = espi_rng_next(&k->rng),
        .work = fmin((double)ESPI_K_TREES_WORK * task->view->g.n, ESPI_K_TREES_WORK_MAX),
        .base_s = k->base_s,
        .scale = s->weight[i],
        .arena = task->arena,
    };
    sum_others(k, s, i);
    memcpy(k->tree, s->tree[i], (size_t)task->view->g.n * sizeof *k->tree);
    if (espi_search_throughput(&search, k->tree))
        return espi_err_nomem(err);
    put_tree(k, s, i, k->tree);
    return ESP_OK;
}

/* Trees and weights in turn, as long as it helps. */
static esp_status descend_in_turns(struct k_search *k, struct set *s, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int pass = 0; pass < ESPI_K_TREES_PASSES && !st; pass++) {
        double before_s = s->period_s;
        for (int i = 0; i < s->n && !st; i++) {
            if (s->weight[i] > 0)
                st = search_tree(k, s, i, err);
            if (!st)
                st = share_weights(k, s, err);
        }
        if (!(s->period_s < before_s * (1 - 1e-6)))
            break;
    }
    return st;
}

/* Weights at random about those that are best now, and all trees made for them. */
static esp_status shake(struct k_search *k, struct set *s, struct esp_err *err)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        s->weight[i] += espi_rng_uniform(&k->rng) / s->n;
        sum += s->weight[i];
    }
    for (int i = 0; i < s->n; i++)
        s->weight[i] /= sum;
    esp_status st = ESP_OK;
    int first = (int)espi_rng_below(&k->rng, (uint32_t)s->n);
    for (int i = 0; i < s->n && !st; i++)
        st = search_tree(k, s, (first + i) % s->n, err);
    return st ? st : share_weights(k, s, err);
}

static esp_status improve_trees(struct k_search *k, double goal_s, struct esp_err *err)
{
    esp_status st = descend_in_turns(k, &k->best, err);
    int shakes = ESPI_K_TREES_SHAKEN / k->task->view->g.n;
    shakes = shakes < 2 ? 2 : shakes;
    shakes = shakes < k->shakes ? shakes : k->shakes;
    for (int i = 0; i < shakes && !st && k->best.period_s > goal_s; i++) {
        copy_set(k, &k->best, &k->trial);
        st = shake(k, &k->trial, err);
        if (!st)
            st = descend_in_turns(k, &k->trial, err);
        if (!st && k->trial.period_s < k->best.period_s)
            copy_set(k, &k->trial, &k->best);
    }
    return st;
}

/* ---- one more tree ---- */

/* The column of the packing joins with which the set does best. */
static esp_status add_tree(struct k_search *k, struct esp_err *err)
{
    struct set *s = &k->best, *trial = &k->trial;
    int chosen = 0;
    double least_s = INFINITY;
    esp_status st = ESP_OK;
    copy_set(k, s, trial);
    trial->n = s->n + 1;
    for (int c = 0; c < k->columns.n && !st; c++) {
        put_tree(k, trial, s->n, k->columns.tree[c]);
        st = share_weights(k, trial, err);
        if (!st && trial->period_s < least_s) {
            least_s = trial->period_s;
            chosen = c;
        }
    }
    if (st)
        return st;
    put_tree(k, s, s->n++, k->columns.tree[chosen]);
    return share_weights(k, s, err);
}

static int take_columns(struct k_search *k, const struct espi_packing *packing)
{
    const struct espi_view *v = k->task->view;
    for (int c = 0; c < packing->n_trees && k->columns.n < ESPI_K_TREES_COLUMNS; c++) {
        const struct espi_packing_tree *t = &packing->tree[c];
        memset(k->tree, -1, (size_t)v->g.n * sizeof *k->tree);
        int bad = 0;
        for (int h = 0; h < v->g.n && !bad; h++)
            if (t->hop_start[h + 1] > t->hop_start[h])
                bad = espi_tree_follow(v, k->task->root, t->hops + t->hop_start[h],
                                       t->hop_start[h + 1] - t->hop_start[h], k->tree);
        if (!bad)
            put_tree(k, &k->columns, k->columns.n++, k->tree);
    }
    return 0;
}

/* ---- from one number of trees to the next ---- */

static int is_kept(const struct k_search *k, int most)
{
    const struct espi_algo_memo *memo = k->task->memo;
    return memo && memo->few.n > 0 && memo->few.n <= most &&
           memo->few.slice_bytes == k->task->view->slice_bytes &&
           memo->few.work_limit == k->task->work_limit && memo->few.shakes == k->shakes;
}

static void recall_trees(struct k_search *k)
{
    const struct espi_algo_memo *memo = k->task->memo;
    k->best.n = memo->few.n;
    k->best.period_s = memo->few.period_s;
    k->rng = memo->few.rng;
    for (int i = 0; i < memo->few.n; i++) {
        put_tree(k, &k->best, i, memo->few.tree[i]);
        k->best.weight[i] = memo->few.weight[i];
    }
}

/* Keeps the set for a search for more trees, if there is memory for it. */
static void remember_trees(const struct k_search *k)
{
    struct espi_algo_memo *memo = k->task->memo;
    const struct set *s = &k->best;
    size_t n_hosts = (size_t)k->task->view->g.n;
    if (!memo || k->task->request->budget_s > 0)
        return;
    espi_arena_done(&memo->few.arena);
    memo->few.n = 0;
    memo->few.tree = ESPI_ARENA_NEW(&memo->few.arena, int *, s->n);
    memo->few.weight = ESPI_ARENA_NEW(&memo->few.arena, double, s->n);
    for (int i = 0; i < s->n; i++) {
        int *tree = ESPI_ARENA_NEW(&memo->few.arena, int, n_hosts);
        if (!tree || !memo->few.tree || !memo->few.weight)
            return;
        memcpy(tree, s->tree[i], n_hosts * sizeof *tree);
        memo->few.tree[i] = tree;
        memo->few.weight[i] = s->weight[i];
    }
    memo->few.slice_bytes = k->task->view->slice_bytes;
    memo->few.work_limit = k->task->work_limit;
    memo->few.shakes = k->shakes;
    memo->few.period_s = s->period_s;
    memo->few.rng = k->rng;
    memo->few.n = s->n;
}

static esp_status k_search_init(struct k_search *k, int most,
                                const struct espi_packing *packing, struct esp_err *err)
{
    const struct espi_view *v = k->task->view;
    struct espi_arena *a = k->task->arena;
    k->base_s = ESPI_ARENA_NEW(a, double, v->links.n);
    k->tree = ESPI_ARENA_NEW(a, int, v->g.n);
    if (!k->base_s || !k->tree || set_init(&k->best, v, most, a) ||
        set_init(&k->trial, v, most, a) ||
        set_init(&k->columns, v, ESPI_K_TREES_COLUMNS, a))
        return espi_err_nomem(err);
    espi_rng_seed(&k->rng, k->task->request->seed);
    take_columns(k, packing);
    if (is_kept(k, most)) {
        recall_trees(k);
        return ESP_OK;
    }
    esp_status st = espi_start_tree(k->task, "refine", strlen("refine"), k->tree, err);
    if (st)
        return st;
    put_tree(k, &k->best, k->best.n++, k->tree);
    return share_weights(k, &k->best, err);
}

/* Heaviest first, those without weight left out. */
static esp_status hand_over(struct k_search *k, struct espi_k_trees *out,
                            struct esp_err *err)
{
    struct set *s = &k->best;
    *out = (struct espi_k_trees){.period_s = s->period_s};
    out->weight = ESPI_ARENA_NEW(k->task->arena, double, s->n);
    out->parent_arc = ESPI_ARENA_NEW(k->task->arena, int *, s->n);
    if (!out->weight || !out->parent_arc)
        return espi_err_nomem(err);
    for (;;) {
        int heaviest = 0;
        for (int i = 1; i < s->n; i++)
            if (s->weight[i] > s->weight[heaviest])
                heaviest = i;
        if (!(s->weight[heaviest] > 0))
            return ESP_OK;
        out->weight[out->n] = s->weight[heaviest];
        out->parent_arc[out->n++] = s->tree[heaviest];
        s->weight[heaviest] = 0;
    }
}

esp_status espi_k_trees(const struct espi_task *task, int k, int shakes,
                        const struct espi_packing *packing, struct espi_k_trees *out,
                        struct esp_err *err)
{
    struct k_search search = {.task = task, .shakes = shakes};
    double goal_s = 1 / packing->bound * (1 + 1e-9);
    esp_status st = k_search_init(&search, k, packing, err);
    while (!st && search.best.n < k && search.columns.n > 0 &&
           search.best.period_s > goal_s) {
        st = add_tree(&search, err);
        if (!st)
            st = improve_trees(&search, goal_s, err);
    }
    if (!st)
        remember_trees(&search);
    return st ? st : hand_over(&search, out, err);
}

esp_status espi_plan_add_k_trees(const struct espi_task *task,
                                 const struct espi_k_trees *trees, struct esp_plan *plan,
                                 struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < trees->n && !st; i++)
        st = espi_plan_add_parents(plan, task->view, task->root, trees->weight[i],
                                   trees->parent_arc[i], task->arena, err);
    return st;
}
