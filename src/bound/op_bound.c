#include "bound/op_bound.h"

#include <math.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/watch.h"
#include "bound/own_bound.h"
#include "bound/tuning.h"
#include "bound/pairs_certificate.h"
#include "plan/ops.h"
#include "platform/platform.h"
#include "solve/all_pairs.h"
#include "solve/allreduce.h"
#include "solve/cut_bound.h"
#include "solve/flows.h"
#include "solve/multicast.h"
#include "solve/packing.h"
#include "solve/solve_budget.h"

static esp_status bound_bcast(const struct espi_op_bound_task *t,
                              struct espi_arena *arena, struct espi_op_bound *out,
                              struct esp_err *err)
{
    struct espi_packing_options options = {.gap = ESPI_OP_BOUND_GAP,
                                           .time_limit_s = t->time_limit_s};
    struct espi_packing packing;
    struct espi_view view;
    esp_status st = espi_view_init(&view, t->p, t->slice_bytes, arena, err);
    if (!st)
        st =
            espi_packing_solve(&view, view.host[t->root], &options, arena, &packing, err);
    if (st || !isfinite(packing.bound))
        return st;
    out->throughput_Bps = packing.bound * t->slice_bytes;
    out->exact = packing.rate >= packing.bound * (1 - ESPI_BOUND_TIGHT);
    return ESP_OK;
}

/* The period where it takes no packing to know it, else 0: hosts limit all, or cuts. */
static int known_period(const struct espi_view *v, struct espi_arena *arena,
                        double *period_s)
{
    unsigned char *side = ESPI_ARENA_NEW(arena, unsigned char, v->p->n_nodes);
    if (!side || espi_all_own_s(v, arena, period_s))
        return -1;
    if (*period_s > 0)
        return 0;
    int tight = espi_all_cut_is_tight(v, arena);
    return tight > 0 ? espi_all_cut_s(v, arena, period_s, side) : tight;
}

static esp_status bound_all(const struct espi_op_bound_task *t, struct espi_arena *arena,
                            struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_packing_options options = {.time_limit_s = t->time_limit_s};
    struct espi_packing packing;
    struct espi_view view;
    double known_s = 0;
    esp_status st = espi_view_init(&view, t->p, t->slice_bytes, arena, err);
    if (!st && known_period(&view, arena, &known_s))
        st = espi_err_nomem(err);
    if (!st && known_s > 0) {
        out->throughput_Bps = t->slice_bytes / known_s;
        out->exact = 1;
        return ESP_OK;
    }
    if (!st)
        st = espi_packing_solve_all(&view, &options, arena, &packing, err);
    if (st || !isfinite(packing.bound))
        return st;
    out->throughput_Bps = packing.bound * t->slice_bytes;
    out->exact = packing.rate >= packing.bound * (1 - ESPI_BOUND_TIGHT);
    return ESP_OK;
}

/* A slice for each target a period. */
static esp_status bound_scatter(const struct espi_flow_net *net, struct espi_arena *arena,
                                struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_flows flows;
    esp_status st = espi_flows_init(&flows, net, arena, err);
    if (st)
        return st;
    out->throughput_Bps = net->slice_bytes * net->n_targets / flows.period_s;
    out->exact = 1;
    espi_flows_free(&flows);
    return ESP_OK;
}

static esp_status bound_multicast(const struct espi_flow_net *net,
                                  struct espi_arena *arena, struct espi_op_bound *out,
                                  struct esp_err *err)
{
    struct espi_multicast best = {0};
    double period_s = 0;
    esp_status st = espi_multicast_bound(net, arena, &period_s, err);
    if (!st && espi_steiner_can_exact(net))
        st = espi_multicast_solve(net, NULL, arena, &best, err);
    if (st)
        return st;
    period_s = fmax(period_s, best.bound_s);
    out->throughput_Bps = net->slice_bytes / period_s;
    out->exact = best.exact && best.period_s <= period_s * (1 + ESPI_BOUND_TIGHT);
    return ESP_OK;
}

static esp_status bound_some(const struct espi_op_bound_task *t, struct espi_arena *arena,
                             struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_flow_net net;
    if (espi_flow_net_init(&net, t->p, t->slice_bytes, t->root, t->n_targets, t->targets,
                           arena))
        return espi_err_nomem(err);
    if (net.n_targets == 0)
        return ESP_OK;
    return t->op == ESP_OP_SCATTER ? bound_scatter(&net, arena, out, err)
                                   : bound_multicast(&net, arena, out, err);
}

static esp_status bound_outward(const struct espi_op_bound_task *t,
                                struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_arena arena;
    int all = t->op == ESP_OP_BCAST || (t->op == ESP_OP_MULTICAST && !t->targets);
    espi_arena_init(&arena);
    esp_status st = t->op == ESP_OP_ALLGATHER ? bound_all(t, &arena, out, err)
                    : all                     ? bound_bcast(t, &arena, out, err)
                                              : bound_some(t, &arena, out, err);
    espi_arena_done(&arena);
    /* one port for both directions: there may be no schedule for the loads */
    out->exact &= t->p->model != ESP_MODEL_HALF_DUPLEX;
    return st;
}

static esp_status bound_inward(const struct espi_op_bound_task *t,
                               struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_op_bound_task there = *t;
    struct esp_platform *reversed = NULL;
    esp_status st = espi_platform_mirrored(t->p, t->slice_bytes, &reversed, err);
    if (st)
        return st;
    there.p = reversed;
    there.op = espi_op_mirror(t->op);
    st = bound_outward(&there, out, err);
    esp_platform_free(reversed);
    return st;
}

/* Plans that combine each part of the message at one host, whichever that is. */
static esp_status bound_pairs(const struct espi_op_bound_task *t,
                              struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_allreduce_options o = {.time_limit_s = t->time_limit_s};
    struct espi_allreduce best;
    struct espi_view view;
    struct espi_arena arena;
    espi_arena_init(&arena);
    esp_status st = espi_view_init(&view, t->p, t->slice_bytes, &arena, err);
    o.max_trees = ESPI_BOUND_WORK / (view.g.m + 1);
    if (!st && view.g.n > 1) {
        st = espi_allreduce_solve(&view, &o, &arena, &best, err);
        if (!st && best.bound_s > 0) {
            out->throughput_Bps = t->slice_bytes / best.bound_s;
            out->exact = best.period_s <= best.bound_s * (1 + ESPI_BOUND_TIGHT) &&
                         t->p->model != ESP_MODEL_HALF_DUPLEX;
        }
    }
    espi_arena_done(&arena);
    return st;
}

/* A slice from each host to each other a period. The prices count as they are checked,
 * whatever the solver says of them. */
static esp_status bound_all_pairs(const struct espi_op_bound_task *t,
                                  struct espi_arena *arena, struct espi_op_bound *out,
                                  struct esp_err *err)
{
    struct espi_all_pairs_options options = {.time_limit_s = t->time_limit_s,
                                             .bound_only = 1};
    struct espi_all_pairs best;
    struct espi_flow_net net;
    double n = t->p->n_hosts, proven_s = 0;
    if (n < 2 || t->p->n_nodes > ESPI_PAIRS_NODES)
        return ESP_OK;
    if (espi_flow_net_init(&net, t->p, t->slice_bytes, t->root, 0, NULL, arena))
        return espi_err_nomem(err);
    esp_status st = espi_all_pairs_solve(&net, &options, arena, &best, err);
    if (!st && espi_pairs_certificate_s(&net, best.price, arena, &proven_s))
        st = espi_err_nomem(err);
    if (st || !(proven_s > 0))
        return st;
    out->throughput_Bps = n * (n - 1) * t->slice_bytes / proven_s;
    out->exact = best.period_s <= proven_s * (1 + ESPI_BOUND_TIGHT) &&
                 t->p->model != ESP_MODEL_HALF_DUPLEX;
    return ESP_OK;
}

static esp_status bound_exchange(const struct espi_op_bound_task *t,
                                 struct espi_op_bound *out, struct esp_err *err)
{
    struct espi_arena arena;
    espi_arena_init(&arena);
    esp_status st = bound_all_pairs(t, &arena, out, err);
    espi_arena_done(&arena);
    return st;
}

static esp_status bound_op(const struct espi_op_bound_task *t, struct espi_op_bound *out,
                           struct esp_err *err)
{
    switch (t->op) {
    case ESP_OP_BCAST:
    case ESP_OP_MULTICAST:
    case ESP_OP_SCATTER:
    case ESP_OP_ALLGATHER:
        return bound_outward(t, out, err);
    case ESP_OP_GATHER:
    case ESP_OP_REDUCE:
    case ESP_OP_REDUCE_SCATTER:
        return bound_inward(t, out, err);
    case ESP_OP_ALLREDUCE:
        return bound_pairs(t, out, err);
    case ESP_OP_ALLTOALL:
        return bound_exchange(t, out, err);
    default:
        return ESP_OK;
    }
}

esp_status espi_op_bound(const struct espi_op_bound_task *task, struct espi_op_bound *out,
                         struct esp_err *err)
{
    struct espi_op_bound bound = {0};
    struct espi_watch watch;
    double start_s = espi_now_s();
    espi_watch_begin(&watch, task->time_limit_s, NULL, NULL);
    esp_status st = bound_op(task, &bound, err);
    if (espi_solve_budget_was_late(st))
        st = ESP_OK; /* it is not known */
    espi_watch_end(&watch);
    if (st)
        return st;
    bound.solve_s = espi_now_s() - start_s;
    *out = bound;
    return ESP_OK;
}
