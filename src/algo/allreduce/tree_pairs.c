/* Tree pairs: the best allreduce that combines each part of the message at some one host.
 *
 * The message is split over pairs of trees, one towards a host and one from it, which may
 * be another host for each pair, so that no host is busier than it must be: on equal
 * hosts this is what rings and halving do, on unequal ones it follows the links. The mix
 * is found by column generation (solve/allreduce.h). Model: any, by its resources; in
 * half-duplex there may be no schedule for it. Guarantee: within a millionth of the best
 * of its kind, or as near as the trees that it may look at bring it on large platforms.
 * Complexity: some hundred times hosts cheapest trees. */
#include <string.h>

#include "algo/algo.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "solve/allreduce.h"

static esp_status add_pair(const struct espi_task *task,
                           const struct espi_tree_pair *pair, struct esp_plan *plan,
                           struct esp_err *err)
{
    const struct espi_view *v = task->view;
    struct espi_arena *a = task->arena;
    struct espi_edges in, out;
    if (espi_edges_of(v, pair->root, pair->in_start, pair->in_hops, 1, a, &in) ||
        espi_edges_of(v, pair->root, pair->out_start, pair->out_hops, 0, a, &out))
        return espi_err_nomem(err);
    int first = in.start[in.n], n_hops = first + out.start[out.n];
    int *start = ESPI_ARENA_NEW(a, int, (size_t)in.n + (size_t)out.n + 1);
    int *hops = ESPI_ARENA_NEW(a, int, n_hops);
    if (!start || !hops)
        return espi_err_nomem(err);
    memcpy(start, in.start, (size_t)in.n * sizeof *start);
    for (int i = 0; i <= out.n; i++)
        start[in.n + i] = first + out.start[i];
    memcpy(hops, in.hops, (size_t)first * sizeof *hops);
    memcpy(hops + first, out.hops, (size_t)out.start[out.n] * sizeof *hops);
    esp_status st =
        esp_plan_add_tree(plan, task->p, pair->weight, in.n + out.n, start, hops, err);
    return st ? st : esp_plan_set_tree_ends(plan, v->node[pair->root], 0, NULL, err);
}

static esp_status run_tree_pairs(const struct espi_task *task, struct esp_plan *plan,
                                 struct esp_err *err)
{
    struct espi_allreduce best = {.n_pairs = 0};
    struct espi_allreduce_options o = {
        .time_limit_s = task->request->budget_s,
        .max_trees = (double)ESPI_TREE_PAIRS_WORK / (task->view->g.m + 1),
    };
    esp_status st = espi_allreduce_solve(task->view, &o, task->arena, &best, err);
    for (int i = 0; i < best.n_pairs && !st; i++) {
        struct espi_arena_mark mark = espi_arena_mark(task->arena);
        st = add_pair(task, &best.pair[i], plan, err);
        espi_arena_release(task->arena, mark);
    }
    if (!st && best.bound_s > 0)
        plan->bound_Bps = task->view->slice_bytes / best.bound_s;
    return st;
}

const struct espi_algo espi_algo_tree_pairs = {
    .name = "tree-pairs",
    .family = "allreduce",
    .op = ESP_OP_ALLREDUCE,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "column generation over pairs of arborescences",
    .complexity = "some hundred n cheapest trees and linear programs",
    .summary = "the best mix of trees to a host and back, for many hosts at once",
    .run = run_tree_pairs,
};
