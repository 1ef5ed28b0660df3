/* Multiport-Prune-Degree: takes arcs from the sender with the longest period, until a
 * tree is left, where sends overlap.
 *
 * The period of a sender is the sum of the send overheads of its arcs left, or its
 * slowest arc left if that takes longer.
 * Reference: Beaumont, Marchal, Robert 2005 names it beside
 * algorithm 5 without spelling it out; this is algorithm 2 with that period in place of
 * the sum of times. Model: multi-port. Guarantee: none.
 * Complexity: as prune-degree. */
#include "algo/pipelined/pruner.h"

static esp_status run_multiport_prune_degree(const struct espi_task *task,
                                             struct esp_plan *plan, struct esp_err *err)
{
    return espi_prune_by_load_plan(task, espi_out_load_multiport_s, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK},
    {.use = 0},
};

const struct espi_algo espi_algo_multiport_prune_degree = {
    .name = "multiport-prune-degree",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_MODEL_BIT(ESP_MODEL_MULTI_PORT),
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, multi-port",
    .complexity = "O(m log n) and a local search an arc",
    .summary = "takes arcs from the sender with the longest period",
    .uses = uses,
    .run = run_multiport_prune_degree,
};
