/* From an algorithm to a plan that is checked: what all algorithms share. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/watch.h"
#include "plan/ops.h"
#include "plan/tuning.h"
#include "plan/turn.h"
#include "schedule/arrange.h"
#include "solve/solve_budget.h"

double espi_request_slice_bytes(const struct esp_request *request)
{
    return request->slice_bytes == ESP_SLICE_AUTO ? ESPI_SLICE_USUAL
                                                  : request->slice_bytes;
}

static esp_status check_request(const struct esp_platform *p,
                                const struct esp_request *request, struct esp_err *err)
{
    if (!(request->size_bytes > 0 && isfinite(request->size_bytes)))
        return espi_err(err, ESP_EUSAGE, "the message needs a positive size");
    if (request->slice_bytes != ESP_SLICE_AUTO &&
        !(request->slice_bytes >= 0 && isfinite(request->slice_bytes)))
        return espi_err(err, ESP_EUSAGE, "the slice size must not be negative");
    esp_status st = espi_slices_check(request->size_bytes,
                                      espi_request_slice_bytes(request), ESP_EUSAGE, err);
    return st ? st : espi_check_ends(p, request, err);
}

static esp_status check_applies(const struct espi_algo *algo,
                                const struct esp_request *request,
                                const struct esp_platform *p, struct esp_err *err)
{
    if (algo->max_hosts && p->n_hosts > algo->max_hosts)
        return espi_err(err, ESP_EUNSUPPORTED, "%s works on at most %d hosts, not on %d",
                        algo->name, algo->max_hosts, p->n_hosts);
    if (!espi_algo_serves(algo, request->op, request->targets != NULL))
        return espi_err(err, ESP_EUSAGE, "%s is an algorithm for %s, not for %s%s",
                        algo->name, esp_op_name(algo->op), esp_op_name(request->op),
                        request->targets ? " to some hosts" : "");
    if (!espi_algo_applies(algo, p))
        return espi_err(err, ESP_EUNSUPPORTED, "%s is not defined for the %s model",
                        algo->name, esp_model_name(p->model));
    return ESP_OK;
}

esp_status espi_algo_run(const struct espi_algo *algo, const struct espi_task *base,
                         double slice_bytes, struct esp_plan *plan, struct esp_err *err)
{
    struct espi_view own;
    const struct espi_view *view = &own;
    struct espi_task task = *base;
    task.slices = espi_slices(base->request->size_bytes, slice_bytes);
    double bytes = algo->whole_message ? base->request->size_bytes : task.slices.bytes;
    esp_status st = task.memo ? espi_memo_view(task.memo, task.p, bytes, &view, err)
                              : espi_view_init(&own, task.p, bytes, task.arena, err);
    if (st)
        return st;
    plan->size_bytes = base->request->size_bytes;
    plan->slice_bytes = task.slices.bytes;
    task.view = view;
    task.root = view->host[task.request->root];
    if (view->g.n == 1) /* nobody to send to */
        return espi_plan_add_arcs(plan, view, 1, NULL, 0, task.arena, err);
    st = algo->run(&task, plan, err);
    if (espi_solve_budget_was_late(st) && !(algo->flags & ESPI_ALGO_CHOOSES))
        espi_err_prefix(err, st, algo->name);
    if (!st && espi_plan_has_steps(plan)) /* its messages are as long as they are */
        plan->slice_bytes = plan->size_bytes;
    return st;
}

esp_status espi_plan_evaluate(struct esp_plan *plan, const struct esp_platform *p,
                              const struct espi_played_claims *claims,
                              struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_cost cost;
    esp_status st =
        plan->schedule ? ESP_OK : espi_plan_schedule(plan, p, ESPI_EFFORT_FULL, err);
    if (st)
        return st;
    espi_arena_init(&arena);
    st = espi_plan_cost_timed(p, plan, plan->size_bytes, plan->slice_bytes, claims,
                              &arena, &cost, err);
    espi_arena_done(&arena);
    if (st)
        return st;
    plan->throughput_Bps = cost.throughput_Bps;
    plan->makespan_s = cost.makespan_s;
    return ESP_OK;
}

esp_status esp_plan_evaluate(struct esp_plan *plan, const struct esp_platform *p,
                             struct esp_err *err)
{
    return espi_plan_evaluate(plan, p, NULL, err);
}

/* A plan of ours that does not pass the checker is our bug, not the user's. */
static esp_status check_ours(const struct esp_plan *plan, const struct esp_platform *p,
                             struct esp_err *err)
{
    struct esp_err why;
    esp_status st = esp_plan_check(plan, p, &why);
    if (st == ESP_EINPUT)
        return espi_err(err, ESP_EINTERNAL, "algorithm %s made a wrong plan: %s",
                        plan->algo, why.text);
    return st ? espi_err_nomem(err) : ESP_OK;
}

/* An algorithm with its options and what else holds for its runs. */
struct making {
    const struct espi_algo *algo;
    const struct espi_task *with;
};

/* The plan as the algorithm makes it, for an operation that it makes plans for itself. */
static esp_status make_direct(const struct making *m, const struct esp_platform *p,
                              const struct esp_request *request, struct esp_plan **out,
                              struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_task task = *m->with;
    struct esp_plan *plan = NULL;
    if (p != task.p || request->root != task.request->root)
        task.memo = NULL;
    if (request != task.request) /* a part of what is asked for claims something else */
        task.claims = NULL;
    task.p = p;
    task.request = request;
    task.arena = &arena;
    esp_status st = check_request(p, request, err);
    if (!st)
        st = check_applies(m->algo, request, p, err);
    if (!st)
        st = esp_plan_create(request->op, request->root, request->algo, &plan, err);
    if (!st && request->targets)
        st = esp_plan_set_targets(plan, request->n_targets, request->targets, err);
    if (!st) {
        espi_arena_init(&arena);
        st = espi_algo_run(m->algo, &task, espi_request_slice_bytes(request), plan, err);
        espi_arena_done(&arena);
    }
    if (st)
        esp_plan_free(plan);
    else
        *out = plan;
    return st;
}

static esp_status no_race(const struct esp_request *request, struct esp_err *err)
{
    return espi_err(err, ESP_EUNSUPPORTED, "%s races its trees: only for a bcast",
                    request->algo);
}

/* What collects is made on the platform reversed and turned round. Turned round it may be
 * through earlier than there, so what it has to be better than says nothing there. */
static esp_status make_turned(const struct making *m, const struct esp_platform *p,
                              const struct esp_request *request, esp_op there,
                              struct esp_plan **out, struct esp_err *err)
{
    struct esp_request inner = *request;
    struct espi_task there_task = *m->with;
    const struct making turned = {m->algo, &there_task};
    const struct esp_platform *reversed = NULL;
    struct esp_plan *plan = NULL;
    inner.op = there;
    esp_status st = espi_platform_turned(p, &reversed, err);
    there_task.p = reversed;
    there_task.memo = there_task.turned_memo;
    there_task.limit_s = 0;
    if (!st)
        st = make_direct(&turned, reversed, &inner, &plan, err);
    if (!st && plan->redundant)
        st = no_race(request, err);
    if (!st && plan->schedule)
        st = espi_schedule_by_arrival(plan->schedule, plan, reversed, err);
    if (!st)
        st = espi_plan_turn(plan, request->op, p, out, err);
    esp_plan_free(plan);
    return st;
}

/* The part of the time that is left which is for one half of a plan, so that the other
 * half, and whoever is held against the whole, have some, too. Where there is no end in
 * sight there is none for the half. */
static void begin_half(struct espi_watch *watch, double part)
{
    double left_s = espi_watch_stop_s() - espi_now_s();
    espi_watch_begin(watch, isfinite(left_s) ? part * left_s : 0, NULL, NULL);
}

/* A reduce and a broadcast, each part of the message first along one, then the other. */
static esp_status make_both(const struct making *m, const struct esp_platform *p,
                            const struct esp_request *request, struct esp_plan **out,
                            struct esp_err *err)
{
    struct esp_request half = *request;
    struct esp_plan *plan = NULL, *in = NULL, *away = NULL;
    struct espi_watch watch;
    half.op = ESP_OP_REDUCE;
    begin_half(&watch, 1.0 / 3);
    esp_status st = make_turned(m, p, &half, ESP_OP_BCAST, &in, err);
    espi_watch_end(&watch);
    half.op = ESP_OP_BCAST;
    begin_half(&watch, 1.0 / 2);
    if (!st)
        st = make_direct(m, p, &half, &away, err);
    espi_watch_end(&watch);
    if (!st && away->redundant)
        st = no_race(request, err);
    if (!st)
        st = esp_plan_create(request->op, request->root, request->algo, &plan, err);
    if (!st)
        st = espi_plan_add_both(plan, p, in, away, err);
    if (!st) {
        plan->size_bytes = away->size_bytes;
        plan->slice_bytes = fmax(in->slice_bytes, away->slice_bytes);
        *out = plan;
    } else {
        esp_plan_free(plan);
    }
    esp_plan_free(in);
    esp_plan_free(away);
    return st;
}

/* Adds the trees of a plan for one host's part, as many parts of the message as there are
 * hosts. */
static esp_status add_part(struct esp_plan *plan, const struct esp_platform *p,
                           const struct esp_plan *part, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int t = 0; t < part->n_trees && !st; t++) {
        st = espi_plan_copy_tree(plan, p, part, t, part->trees[t].weight / p->n_hosts,
                                 err);
        if (!st)
            st = esp_plan_set_tree_ends(plan, part->root, 0, NULL, err);
    }
    return st;
}

/* A reduce to every host at once, each of its part of the message. */
static esp_status make_parts(const struct making *m, const struct esp_platform *p,
                             const struct esp_request *request, struct esp_plan **out,
                             struct esp_err *err)
{
    struct esp_request one = *request;
    struct esp_plan *plan = NULL;
    esp_status st =
        esp_plan_create(request->op, request->root, request->algo, &plan, err);
    one.op = ESP_OP_REDUCE;
    for (int v = 0; v < p->n_nodes && !st; v++) {
        struct esp_plan *part = NULL;
        if (espi_is_switch(p, v))
            continue;
        one.root = v;
        st = make_turned(m, p, &one, ESP_OP_BCAST, &part, err);
        if (!st)
            st = add_part(plan, p, part, err);
        if (!st) {
            plan->size_bytes = part->size_bytes;
            plan->slice_bytes = fmax(plan->slice_bytes, part->slice_bytes);
        }
        esp_plan_free(part);
    }
    if (st)
        esp_plan_free(plan);
    else
        *out = plan;
    return st;
}

static esp_status make_for(const struct making *m, struct esp_plan **out,
                           struct esp_err *err)
{
    const struct esp_platform *p = m->with->p;
    const struct esp_request *request = m->with->request;
    esp_status st = check_request(p, request, err);
    if (!st)
        st = check_applies(m->algo, request, p, err);
    if (st)
        return st;
    if (m->algo->op == request->op || (m->algo->flags & ESPI_ALGO_BOTH_WAYS &&
                                       espi_op_mirror(request->op) == m->algo->op))
        return make_direct(m, p, request, out, err);
    if (request->op == ESP_OP_ALLREDUCE)
        return make_both(m, p, request, out, err);
    if (request->op == ESP_OP_REDUCE_SCATTER && m->algo->op == ESP_OP_BCAST)
        return make_parts(m, p, request, out, err);
    if (espi_op_collects(request->op))
        return make_turned(m, p, request, m->algo->op, out, err);
    if (m->algo->flags & ESPI_ALGO_REDUNDANT)
        return no_race(request, err);
    return make_direct(m, p, request, out, err); /* to all hosts, as a broadcast */
}

esp_status espi_plan_make_by(const struct espi_algo *algo, const struct espi_task *with,
                             struct esp_plan **out, struct esp_err *err)
{
    struct making m = {algo, with};
    struct esp_plan *plan = NULL;
    esp_status st = make_for(&m, &plan, err);
    if (st)
        return st;
    st = check_ours(plan, with->p, err);
    if (st)
        esp_plan_free(plan);
    else
        *out = plan;
    return st;
}
