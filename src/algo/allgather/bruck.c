/* Bruck: in step k each host sends all it has to the host 2^k before it; the last step
 * sends only what is missing there.
 *
 * Reference: J. Bruck et al., Efficient algorithms for all-to-all communications in
 * multiport message-passing systems, 1997. Hosts stand in the order of their numbers.
 * Model: any. Guarantee: ceil(log2 n) steps, the fewest there can be.
 * Complexity: O(n log n) messages. */
#include "algo/exchange.h"

#include "base/err.h"

static esp_status run_bruck(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    int *pieces = ESPI_ARENA_NEW(task->arena, int, x.n);
    if (!pieces)
        return espi_err_nomem(err);
    for (int from = 0; from < x.n && !st; from++)
        for (int step = 0, has = 1; has < x.n && !st; step++, has *= 2) {
            int count = has < x.n - has ? has : x.n - has;
            for (int i = 0; i < count; i++)
                pieces[i] = (from + i) % x.n;
            st = espi_exchange_send(&x, step, from, (from - has + x.n) % x.n, count,
                                    pieces, err);
        }
    return st ? st : espi_exchange_plan(&x, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_ALLGATHER_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_bruck = {
    .name = "bruck",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Bruck et al. 1997",
    .complexity = "O(n log n)",
    .summary = "all a host has to the one 1, 2, 4, ... before it",
    .uses = uses,
    .run = run_bruck,
};
