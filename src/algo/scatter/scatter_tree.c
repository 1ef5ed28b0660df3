/* scatter-tree: each target's part goes from the root to it along the branches of one
 * tree: the tree of shortest paths, or the broadcast tree of another algorithm.
 *
 * Parts of targets that are far from the root are sent first. Reference: none; binomial
 * is what MPI libraries do with short messages, flat with long ones. Model: any.
 * Guarantee: none; where the root's port is the bottleneck and its links are alike, any
 * tree is optimal. Complexity: that of the tree, and the lengths of all paths. The
 * optimum is what scatter computes, by a linear program. */
#include <stdlib.h>
#include <string.h>

#include "algo/scatter/branches.h"
#include "algo/search/starts.h"
#include "base/err.h"
#include "graph/dijkstra.h"

enum { OPTION_TREE };
#define TREES "paths|flat|grow|prune-degree|ecef|binomial"
enum { TREE_FLAT = 1, TREE_ECEF = 4, TREE_BINOMIAL = 5 }; /* code: of these */

static const struct espi_algo_option options[] = {
    {.name = "tree",
     .choices = TREES,
     .meaning = "shortest paths, or the algorithm whose broadcast tree is taken"},
    {0},
};

int espi_task_targets(const struct espi_task *task, int *hosts)
{
    const struct esp_request *r = task->request;
    int n = 0;
    for (int h = 0; h < task->view->g.n && !r->targets; h++)
        if (h != task->root)
            hosts[n++] = h;
    for (int i = 0; r->targets && i < r->n_targets; i++)
        hosts[n++] = task->view->host[r->targets[i]];
    return n;
}

/* Paths of arcs may meet a switch more than once; what lies between is left out, which
 * loads nothing more. Gives the number of links that remain. */
static int cut_loops(const struct esp_platform *p, int *hops, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < kept && p->tail[hops[k]] != p->tail[hops[i]])
            k++;
        kept = k;
        hops[kept++] = hops[i];
    }
    return kept;
}

esp_status espi_add_branch(const struct espi_task *task, const int *parent_arc, int host,
                           double weight, struct esp_plan *plan, struct esp_err *err)
{
    const struct espi_view *v = task->view;
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    int n = 0, start[2] = {0, 0}, target = v->node[host];
    for (int h = host; h != task->root; h = v->g.tail[parent_arc[h]])
        n += v->hop_start[parent_arc[h] + 1] - v->hop_start[parent_arc[h]];
    int *hops = ESPI_ARENA_NEW(task->arena, int, n);
    if (!hops)
        return espi_err_nomem(err);
    start[1] = n;
    for (int h = host; h != task->root; h = v->g.tail[parent_arc[h]]) {
        int first = v->hop_start[parent_arc[h]];
        int count = v->hop_start[parent_arc[h] + 1] - first;
        n -= count;
        memcpy(hops + n, v->hops + first, (size_t)count * sizeof *hops);
    }
    start[1] = cut_loops(v->p, hops, start[1]);
    esp_status st = esp_plan_add_tree(plan, v->p, weight, 1, start, hops, err);
    espi_arena_release(task->arena, mark);
    return st ? st : esp_plan_set_tree_ends(plan, plan->root, 1, &target, err);
}

struct branches {
    int *parent_arc; /* host -> arc into it */
    double *time_s;  /* host -> of the path to it */
    int *targets, n_targets;
};

static esp_status shortest_paths(const struct espi_task *task, struct branches *b,
                                 struct esp_err *err)
{
    struct espi_dijkstra work;
    struct espi_dijkstra_query q = {task->view->time_s, &task->root, 1, NULL};
    if (espi_dijkstra_init(&work, task->view->g.n, task->arena))
        return espi_err_nomem(err);
    espi_dijkstra(&work, &task->view->g, &q, b->time_s, b->parent_arc);
    return ESP_OK;
}

static esp_status find_tree(const struct espi_task *task, struct branches *b,
                            struct esp_err *err)
{
    const char *name = TREES;
    if ((int)task->option[0] == 0)
        return shortest_paths(task, b, err);
    for (int i = (int)task->option[0]; i > 0; i--)
        name += strcspn(name, "|") + 1;
    return espi_start_tree(task, name, strcspn(name, "|"), b->parent_arc, err);
}

static int by_distance(const void *a, const void *b, void *arg)
{
    const double *time_s = arg;
    int x = *(const int *)a, y = *(const int *)b;
    if (time_s[x] != time_s[y])
        return time_s[x] > time_s[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void order_targets(const struct espi_task *task, struct branches *b)
{
    const struct espi_view *v = task->view;
    b->n_targets = espi_task_targets(task, b->targets);
    for (int i = 0; i < b->n_targets; i++) {
        double *time_s = &b->time_s[b->targets[i]];
        *time_s = 0;
        for (int h = b->targets[i]; h != task->root; h = v->g.tail[b->parent_arc[h]])
            *time_s += v->time_s[b->parent_arc[h]];
    }
    qsort_r(b->targets, (size_t)b->n_targets, sizeof *b->targets, by_distance, b->time_s);
}

static esp_status run_scatter_tree(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    int n = task->view->g.n;
    struct branches b = {0};
    b.parent_arc = ESPI_ARENA_NEW(task->arena, int, n);
    b.time_s = ESPI_ARENA_NEW(task->arena, double, n);
    b.targets = ESPI_ARENA_NEW(task->arena, int, n);
    if (!b.parent_arc || !b.time_s || !b.targets)
        return espi_err_nomem(err);
    esp_status st = find_tree(task, &b, err);
    if (!st)
        order_targets(task, &b);
    for (int i = 0; i < b.n_targets && !st; i++)
        st = espi_add_branch(task, b.parent_arc, b.targets[i], 1.0 / b.n_targets, plan,
                             err);
    return st;
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK},
    {.use = ESPI_USE_QUICK, .set = {{OPTION_TREE, TREE_ECEF}}, .n_set = 1},
    {.use = 0},
};

const struct espi_algo espi_algo_scatter_tree = {
    .name = "scatter-tree",
    .family = "scatter",
    .op = ESP_OP_SCATTER,
    .models = ESPI_ALL_MODELS,
    .paper = "none",
    .complexity = "that of the tree, and n times its depth",
    .summary = "each part along the branches of one tree; takes little time",
    .options = options,
    .uses = uses,
    .run = run_scatter_tree,
};
