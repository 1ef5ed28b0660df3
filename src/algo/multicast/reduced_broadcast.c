/* Broadcast to all hosts, and Reduced Broadcast, which leaves hosts out.
 *
 * Reduced Broadcast starts with the best broadcast to all hosts and leaves out, one at a
 * time, the host that is no target and passes on least to the targets, as long as the
 * best broadcast to the rest is no slower. Reference: Beaumont, Legrand, Marchal, Robert,
 * Complexity results and heuristics for pipelined multicast operations, 2004. Model: any,
 * by its resources. Guarantee: none; the plan's trees reach the period of the program.
 * Complexity: O(hosts^2) programs at worst, each started from the one before. Departure:
 * the paper says "until not improved"; to accept an equal period ends later and never
 * worse (strict=yes stops at once on a plateau). */
#include <math.h>
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/watch.h"
#include "base/err.h"
#include "solve/tuning.h"
#include "solve/solve_budget.h"

struct reducer {
    const struct espi_task *task;
    struct espi_flow_net net;
    struct espi_cover cover;
    double period_s;
    double *inflow;
    unsigned char *skip, *useful;
    int *order;
};

static esp_status reducer_init(struct reducer *x, struct esp_err *err)
{
    int n = x->net.g.n;
    x->inflow = ESPI_ARENA_NEW(x->task->arena, double, n);
    x->skip = ESPI_ARENA_NEW(x->task->arena, unsigned char, n);
    x->order = ESPI_ARENA_NEW(x->task->arena, int, n);
    x->useful = ESPI_ARENA_NEW(x->task->arena, unsigned char, n);
    if (!x->inflow || !x->skip || !x->useful || !x->order)
        return espi_err_nomem(err);
    for (int v = 0; v < n; v++)
        x->skip[v] =
            x->net.is_target[v] || v == x->net.root || espi_is_switch(x->net.p, v);
    return ESP_OK;
}

/* Leaves out the first host that can be; *done when there is none. */
static esp_status leave_out_host(struct reducer *x, int strict, int *done,
                                 struct esp_err *err)
{
    if (espi_target_inflow(&x->net, x->cover.y, x->inflow, x->task->arena))
        return espi_err_nomem(err);
    int n = espi_rank_nodes(x->inflow, x->skip, x->net.g.n, -1, x->order);
    double limit_s = x->period_s * (strict ? 1 - ESPI_PERIOD_SAME : 1 + 1e-9);
    for (int i = 0; i < n; i++) {
        int v = x->order[i];
        double period_s;
        espi_cover_set_active(&x->cover, v, 0);
        esp_status st = espi_cover_solve(&x->cover, limit_s, &period_s, err);
        if (espi_solve_budget_was_late(st)) { /* with what is left out by now */
            espi_cover_set_active(&x->cover, v, 1);
            break;
        }
        if (st)
            return st;
        if (isfinite(period_s)) {
            x->period_s = fmin(period_s, x->period_s);
            x->skip[v] = 1;
            return ESP_OK;
        }
        espi_cover_set_active(&x->cover, v, 1);
    }
    *done = 1;
    return ESP_OK;
}

static esp_status reduce(struct reducer *x, int strict, struct esp_err *err)
{
    int done = 0;
    esp_status st = espi_cover_solve(&x->cover, INFINITY, &x->period_s, err);
    if (!st && !isfinite(x->period_s))
        st = espi_err(err, ESP_EUNSUPPORTED, "some host cannot be reached");
    while (!st && !done && !espi_watch_is_over())
        st = leave_out_host(x, strict, &done, err);
    return st;
}

static esp_status run_reduced(const struct espi_task *task, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct reducer x = {.task = task};
    esp_status st = espi_task_net(task, &x.net, err);
    if (!st)
        st = reducer_init(&x, err);
    if (!st)
        st = espi_cover_init(&x.cover, &x.net, ESPI_COVER_SPAN, task->arena, err);
    if (st)
        return st;
    st = espi_reachable(task, x.useful, err);
    for (int v = 0; v < x.net.g.n && !st; v++)
        if (!x.useful[v]) {
            espi_cover_set_active(&x.cover, v, 0);
            x.skip[v] = 1;
        }
    if (!st)
        st = reduce(&x, task->option[0] != 0, err);
    if (!st)
        st = espi_add_broadcast(task, x.cover.active, plan, err);
    espi_cover_free(&x.cover);
    return st;
}

static esp_status run_broadcast(const struct espi_task *task, struct esp_plan *plan,
                                struct esp_err *err)
{
    unsigned char *all = ESPI_ARENA_NEW(task->arena, unsigned char, task->p->n_nodes);
    if (!all)
        return espi_err_nomem(err);
    esp_status st = espi_reachable(task, all, err);
    return st ? st : espi_add_broadcast(task, all, plan, err);
}

static const struct espi_algo_option options[] = {
    {.name = "strict",
     .choices = "no|yes",
     .meaning = "leave a host out only when the rest is faster without it"},
    {0},
};

const struct espi_algo espi_algo_mc_broadcast = {
    .name = "mc-broadcast",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "Beaumont, Legrand, Marchal, Robert 2004",
    .complexity = "as optimum",
    .summary = "the best broadcast to all hosts, targets or not",
    .run = run_broadcast,
};

const struct espi_algo espi_algo_reduced_broadcast = {
    .name = "reduced-broadcast",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "Beaumont, Legrand, Marchal, Robert 2004, Reduced Broadcast",
    .complexity = "O(n^2) linear programs",
    .summary = "the best broadcast to the targets and the hosts that help them",
    .options = options,
    .run = run_reduced,
};
