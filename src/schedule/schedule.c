/* Schedules as they stand in plans, made from slots of arcs. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plan/schedule.h"
#include "plan/slices.h"
#include "schedule/arrange.h"
#include "schedule/periodic.h"

int espi_needs_schedule(const struct esp_platform *p, const struct esp_plan *plan)
{
    return (p->model == ESP_MODEL_ONE_PORT || p->model == ESP_MODEL_HALF_DUPLEX) &&
           espi_needs_order(p, plan);
}

struct writer {
    const struct espi_legs *legs;
    const struct espi_arc_uses *uses;
    const struct espi_periodic *slots;
    const int *count;
    struct espi_rows on_arc; /* arc -> its legs */
    int *now;                /* arc -> the leg whose turn it is, as an index of on_arc */
    double *rest_s;          /* leg -> what is left of its time */
    struct esp_schedule *s;
    size_t room;
};

static int add_transfer(struct writer *w, int leg, double duration_s)
{
    struct esp_schedule *s = w->s;
    const struct espi_leg *l = &w->legs->leg[leg];
    if (espi_grow((void **)&s->transfers, &w->room, (size_t)s->n_transfers + 1,
                  sizeof *s->transfers))
        return -1;
    s->transfers[s->n_transfers++] =
        (struct esp_transfer){l->tree, l->edge, l->part, duration_s};
    return 0;
}

/* Gives the arc's time in a slot to its legs in turn. Crumbs of rounding go to the last
 * one, or are dropped. */
static int give(struct writer *w, int arc, double duration_s)
{
    double crumb_s = 1e-11 * w->slots->period_s;
    while (duration_s > 0 && w->now[arc] < w->on_arc.start[arc + 1]) {
        int leg = w->on_arc.item[w->now[arc]];
        double part_s = fmin(duration_s, w->rest_s[leg]);
        if (w->rest_s[leg] - part_s <= crumb_s) {
            w->now[arc]++;
            if (duration_s - part_s <= crumb_s)
                part_s = duration_s;
        }
        if (part_s > crumb_s && add_transfer(w, leg, part_s))
            return -1;
        w->rest_s[leg] -= part_s;
        duration_s -= part_s;
    }
    return 0;
}

static int writer_init(struct writer *w, struct espi_arena *arena)
{
    const struct espi_legs *legs = w->legs;
    int *arc = ESPI_ARENA_NEW(arena, int, legs->n);
    w->now = ESPI_ARENA_NEW(arena, int, legs->n_arcs);
    w->rest_s = ESPI_ARENA_NEW(arena, double, legs->n);
    if (!arc || !w->now || !w->rest_s)
        return -1;
    for (int i = 0; i < legs->n; i++) {
        arc[i] = legs->leg[i].arc;
        w->rest_s[i] = w->count[legs->leg[i].tree] * w->uses->slice_s[arc[i]];
    }
    if (espi_rows_build(&w->on_arc, legs->n_arcs, legs->n, arc, arena))
        return -1;
    memcpy(w->now, w->on_arc.start, (size_t)legs->n_arcs * sizeof *w->now);
    return 0;
}

static int write_slots(struct writer *w)
{
    const struct espi_periodic *slots = w->slots;
    for (int i = 0; i < slots->n_slots; i++) {
        struct esp_slot *slot = &w->s->slots[w->s->n_slots++];
        *slot = (struct esp_slot){slots->duration_s[i], w->s->n_transfers, 0};
        for (int k = slots->arcs.start[i]; k < slots->arcs.start[i + 1]; k++)
            if (give(w, slots->arcs.item[k], slots->duration_s[i]))
                return -1;
        slot->n_transfers = w->s->n_transfers - slot->first_transfer;
    }
    return 0;
}

static int fill_schedule(struct writer *w, const struct espi_round *round, int n_trees,
                         double slice_bytes, struct espi_arena *arena)
{
    struct esp_schedule *s = w->s;
    s->slice_bytes = slice_bytes;
    s->period_s = w->slots->period_s;
    s->slices_per_period = round->slots;
    s->tree_slices = ESPI_NEW(int, n_trees);
    s->slots = ESPI_NEW(struct esp_slot, w->slots->n_slots);
    if (!s->tree_slices || !s->slots || writer_init(w, arena))
        return -1;
    memcpy(s->tree_slices, round->count, (size_t)n_trees * sizeof *s->tree_slices);
    return write_slots(w);
}

esp_status espi_schedule_make(const struct esp_platform *p, const struct esp_plan *plan,
                              const struct espi_round_options *o,
                              struct espi_arena *arena, struct esp_schedule **out,
                              struct esp_err *err)
{
    struct espi_round round;
    struct espi_legs legs;
    struct espi_arc_uses uses;
    struct espi_periodic slots;
    if (espi_legs_init(&legs, p, plan, arena))
        return espi_err_nomem(err);
    if (espi_round_choose(p, plan, o, arena, &round) ||
        espi_arc_uses_init(&uses, &legs, p, o->slice_bytes, arena) ||
        espi_periodic_init(&slots, p, &legs, &uses, round.count, arena))
        return espi_err_nomem(err);
    struct esp_schedule *s = espi_calloc(1, sizeof *s);
    struct writer w = {
        .legs = &legs, .uses = &uses, .slots = &slots, .count = round.count, .s = s};
    if (!s || fill_schedule(&w, &round, plan->n_trees, o->slice_bytes, arena)) {
        espi_schedule_free(s);
        return espi_err_nomem(err);
    }
    *out = s;
    return ESP_OK;
}

esp_status esp_plan_schedule(struct esp_plan *plan, const struct esp_platform *p,
                             struct esp_err *err)
{
    struct esp_schedule *s = NULL, *old = plan->schedule;
    struct espi_arena arena;
    plan->schedule = NULL; /* the check is of the trees */
    esp_status st = esp_plan_check(plan, p, err);
    plan->schedule = old;
    if (st)
        return st;
    struct espi_slices slices = espi_slices(plan->size_bytes, plan->slice_bytes);
    if (!(plan->size_bytes > 0))
        return espi_err(err, ESP_EUSAGE, "a schedule needs the size of the message");
    struct espi_round_options o = {(int64_t)slices.count, ESPI_MAX_SLOTS, slices.bytes,
                                   ESPI_ROUND_TOLERANCE};
    espi_arena_init(&arena);
    if (espi_needs_schedule(p, plan))
        st = espi_schedule_make(p, plan, &o, &arena, &s, err);
    espi_arena_done(&arena);
    if (st)
        return st;
    plan->schedule = s;
    espi_schedule_free(old);
    return ESP_OK;
}
