#include "algo/redundant/redundant.h"

#include <string.h>

#include "algo/redundant/feeders.h"
#include "base/err.h"

static const char *const bases[] = {"ecef", "fef", "look-ahead", "mateescu"};

/* The first tree, by an algorithm of its own with its standard options. */
static esp_status run_base(const struct espi_task *task, int base, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_task other = *task;
    const struct espi_algo *algo = NULL;
    esp_status st = espi_algo_parse(bases[base], &algo, other.option, err);
    return st ? st : algo->run(&other, plan, err);
}

static int same_hops(const struct espi_view *v, int arc, const int *hops, int n_hops)
{
    int first = v->hop_start[arc];
    return v->hop_start[arc + 1] - first == n_hops &&
           !memcmp(v->hops + first, hops, (size_t)n_hops * sizeof *hops);
}

/* The arcs of the tree, in the order of its edges. O(m): each host receives once. */
static int find_arcs(const struct espi_view *v, const struct esp_tree *tree, int *arcs)
{
    int count = 0;
    for (int i = 0; i < tree->n_edges; i++) {
        const struct esp_edge *e = &tree->edges[i];
        int to = v->host[e->to];
        for (int k = v->g.in.start[to]; k < v->g.in.start[to + 1]; k++)
            if (same_hops(v, v->g.in.item[k], tree->hops + e->first_hop, e->n_hops)) {
                arcs[count++] = v->g.in.item[k];
                break;
            }
    }
    return count;
}

static esp_status add_feeders(const struct espi_task *task,
                              const struct espi_redundant *o, struct espi_feeders *f,
                              int *arcs, struct esp_plan *plan, struct esp_err *err)
{
    const struct espi_view *v = task->view;
    esp_status st = ESP_OK;
    espi_feeders_start(f, task->root, v->lag_s, v->hold_s);
    espi_feeders_use(f, arcs, find_arcs(v, &plan->trees[0], arcs));
    while (plan->n_trees < o->trees && !st) {
        int count = espi_feeders_next(f, o->aware, arcs);
        if (count == 0) /* no host has another way in: nothing to race against */
            break;
        st = espi_plan_add_arcs(plan, v, 1, arcs, count, task->arena, err);
        espi_feeders_use(f, arcs, count);
    }
    return st;
}

esp_status espi_redundant_plan(const struct espi_task *task,
                               const struct espi_redundant *options,
                               struct esp_plan *plan, struct esp_err *err)
{
    struct espi_feeders f;
    int *arcs = ESPI_ARENA_NEW(task->arena, int, task->view->g.n);
    if (!arcs || espi_feeders_init(&f, &task->view->g, task->arena))
        return espi_err_nomem(err);
    plan->redundant = 1;
    plan->slice_bytes = plan->size_bytes; /* races are over whole messages */
    plan->patience = options->patience;
    esp_status st = run_base(task, options->base, plan, err);
    return st ? st : add_feeders(task, options, &f, arcs, plan, err);
}
