/* Schedules of plans: what was arranged, as plans keep it. */
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/slices.h"
#include "schedule/arrange.h"

static struct esp_schedule *write_schedule(const struct espi_arrangement *a, int n_trees,
                                           double slice_bytes)
{
    int used = a->legs.plan->n_trees;
    struct esp_schedule *s = espi_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->slice_bytes = slice_bytes;
    s->slots = a->round.slots;
    s->tree_slices = espi_calloc((size_t)n_trees, sizeof *s->tree_slices);
    s->sends = ESPI_NEW(struct esp_send, a->order.n);
    if (!s->tree_slices || !s->sends) {
        espi_schedule_free(s);
        return NULL;
    }
    memcpy(s->tree_slices, a->round.count, (size_t)used * sizeof *s->tree_slices);
    for (; s->n_sends < a->order.n; s->n_sends++) {
        const struct espi_op *op = &a->order.op[s->n_sends];
        const struct espi_leg *leg = &a->legs.leg[op->leg];
        s->sends[s->n_sends] = (struct esp_send){.tree = leg->tree,
                                                 .edge = leg->edge,
                                                 .part = leg->part,
                                                 .slice = op->slice,
                                                 .lag = op->lag};
    }
    return s;
}

esp_status espi_schedule_make(const struct esp_platform *p, const struct esp_plan *plan,
                              double size_bytes, double slice_bytes, espi_effort effort,
                              struct esp_schedule **out, struct esp_err *err)
{
    struct esp_plan plain = espi_plan_plain(plan);
    struct espi_arrangement a;
    struct espi_arena arena;
    if (!(size_bytes > 0))
        return espi_err(err, ESP_EUSAGE, "the message needs a size from 1 byte to 9 PB");
    esp_status st = espi_slices_check(size_bytes, slice_bytes, ESP_EUSAGE, err);
    if (st)
        return st;
    struct espi_slices slices = espi_slices(size_bytes, slice_bytes);
    struct espi_round_options o = {(int64_t)slices.count, ESPI_MAX_SLOTS, slices.bytes,
                                   ESPI_ROUND_TOLERANCE};
    espi_arena_init(&arena);
    struct esp_schedule *s = espi_arrange(&a, p, &plain, &o, effort, &arena)
                                 ? NULL
                                 : write_schedule(&a, plan->n_trees, slices.bytes);
    espi_arena_done(&arena);
    if (!s)
        return espi_err_nomem(err);
    *out = s;
    return ESP_OK;
}

esp_status espi_plan_schedule(struct esp_plan *plan, const struct esp_platform *p,
                              espi_effort effort, struct esp_err *err)
{
    struct esp_schedule *s = NULL;
    esp_status st = espi_plan_has_steps(plan)
                        ? ESP_OK
                        : espi_schedule_make(p, plan, plan->size_bytes, plan->slice_bytes,
                                             effort, &s, err);
    if (st)
        return st;
    espi_schedule_free(plan->schedule);
    plan->schedule = s;
    return ESP_OK;
}

esp_status espi_plan_scheduled(const struct esp_platform *p, const struct esp_plan *plan,
                               double size_bytes, double slice_bytes,
                               struct esp_plan *out, struct esp_err *err)
{
    *out = *plan;
    if (plan->schedule || espi_plan_has_steps(plan))
        return ESP_OK;
    return espi_schedule_make(p, plan, size_bytes > 0 ? size_bytes : plan->size_bytes,
                              slice_bytes > 0 ? slice_bytes : plan->slice_bytes,
                              ESPI_EFFORT_FULL, &out->schedule, err);
}

void espi_plan_scheduled_done(struct esp_plan *scheduled, const struct esp_plan *plan)
{
    if (scheduled->schedule != plan->schedule)
        espi_schedule_free(scheduled->schedule);
    scheduled->schedule = NULL;
}

esp_status esp_plan_schedule(struct esp_plan *plan, const struct esp_platform *p,
                             struct esp_err *err)
{
    struct esp_schedule *old = plan->schedule;
    plan->schedule = NULL; /* the check is of the trees */
    esp_status st = esp_plan_check(plan, p, err);
    plan->schedule = old;
    return st ? st : espi_plan_schedule(plan, p, ESPI_EFFORT_FULL, err);
}
