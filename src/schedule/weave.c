/* List scheduling of whole slices, for rounds that follow one another.
 *
 * The slots of a schedule cut transfers at will; sending whole slices in the order in
 * which they end there costs up to a third of the throughput. Serving the busiest
 * resource first needs no cuts and, with rounds of some tens of slices, loses nothing or
 * a few parts in a hundred; in rounds twice or four times as long mostly nothing at all
 * (the last slices of a round are then small beside it, and resources that are done early
 * go on with the next round).
 * Model: resources; any. Guarantee: none beyond list scheduling's; the pace is measured
 * and the caller takes the best of several. */
#include "schedule/weave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "graph/csr.h"

struct candidate {
    double first, second; /* urgency */
    int arc;
};

struct weaver {
    const struct espi_arc_uses *u;
    const int *count;
    espi_weave_rule rule;
    double *rest_s, *free_s;  /* resource -> work left, when it is free */
    int *left;                /* arc -> slices still to be sent */
    int *arc_of;              /* use -> its arc */
    struct espi_rows users;   /* resource -> uses */
    struct espi_heap waiting; /* resources by the time at which they are free */
    struct candidate *line;
    int n_line;
    int *seen; /* arc -> the number of the moment at which it joined the line last */
    struct espi_weave *out;
};

static int weaver_init(struct weaver *w, int n_arcs, struct espi_arena *a)
{
    const struct espi_arc_uses *u = w->u;
    int n_uses = u->start[n_arcs];
    w->rest_s = ESPI_ARENA_ZNEW(a, double, u->n_resources);
    w->free_s = ESPI_ARENA_ZNEW(a, double, u->n_resources);
    w->left = ESPI_ARENA_NEW(a, int, n_arcs);
    w->arc_of = ESPI_ARENA_NEW(a, int, n_uses);
    w->line = ESPI_ARENA_NEW(a, struct candidate, n_arcs);
    w->seen = ESPI_ARENA_ZNEW(a, int, n_arcs);
    if (!w->rest_s || !w->free_s || !w->left || !w->arc_of || !w->line || !w->seen ||
        espi_heap_init(&w->waiting, a, u->n_resources) ||
        espi_rows_build(&w->users, u->n_resources, n_uses, u->resource, a))
        return -1;
    for (int arc = 0; arc < n_arcs; arc++) {
        w->left[arc] = w->count[arc];
        for (int k = u->start[arc]; k < u->start[arc + 1]; k++) {
            w->arc_of[k] = arc;
            w->rest_s[u->resource[k]] += w->count[arc] * u->time_s[k];
        }
    }
    for (int r = 0; r < u->n_resources; r++)
        if (w->rest_s[r] > 0)
            espi_heap_set(&w->waiting, r, 0);
    return 0;
}

static void join_line(struct weaver *w, int arc)
{
    const struct espi_arc_uses *u = w->u;
    double most = 0, sum = 0;
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++) {
        most = fmax(most, w->rest_s[u->resource[k]]);
        sum += w->rest_s[u->resource[k]];
    }
    double even = (double)(w->left[arc] - 1) / w->count[arc];
    w->line[w->n_line++] =
        (struct candidate){most, w->rule == ESPI_WEAVE_EVEN ? even : sum, arc};
}

static int more_urgent(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return x->arc < y->arc ? -1 : x->arc > y->arc;
}

static int is_free(const struct weaver *w, int arc, double now_s)
{
    for (int k = w->u->start[arc]; k < w->u->start[arc + 1]; k++)
        if (w->free_s[w->u->resource[k]] > now_s)
            return 0;
    return 1;
}

static void send(struct weaver *w, int arc, double now_s)
{
    const struct espi_arc_uses *u = w->u;
    w->out->arc[w->out->n] = arc;
    w->out->start_s[w->out->n++] = now_s;
    w->left[arc]--;
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++) {
        int r = u->resource[k];
        w->free_s[r] = now_s + u->time_s[k];
        w->rest_s[r] -= u->time_s[k];
        espi_heap_set(&w->waiting, r, w->free_s[r]);
    }
}

/* All that is free at the next moment: lines up its arcs and starts what can start. */
static void next_moment(struct weaver *w, int moment)
{
    double now_s = w->waiting.key[espi_heap_top(&w->waiting)];
    w->n_line = 0;
    while (w->waiting.size > 0 && w->waiting.key[espi_heap_top(&w->waiting)] <= now_s) {
        int r = espi_heap_pop(&w->waiting);
        for (int k = w->users.start[r]; k < w->users.start[r + 1]; k++) {
            int arc = w->arc_of[w->users.item[k]];
            if (w->left[arc] == 0 || w->seen[arc] == moment || !is_free(w, arc, now_s))
                continue;
            w->seen[arc] = moment;
            join_line(w, arc);
        }
    }
    qsort(w->line, (size_t)w->n_line, sizeof *w->line, more_urgent);
    for (int i = 0; i < w->n_line; i++)
        if (is_free(w, w->line[i].arc, now_s))
            send(w, w->line[i].arc, now_s);
}

int espi_weave(struct espi_weave *out, const struct espi_arc_uses *uses, int n_arcs,
               const int *count, espi_weave_rule rule, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct weaver w = {.u = uses, .count = count, .rule = rule, .out = out};
    out->n = 0;
    if (weaver_init(&w, n_arcs, arena))
        return -1;
    for (int moment = 1; w.waiting.size > 0; moment++)
        next_moment(&w, moment);
    espi_arena_release(arena, mark);
    return 0;
}

/* Sends the round once more; returns when all is done. No send starts before
 * base_s + least_s of it; starts get when they did, from base_s on. Both may be NULL. */
static double replay(const struct espi_weave *w, const struct espi_arc_uses *u,
                     double *free_s, const double *least_s, double base_s, double *starts)
{
    double last_s = 0;
    for (int i = 0; i < w->n; i++) {
        int first = u->start[w->arc[i]], end = u->start[w->arc[i] + 1];
        double start_s = least_s ? base_s + least_s[i] : 0;
        for (int k = first; k < end; k++)
            start_s = fmax(start_s, free_s[u->resource[k]]);
        for (int k = first; k < end; k++)
            free_s[u->resource[k]] = start_s + u->time_s[k];
        last_s = fmax(last_s, start_s + u->slice_s[w->arc[i]]);
        if (starts)
            starts[i] = start_s - base_s;
    }
    return last_s;
}

enum { WARM_UP = 4, MEASURED = 8 };

double espi_weave_pace_s(const struct espi_weave *w, const struct espi_arc_uses *uses,
                         struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *free_s = ESPI_ARENA_ZNEW(arena, double, uses->n_resources);
    double begun_s = 0, done_s = 0;
    if (!free_s)
        return -1;
    for (int i = 0; i < WARM_UP; i++)
        begun_s = replay(w, uses, free_s, NULL, 0, NULL);
    for (int i = 0; i < MEASURED; i++)
        done_s = replay(w, uses, free_s, NULL, 0, NULL);
    espi_arena_release(arena, mark);
    return (done_s - begun_s) / MEASURED;
}

int espi_weave_settle(struct espi_weave *w, const struct espi_arc_uses *uses,
                      double pace_s, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *free_s = ESPI_ARENA_ZNEW(arena, double, uses->n_resources);
    double *starts = ESPI_ARENA_NEW(arena, double, w->n);
    if (!free_s || !starts)
        return -1;
    for (int i = 0; i < WARM_UP + MEASURED; i++)
        replay(w, uses, free_s, w->start_s, i * pace_s, starts);
    memcpy(w->start_s, starts, (size_t)w->n * sizeof *starts);
    espi_arena_release(arena, mark);
    return 0;
}
