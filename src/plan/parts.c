#include "plan/parts.h"

#include "plan/ops.h"
#include "platform/platform.h"

static int is_target(const struct esp_plan *plan, int node)
{
    for (int i = 0; i < plan->n_targets; i++)
        if (plan->targets[i] == node)
            return 1;
    return 0;
}

/* Does the host have a part, or parts of pairs? */
static int has_part(const struct esp_plan *plan, const struct esp_platform *p, int node)
{
    if (espi_is_switch(p, node))
        return 0;
    return espi_op_has_parts(plan->op) || espi_op_has_pairs(plan->op) ||
           (plan->targets ? is_target(plan, node) : node != plan->root);
}

/* Node -> its place among those that have parts, -1: it has none. How many there are. */
static int number_hosts(const struct esp_plan *plan, const struct esp_platform *p,
                        int *number)
{
    int n = 0;
    for (int v = 0; v < p->n_nodes; v++)
        number[v] = -1;
    for (int i = 0; i < plan->n_targets; i++)
        number[plan->targets[i]] = 0;
    for (int v = 0; v < p->n_nodes; v++)
        if (plan->targets ? number[v] == 0 : has_part(plan, p, v))
            number[v] = n++;
    return n;
}

static int part_of(const struct esp_plan *plan, const struct esp_tree *tree,
                   const int *number, int n)
{
    int end =
        espi_op_has_paths(plan->op) && tree->n_targets ? tree->targets[0] : tree->root;
    if (!espi_op_has_pairs(plan->op))
        return number[end];
    int from = number[tree->root], to = number[end];
    return from < 0 || to < 0 || from == to ? -1 : from * (n - 1) + to - (to > from);
}

int *espi_tree_parts(const struct esp_plan *plan, const struct esp_platform *p,
                     struct espi_arena *arena)
{
    int *part = ESPI_ARENA_ZNEW(arena, int, (size_t)plan->n_trees + 1);
    int many = espi_op_has_parts(plan->op) || espi_op_has_paths(plan->op);
    if (!part || !many || espi_plan_parts(plan, p->n_hosts) < 1)
        return part;
    int *number = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    if (!number)
        return NULL;
    int n = number_hosts(plan, p, number);
    for (int t = 0; t < plan->n_trees; t++)
        part[t] = part_of(plan, &plan->trees[t], number, n);
    return part;
}

/* The host in that place of those that have parts. */
static int host_in_place(const struct esp_plan *plan, const struct esp_platform *p,
                         int place)
{
    for (int v = 0; v < p->n_nodes; v++)
        if (has_part(plan, p, v) && place-- == 0)
            return v;
    return plan->root;
}

void espi_part_ends(const struct esp_plan *plan, const struct esp_platform *p, int part,
                    int *from, int *to)
{
    int others = p->n_hosts - 1;
    *from = *to = plan->root;
    if (espi_op_has_pairs(plan->op) && others > 0) {
        int place = part / others;
        *from = host_in_place(plan, p, place);
        *to = host_in_place(plan, p, part % others + (part % others >= place));
    } else if (espi_op_has_parts(plan->op) || espi_op_has_paths(plan->op)) {
        *from = *to = host_in_place(plan, p, part);
    }
}
