/* What the operations ask of plans. */
#ifndef ESPI_PLAN_OPS_H
#define ESPI_PLAN_OPS_H

#include <espalier/plan.h>

/* Do all data flow towards the roots of the trees? */
static inline int espi_op_collects(esp_op op)
{
    return op == ESP_OP_GATHER || op == ESP_OP_REDUCE || op == ESP_OP_REDUCE_SCATTER;
}

/* Do all data flow away from the roots of the trees? */
static inline int espi_op_is_outward(esp_op op)
{
    return !espi_op_collects(op) && op != ESP_OP_ALLREDUCE;
}

/* Is what arrives at a host combined into one message? (Allreduce: on the way to the
 * root.) */
static inline int espi_op_combines(esp_op op)
{
    return op == ESP_OP_REDUCE || op == ESP_OP_REDUCE_SCATTER || op == ESP_OP_ALLREDUCE;
}

/* limit: a plan has a tree for each pair of hosts, and memory for each at each host. */
enum { ESPI_PAIRS_HOSTS = 256 };

/* Has each ordered pair of hosts its own part of the message? */
static inline int espi_op_has_pairs(esp_op op)
{
    return op == ESP_OP_ALLTOALL;
}

/* Has each target of a tree its own part of the message? Then trees are paths. */
static inline int espi_op_has_paths(esp_op op)
{
    return op == ESP_OP_SCATTER || op == ESP_OP_GATHER || espi_op_has_pairs(op);
}

/* Has each host its own part of the message, with trees of its own? */
static inline int espi_op_has_parts(esp_op op)
{
    return op == ESP_OP_ALLGATHER || op == ESP_OP_REDUCE_SCATTER;
}

/* Of how many parts of equal size the message is. */
static inline int espi_plan_parts(const struct esp_plan *plan, int n_hosts)
{
    return espi_op_has_parts(plan->op)    ? n_hosts
           : espi_op_has_pairs(plan->op)  ? n_hosts * (n_hosts - 1)
           : !espi_op_has_paths(plan->op) ? 1
           : plan->targets                ? plan->n_targets
                                          : n_hosts - 1;
}

/* Does what travels together in the steps of the plan travel as one message? */
static inline int espi_plan_has_steps(const struct esp_plan *plan)
{
    return plan->n_trees > 0 && plan->trees[0].steps;
}

static inline int espi_op_takes_targets(esp_op op)
{
    return op == ESP_OP_MULTICAST || op == ESP_OP_REDUCE ||
           (espi_op_has_paths(op) && !espi_op_has_pairs(op));
}

static inline int espi_op_frees_roots(esp_op op)
{
    return op == ESP_OP_ALLREDUCE || espi_op_has_parts(op) || espi_op_has_pairs(op);
}

/* Does the root alone get what the operation makes? */
static inline int espi_op_is_for_root(esp_op op)
{
    return op == ESP_OP_GATHER || op == ESP_OP_REDUCE;
}

/* The operation whose plans are those of this one on the platform reversed, turned
 * round; itself where there is none. */
static inline esp_op espi_op_mirror(esp_op op)
{
    switch (op) {
    case ESP_OP_GATHER:
        return ESP_OP_SCATTER;
    case ESP_OP_REDUCE:
        return ESP_OP_MULTICAST;
    case ESP_OP_REDUCE_SCATTER:
        return ESP_OP_ALLGATHER;
    default:
        return op;
    }
}

/* Is there an order of its sends to choose? A race has none, and steps say theirs. */
static inline int espi_op_is_scheduled(const struct esp_plan *plan)
{
    return !plan->redundant && !espi_plan_has_steps(plan);
}

/* How many of a tree's edges, from the first, lead towards its root. */
static inline int espi_tree_collecting_edges(esp_op op, const struct esp_tree *tree)
{
    return op == ESP_OP_ALLREDUCE ? tree->n_edges / 2
           : espi_op_collects(op) ? tree->n_edges
                                  : 0;
}

#endif
