#include "algo/search/starts.h"

#include <string.h>

#include "base/err.h"

static int same_hops(const struct espi_view *v, int arc, const int *hops, int n_hops)
{
    int first = v->hop_start[arc], count = v->hop_start[arc + 1] - first;
    return count == n_hops &&
           !memcmp(v->hops + first, hops, (size_t)n_hops * sizeof *hops);
}

/* The arc that goes over these links, or else the quickest between their ends; -1: none.
 */
static int find_arc(const struct espi_view *v, const int *hops, int n_hops)
{
    int from = v->host[v->p->tail[hops[0]]], to = v->host[v->p->head[hops[n_hops - 1]]];
    int found = -1;
    for (int k = v->g.out.start[from]; k < v->g.out.start[from + 1]; k++) {
        int e = v->g.out.item[k];
        if (v->g.head[e] != to)
            continue;
        if (same_hops(v, e, hops, n_hops))
            return e;
        if (found < 0 || v->time_s[e] < v->time_s[found])
            found = e;
    }
    return found;
}

int espi_tree_follow(const struct espi_view *v, int root, const int *hops, int n_hops,
                     int *parent_arc)
{
    for (int first = 0, k = 1; k <= n_hops; k++) {
        int to = v->host[v->p->head[hops[k - 1]]];
        if (to < 0)
            continue;
        if (to != root && parent_arc[to] < 0)
            parent_arc[to] = find_arc(v, hops + first, k - first);
        if (to != root && parent_arc[to] < 0)
            return -1;
        first = k;
    }
    return 0;
}

esp_status espi_tree_of_plan(const struct espi_view *v, int root,
                             const struct esp_tree *tree, int *parent_arc,
                             struct esp_err *err)
{
    for (int h = 0; h < v->g.n; h++)
        parent_arc[h] = -1;
    for (int i = 0; i < tree->n_edges; i++)
        if (espi_tree_follow(v, root, tree->hops + tree->edges[i].first_hop,
                             tree->edges[i].n_hops, parent_arc))
            return espi_err(err, ESP_EUNSUPPORTED,
                            "the tree goes over links that the view has no arc for");
    return ESP_OK;
}

esp_status espi_start_tree(const struct espi_task *task, const char *name, size_t length,
                           int *parent_arc, struct esp_err *err)
{
    const struct espi_algo *algo = espi_algo_find(name, length);
    if (!algo || !espi_algo_applies(algo, task->p))
        return espi_err(err, ESP_EUNSUPPORTED,
                        "%.*s is no algorithm for this platform to start from",
                        (int)length, name);
    struct espi_task own = *task;
    espi_algo_standard(algo, own.option);
    struct esp_plan *plan = NULL;
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    esp_status st =
        esp_plan_create(task->request->op, task->request->root, algo->name, &plan, err);
    if (!st)
        st = algo->run(&own, plan, err);
    espi_arena_release(task->arena, mark);
    if (!st)
        st = espi_tree_of_plan(task->view, task->root, &plan->trees[0], parent_arc, err);
    esp_plan_free(plan);
    return st;
}
