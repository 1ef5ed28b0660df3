/* LP-Grow-Tree: a tree grown by the arc that the optimal steady state uses most.
 *
 * Reference: Beaumont, Marchal, Robert 2005, algorithm 7.
 * Model: one-port (the shares come from the model the platform has).
 * Guarantee: none; an arc with a positive share always leaves the tree, since the optimum
 * brings every slice across every cut. Of more than 200 hosts the program is left before
 * its last cuts (lp_shares.c): then an arc without a share may have to do. Complexity:
 * that of the program over arcs, solve/arcs.h, and O(m log m). Ties: smaller time, then
 * lower sender, lower receiver. */
#include "algo/pipelined/arc_order.h"
#include "algo/pipelined/lp_shares.h"
#include "base/err.h"
#include "base/heap.h"

/* Arcs get keys by (share descending, place in the order by time). */
struct grower {
    const struct espi_digraph *g;
    const long *share;
    int *arcs, *place; /* by time; arc -> place */
    struct espi_heap heap;
    unsigned char *inside;
};

/* The heap takes places, which settle ties among equal shares. */
static void open_host(struct grower *w, int h)
{
    w->inside[h] = 1;
    for (int k = w->g->out.start[h]; k < w->g->out.start[h + 1]; k++) {
        int e = w->g->out.item[k];
        if (!w->inside[w->g->head[e]])
            espi_heap_set(&w->heap, w->place[e], -(double)w->share[e]);
    }
}

static esp_status run_lp_grow(const struct espi_task *task, struct esp_plan *plan,
                              struct esp_err *err)
{
    esp_status st;
    const struct espi_view *v = task->view;
    struct grower w = {.g = &v->g};
    w.share = espi_lp_shares(task, plan, &st, err);
    if (!w.share)
        return st;
    w.arcs = espi_arcs_by_time(v, ESPI_FAST_FIRST, task->arena);
    w.place = ESPI_ARENA_NEW(task->arena, int, v->g.m);
    w.inside = ESPI_ARENA_ZNEW(task->arena, unsigned char, v->g.n);
    int *parent = ESPI_ARENA_NEW(task->arena, int, v->g.n);
    if (!w.arcs || !w.place || !w.inside || !parent ||
        espi_heap_init(&w.heap, task->arena, v->g.m))
        return espi_err_nomem(err);
    for (int i = 0; i < v->g.m; i++)
        w.place[w.arcs[i]] = i;
    parent[task->root] = -1;
    open_host(&w, task->root);
    while (w.heap.size > 0) {
        int e = w.arcs[espi_heap_pop(&w.heap)], h = v->g.head[e];
        if (w.inside[h])
            continue;
        parent[h] = e;
        open_host(&w, h);
    }
    return espi_plan_add_parents(plan, v, task->root, 1, parent, task->arena, err);
}

const struct espi_algo espi_algo_lp_grow = {
    .name = "lp-grow",
    .family = "pipelined",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .by_slice = 1,
    .paper = "Beaumont, Marchal, Robert 2005, algorithm 7",
    .complexity = "linear programs and O(m log m)",
    .summary = "adds the arc that the optimum uses most (LP-Grow-Tree)",
    .run = run_lp_grow,
};
