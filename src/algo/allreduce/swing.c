/* Swing: as Rabenseifner's, but with partners to the right and left in turns.
 *
 * In step s a host of even number exchanges with the one 1 - 2 + 4 - ... (s + 1 terms)
 * places to its right, one of odd number to its left: partners stay nearer than powers of
 * two, which spares what rings and tori share. Reference: D. De Sensi, T. Bonato,
 * D. Saam, T. Hoefler, Swing: Short-cutting rings for higher bandwidth allreduce, 2024;
 * here over the hosts in the order of their numbers, those too many for a power of two
 * behind another. Model: any. Guarantee: none. Complexity: O(n^2) transfers of a part. */
#include "algo/allreduce/part_trees.h"

static esp_status run_swing(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    return espi_plan_halving(task, espi_swing_partner, plan, err);
}

const struct espi_algo espi_algo_swing = {
    .name = "swing",
    .family = "allreduce",
    .op = ESP_OP_ALLREDUCE,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PART_TREES_HOSTS,
    .paper = "De Sensi, Bonato, Saam, Hoefler 2024",
    .complexity = "O(n^2)",
    .summary = "halves exchanged to the right and left in turns, and the way back",
    .run = run_swing,
};
