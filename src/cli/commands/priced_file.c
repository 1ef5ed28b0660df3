/* The plan of an answer by price, as any plan, with what it rents. */
#include <math.h>

#include "base/alloc.h"
#include "base/err.h"
#include "cli/commands/priced.h"
#include "plan/tuning.h"
#include "platform/platform.h"

#define SLICES_MOST 4e6 /* limit: as plans may have 16,777,216 */

static esp_status add_trees(const struct esp_platform *p, const struct espi_priced *is,
                            struct esp_plan *plan, struct esp_err *err)
{
    esp_status st = ESP_OK;

    for (int t = 0; t < is->n_trees && !st; t++)
        st = esp_plan_add_simple_tree(plan, p, is->trees[t].share, is->trees[t].n_links,
                                      is->trees[t].links, err);
    return st;
}

static esp_status add_rents(const struct esp_platform *p, const struct espi_priced *is,
                            struct esp_plan *plan, struct esp_err *err)
{
    struct esp_rent *rents = ESPI_NEW(struct esp_rent, p->n_nodes + 1);
    int n = 0;

    if (!rents)
        return espi_err_nomem(err);
    for (int v = 0; v < p->n_nodes; v++)
        if (is->machines[v])
            rents[n++] = (struct esp_rent){v, is->machines[v]};
    esp_status st = esp_plan_set_rents(plan, n, rents, err);
    espi_free(rents);
    return st;
}

esp_status cli_priced_make_plan(const struct espi_priced_task *task,
                                const struct espi_priced *is, esp_op op, const char *algo,
                                struct esp_plan **out, struct esp_err *err)
{
    struct esp_plan *plan = NULL;
    esp_status st = esp_plan_create(op, task->root, algo, &plan, err);

    if (!st && task->targets)
        st = esp_plan_set_targets(plan, task->n_targets, task->targets, err);
    if (!st)
        st = add_trees(task->p, is, plan, err);
    if (!st)
        st = add_rents(task->p, is, plan, err);
    if (!st)
        st = esp_plan_check(plan, task->p, err);
    if (st) {
        esp_plan_free(plan);
        return st;
    }
    plan->size_bytes = task->size_bytes;
    plan->slice_bytes =
        fmin(fmax(ESPI_SLICE_USUAL, task->size_bytes / SLICES_MOST), task->size_bytes);
    *out = plan;
    return ESP_OK;
}
