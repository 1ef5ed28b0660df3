/* From paths to trees: every destination gets the message along its paths, which share it
 * among them by their weights. The message is cut wherever some destination's path ends
 * and the next begins; in each piece every destination has one path, and these, from
 * source to destination, are the transfers of a tree. */
#include <stdlib.h>
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/err.h"

static const double TINY = 1e-9; /* rounding: pieces that small are not worth a tree */

struct cutter {
    const struct espi_task *task;
    struct espi_flow_path *paths;
    int n_paths;
    int n_ends;   /* destinations */
    int *first;   /* destination -> its paths, n_ends + 1 */
    double *upto; /* path -> where its part of the message ends */
    double *cut;
    int *at; /* destination -> path in use */
    int *start, *hops;
};

static int cutter_init(struct cutter *c, struct espi_arena *a)
{
    size_t n = (size_t)c->n_paths, hops = 0;
    c->first = ESPI_ARENA_NEW(a, int, n + 1);
    c->at = ESPI_ARENA_NEW(a, int, n);
    c->start = ESPI_ARENA_NEW(a, int, n + 1);
    c->upto = ESPI_ARENA_NEW(a, double, n);
    c->cut = ESPI_ARENA_NEW(a, double, n);
    for (size_t i = 0; i < n; i++)
        hops += (size_t)c->paths[i].n_hops;
    c->hops = ESPI_ARENA_NEW(a, int, hops);
    if (!c->first || !c->at || !c->start || !c->upto || !c->cut || !c->hops)
        return -1;
    double sum = 0;
    for (int i = 0; i < c->n_paths; i++) {
        if (i == 0 || c->paths[i].to != c->paths[i - 1].to) {
            c->at[c->n_ends] = i;
            c->first[c->n_ends++] = i;
            sum = 0;
        }
        sum += c->paths[i].weight;
        c->upto[i] = c->cut[i] = sum;
    }
    c->first[c->n_ends] = c->n_paths;
    for (int d = 0; d < c->n_ends; d++) /* but for rounding this is so */
        c->upto[c->first[d + 1] - 1] = c->cut[c->first[d + 1] - 1] = 1;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The tree of the piece that ends at `end`. */
static esp_status add_piece(struct cutter *c, double weight, double end,
                            struct esp_plan *plan, struct esp_err *err)
{
    int at = 0;
    c->start[0] = 0;
    for (int d = 0; d < c->n_ends; d++) {
        while (c->upto[c->at[d]] < end - TINY)
            c->at[d]++;
        const struct espi_flow_path *path = &c->paths[c->at[d]];
        memcpy(c->hops + at, path->hops, (size_t)path->n_hops * sizeof *c->hops);
        at += path->n_hops;
        c->start[d + 1] = at;
    }
    return esp_plan_add_tree(plan, c->task->p, weight, c->n_ends, c->start, c->hops, err);
}

static esp_status add_pieces(struct cutter *c, struct esp_plan *plan, struct esp_err *err)
{
    double last = 0;
    esp_status st = ESP_OK;
    qsort(c->cut, (size_t)c->n_paths, sizeof *c->cut, by_value);
    for (int i = 0; i < c->n_paths && !st; i++) {
        int closes = i + 1 == c->n_paths || c->cut[i + 1] > c->cut[i] + TINY;
        if (!closes || c->cut[i] <= last + TINY)
            continue;
        st = add_piece(c, c->cut[i] - last, c->cut[i], plan, err);
        last = c->cut[i];
    }
    return st;
}

esp_status espi_add_paths(const struct espi_task *task,
                          const struct espi_flow_path *paths, int n_paths, int n_targets,
                          struct esp_plan *plan, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < n_paths && !st; i++) {
        int start[2] = {0, paths[i].n_hops};
        if (paths[i].weight < TINY)
            continue;
        st = esp_plan_add_tree(plan, task->p, paths[i].weight / n_targets, 1, start,
                               paths[i].hops, err);
        if (!st)
            st = esp_plan_set_tree_ends(plan, plan->root, 1, &paths[i].to, err);
    }
    return st;
}

esp_status espi_add_flows(const struct espi_task *task, const struct espi_flows *flows,
                          struct esp_plan *plan, struct esp_err *err)
{
    struct cutter c = {.task = task};
    struct espi_arena_mark mark = espi_arena_mark(task->arena);
    if (espi_flows_paths(flows, &c.paths, &c.n_paths, task->arena) ||
        cutter_init(&c, task->arena))
        return espi_err_nomem(err);
    esp_status st =
        plan->op == ESP_OP_SCATTER
            ? espi_add_paths(task, c.paths, c.n_paths, flows->net->n_targets, plan, err)
            : add_pieces(&c, plan, err);
    espi_arena_release(task->arena, mark);
    return st;
}
