/* All roots: trees from every host, packed so that the resources allow no more.
 *
 * solve/packing_all.c says how the trees are found. Model: all; in half-duplex no
 * schedule may reach what the trees allow. Guarantee: throughput within 1e-4 of the
 * optimum, which is proved; more where the budget or the work allowed ends first.
 * Complexity: see there.
 */
#include "algo/algo.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "solve/packing.h"
#include "solve/solve_budget.h"

static esp_status add_tree(const struct espi_task *task, double weight, int root,
                           const struct espi_packing_tree *t, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_edges e;
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    if (espi_edges_of(task->view, root, t->hop_start, t->hops, 0, task->arena, &e))
        return espi_err_nomem(err);
    esp_status st = esp_plan_add_tree(plan, task->p, weight, e.n, e.start, e.hops, err);
    espi_arena_release(task->arena, mark);
    return st ? st : esp_plan_set_tree_ends(plan, task->view->node[root], 0, NULL, err);
}

static esp_status run_all_roots(const struct espi_task *task, struct esp_plan *plan,
                                struct esp_err *err)
{
    struct espi_packing packing;
    struct espi_packing_options options = {.gap = task->option[0],
                                           .work_limit = task->option[1],
                                           .time_limit_s = task->request->budget_s};
    int n = task->view->g.n;
    esp_status st =
        espi_packing_solve_all(task->view, &options, task->arena, &packing, err);
    if (!st && packing.n_trees == 0)
        st = espi_solve_budget_err(err);
    if (st)
        return st;
    plan->bound_Bps = packing.bound * task->view->slice_bytes;
    for (int first = 0, i = 0; i < packing.n_trees && !st; first = i) {
        double sum = 0; /* of a root's trees, those left out that carry nothing */
        for (; i < packing.n_trees && packing.root[i] == packing.root[first]; i++)
            sum += packing.tree[i].rate > 1e-9 * packing.rate ? packing.tree[i].rate : 0;
        for (int k = first; k < i && !st; k++)
            if (packing.tree[k].rate > 1e-9 * packing.rate)
                st = add_tree(task, packing.tree[k].rate / (sum * n), packing.root[k],
                              &packing.tree[k], plan, err);
    }
    return st;
}

enum { OPTION_GAP, OPTION_WORK };

static const struct espi_algo_option options[] = {
    {.name = "gap",
     .standard = 1e-4,
     .min = 1e-9,
     .max = 1,
     .meaning = "how far from the optimum the trees may stay"},
    ESPI_OPTION_WORK,
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_WORK, ESPI_ALL_ROOTS_WORK}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_all_roots = {
    .name = "all-roots",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_MANY_TREES,
    .paper = "column generation with prices for all roots",
    .complexity = "a few broadcast programs, and n trees a price",
    .summary = "trees from all hosts that share the resources in the best way",
    .options = options,
    .uses = uses,
    .run = run_all_roots,
};
