#include "support/packed_plan.h"

#include <stdlib.h>
#include <string.h>

#include "solve/packing.h"

static void must(int failed)
{
    if (failed)
        abort();
}

/* Adds a tree, senders before receivers. */
static void add_tree(struct esp_plan *plan, const struct espi_view *v,
                     const struct espi_packing_tree *tree, double weight)
{
    int n = v->g.n, *start = calloc((size_t)n + 1, sizeof *start), edges = 0, added = 1;
    int *hops = calloc((size_t)tree->hop_start[n] + 1, sizeof *hops);
    unsigned char *has = calloc((size_t)n, 1);
    must(!start || !hops || !has);
    has[0] = 1;
    while (added) {
        added = 0;
        for (int h = 1; h < n; h++) {
            int first = tree->hop_start[h], k = tree->hop_start[h + 1] - first;
            if (has[h] || k == 0 || !has[v->host[v->p->tail[tree->hops[first]]]])
                continue;
            memcpy(hops + start[edges], tree->hops + first, (size_t)k * sizeof *hops);
            start[edges + 1] = start[edges] + k;
            edges++;
            has[h] = 1;
            added = 1;
        }
    }
    must(esp_plan_add_tree(plan, v->p, weight, edges, start, hops, NULL));
    free(start);
    free(hops);
    free(has);
}

struct esp_plan *packed_plan(const struct esp_platform *p, double slice_bytes,
                             double n_slices, double *bound)
{
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
    struct esp_plan *plan = NULL;
    espi_arena_init(&arena);
    must(espi_view_init(&v, p, slice_bytes, &arena, NULL));
    struct espi_packing_options options = {.gap = 1e-6};
    must(espi_packing_solve(&v, 0, &options, &arena, &packing, NULL));
    must(esp_plan_create(ESP_OP_BCAST, 0, "packed", &plan, NULL));
    for (int t = 0; t < packing.n_trees; t++)
        add_tree(plan, &v, &packing.tree[t], packing.tree[t].rate / packing.rate);
    plan->size_bytes = n_slices * slice_bytes;
    plan->slice_bytes = slice_bytes;
    if (bound)
        *bound = packing.bound;
    espi_arena_done(&arena);
    return plan;
}
