/* Topo-Prune-Degree: takes arcs from the sender with the most to send, until a tree is
 * left.
 *
 * Always the sender whose arcs left take longest together and that has one to spare loses
 * its slowest such arc.
 * Reference: Beaumont, Marchal, Robert 2005, algorithm 2.
 * Model: one-port (looks only at the times of arcs; the tree is valid in the others).
 * Guarantee: none. Complexity: O(m (log n + log degree)) and one search for each deleted
 * arc of the certificate, see pruner.h; at worst O(m (n + m)).
 * Departure: as printed, arcs that are gone already would be tried again, and a sender
 * would be left after its first arc whether that could go or not. */
#include "algo/pipelined/pruner.h"

static esp_status run_prune_degree(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    return espi_prune_by_load_plan(task, espi_out_load_sum_s, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_ADVISOR},
    {.use = 0},
};

const struct espi_algo espi_algo_prune_degree = {
    .name = "prune-degree",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, algorithm 2",
    .complexity = "O(m log n) and a local search an arc",
    .summary = "takes arcs from the most loaded sender (Topo-Prune-Degree)",
    .uses = uses,
    .run = run_prune_degree,
};
