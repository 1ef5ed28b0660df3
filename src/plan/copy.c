#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/plan.h"
#include "plan/schedule.h"

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
    copy->rents = NULL;
    copy->schedule = NULL;
    copy->algo = espi_strdup(plan->algo);
    copy->trees = espi_calloc((size_t)plan->n_trees + 1, sizeof *copy->trees);
    int bad = !copy->algo || !copy->trees || COPY(copy, plan, targets, plan->n_targets) ||
              COPY(copy, plan, rents, plan->n_rents);
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
