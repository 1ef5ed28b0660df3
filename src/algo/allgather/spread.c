/* spread: every host's part along a tree of its own, grown around the others.
 *
 * Host after host gets the cheapest tree that reaches all, over arcs whose price rises
 * with the load of what they use; then each gives its tree up and looks for a better one,
 * some times round, and the best round is kept. Trees are pipelined, each with its share
 * of the slices. Reference: none; it is how trees are packed for broadcasts, with a root
 * a tree. Model: any, by its resources. Guarantee: none. Complexity: rounds * n cheapest
 * arborescences. Only sums and products, so that all machines find the same. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/congestion.h"
#include "base/err.h"
#include "graph/arborescence.h"

enum { OPTION_ROUNDS };

static const struct espi_algo_option options[] = {
    {.name = "rounds",
     .standard = 3,
     .min = 1,
     .max = 1000,
     .meaning = "how often each host looks for a tree"},
    {0},
};

struct spread {
    const struct espi_view *v;
    struct espi_arborescence work;
    int *tree, *best; /* root * hosts + host -> arc into the host, -1 */
    struct espi_congestion roads;
};

static int spread_init(struct spread *s, const struct espi_task *task)
{
    struct espi_arena *a = task->arena;
    size_t n = (size_t)task->view->g.n;
    *s = (struct spread){.v = task->view};
    s->tree = ESPI_ARENA_NEW(a, int, n *n);
    s->best = ESPI_ARENA_NEW(a, int, n *n);
    return s->tree && s->best && !espi_congestion_init(&s->roads, s->v, a) &&
                   !espi_arborescence_init(&s->work, &s->v->g, a)
               ? 0
               : -1;
}

static void load_tree(struct spread *s, const int *tree, double sign)
{
    for (int h = 0; h < s->v->g.n; h++)
        if (tree[h] >= 0)
            espi_load_arc(s->v, tree[h], sign, s->roads.load_s);
}

static esp_status find_tree(struct spread *s, int root, int again, struct esp_err *err)
{
    int *tree = s->tree + (size_t)root * (size_t)s->v->g.n;
    if (again)
        load_tree(s, tree, -1);
    espi_congestion_price(&s->roads);
    if (espi_arborescence(&s->work, root, s->roads.weight, tree, NULL))
        return espi_err(err, ESP_EUNSUPPORTED, "not every host reaches every other");
    load_tree(s, tree, 1);
    return ESP_OK;
}

static esp_status run_spread(const struct espi_task *task, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct spread s;
    double least_s = INFINITY;
    int n = task->view->g.n;
    esp_status st = ESP_OK;
    if (spread_init(&s, task))
        return espi_err_nomem(err);
    for (int round = 0; round < (int)task->option[0] && !st; round++) {
        for (int root = 0; root < n && !st; root++)
            st = find_tree(&s, root, round > 0, err);
        if (st || espi_congestion_most_s(&s.roads) >= least_s)
            continue;
        least_s = espi_congestion_most_s(&s.roads);
        memcpy(s.best, s.tree, (size_t)n * (size_t)n * sizeof *s.best);
    }
    for (int root = 0; root < n && !st; root++) {
        st = espi_plan_add_parents(plan, s.v, root, 1.0 / n,
                                   s.best + (size_t)root * (size_t)n, task->arena, err);
        if (!st)
            st = esp_plan_set_tree_ends(plan, s.v->node[root], 0, NULL, err);
    }
    return st;
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK,
     .set = {{OPTION_ROUNDS, 1}},
     .n_set = 1,
     .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_spread = {
    .name = "spread",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_MANY_TREES,
    .paper = "none",
    .complexity = "rounds * n arborescences",
    .summary = "each part along a tree of its own, around the trees of the others",
    .options = options,
    .uses = uses,
    .run = run_spread,
};
