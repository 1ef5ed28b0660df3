/* Equal trees: the optimal packing as k whole trees, each carrying the same part of the
 * message.
 *
 * Rates of a packing are what the trees need of the resources they share; who gives each
 * its rate? Transfers that meet on a cable share it equally (TCP does so), and trees of
 * one weight need just that: a cable that j of k trees cross gives each its part by
 * itself. Of all k up to a few dozen the one is taken with which the message is through
 * first, and of those about as good the least: fewer trees are fewer connections.
 *
 * Reference: none; planners for fabrics have k trees of equal weight a root, too, by
 * splitting edges of a graph (ForestColl: L. Zhao and others, arXiv 2402.06787, 2024).
 * Model: all. Guarantee: none. Complexity: that of the packing, and k trees of
 * round_trees.c for each k. */
#include <math.h>

#include "algo/algo.h"
#include "algo/many_trees/packing_memo.h"
#include "algo/many_trees/round_trees.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "base/watch.h"
#include "graph/dijkstra.h"

enum { OPTION_K, OPTION_WIDE };

/* The numbers of trees that are tried: all up to some, then about every eighth more. */
static int next_k(int k)
{
    return k < ESPI_EQUAL_TREES_FEW ? k + 1 : k + k / ESPI_EQUAL_TREES_FEW;
}

/* Is the number tried where another one was best for other slices? Small ones always
 * are: they take little time, and suit many slices as large ones suit few. */
static int is_near(int k, const struct espi_algo_memo *memo)
{
    int known = memo ? memo->equal_trees : 0;
    int low = next_k(next_k(k)), high = next_k(next_k(known));
    return known == 0 || k <= ESPI_EQUAL_TREES_FEW || (low >= known && k <= high);
}

/* Before this the first slice is not everywhere, by the shortest ways; -1 when out of
 * memory. */
static double soonest_fill_s(const struct espi_task *task)
{
    const struct espi_view *v = task->view;
    struct espi_dijkstra paths;
    struct espi_dijkstra_query query = {
        .weight = v->lag_s, .source = &task->root, .n_sources = 1};
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    double *at_s = ESPI_ARENA_NEW(task->arena, double, v->g.n), fill_s = 0;
    int *last_arc = ESPI_ARENA_NEW(task->arena, int, v->g.n);
    if (!at_s || !last_arc || espi_dijkstra_init(&paths, v->g.n, task->arena))
        return -1;
    espi_dijkstra(&paths, &v->g, &query, at_s, last_arc);
    for (int h = 0; h < v->g.n; h++)
        fill_s = fmax(fill_s, at_s[h]);
    espi_arena_release(task->arena, mark);
    return fill_s;
}

/* Could other trees of one weight be worth it? No resource is less busy than the bound
 * says, and the first slice is nowhere before the shortest way there allows. */
static int may_gain(const struct espi_task *task, const struct espi_packing *packing,
                    double fill_s, const struct espi_round_trees *best)
{
    return best->makespan_s * (1 - ESPI_EQUAL_TREES_WORTH) >
           task->slices.count / packing->bound + fill_s;
}

/* More trees than these carry no more. */
static int carries_enough(const struct espi_round_trees *found,
                          const struct espi_packing *packing)
{
    return found->k > 0 &&
           found->period_s * packing->bound <= found->k * (1 + ESPI_EQUAL_TREES_GOOD);
}

/* More trees may fill sooner, for each can branch more; not if filling hardly counts. */
static int fills_soon(const struct espi_round_trees *found)
{
    return found->fill_s <= ESPI_EQUAL_TREES_GOOD * found->makespan_s;
}

/* Wide trees fill sooner, and carry no more: where there is a plan that takes hardly
 * longer than the busiest resource does, they are of no use. */
static int is_depth_worth_it(const struct espi_task *task,
                             const struct espi_packing *packing)
{
    return !(task->limit_s > 0) || task->limit_s > (1 + ESPI_EQUAL_TREES_GOOD) *
                                                       task->slices.count /
                                                       packing->bound;
}

/* The work of a limited task, in arcs; its half goes into numbers near each other. */
static double most_arcs(const struct espi_task *task)
{
    return task->work_limit > 0 ? task->work_limit * ESPI_EQUAL_TREES_ARCS : INFINITY;
}

/* Every k until they carry enough; from there twice as many, until that has not helped
 * twice in a row: what two trees cannot share out four may. Also twice as many when half
 * of the work is done that there is, and none that would take more than is left. */
static int choose_trees(const struct espi_task *task, const struct espi_packing *packing,
                        int low, int high, struct espi_round_trees *best)
{
    int enough = 0, in_vain = 0;
    double work = 0, most = most_arcs(task);
    double fill_s = soonest_fill_s(task);
    int wide = task->option[OPTION_WIDE] > 0;
    if (fill_s < 0)
        return -1;
    *best = (struct espi_round_trees){.makespan_s = INFINITY};
    for (int k = low; k <= high; k = enough || 2 * work > most ? 2 * k : next_k(k)) {
        struct espi_round_trees found;
        if (best->k > 0 &&
            (espi_watch_is_over() || !may_gain(task, packing, fill_s, best)))
            break;
        if (low < high && !wide && !enough && !is_near(k, task->memo))
            continue;
        if (espi_round_trees(task->view, task->root, k, wide, task->slices.count, packing,
                             task->arena, &found))
            return -1;
        work += found.work;
        int better = found.makespan_s < best->makespan_s * (1 - ESPI_EQUAL_TREES_WORTH);
        if (better)
            *best = found;
        in_vain = enough && !better ? in_vain + 1 : 0;
        enough |= carries_enough(best, packing);
        /* twice the trees take twice the work */
        if (work + 2 * found.work > most || in_vain > 1 || (enough && fills_soon(best)))
            break;
    }
    return 0;
}

static esp_status run_equal_trees(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err)
{
    struct espi_packing packing;
    struct espi_round_trees best;
    int k = (int)task->option[OPTION_K];
    if (task->view->g.n < 2)
        return espi_err(err, ESP_EUNSUPPORTED, "equal trees need two hosts");
    esp_status st = espi_task_packing(task, task->request->budget_s, &packing, err);
    if (st)
        return st;
    plan->bound_Bps = packing.bound * task->view->slice_bytes;
    if (task->option[OPTION_WIDE] > 0 && !is_depth_worth_it(task, &packing))
        return espi_err(err, ESP_EUNSUPPORTED, "wide trees have nothing to gain");
    if (choose_trees(task, &packing, k ? k : 1, k ? k : ESPI_EQUAL_TREES_MOST, &best))
        return espi_err_nomem(err);
    if (task->memo && !(task->option[OPTION_WIDE] > 0))
        task->memo->equal_trees = best.k;
    for (int t = 0; t < best.k && !st; t++)
        st = espi_plan_add_parents(plan, task->view, task->root, 1.0 / best.k,
                                   best.parent_arc[t], task->arena, err);
    return st;
}

static const struct espi_algo_option options[] = {
    {.name = "k", .min = 0, .max = 1000, .meaning = "so many trees; 0: as suits best"},
    {.name = "wide",
     .min = 0,
     .max = 1,
     .meaning = "1: a host sends to many in one tree, and to none in others"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_FEW_TREES, .set = {{OPTION_WIDE, 1}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_equal_trees = {
    .name = "equal-trees",
    .family = "many-trees",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_MANY_TREES,
    .paper = "none",
    .complexity = "O(k m log n) for k trees, and the packing",
    .summary = "trees of one weight that together come near the optimal throughput",
    .options = options,
    .uses = uses,
    .run = run_equal_trees,
};
