/* Ring: each part goes round once to be combined, and once more to all.
 *
 * The MPI libraries' algorithm for long messages, and NCCL's ring (P. Patarasuk, X. Yuan,
 * Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009). Hosts
 * stand in the order of their numbers. Model: any. Guarantee: none; on equal machines
 * each port carries no more than it must. Complexity: O(n^2) transfers of a part. */
#include "algo/allreduce/part_trees.h"

static void go_round(int part, int n, struct espi_place_send *in,
                     struct espi_place_send *out)
{
    for (int i = 0; i < n - 1; i++) {
        in[i] = (struct espi_place_send){(part + 1 + i) % n, (part + 2 + i) % n};
        out[i] = (struct espi_place_send){(part + i) % n, (part + 1 + i) % n};
    }
}

static esp_status run_ring_allreduce(const struct espi_task *task, struct esp_plan *plan,
                                     struct esp_err *err)
{
    return espi_plan_part_trees(task, task->view->g.n, go_round, plan, err);
}

const struct espi_algo espi_algo_ring_allreduce = {
    .name = "ring-allreduce",
    .family = "allreduce",
    .op = ESP_OP_ALLREDUCE,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PART_TREES_HOSTS,
    .paper = "Patarasuk, Yuan 2009",
    .complexity = "O(n^2)",
    .summary = "each part goes round to be combined, and round again to all",
    .run = run_ring_allreduce,
};
