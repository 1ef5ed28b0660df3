/* Multisource Multicast (Augmented Sources): some hosts get the whole message first and
 * serve the targets as the root does.
 *
 * Starts with the root as the only source (the scatter) and adds, one at a time, the host
 * through which most flows, if that makes the flows' period shorter. Targets may become
 * sources. Reference: Beaumont, Legrand, Marchal, Robert 2004; the linear program is
 * ours, from the paper's description (solve/flows.h). Model: any, by its resources.
 * Guarantee: never slower than the scatter. Complexity: O(sources * n) linear programs of
 * m * sources variables. Departure: at most `sources` sources, for memory; the 63 that
 * are standard are more than were ever taken on platforms of 65 hosts. */
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/watch.h"
#include "base/err.h"

/* Adds the first node that helps; *done when there is none. */
static esp_status add_source(const struct espi_task *task, struct espi_flows *f,
                             int *done, struct esp_err *err)
{
    const struct espi_flow_net *net = f->net;
    int n = net->g.n;
    double *inflow = ESPI_ARENA_ZNEW(task->arena, double, n);
    unsigned char *skip = ESPI_ARENA_NEW(task->arena, unsigned char, n);
    int *order = ESPI_ARENA_NEW(task->arena, int, n);
    if (!inflow || !skip || !order)
        return espi_err_nomem(err);
    for (int i = 0; i < f->n_sources; i++)
        espi_inflow(&net->g, espi_flows_of(f, i), inflow);
    for (int v = 0; v < n; v++)
        skip[v] = espi_is_switch(net->p, v) || !(inflow[v] > 1e-9);
    for (int i = 0; i < f->n_sources; i++)
        skip[f->source[i]] = 1;
    int count = espi_rank_nodes(inflow, skip, n, 1, order), better = 0;
    for (int i = 0; i < count && !better; i++) {
        esp_status st = espi_flows_try_source(f, order[i], &better, err);
        if (st)
            return st;
    }
    *done = !better;
    return ESP_OK;
}

static esp_status add_sources(const struct espi_task *task, struct espi_flows *f,
                              struct esp_err *err)
{
    int done = 0;
    esp_status st = ESP_OK;
    while (!st && !done && !espi_watch_is_over() &&
           f->n_sources <= (int)task->option[0]) {
        struct espi_arena_mark mark = espi_arena_mark(task->arena);
        st = add_source(task, f, &done, err);
        espi_arena_release(task->arena, mark);
    }
    return st;
}

static esp_status run_multisource(const struct espi_task *task, struct esp_plan *plan,
                                  struct esp_err *err)
{
    struct espi_flow_net net;
    struct espi_flows flows;
    esp_status st = espi_task_net(task, &net, err);
    if (!st)
        st = espi_flows_init(&flows, &net, task->arena, err);
    if (st)
        return st;
    st = add_sources(task, &flows, err);
    if (!st)
        st = espi_add_flows(task, &flows, plan, err);
    espi_flows_free(&flows);
    return st;
}

static const struct espi_algo_option options[] = {
    {.name = "sources",
     .standard = ESPI_SOURCES_MAX - 1,
     .min = 0,
     .max = ESPI_SOURCES_MAX - 1,
     .meaning = "at most so many hosts become sources besides the root"},
    {0},
};

const struct espi_algo espi_algo_multisource = {
    .name = "multisource",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "Beaumont, Legrand, Marchal, Robert 2004, Multisource Multicast",
    .complexity = "O(sources n) linear programs",
    .summary = "some hosts get the whole message first and serve the targets as the root",
    .options = options,
    .run = run_multisource,
};
