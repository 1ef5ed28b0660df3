/* Ring: in every step each host passes to its right neighbour what came from the left.
 *
 * The MPI libraries' algorithm for long messages (R. Thakur, R. Rabenseifner, W. Gropp,
 * Optimization of collective communication operations in MPICH, 2005). Hosts stand in the
 * order of their numbers. Model: any. Guarantee: none; on equal machines each port
 * carries no more than it must. Complexity: O(n^2) messages of one part. */
#include "algo/exchange.h"

static esp_status run_ring(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_exchange x;
    esp_status st = espi_exchange_init(&x, task, err);
    for (int from = 0; from < x.n && !st; from++)
        for (int step = 0; step < x.n - 1 && !st; step++) {
            int piece = (from - step + x.n) % x.n;
            st = espi_exchange_send(&x, step, from, (from + 1) % x.n, 1, &piece, err);
        }
    return st ? st : espi_exchange_plan(&x, plan, err);
}

const struct espi_algo espi_algo_ring = {
    .name = "ring",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "Thakur, Rabenseifner, Gropp 2005",
    .complexity = "O(n^2)",
    .summary = "each host passes on to the next what comes from the last",
    .run = run_ring,
};
