/* Rabenseifner's: halves exchanged with hosts ever nearer, and back.
 *
 * In each step a host gives half of what it still combines to the one 2^k places away, k
 * falling, until each has a part; then the same back. Hosts stand in the order of their
 * numbers; those too many for a power of two stand behind another. Reference:
 * R. Rabenseifner, Optimization of collective reduction operations, 2004. Model: any.
 * Guarantee: none; on a power of two of equal machines as good as the ring, in 2 log2 n
 * steps. Complexity: O(n^2) transfers of a part. */
#include "algo/allreduce/part_trees.h"

static esp_status run_rabenseifner(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    return espi_plan_halving(task, espi_bit_partner, plan, err);
}

const struct espi_algo espi_algo_rabenseifner = {
    .name = "rabenseifner",
    .family = "allreduce",
    .op = ESP_OP_ALLREDUCE,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PART_TREES_HOSTS,
    .paper = "Rabenseifner 2004",
    .complexity = "O(n^2)",
    .summary = "halves exchanged with hosts ever nearer, and the way back",
    .run = run_rabenseifner,
};
