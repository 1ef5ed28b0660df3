/* scatter-spread: each target's part along a path of its own, found around the others.
 *
 * Targets get their paths one after the other, over arcs whose price rises with the load
 * of what they use; then each gives its path up and looks for a better one, some times
 * round, and the best round is kept. Reference: none; rerouting by rising prices is
 * common where flows share capacities. Model: any, by its resources. Guarantee: none; a
 * linear program (scatter) gives the optimum, which this comes near where targets are
 * many. Complexity: rounds * targets shortest paths. Only sums and products, so that all
 * machines find the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/congestion.h"
#include "algo/scatter/branches.h"
#include "base/err.h"
#include "base/watch.h"
#include "graph/dijkstra.h"
#include "solve/solve_budget.h"

enum { OPTION_ROUNDS };

static const struct espi_algo_option options[] = {
    {.name = "rounds",
     .standard = 3,
     .min = 1,
     .max = 1000,
     .meaning = "how often each target looks for a path"},
    {0},
};

struct spread {
    const struct espi_task *task;
    const struct espi_view *v;
    struct espi_dijkstra work;
    int *targets, n_targets;
    int *path, *best; /* target * hosts + host -> arc into the host on its path, or -1 */
    int *last_arc;
    double *distance; /* of hosts */
    struct espi_congestion roads;
};

static int spread_init(struct spread *s, const struct espi_task *task)
{
    struct espi_arena *a = task->arena;
    size_t n = (size_t)task->view->g.n;
    *s = (struct spread){.task = task, .v = task->view};
    s->targets = ESPI_ARENA_NEW(a, int, n);
    s->path = ESPI_ARENA_NEW(a, int, n *n);
    s->best = ESPI_ARENA_NEW(a, int, n *n);
    s->last_arc = ESPI_ARENA_NEW(a, int, n);
    s->distance = ESPI_ARENA_NEW(a, double, n);
    if (!s->targets || !s->path || !s->best || !s->last_arc || !s->distance ||
        espi_congestion_init(&s->roads, s->v, a) ||
        espi_dijkstra_init(&s->work, (int)n, a))
        return -1;
    memset(s->path, 0xff, n * n * sizeof *s->path);
    s->n_targets = espi_task_targets(task, s->targets);
    return 0;
}

static int *path_of(const struct spread *s, int *paths, int target)
{
    return paths + (size_t)target * (size_t)s->v->g.n;
}

static void load_path(struct spread *s, int target, double sign)
{
    const int *into = path_of(s, s->path, target);
    for (int h = s->targets[target]; h != s->task->root; h = s->v->g.tail[into[h]])
        espi_load_arc(s->v, into[h], sign, s->roads.load_s);
}

static void find_path(struct spread *s, int target)
{
    const struct espi_digraph *g = &s->v->g;
    struct espi_dijkstra_query q = {s->roads.weight, &s->task->root, 1, NULL};
    int *into = path_of(s, s->path, target), goal = s->targets[target];
    if (into[goal] >= 0)
        load_path(s, target, -1);
    espi_congestion_price(&s->roads);
    espi_dijkstra_start(&s->work, g, &q, s->distance, s->last_arc);
    espi_dijkstra_reach(&s->work, g, &q, goal, s->distance, s->last_arc);
    for (int h = goal; h != s->task->root; h = g->tail[s->last_arc[h]])
        into[h] = s->last_arc[h];
    load_path(s, target, 1);
}

/* Is the time over? Of the first round only where others have found something. */
static int is_left(int round)
{
    return round > 0 ? espi_watch_is_over() : espi_watch_may_leave();
}

static esp_status run_scatter_spread(const struct espi_task *task, struct esp_plan *plan,
                                     struct esp_err *err)
{
    struct spread s;
    double least_s = INFINITY;
    esp_status st = ESP_OK;
    if (spread_init(&s, task))
        return espi_err_nomem(err);
    size_t bytes = (size_t)s.v->g.n * (size_t)s.v->g.n * sizeof *s.path;
    for (int round = 0; round < (int)task->option[0]; round++) {
        for (int t = 0; t < s.n_targets && !is_left(round); t++)
            find_path(&s, t);
        if (is_left(round))
            break;
        if (espi_congestion_most_s(&s.roads) >= least_s)
            continue;
        least_s = espi_congestion_most_s(&s.roads);
        memcpy(s.best, s.path, bytes);
    }
    if (!isfinite(least_s))
        return espi_solve_budget_err(err);
    for (int t = 0; t < s.n_targets && !st; t++)
        st = espi_add_branch(task, path_of(&s, s.best, t), s.targets[t],
                             1.0 / s.n_targets, plan, err);
    return st;
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .set = {{OPTION_ROUNDS, 1}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_scatter_spread = {
    .name = "scatter-spread",
    .family = "scatter",
    .op = ESP_OP_SCATTER,
    .models = ESPI_ALL_MODELS,
    .paper = "none",
    .complexity = "rounds * n shortest paths",
    .summary = "each part along a path of its own, around the paths of the others",
    .options = options,
    .uses = uses,
    .run = run_scatter_spread,
};
