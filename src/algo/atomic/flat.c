/* Flat tree: the root sends to every host itself.
 *
 * What a naive program does, and the base line of every comparison.
 * Reference: none needed. Model: any. Guarantee: none.
 * Where the root has no link to a host, the transfer is routed over a shortest path.
 * Complexity: O(m log n). */
#include "algo/algo.h"
#include "algo/transfers.h"

static esp_status run_flat(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_transfers t;
    esp_status st = espi_transfers_init(&t, task, ESPI_ROUTE_DIRECT, err);
    for (int h = 0; h < task->view->g.n && !st; h++)
        if (h != task->root)
            st = espi_transfers_add(&t, task->root, h, err);
    return st ? st : espi_transfers_plan(&t, plan, err);
}

const struct espi_algo espi_algo_flat = {
    .name = "flat",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "folklore",
    .complexity = "O(m log n)",
    .summary = "the root sends to every host itself",
    .run = run_flat,
};
