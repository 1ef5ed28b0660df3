/* Schedules of plans: what was arranged, as plans keep it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/portable_math.h"
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

/* ---- the order of arrivals ---- */

struct arrival {
    double at_s;
    int send;
};

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return x->send < y->send ? -1 : x->send > y->send;
}

static int is_one_round(const struct esp_schedule *s, int n_trees)
{
    for (int t = 0; t < n_trees; t++)
        if (s->tree_slices[t] > 1)
            return 0;
    for (int k = 0; k < s->n_sends; k++)
        if (s->sends[k].lag)
            return 0;
    return 1;
}

/* Plays the sends one after the other, each as soon as its data are there, its resources
 * are free and its sender's send before has begun. */
static int time_arrivals(const struct esp_schedule *s, const struct espi_legs *legs,
                         const struct espi_arc_uses *u, int n_nodes, struct arrival *out,
                         struct espi_arena *arena)
{
    double *free_s = ESPI_ARENA_ZNEW(arena, double, u->n_resources);
    double *last_s = ESPI_ARENA_ZNEW(arena, double, n_nodes);
    double *there_s = ESPI_ARENA_ZNEW(arena, double, legs->n);
    int *first_edge = ESPI_ARENA_NEW(arena, int, (size_t)legs->plan->n_trees + 1);
    if (!free_s || !last_s || !there_s || !first_edge)
        return -1;
    first_edge[0] = 0;
    for (int t = 0; t < legs->plan->n_trees; t++)
        first_edge[t + 1] = first_edge[t] + legs->plan->trees[t].n_edges;
    for (int k = 0; k < s->n_sends; k++) {
        const struct esp_send *x = &s->sends[k];
        int i = legs->edge_start[first_edge[x->tree] + x->edge] + x->part;
        const struct espi_leg *leg = &legs->leg[i];
        double start_s = last_s[leg->from];
        for (int b = leg->source; b >= 0; b = legs->leg[b].also)
            start_s = espi_max(start_s, there_s[b]);
        for (int j = u->start[leg->arc]; j < u->start[leg->arc + 1]; j++)
            start_s = espi_max(start_s, free_s[u->resource[j]]);
        for (int j = u->start[leg->arc]; j < u->start[leg->arc + 1]; j++)
            free_s[u->resource[j]] = start_s + u->time_s[j];
        last_s[leg->from] = start_s;
        there_s[i] = start_s + u->lag_s[leg->arc];
        out[k] = (struct arrival){there_s[i], k};
    }
    return 0;
}

static int sort_by_arrival(struct esp_schedule *s, const struct esp_plan *plan,
                           const struct esp_platform *p, struct espi_arena *arena)
{
    struct espi_legs legs;
    struct espi_arc_uses uses;
    struct arrival *arrival = ESPI_ARENA_NEW(arena, struct arrival, s->n_sends);
    struct esp_send *before = ESPI_ARENA_NEW(arena, struct esp_send, s->n_sends);
    if (!arrival || !before || espi_legs_init(&legs, p, plan, arena) ||
        espi_arc_uses_init(&uses, &legs, p, s->slice_bytes, arena) ||
        time_arrivals(s, &legs, &uses, p->n_nodes, arrival, arena))
        return -1;
    memcpy(before, s->sends, (size_t)s->n_sends * sizeof *before);
    qsort(arrival, (size_t)s->n_sends, sizeof *arrival, compare_arrivals);
    for (int k = 0; k < s->n_sends; k++)
        s->sends[k] = before[arrival[k].send];
    return 0;
}

esp_status espi_schedule_by_arrival(struct esp_schedule *s, const struct esp_plan *plan,
                                    const struct esp_platform *p, struct esp_err *err)
{
    struct espi_arena arena;
    if (s->n_sends == 0 || !is_one_round(s, plan->n_trees))
        return ESP_OK;
    espi_arena_init(&arena);
    int failed = sort_by_arrival(s, plan, p, &arena);
    espi_arena_done(&arena);
    return failed ? espi_err_nomem(err) : ESP_OK;
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
