/* Augmented Multicast: the best broadcast among root and targets, and hosts that help.
 *
 * Starts with root and targets alone, perhaps without a way between them, and adds, one
 * at a time, the host that passes on most in the best scatter, if the best broadcast
 * among all then is faster. While some target cannot be reached a host is added as well
 * that enlarges what can be reached, and if there is none the first that is left.
 * Reference: Beaumont, Legrand, Marchal, Robert 2004. Model: any, by its resources.
 * Guarantee: none; the plan's trees reach the period of the program. Complexity:
 * O(hosts^2) programs at worst. Departure: the rule for infinite periods is ours. */
#include <math.h>
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/watch.h"
#include "base/err.h"
#include "solve/tuning.h"
#include "solve/solve_budget.h"

struct augmenter {
    const struct espi_task *task;
    struct espi_flow_net net;
    struct espi_cover cover;
    double period_s;
    int n_order;
    int *order;
    int *queue;
    unsigned char *seen;
};

/* Hosts that are no targets, those that pass on most in the scatter first. */
static esp_status rank_hosts(struct augmenter *x, struct esp_err *err)
{
    struct espi_flows flows;
    int n = x->net.g.n;
    double *inflow = ESPI_ARENA_ZNEW(x->task->arena, double, n);
    unsigned char *skip = ESPI_ARENA_NEW(x->task->arena, unsigned char, n);
    x->order = ESPI_ARENA_NEW(x->task->arena, int, n);
    x->queue = ESPI_ARENA_NEW(x->task->arena, int, n);
    x->seen = ESPI_ARENA_NEW(x->task->arena, unsigned char, n);
    if (!inflow || !skip || !x->order || !x->queue || !x->seen)
        return espi_err_nomem(err);
    esp_status st = espi_flows_init(&flows, &x->net, x->task->arena, err);
    if (st)
        return st;
    espi_inflow(&x->net.g, espi_flows_of(&flows, 0), inflow);
    espi_flows_free(&flows);
    for (int v = 0; v < n; v++)
        skip[v] = x->net.is_target[v] || v == x->net.root || espi_is_switch(x->net.p, v);
    x->n_order = espi_rank_nodes(inflow, skip, n, 1, x->order);
    for (int i = 0; i < x->n_order; i++)
        espi_cover_set_active(&x->cover, x->order[i], 0);
    return ESP_OK;
}

/* How many active nodes can be reached. */
static int count_reached(struct augmenter *x)
{
    const struct espi_digraph *g = &x->net.g;
    int count = 0;
    memset(x->seen, 0, (size_t)g->n);
    x->seen[x->net.root] = 1;
    x->queue[count++] = x->net.root;
    for (int i = 0; i < count; i++)
        for (int k = g->out.start[x->queue[i]]; k < g->out.start[x->queue[i] + 1]; k++) {
            int w = g->head[g->out.item[k]];
            if (!x->seen[w] && x->cover.active[w]) {
                x->seen[w] = 1;
                x->queue[count++] = w;
            }
        }
    return count;
}

static void accept_host(struct augmenter *x, int i)
{
    espi_cover_set_active(&x->cover, x->order[i], 1);
    memmove(x->order + i, x->order + i + 1,
            (size_t)(x->n_order - i - 1) * sizeof *x->order);
    x->n_order--;
}

/* Adds the first host that helps; *done when there is none. */
static esp_status augment_step(struct augmenter *x, int *done, struct esp_err *err)
{
    int before = count_reached(x), lost = !isfinite(x->period_s);
    for (int i = 0; i < x->n_order; i++) {
        double period_s, limit_s = lost ? INFINITY : x->period_s * (1 - ESPI_PERIOD_SAME);
        espi_cover_set_active(&x->cover, x->order[i], 1);
        esp_status st = espi_cover_solve(&x->cover, limit_s, &period_s, err);
        if (espi_solve_budget_was_late(st)) { /* with those that are added by now */
            espi_cover_set_active(&x->cover, x->order[i], 0);
            *done = 1;
            return ESP_OK;
        }
        if (st)
            return st;
        if (isfinite(period_s) || (lost && count_reached(x) > before)) {
            x->period_s = period_s;
            accept_host(x, i);
            return ESP_OK;
        }
        espi_cover_set_active(&x->cover, x->order[i], 0);
    }
    if (lost && x->n_order > 0)
        accept_host(x, 0);
    else
        *done = 1;
    return ESP_OK;
}

static esp_status augment_hosts(struct augmenter *x, struct esp_err *err)
{
    int done = 0;
    esp_status st = rank_hosts(x, err);
    if (!st)
        st = espi_cover_solve(&x->cover, INFINITY, &x->period_s, err);
    while (!st && !done && !espi_watch_is_over())
        st = augment_step(x, &done, err);
    if (!st && !isfinite(x->period_s))
        st = espi_err(err, ESP_EUNSUPPORTED, "some target cannot be reached");
    return st;
}

static esp_status run_augmented_multicast(const struct espi_task *task,
                                          struct esp_plan *plan, struct esp_err *err)
{
    struct augmenter x = {.task = task};
    esp_status st = espi_task_net(task, &x.net, err);
    if (!st)
        st = espi_cover_init(&x.cover, &x.net, ESPI_COVER_SPAN, task->arena, err);
    if (st)
        return st;
    st = augment_hosts(&x, err);
    if (!st)
        st = espi_add_broadcast(task, x.cover.active, plan, err);
    espi_cover_free(&x.cover);
    return st;
}

const struct espi_algo espi_algo_augmented_multicast = {
    .name = "augmented-multicast",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "Beaumont, Legrand, Marchal, Robert 2004, Augmented Multicast",
    .complexity = "O(n^2) linear programs",
    .summary = "the best broadcast among the targets and hosts added one by one",
    .run = run_augmented_multicast,
};
