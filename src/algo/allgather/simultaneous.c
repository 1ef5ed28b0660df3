/* Simultaneous Broadcast: every host sends its part to every other, the next one first.
 *
 * Reference: M. Jacunski, P. Sadayappan, D. Panda, All-to-all broadcast on switch-based
 * clusters of workstations, 1999, as Wu and Yeh use it among agents (2000): host i sends
 * to i + 1, i + 2, ... so that no receiver is everybody's first. Model: any.
 * Guarantee: none. Complexity: O(n^2) messages of one part. */
#include "algo/exchange.h"

static esp_status run_simultaneous(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    for (int from = 0; from < x.n && !st; from++)
        for (int k = 1; k < x.n && !st; k++)
            st = espi_exchange_send(&x, k, from, (from + k) % x.n, 1, &from, err);
    return st ? st : espi_exchange_plan(&x, plan, err);
}

const struct espi_algo espi_algo_simultaneous = {
    .name = "simultaneous",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Jacunski, Sadayappan, Panda 1999",
    .complexity = "O(n^2)",
    .summary = "every host sends its part to every other",
    .run = run_simultaneous,
};
