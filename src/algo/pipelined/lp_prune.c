/* LP-Prune: deletes the arcs that the optimal steady state uses least.
 *
 * Reference: Beaumont, Marchal, Robert 2005, algorithm 6.
 * Model: one-port (the shares come from the model the platform has).
 * Guarantee: none. Complexity: that of the program over arcs, solve/arcs.h, and of the
 * pruning, pruner.h.
 * Departure: the paper prints the arcs in the wrong order; its prose deletes those with
 * the fewest messages first. The shares are those of the optimum of least total time,
 * since other optima may hold useless circulations; of more than 200 hosts the program is
 * left before its last cuts (lp_shares.c). Ties: slower first, then lower
 * sender, then lower receiver. */
#include <stdlib.h>

#include "algo/pipelined/arc_order.h"
#include "algo/pipelined/lp_shares.h"
#include "algo/pipelined/pruner.h"
#include "base/err.h"

struct item {
    long share;
    int place, arc; /* place: by time, slowest first */
};

static int by_share(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static esp_status run_lp_prune(const struct espi_task *task, struct esp_plan *plan,
                               struct esp_err *err)
{
    esp_status st;
    struct espi_pruner p;
    int m = task->view->g.m;
    const long *share = espi_lp_shares(task, plan, &st, err);
    if (!share)
        return st;
    int *arcs = espi_arcs_by_time(task->view, ESPI_SLOW_FIRST, task->arena);
    struct item *items = ESPI_ARENA_NEW(task->arena, struct item, m);
    if (!arcs || !items || espi_pruner_init(&p, &task->view->g, task->root, task->arena))
        return espi_err_nomem(err);
    for (int i = 0; i < m; i++)
        items[i] = (struct item){share[arcs[i]], i, arcs[i]};
    qsort(items, (size_t)m, sizeof *items, by_share);
    for (int i = 0; i < m; i++)
        arcs[i] = items[i].arc;
    espi_prune_in_order(&p, arcs);
    return espi_plan_add_parents(plan, task->view, task->root, 1, p.parent_arc,
                                 task->arena, err);
}

const struct espi_algo espi_algo_lp_prune = {
    .name = "lp-prune",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, algorithm 6",
    .complexity = "linear programs, O(m log m) and a local search an arc",
    .summary = "deletes the arcs that the optimum uses least (LP-Prune)",
    .run = run_lp_prune,
};
