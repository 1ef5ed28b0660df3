/* List scheduling of whole slices, for rounds that follow one another.
 *
 * The slots of a schedule cut transfers at will; sending whole slices in the order in
 * which they end there costs up to a third of the throughput. Serving first the resource
 * that has least time to spare needs no cuts, and little is lost but where rounds meet:
 * resources are done at different times, and a round that is to follow itself must leave
 * each as late as it found it. So rounds are woven one after the other, each resource
 * having a round's length from where the one before left it. On optimal packings of 30
 * nodes a round of 1000 slices loses 0.2 to 0.7% in this way (with equal ends for all
 * resources: 0.5 to 3%), and longer ones less.
 * Model: resources; any. Guarantee: none beyond list scheduling's; the pace is measured
 * and the caller takes the best of several. */
#include "schedule/weave.h"

#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "base/portable_math.h"
#include "graph/csr.h"
#include "schedule/tuning.h"

struct candidate {
    double first, second; /* urgency */
    int arc;
};

/* What is asked of an arc again and again. */
struct arc {
    int left;       /* slices still to be sent */
    int ready;      /* slices that could be sent now */
    int seen;       /* the number of the moment at which it joined the line last */
    double due_s;   /* before this time it would be too far ahead of its even share */
    double to_send; /* the part of its slices that is left after the next */
};

/* Slices of a leg: all, and those that were sent. */
struct share {
    int count, given;
};

struct weaver {
    const struct espi_batch *b;
    const struct espi_arc_uses *u;
    const struct espi_weave_rule *rule;
    double base_s, round_s; /* the busiest resource has to do */
    double *rest_s;         /* resource -> work left, less what it began late */
    double *free_s;         /* resource -> when it is free */
    struct arc *arc;
    struct share *share;        /* of the legs, as they stand in b->on_arc */
    int *arrived;               /* leg -> slices there */
    int *users, *users_end;     /* resource -> arcs, from b->users.start[] to that end */
    struct espi_rows next;      /* leg -> the legs that wait for it */
    struct espi_heap waiting;   /* resources by the time at which they are looked at */
    struct espi_heap under_way; /* sends by arrival */
    struct candidate *line, *spare;
    int n_line;
    struct espi_weave *out;
};

/* ---- set-up ---- */

static int weaver_alloc(struct weaver *w, struct espi_arena *a)
{
    int n_arcs = w->b->legs->n_arcs, n_resources = w->u->n_resources;
    w->rest_s = ESPI_ARENA_ZNEW(a, double, n_resources);
    w->arc = ESPI_ARENA_NEW(a, struct arc, n_arcs);
    w->share = ESPI_ARENA_NEW(a, struct share, w->b->legs->n);
    w->arrived = ESPI_ARENA_ZNEW(a, int, w->b->legs->n);
    w->users = ESPI_ARENA_NEW(a, int, w->u->start[n_arcs]);
    w->users_end = ESPI_ARENA_NEW(a, int, n_resources);
    w->line = ESPI_ARENA_NEW(a, struct candidate, n_arcs);
    w->spare = ESPI_ARENA_NEW(a, struct candidate, n_arcs);
    return !w->rest_s || !w->arc || !w->share || !w->arrived || !w->users ||
                   !w->users_end || !w->line || !w->spare ||
                   espi_heap_init(&w->waiting, a, n_resources)
               ? -1
               : 0;
}

/* When the arc may send next, and how much of its share it then has left. */
static void look_ahead(struct weaver *w, int arc)
{
    struct arc *x = &w->arc[arc];
    int all = w->b->arc_count[arc];
    if (x->left == 0)
        return;
    x->due_s = w->base_s + (all - x->left - w->rule->ahead) / all * w->round_s;
    x->to_send = (double)(x->left - 1) / all;
}

static int weaver_init(struct weaver *w, struct espi_arena *a)
{
    const struct espi_arc_uses *u = w->u;
    const struct espi_legs *legs = w->b->legs;
    if (weaver_alloc(w, a) ||
        (w->rule->flow && (espi_legs_next(&w->next, legs, a) ||
                           espi_heap_init(&w->under_way, a, w->b->n))))
        return -1;
    for (int arc = 0; arc < legs->n_arcs; arc++) {
        int left = w->b->arc_count[arc];
        w->arc[arc] = (struct arc){.left = left, .ready = w->rule->flow ? 0 : left};
        for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
            w->rest_s[u->resource[k]] += left * u->time_s[k];
    }
    for (int k = 0; k < legs->n; k++)
        w->share[k] = (struct share){w->b->count[w->b->on_arc.item[k]], 0};
    for (int i = 0; w->rule->flow && i < legs->n; i++)
        if (legs->leg[i].source < 0)
            w->arc[legs->leg[i].arc].ready += w->b->count[i];
    memcpy(w->users, w->b->users.item, (size_t)u->start[legs->n_arcs] * sizeof(int));
    for (int r = 0; r < u->n_resources; r++) {
        w->round_s = fmax(w->round_s, w->rest_s[r]);
        w->users_end[r] = w->b->users.start[r + 1];
        if (w->b->users.start[r] < w->users_end[r])
            espi_heap_set(&w->waiting, r, w->free_s[r]);
        w->rest_s[r] -= w->free_s[r] - w->base_s;
    }
    for (int arc = 0; arc < legs->n_arcs; arc++)
        look_ahead(w, arc);
    return 0;
}

/* ---- which arc, which leg ---- */

static void join_line(struct weaver *w, int arc)
{
    const struct espi_arc_uses *u = w->u;
    double most = -INFINITY;
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
        most = espi_max(most, w->rest_s[u->resource[k]]);
    w->line[w->n_line++] = (struct candidate){most, w->arc[arc].to_send, arc};
}

static int is_more_urgent(const struct candidate *x, const struct candidate *y)
{
    if (x->first != y->first)
        return x->first > y->first;
    if (x->second != y->second)
        return x->second > y->second;
    return x->arc < y->arc;
}

/* Sorts some that stand beside each other. */
static void sort_few(struct candidate *line, int n)
{
    for (int i = 1; i < n; i++) {
        struct candidate x = line[i];
        int k = i;
        for (; k > 0 && is_more_urgent(&x, &line[k - 1]); k--)
            line[k] = line[k - 1];
        line[k] = x;
    }
}

/* Two sorted parts of a line, up to `middle` and up to n, into one. */
static void merge(const struct candidate *line, int middle, int n, struct candidate *out)
{
    int a = 0, b = middle, at = 0;
    while (a < middle && b < n)
        out[at++] = is_more_urgent(&line[b], &line[a]) ? line[b++] : line[a++];
    memcpy(out + at, line + a, (size_t)(middle - a) * sizeof *out);
    memcpy(out + at + (middle - a), line + b, (size_t)(n - b) * sizeof *out);
}

/* The most urgent first. It is the inner loop of all: no calls through pointers. */
static void sort_line(struct weaver *w)
{
    int n = w->n_line;
    for (int i = 0; i < n; i += ESPI_SORT_BY_INSERTION)
        sort_few(w->line + i,
                 n - i < ESPI_SORT_BY_INSERTION ? n - i : ESPI_SORT_BY_INSERTION);
    for (int width = ESPI_SORT_BY_INSERTION; width < n; width *= 2) {
        for (int i = 0; i < n; i += 2 * width) {
            int rest = n - i, middle = rest < width ? rest : width;
            merge(w->line + i, middle, rest < 2 * width ? rest : 2 * width, w->spare + i);
        }
        struct candidate *line = w->line;
        w->line = w->spare;
        w->spare = line;
    }
}

/* Slices that the sender of the leg has. */
static int has(const struct weaver *w, int leg)
{
    const struct espi_legs *legs = w->b->legs;
    int n = w->b->count[leg];
    for (int s = legs->leg[leg].source; s >= 0; s = legs->leg[s].also)
        if (w->arrived[s] < n)
            n = w->arrived[s];
    return n;
}

/* Is the next slice of the leg there, of which so many were sent? */
static int has_next(const struct weaver *w, int leg, int given)
{
    return !w->rule->flow || given < has(w, leg);
}

/* Of the legs of the arc the one that is most behind its share of the arc's sends: its
 * place among them. */
static int leg_in_turn(const struct weaver *w, int arc)
{
    const struct espi_batch *b = w->b;
    int best = -1, all = b->arc_count[arc], sent = all - w->arc[arc].left;
    double most = 0;
    for (int k = b->on_arc.start[arc]; k < b->on_arc.start[arc + 1]; k++) {
        const struct share *x = &w->share[k];
        if (x->given == x->count)
            continue;
        double behind = (double)x->count * (sent + 1) / all - x->given;
        if ((best < 0 || behind > most + 1e-12) &&
            has_next(w, b->on_arc.item[k], x->given)) {
            best = k;
            most = behind;
        }
    }
    return best;
}

static int is_free(const struct weaver *w, int arc, double now_s)
{
    for (int k = w->u->start[arc]; k < w->u->start[arc + 1]; k++)
        if (w->free_s[w->u->resource[k]] > now_s)
            return 0;
    return 1;
}

/* ---- time ---- */

static void look_at(struct weaver *w, int resource, double at_s)
{
    if (!espi_heap_has(&w->waiting, resource) || w->waiting.key[resource] > at_s)
        espi_heap_set(&w->waiting, resource, at_s);
}

static void send_slice(struct weaver *w, int arc, double now_s)
{
    const struct espi_arc_uses *u = w->u;
    int place = leg_in_turn(w, arc), leg = w->b->on_arc.item[place];
    if (w->rule->flow)
        espi_heap_set(&w->under_way, w->out->n, now_s + u->lag_s[arc]);
    w->share[place].given++;
    w->out->leg[w->out->n] = leg;
    w->out->start_s[w->out->n++] = now_s - w->base_s;
    w->arc[arc].left--;
    w->arc[arc].ready--;
    look_ahead(w, arc);
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++) {
        int r = u->resource[k];
        w->free_s[r] = now_s + u->time_s[k];
        w->rest_s[r] -= u->time_s[k];
        espi_heap_set(&w->waiting, r, w->free_s[r]);
    }
}

/* Slices arrive, and may be sent on. */
static void arrivals(struct weaver *w, double now_s)
{
    const struct espi_legs *legs = w->b->legs;
    while (w->under_way.size > 0 &&
           w->under_way.key[espi_heap_top(&w->under_way)] <= now_s) {
        int leg = w->out->leg[espi_heap_pop(&w->under_way)];
        w->arrived[leg]++;
        for (int k = w->next.start[leg]; k < w->next.start[leg + 1]; k++) {
            int arc = legs->leg[w->next.item[k]].arc;
            if (has(w, w->next.item[k]) < w->arrived[leg])
                continue;
            w->arc[arc].ready++;
            look_at(w, w->u->resource[w->u->start[arc]], now_s);
        }
    }
}

/* The arcs of a resource that could send join the line; those that are done leave the
 * resource. */
static void line_up(struct weaver *w, int r, int moment, double now_s)
{
    for (int k = w->b->users.start[r]; k < w->users_end[r]; k++) {
        int arc = w->users[k];
        struct arc *x = &w->arc[arc];
        if (x->left == 0)
            w->users[k--] = w->users[--w->users_end[r]];
        if (x->ready == 0 || x->seen == moment || !is_free(w, arc, now_s))
            continue;
        x->seen = moment;
        if (x->due_s > now_s)
            look_at(w, r, x->due_s);
        else
            join_line(w, arc);
    }
}

/* The next moment at which something is free or there: starts what can start. */
static void next_moment(struct weaver *w, int moment)
{
    double now_s = INFINITY;
    if (w->waiting.size > 0)
        now_s = w->waiting.key[espi_heap_top(&w->waiting)];
    if (w->rule->flow && w->under_way.size > 0)
        now_s = fmin(now_s, w->under_way.key[espi_heap_top(&w->under_way)]);
    if (w->rule->flow)
        arrivals(w, now_s);
    w->n_line = 0;
    while (w->waiting.size > 0 && w->waiting.key[espi_heap_top(&w->waiting)] <= now_s) {
        int r = espi_heap_pop(&w->waiting);
        if (w->free_s[r] > now_s)
            espi_heap_set(&w->waiting, r, w->free_s[r]);
        else
            line_up(w, r, moment, now_s);
    }
    sort_line(w);
    for (int i = 0; i < w->n_line; i++)
        if (is_free(w, w->line[i].arc, now_s))
            send_slice(w, w->line[i].arc, now_s);
}

int espi_weave(struct espi_weave *out, const struct espi_batch *b,
               const struct espi_weave_rule *rule, double base_s, double *free_s,
               struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct weaver w = {.b = b,
                       .u = b->uses,
                       .rule = rule,
                       .base_s = base_s,
                       .free_s = free_s,
                       .out = out};
    out->n = 0;
    if (weaver_init(&w, arena))
        return -1;
    for (int moment = 1; out->n < b->n; moment++)
        next_moment(&w, moment);
    espi_arena_release(arena, mark);
    return 0;
}

/* ---- rounds one after the other ---- */

/* Sends the round once more; returns when all is done. No send starts before
 * base_s + least_s of it; starts get when they did, from base_s on. Both may be NULL. */
static double replay(const struct espi_weave *w, const struct espi_batch *b,
                     double *free_s, const double *least_s, double base_s, double *starts)
{
    const struct espi_arc_uses *u = b->uses;
    double last_s = 0;
    for (int i = 0; i < w->n; i++) {
        int arc = b->legs->leg[w->leg[i]].arc, first = u->start[arc],
            end = u->start[arc + 1];
        double start_s = least_s ? base_s + least_s[i] : 0;
        for (int k = first; k < end; k++)
            start_s = espi_max(start_s, free_s[u->resource[k]]);
        for (int k = first; k < end; k++)
            free_s[u->resource[k]] = start_s + u->time_s[k];
        last_s = espi_max(last_s, start_s + u->slice_s[arc]);
        if (starts)
            starts[i] = start_s - base_s;
    }
    return last_s;
}

double espi_weave_settle(struct espi_weave *w, const struct espi_batch *b,
                         struct espi_arena *arena)
{
    int warm_up = w->n > ESPI_WEAVE_SENDS_MANY ? 2 : 4, measured = 2 * warm_up;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *free_s = ESPI_ARENA_ZNEW(arena, double, b->uses->n_resources);
    double *starts = ESPI_ARENA_NEW(arena, double, w->n);
    double begun_s = 0, done_s = 0;
    if (!free_s || !starts)
        return -1;
    for (int i = 0; i < warm_up; i++)
        begun_s = replay(w, b, free_s, NULL, 0, NULL);
    for (int i = 0; i < measured; i++)
        done_s = replay(w, b, free_s, NULL, 0, NULL);
    double pace_s = (done_s - begun_s) / measured;
    memset(free_s, 0, (size_t)b->uses->n_resources * sizeof *free_s);
    for (int i = 0; i < warm_up + measured; i++)
        replay(w, b, free_s, w->start_s, i * pace_s, starts);
    memcpy(w->start_s, starts, (size_t)w->n * sizeof *starts);
    espi_arena_release(arena, mark);
    return pace_s;
}
