/* open-shop: each part straight to its receiver, in the order of a list schedule: of the
 * messages that find sender, receiver and cables free the one that uses what has most
 * left to do.
 *
 * Reference: P. Bhat, V. Prasanna, C. Raghavendra, Adaptive communication algorithms for
 * distributed heterogeneous systems, 1999, its open shop heuristic; there hosts are the
 * machines of the shop, here so are cables and links (cost/post_order.h). Model: any;
 * where transfers share the network all begin at once, whatever their order (capacity).
 * Guarantee: where hosts share nothing but ports, twice the optimum of what goes
 * straight, for then none waits but for who keeps one of its two ports busy. Complexity:
 * O(n^2) messages, each as often as what it waits for is free. */
#include "algo/exchange.h"
#include "base/err.h"
#include "cost/post_order.h"
#include "plan/ops.h"

static esp_status run_open_shop(const struct espi_task *task, struct esp_plan *plan,
                                struct esp_err *err)
{
    esp_status st = espi_exchange_pairwise(task, plan, err);
    if (!st &&
        espi_plan_order_messages(plan, task->p, task->request->size_bytes, task->arena))
        st = espi_err_nomem(err);
    return st;
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_open_shop = {
    .name = "open-shop",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "Bhat, Prasanna, Raghavendra 1999",
    .complexity = "O(n^3)",
    .summary = "straight, first what uses the port or cable with most left to do",
    .uses = uses,
    .run = run_open_shop,
};
