/* The checker of schedules: every slice of a round goes over every leg of its tree once,
 * and after all that it needs.
 *
 * The sends of all rounds, by (round, place in the order), are numbered by lag * sends +
 * place and a round more for each round. What a send waits for at its two ends has a
 * smaller number since all follow one order; that its data have one, too, is checked
 * here. So of the sends still to be done the first can always go. Linear in plan and
 * schedule. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "plan/legs.h"
#include "plan/ops.h"
#include "plan/parts.h"
#include "plan/schedule.h"

struct checker {
    const struct esp_schedule *s;
    const struct esp_plan *plan;
    const struct esp_platform *p;
    struct espi_legs legs;
    int *first;       /* leg -> its first pair of leg and slice */
    int *first_edge;  /* tree -> its first edge, of all */
    int64_t *number;  /* pair -> number of its send; -1: none */
    int64_t *latest;  /* pair -> the largest number of those it is combined with */
    int64_t most_lag; /* rounds */
    struct esp_err *err;
};

/* Trees that those who do not race use. */
static int trees_used(const struct esp_plan *plan)
{
    return plan->redundant ? 1 : plan->n_trees;
}

static esp_status check_tree_slices(const struct checker *c, const int *part,
                                    int *of_part)
{
    const struct esp_schedule *s = c->s;
    int64_t sum = 0;
    for (int t = 0; t < c->plan->n_trees; t++) {
        const struct esp_tree *tree = &c->plan->trees[t];
        double want = t < trees_used(c->plan) ? tree->weight * s->slots : 0;
        int count = s->tree_slices[t];
        if (count < 0 || count > s->slots ||
            fabs(count - want) > (want > 0 ? 1 + 1e-6 * s->slots : 0))
            return espi_err(c->err, ESP_EINPUT,
                            "the schedule gives tree %d %d slices of %d: not its weight",
                            t, count, s->slots);
        sum += count;
        of_part[part ? part[t] : 0] += count;
    }
    if (sum != s->slots)
        return espi_err(c->err, ESP_EINPUT,
                        "the slices of the trees do not sum to the schedule's %d",
                        s->slots);
    return ESP_OK;
}

/* Each part of the message gets as many slices. */
static esp_status check_parts(const struct checker *c, int parts, const int *part,
                              const int *of_part)
{
    for (int t = 0; t < c->plan->n_trees && parts > 1; t++) {
        if ((int64_t)of_part[part[t]] * parts != c->s->slots)
            return espi_err(c->err, ESP_EINPUT,
                            "the schedule gives the parts of the message different "
                            "numbers of slices");
    }
    return ESP_OK;
}

static esp_status check_round(const struct checker *c, struct espi_arena *arena)
{
    const struct esp_schedule *s = c->s;
    int parts = espi_plan_parts(c->plan, c->p->n_hosts);
    if (!(s->slice_bytes > 0 && isfinite(s->slice_bytes)))
        return espi_err(c->err, ESP_EINPUT, "the schedule needs a positive slice");
    if (s->slots < 1 || s->slots > (parts > ESPI_MAX_SLOTS ? parts : ESPI_MAX_SLOTS))
        return espi_err(c->err, ESP_EINPUT, "a round of %d slots is none", s->slots);
    int *of_part = ESPI_ARENA_ZNEW(arena, int, parts > 1 ? parts : 1);
    const int *part = parts > 1 ? espi_tree_parts(c->plan, c->p, arena) : NULL;
    if (!of_part || (parts > 1 && !part))
        return espi_err_nomem(c->err);
    esp_status st = check_tree_slices(c, part, of_part);
    return st ? st : check_parts(c, parts, part, of_part);
}

/* The pairs of legs and slices, and that there are as many sends. */
static esp_status count_pairs(struct checker *c, struct espi_arena *arena)
{
    int n_trees = c->plan->n_trees;
    int64_t pairs = 0;
    if (espi_legs_init(&c->legs, c->p, c->plan, arena))
        return espi_err_nomem(c->err);
    c->first = ESPI_ARENA_NEW(arena, int, (size_t)c->legs.n + 1);
    c->first_edge = ESPI_ARENA_NEW(arena, int, (size_t)n_trees + 1);
    if (!c->first || !c->first_edge)
        return espi_err_nomem(c->err);
    c->first_edge[0] = 0;
    for (int t = 0; t < n_trees; t++)
        c->first_edge[t + 1] = c->first_edge[t] + c->plan->trees[t].n_edges;
    for (int i = 0; i < c->legs.n; i++) {
        c->first[i] = (int)pairs;
        pairs += c->s->tree_slices[c->legs.leg[i].tree];
        if (pairs > ESPI_MAX_SENDS)
            return espi_err(c->err, ESP_EINPUT, "the schedule has too many sends");
    }
    if (pairs != c->s->n_sends)
        return espi_err(c->err, ESP_EINPUT,
                        "the schedule has %d sends, its rounds have %d", c->s->n_sends,
                        (int)pairs);
    c->number = ESPI_ARENA_NEW(arena, int64_t, pairs);
    c->latest = ESPI_ARENA_NEW(arena, int64_t, pairs);
    if (!c->number || !c->latest)
        return espi_err_nomem(c->err);
    memset(c->number, 0xff, (size_t)pairs * sizeof *c->number);
    c->most_lag = espi_most_lag(c->s->n_sends, c->legs.max_depth) + 1;
    return ESP_OK;
}

/* The pair of a send; -1: there is no such leg or slice. */
static int find_pair(const struct checker *c, const struct esp_send *x)
{
    if (x->tree < 0 || x->tree >= c->plan->n_trees || x->edge < 0 ||
        x->edge >= c->plan->trees[x->tree].n_edges || x->slice < 0 ||
        x->slice >= c->s->tree_slices[x->tree])
        return -1;
    const int *start = &c->legs.edge_start[c->first_edge[x->tree] + x->edge];
    if (x->part < 0 || x->part >= start[1] - start[0])
        return -1;
    return c->first[start[0] + x->part] + x->slice;
}

static esp_status number_sends(const struct checker *c)
{
    for (int k = 0; k < c->s->n_sends; k++) {
        const struct esp_send *x = &c->s->sends[k];
        int pair = find_pair(c, x);
        if (pair < 0)
            return espi_err(c->err, ESP_EINPUT,
                            "send %d of the schedule: there is no such", k);
        if (c->number[pair] >= 0)
            return espi_err(c->err, ESP_EINPUT, "send %d of the schedule is there before",
                            k);
        if (x->lag < 0 || x->lag > c->most_lag)
            return espi_err(
                c->err, ESP_EINPUT,
                "send %d of the schedule lags %d rounds behind, not 0 to %lld", k, x->lag,
                (long long)c->most_lag);
        c->number[pair] = (int64_t)x->lag * c->s->n_sends + k;
    }
    return ESP_OK;
}

/* Legs stand after those that they wait for, and after those that they are combined with.
 */
static esp_status check_order(const struct checker *c)
{
    for (int i = 0; i < c->legs.n; i++) {
        const struct espi_leg *leg = &c->legs.leg[i];
        for (int k = 0; k < c->s->tree_slices[leg->tree]; k++) {
            int64_t number = c->number[c->first[i] + k], *latest = c->latest;
            int64_t before = leg->also < 0 ? -1 : latest[c->first[leg->also] + k];
            if (leg->source >= 0 && number <= latest[c->first[leg->source] + k])
                return espi_err(c->err, ESP_EINPUT,
                                "the schedule sends slice %d of tree %d over edge %d "
                                "before it is there",
                                k, leg->tree, leg->edge);
            latest[c->first[i] + k] = number > before ? number : before;
        }
    }
    return ESP_OK;
}

esp_status espi_schedule_check(const struct esp_schedule *s, const struct esp_plan *plan,
                               const struct esp_platform *p, struct esp_err *err)
{
    struct checker c = {.s = s, .plan = plan, .p = p, .err = err};
    struct espi_arena arena;
    espi_arena_init(&arena);
    esp_status st = check_round(&c, &arena);
    if (!st)
        st = count_pairs(&c, &arena);
    if (!st)
        st = number_sends(&c);
    if (!st)
        st = check_order(&c);
    espi_arena_done(&arena);
    return st;
}
