/* all-pairs: the best paths of all pairs, each pair's part split among its paths.
 *
 * Reference: F. Shahrokhi, D. Matula, The maximum concurrent flow problem, 1990.
 * solve/all_pairs.c says how they are found: the multicommodity flow of all pairs by
 * column generation, with hosts that pass on for others where that helps. Model: any, by
 * its resources; in half-duplex no schedule may reach what the paths allow. Guarantee:
 * throughput within 1e-6 of the optimum, which is proved; more where the budget or the
 * work allowed ends first. Complexity: see there. */
#include "algo/algo.h"
#include "base/err.h"
#include "plan/ops.h"
#include "solve/all_pairs.h"

enum { OPTION_GAP, OPTION_WORK };

static esp_status add_path(const struct espi_task *task,
                           const struct espi_pair_path *path, struct esp_plan *plan,
                           struct esp_err *err)
{
    int start[2] = {0, path->n_hops};
    double n = task->view->g.n, parts = n * (n - 1);
    esp_status st =
        esp_plan_add_tree(plan, task->p, path->weight / parts, 1, start, path->hops, err);
    return st ? st : esp_plan_set_tree_ends(plan, path->from, 1, &path->to, err);
}

static esp_status run_all_pairs(const struct espi_task *task, struct esp_plan *plan,
                                struct esp_err *err)
{
    struct espi_all_pairs_options options = {.gap = task->option[OPTION_GAP],
                                             .work_limit = task->option[OPTION_WORK],
                                             .time_limit_s = task->request->budget_s};
    struct espi_flow_net net;
    struct espi_all_pairs best;
    double n = task->view->g.n;
    if (espi_flow_net_init(&net, task->p, task->view->slice_bytes, task->request->root, 0,
                           NULL, task->arena))
        return espi_err_nomem(err);
    esp_status st = espi_all_pairs_solve(&net, &options, task->arena, &best, err);
    if (st)
        return st;
    if (best.bound_s > 0)
        plan->bound_Bps = n * (n - 1) * task->view->slice_bytes / best.bound_s;
    for (int i = 0; i < best.n_paths && !st; i++)
        st = add_path(task, &best.path[i], plan, err);
    return st;
}

static const struct espi_algo_option options[] = {
    {.name = "gap",
     .standard = 1e-6,
     .min = 1e-9,
     .max = 1,
     .meaning = "how far from the optimum the paths may stay"},
    ESPI_OPTION_WORK,
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_WEIGHED, .set = {{OPTION_WORK, ESPI_ALL_PAIRS_WORK}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_all_pairs = {
    .name = "all-pairs",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_MANY_TREES,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "Shahrokhi, Matula 1990",
    .complexity = "programs of hosts + resources rows, n searches a price",
    .summary = "paths of all pairs that share the resources in the best way",
    .options = options,
    .uses = uses,
    .run = run_all_pairs,
};
