#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/plan.h"
#include "plan/schedule.h"

/* ---- all there is ---- */

/* A copy of n things of that size; of no list, NULL. -1 when out of memory. */
static int copy_list(void *out, const void *from, int n, size_t size)
{
    void *copy = NULL;
    if (from) {
        copy = espi_array(n > 0 ? (size_t)n : 1, size);
        if (!copy)
            return -1;
        if (n > 0)
            memcpy(copy, from, (size_t)n * size);
    }
    memcpy(out, &copy, sizeof copy);
    return 0;
}

#define COPY(to, from, list, n)                                                          \
    copy_list((void *)&(to)->list, (from)->list, (n), sizeof *(from)->list)

/* What was copied is in *to, whatever happens. */
static int copy_tree(struct esp_tree *to, const struct esp_tree *from)
{
    *to = *from;
    to->targets = to->steps = to->hops = NULL;
    to->edges = NULL;
    if (COPY(to, from, targets, from->n_targets) ||
        COPY(to, from, edges, from->n_edges) || COPY(to, from, steps, from->n_edges) ||
        COPY(to, from, hops, from->n_hops))
        return -1;
    return 0;
}

esp_status esp_plan_copy(const struct esp_plan *plan, struct esp_plan **out,
                         struct esp_err *err)
{
    if (!plan || !out)
        return espi_err(err, ESP_EUSAGE, "there is no plan to copy");
    struct esp_plan *copy = espi_calloc(1, sizeof *copy);
    if (!copy)
        return espi_err_nomem(err);
    *copy = *plan;
    copy->n_trees = 0;
    copy->targets = NULL;
    copy->schedule = NULL;
    copy->algo = espi_strdup(plan->algo);
    copy->trees = espi_calloc((size_t)plan->n_trees + 1, sizeof *copy->trees);
    int bad = !copy->algo || !copy->trees || COPY(copy, plan, targets, plan->n_targets);
    while (!bad && copy->n_trees < plan->n_trees) {
        int t = copy->n_trees++;
        bad = copy_tree(&copy->trees[t], &plan->trees[t]);
    }
    if (!bad && plan->schedule) {
        copy->schedule = espi_schedule_copy(plan->schedule, plan->n_trees);
        bad = !copy->schedule;
    }
    if (bad) {
        esp_plan_free(copy);
        return espi_err_nomem(err);
    }
    *out = copy;
    return ESP_OK;
}

/* ---- for another platform ---- */

esp_status espi_plan_copy(const struct esp_plan *plan, const struct esp_platform *p,
                          struct espi_arena *arena, struct esp_plan **out,
                          struct esp_err *err)
{
    struct esp_plan *copy;
    esp_status st = esp_plan_create(plan->op, plan->root, plan->algo, &copy, err);
    for (int t = 0; t < plan->n_trees && !st; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        int *start = ESPI_ARENA_ZNEW(arena, int, (size_t)tree->n_edges + 1);
        if (!start)
            st = espi_err_nomem(err);
        for (int i = 0; i < tree->n_edges && !st; i++)
            start[i + 1] = tree->edges[i].first_hop + tree->edges[i].n_hops;
        if (!st)
            st = esp_plan_add_tree(copy, p, tree->weight, tree->n_edges, start,
                                   tree->hops, err);
        if (!st)
            st = esp_plan_set_tree_ends(copy, tree->root, tree->n_targets, tree->targets,
                                        err);
        if (!st && tree->steps)
            st = esp_plan_set_tree_steps(copy, tree->steps, err);
        if (st)
            esp_plan_free(copy);
    }
    if (st)
        return st;
    copy->size_bytes = plan->size_bytes;
    copy->slice_bytes = plan->slice_bytes;
    copy->throughput_Bps = plan->throughput_Bps;
    copy->makespan_s = plan->makespan_s;
    copy->redundant = plan->redundant; /* else each tree would carry its part only */
    copy->patience = plan->patience;
    if (plan->schedule) {
        copy->schedule = espi_schedule_copy(plan->schedule, plan->n_trees);
        if (!copy->schedule) {
            esp_plan_free(copy);
            return espi_err_nomem(err);
        }
    }
    *out = copy;
    return ESP_OK;
}
