/* Topo-Prune-Simple: deletes the slowest arcs until a tree is left.
 *
 * Reference: Beaumont, Marchal, Robert 2005, algorithm 1.
 * Model: one-port (looks only at the times of arcs; the tree is valid in the others).
 * Guarantee: no tree has a faster slowest arc, which is not the period.
 * Complexity: O(m log m) and one search for each deleted arc of the certificate, see
 * pruner.h; at worst O(m (n + m)), measured about n^1.6 from 10,000 to 100,000 nodes with
 * ten links each, since climbs grow with the depth of the certificate.
 * Departure: "still connected" means reachable from the root, without which no tree could
 * be left; the outer loop of the paper runs once, since an arc that cannot be spared
 * never can be later. */
#include "algo/pipelined/arc_order.h"
#include "algo/pipelined/pruner.h"
#include "base/err.h"

static esp_status run_prune_simple(const struct espi_task *task, struct esp_plan *plan,
                                   struct esp_err *err)
{
    struct espi_pruner p;
    const int *arcs = espi_arcs_by_time(task->view, ESPI_SLOW_FIRST, task->arena);
    if (!arcs || espi_pruner_init(&p, &task->view->g, task->root, task->arena))
        return espi_err_nomem(err);
    espi_prune_in_order(&p, arcs);
    return espi_plan_add_parents(plan, task->view, task->root, 1, p.parent_arc,
                                 task->arena, err);
}

const struct espi_algo espi_algo_prune_simple = {
    .name = "prune-simple",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, algorithm 1",
    .complexity = "O(m log m) and a local search an arc",
    .summary = "deletes the slowest arcs until a tree is left (Topo-Prune-Simple)",
    .run = run_prune_simple,
};
