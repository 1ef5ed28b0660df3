/* Topo-Grow-Tree: a tree grown by the arc that loads its sender least.
 *
 * The cost of an arc u -> w is what u sends for each slice once the arc is in the tree:
 * the times of u's arcs already there plus T_uw. The cheapest arc that leaves the tree is
 * added until all hosts are in.
 * Reference: Beaumont, Marchal, Robert 2005, algorithm 3.
 * Model: one-port (looks only at the times of arcs; the tree is valid in the others).
 * Guarantee: none. Complexity: O(m log n), see grower.h.
 * Departure: the paper's update adds the current cost of the new arc, not its time, to
 * the costs of the sender's other arcs, so that earlier children count twice as often
 * with each later one. Its text says what it means; update=printed does what it says. */
#include "algo/pipelined/grow.h"

static double load_after_s(const struct espi_grown *g, int sender, double time_s)
{
    return g->load_s[sender] + time_s;
}

static double add_time_s(double time_s, double cost_s)
{
    (void)cost_s;
    return time_s;
}

static double add_cost_s(double time_s, double cost_s)
{
    (void)time_s;
    return cost_s;
}

const struct espi_grow_rule espi_grow_correct = {load_after_s, add_time_s};
const struct espi_grow_rule espi_grow_printed = {load_after_s, add_cost_s};

static esp_status run_grow(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    int printed = task->option[0] != 0;
    return espi_grow_plan(task, printed ? &espi_grow_printed : &espi_grow_correct, plan,
                          err);
}

static const struct espi_algo_option options[] = {
    {.name = "update",
     .choices = "correct|printed",
     .meaning = "how a new child raises its sender's costs: by its time, or as the paper "
                "prints it"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK | ESPI_USE_ADVISOR},
    {.use = 0},
};

const struct espi_algo espi_algo_grow = {
    .name = "grow",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, algorithm 3",
    .complexity = "O(m log n)",
    .summary = "adds the arc that leaves its sender least loaded (Topo-Grow-Tree)",
    .options = options,
    .uses = uses,
    .run = run_grow,
};
