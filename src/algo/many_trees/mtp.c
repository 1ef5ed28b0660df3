/* Many trees: the mix of spanning trees that reaches the optimal steady state.
 *
 * Reference: Beaumont, Marchal, Robert 2005, which stops at the
 * value; solve/packing.h for how the trees are found.
 * Model: all; in half-duplex no schedule may reach what the trees allow.
 * Guarantee: throughput within 5e-8 of the optimum. With k=K at most K trees: the better
 * of two sets, those of a search for few trees (k_trees.h) and trees of the optimal mix
 * added one by one, each time the one that helps most, with the best rates for all; more
 * trees are then never worse. Complexity: see solve/packing.c and k_trees.c. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/many_trees/k_trees.h"
#include "algo/many_trees/packing_memo.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "solve/packing.h"
#include "solve/tree_mix_lp.h"

/* A tree over paths. */
static esp_status add_paths(const struct espi_task *task, double weight,
                            const struct espi_packing_tree *t, struct esp_plan *plan,
                            struct esp_err *err)
{
    struct espi_edges e;
    if (espi_edges_of(task->view, task->root, t->hop_start, t->hops, 0, task->arena, &e))
        return espi_err_nomem(err);
    return esp_plan_add_tree(plan, task->p, weight, e.n, e.start, e.hops, err);
}

static esp_status add_tree(const struct espi_task *task, double weight,
                           const struct espi_packing_tree *t, struct esp_plan *plan,
                           struct esp_err *err)
{
    const struct espi_view *v = task->view;
    if (v->g.n < v->p->n_nodes)
        return add_paths(task, weight, t, plan, err);
    int *parent = ESPI_ARENA_NEW(task->arena, int, v->g.n);
    if (!parent)
        return espi_err_nomem(err);
    for (int h = 0; h < v->g.n; h++)
        parent[h] = h == task->root ? -1 : t->hops[t->hop_start[h]];
    return espi_plan_add_parents(plan, v, task->root, weight, parent, task->arena, err);
}

/* Trees that carry next to nothing are left out, the others share their part. */
static esp_status add_mix(const struct espi_task *task,
                          const struct espi_packing_tree *tree, int count,
                          struct esp_plan *plan, struct esp_err *err)
{
    double sum = 0, all = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < count; i++)
        all += tree[i].rate;
    for (int i = 0; i < count; i++)
        sum += tree[i].rate > 1e-10 * all ? tree[i].rate : 0;
    for (int i = 0; i < count && !st; i++)
        if (tree[i].rate > 1e-10 * all)
            st = add_tree(task, tree[i].rate / sum, &tree[i], plan, err);
    return st;
}

/* The best of the trees to go with those chosen, tree[0 .. chosen), comes to place
 * `chosen`; *best is what they reach together. */
static int choose_tree(const struct espi_task *task, struct espi_packing_tree *tree,
                       int chosen, int count, double *best)
{
    int at = -1;
    for (int i = chosen; i < count; i++) {
        struct espi_packing_tree first = tree[chosen];
        tree[chosen] = tree[i];
        tree[i] = first;
        double sum = 0;
        if (espi_tree_mix_rates(task->view, tree, chosen + 1, task->arena, &sum, NULL))
            return -1;
        if (sum > *best * (1 + 1e-9)) {
            *best = sum;
            at = i;
        }
        first = tree[chosen];
        tree[chosen] = tree[i];
        tree[i] = first;
    }
    if (at < 0)
        return 0;
    struct espi_packing_tree found = tree[at];
    tree[at] = tree[chosen];
    tree[chosen] = found;
    return 1;
}

static esp_status few_trees(const struct espi_task *task, struct espi_packing *packing,
                            int most, struct esp_plan *plan, struct esp_err *err)
{
    int count =
        packing->n_trees < ESPI_MTP_LOOKED_AT ? packing->n_trees : ESPI_MTP_LOOKED_AT;
    int chosen = 0, more = 1;
    double best = 0;
    struct espi_k_trees found;
    esp_status st =
        espi_k_trees(task, most < ESPI_MTP_SEARCHED ? most : ESPI_MTP_SEARCHED,
                     (int)task->option[1], packing, &found, err);
    if (st)
        return st;
    if (count < most)
        count = packing->n_trees < most ? packing->n_trees : most;
    while (more > 0 && chosen < most && chosen < count) {
        more = choose_tree(task, packing->tree, chosen, count, &best);
        chosen += more > 0;
    }
    if (more < 0 ||
        espi_tree_mix_rates(task->view, packing->tree, chosen, task->arena, &best, NULL))
        return espi_err_nomem(err);
    if (1 / found.period_s >= best)
        return espi_plan_add_k_trees(task, &found, plan, err);
    return add_mix(task, packing->tree, chosen, plan, err);
}

static esp_status run_mtp(const struct espi_task *task, struct esp_plan *plan,
                          struct esp_err *err)
{
    struct espi_packing packing;
    int most = (int)task->option[0];
    esp_status st = espi_task_packing(task, task->request->budget_s, &packing, err);
    if (st)
        return st;
    plan->bound_Bps = packing.bound * task->view->slice_bytes;
    if (most && most < packing.n_trees)
        return few_trees(task, &packing, most, plan, err);
    return add_mix(task, packing.tree, packing.n_trees, plan, err);
}

enum { OPTION_K, OPTION_SHAKES };

static const struct espi_algo_option options[] = {
    {.name = "k", .min = 0, .max = 1000, .meaning = "at most so many trees; 0: all"},
    {.name = "shakes",
     .standard = ESPI_SHAKES,
     .min = 0,
     .max = 1000,
     .meaning = "with k: how often the search for few trees begins anew"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_FEW_TREES, .set = {{OPTION_K, 2}, {OPTION_SHAKES, 2}}, .n_set = 2},
    {.use = ESPI_USE_FEW_TREES, .set = {{OPTION_K, 4}, {OPTION_SHAKES, 2}}, .n_set = 2},
    {.use = ESPI_USE_FEW_TREES, .set = {{OPTION_K, 8}, {OPTION_SHAKES, 2}}, .n_set = 2},
    {.use = 0},
};

const struct espi_algo espi_algo_mtp = {
    .name = "mtp",
    .family = "many-trees",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_MANY_TREES,
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, section 4",
    .complexity = "O(m log n) a round of a few hundred, and linear programs",
    .summary = "the mix of trees that reaches the optimal throughput",
    .options = options,
    .uses = uses,
    .run = run_mtp,
};
