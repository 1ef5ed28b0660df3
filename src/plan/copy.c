#include "base/err.h"
#include "plan/plan.h"

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
    *out = copy;
    return ESP_OK;
}
