/* The messages of a plan with steps: what goes from one host to another in one step. */
#ifndef ESPI_PLAN_MESSAGES_H
#define ESPI_PLAN_MESSAGES_H

#include <espalier/plan.h>

#include "base/arena.h"

/* An edge of a tree, as part of a message. */
struct espi_message_part {
    int tree, edge;
};

struct espi_messages {
    int n;
    int *start;                     /* message -> parts, as rows */
    struct espi_message_part *part; /* by step, sender, receiver, then by tree */
};

/* -1 when out of memory. O(edges log edges). */
int espi_messages_init(struct espi_messages *m, const struct esp_plan *plan,
                       struct espi_arena *arena);

static inline const struct esp_edge *espi_part_edge(const struct esp_plan *plan,
                                                    const struct espi_message_part *part)
{
    return &plan->trees[part->tree].edges[part->edge];
}

/* The edge whose ends and path are those of the whole message. */
static inline const struct esp_edge *espi_message_edge(const struct espi_messages *m,
                                                       const struct esp_plan *plan, int i)
{
    return espi_part_edge(plan, &m->part[m->start[i]]);
}

static inline const int *espi_message_hops(const struct espi_messages *m,
                                           const struct esp_plan *plan, int i)
{
    return plan->trees[m->part[m->start[i]].tree].hops +
           espi_message_edge(m, plan, i)->first_hop;
}

static inline int espi_message_step(const struct espi_messages *m,
                                    const struct esp_plan *plan, int i)
{
    const struct espi_message_part *part = &m->part[m->start[i]];
    return plan->trees[part->tree].steps[part->edge];
}

/* Are the steps as esp_plan_set_tree_steps says? For a plan that is sound otherwise. */
esp_status espi_messages_check(const struct esp_plan *plan, const struct esp_platform *p,
                               struct esp_err *err);

#endif
