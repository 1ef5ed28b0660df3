/* Multiport-Grow-Tree: a tree grown by the arc that keeps its sender fastest, where sends
 * overlap.
 *
 * The cost of an arc u -> w is the period of u once the arc is in the tree: the send
 * overheads of all its children, or its slowest arc if that takes longer.
 * Reference: Beaumont, Marchal, Robert 2005, algorithm 5.
 * Model: multi-port. Guarantee: none.
 * Complexity: O(m log n), see grower.h.
 * Departure: the printed cost leaves out the candidate itself, as child and as arc; the
 * paper's figure 2 counts it, and so does this. */
#include <math.h>

#include "algo/pipelined/grow.h"

static double period_after_s(const struct espi_grown *g, int sender, double time_s)
{
    return fmax((g->children[sender] + 1) * g->view->send_s[sender],
                fmax(time_s, g->slowest_s[sender]));
}

static double add_nothing_s(double time_s, double cost_s)
{
    (void)time_s, (void)cost_s;
    return 0;
}

const struct espi_grow_rule espi_grow_multiport = {period_after_s, add_nothing_s};

static esp_status run_multiport_grow(const struct espi_task *task, struct esp_plan *plan,
                                     struct esp_err *err)
{
    return espi_grow_plan(task, &espi_grow_multiport, plan, err);
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK},
    {.use = 0},
};

const struct espi_algo espi_algo_multiport_grow = {
    .name = "multiport-grow",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_MODEL_BIT(ESP_MODEL_MULTI_PORT),
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, algorithm 5",
    .complexity = "O(m log n)",
    .summary = "adds the arc that leaves its sender the shortest period",
    .uses = uses,
    .run = run_multiport_grow,
};
