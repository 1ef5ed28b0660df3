/* Chain: the root sends to the first host, that to the second, and so on.
 *
 * In the order of the hosts' numbers, the root first, as programs do that know ranks
 * only: good for long messages in equal networks, and a base line in others.
 * Reference: none needed. Model: any. Guarantee: none.
 * Where a host has no link to the next, the transfer is routed over a shortest path.
 * Complexity: O(m) when all links of the chain exist, else O(n m log n). */
#include "algo/atomic/ranks.h"

static esp_status run_chain(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    struct espi_transfers t;
    const int *hosts;
    esp_status st = espi_ranks_begin(task, &hosts, &t, err);
    for (int r = 1; r < task->view->g.n && !st; r++)
        st = espi_transfers_add(&t, hosts[r - 1], hosts[r], err);
    return st ? st : espi_transfers_plan(&t, plan, err);
}

const struct espi_algo espi_algo_chain = {
    .name = "chain",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "folklore",
    .complexity = "O(n m log n)",
    .summary = "each host sends to the next, in the order of their numbers",
    .run = run_chain,
};
