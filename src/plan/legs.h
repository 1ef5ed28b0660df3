/* The legs of a plan: what a schedule puts in order.
 *
 * A leg carries the slices of a tree from one host to the next; an edge of the plan has
 * one, or more when hosts forward on its path. Legs of several trees over the same links
 * are one arc: they use the same resources for the same times. */
#ifndef ESPI_PLAN_LEGS_H
#define ESPI_PLAN_LEGS_H

#include <espalier/plan.h>

#include "base/arena.h"
#include "graph/csr.h"
#include "platform/platform.h"

struct espi_leg {
    int tree, edge, part; /* part: which leg of the edge */
    int from, to;         /* nodes */
    int source;           /* the leg that brings `from` the data; -1: it has them */
    int also;             /* the leg before it whose data its receiver combines with those
                             of this one; -1: none. From a source on: all it waits for */
    int keeps;            /* does `to` keep the data, or does it only forward them? */
    int first_hop, n_hops; /* of tree->hops */
    int depth;             /* legs before it on the way from the root */
    int arc;
};

struct espi_legs {
    const struct esp_plan *plan;
    int n;
    struct espi_leg *leg; /* tree by tree, in the order of the edges */
    int *tree_start;      /* tree -> its first leg; n_trees + 1 */
    int *edge_start;      /* all edges in that order -> first leg; and one more */
    int max_depth;
    int n_arcs;
    int *arc_leg; /* arc -> its first leg */
};

/* The legs of a checked plan; -1 when out of memory. */
int espi_legs_init(struct espi_legs *legs, const struct esp_platform *p,
                   const struct esp_plan *plan, struct espi_arena *arena);

static inline const int *espi_leg_hops(const struct espi_legs *legs, int leg)
{
    const struct espi_leg *l = &legs->leg[leg];
    return legs->plan->trees[l->tree].hops + l->first_hop;
}

/* Leg -> the legs that wait for it: one of several sources stands with each. -1 when out
 * of memory. */
int espi_legs_next(struct espi_rows *next, const struct espi_legs *legs,
                   struct espi_arena *arena);

/* What the arcs use for one slice: use k of arc a is k = start[a] .. start[a+1), each
 * resource once. */
struct espi_arc_uses {
    int n_resources, first_link; /* ports come first, as in struct espi_resources */
    int *start, *resource;
    double *time_s;
    double *slice_s; /* arc -> the longest of its times: a slice every so often, alone */
    double *lag_s;   /* arc -> from the start of a send to the arrival */
};

int espi_arc_uses_init(struct espi_arc_uses *u, const struct espi_legs *legs,
                       const struct esp_platform *p, double slice_bytes,
                       struct espi_arena *arena);

#endif
