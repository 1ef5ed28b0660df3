/* Slots for the communications of a period.
 *
 * References: O. Beaumont, A. Legrand, L. Marchal, Y. Robert, Pipelining broadcasts on
 * heterogeneous platforms, 2005 (periodic schedules from edge colourings).
 * Model: resources. One-port: send ports on one side, receive ports on the other, arcs
 * between them: bipartite, and the colouring lasts as long as the busiest port.
 * Half-duplex: one port a node; bipartite too when nodes can be put into two classes that
 * talk only to each other. Times are cut into ticks of 1e-12 of the period, so that the
 * colouring is exact and ends.
 * Else (odd cycles of half-duplex nodes, shared cables, paths through switches that hold
 * their ends for different times) slots are filled greedily, arcs at the busiest
 * resources first; the period is what comes out.
 * Complexity: that of the colouring; greedily O(slots * arcs log arcs), at most one slot
 * an arc and resource. */
#include "schedule/periodic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/colouring.h"

static const double TICKS = 1e12; /* a period */

struct builder {
    const struct esp_platform *p;
    const struct espi_legs *legs;
    const struct espi_arc_uses *uses;
    double *work_s; /* arc -> how long it is to be active */
    double *load;   /* resource -> seconds of use */
    double longest_s;
    struct espi_arena *arena;
};

static int builder_init(struct builder *b, const int *count)
{
    const struct espi_arc_uses *u = b->uses;
    b->work_s = ESPI_ARENA_ZNEW(b->arena, double, b->legs->n_arcs);
    b->load = ESPI_ARENA_ZNEW(b->arena, double, u->n_resources);
    if (!b->work_s || !b->load)
        return -1;
    for (int i = 0; i < b->legs->n; i++) {
        const struct espi_leg *leg = &b->legs->leg[i];
        b->work_s[leg->arc] += count[leg->tree] * u->slice_s[leg->arc];
        for (int k = u->start[leg->arc]; k < u->start[leg->arc + 1]; k++)
            b->load[u->resource[k]] += count[leg->tree] * u->time_s[k];
    }
    for (int r = 0; r < u->n_resources; r++)
        b->longest_s = fmax(b->longest_s, b->load[r]);
    return 0;
}

/* ---- two sides: exact ---- */

/* Puts the nodes of a half-duplex platform into two classes that talk only to each other;
 * returns whether there are such. */
static int two_classes(const struct builder *b, int *side, int *stack)
{
    const struct espi_legs *legs = b->legs;
    struct espi_rows out, in;
    int n = b->p->n_nodes, m = legs->n_arcs;
    int *tail = ESPI_ARENA_NEW(b->arena, int, m),
        *head = ESPI_ARENA_NEW(b->arena, int, m);
    if (!tail || !head)
        return -1;
    for (int a = 0; a < m; a++) {
        tail[a] = legs->leg[legs->arc_leg[a]].from;
        head[a] = legs->leg[legs->arc_leg[a]].to;
    }
    if (espi_rows_build(&out, n, m, tail, b->arena) ||
        espi_rows_build(&in, n, m, head, b->arena))
        return -1;
    memset(side, 0xff, (size_t)n * sizeof *side);
    int size = 0;
    side[legs->plan->root] = 0;
    stack[size++] = legs->plan->root; /* every tree reaches all: one component */
    while (size > 0) {
        int v = stack[--size];
        for (int way = 0; way < 2; way++) {
            const struct espi_rows *rows = way ? &in : &out;
            for (int k = rows->start[v]; k < rows->start[v + 1]; k++) {
                int w = way ? tail[rows->item[k]] : head[rows->item[k]];
                if (side[w] == side[v])
                    return 0;
                if (side[w] < 0) {
                    side[w] = !side[v];
                    stack[size++] = w;
                }
            }
        }
    }
    return 1;
}

/* Does every arc hold two ports, and both for the same time? */
static int only_ports(const struct builder *b)
{
    const struct espi_arc_uses *u = b->uses;
    for (int a = 0; a < b->legs->n_arcs; a++) {
        int k = u->start[a];
        if (u->start[a + 1] - k != 2 || u->resource[k] >= 2 * b->p->n_nodes ||
            u->resource[k + 1] >= 2 * b->p->n_nodes || u->time_s[k] != u->time_s[k + 1])
            return 0;
    }
    return 1;
}

/* Ends of the arcs on the two sides: 1; 0: there are no two sides; -1: no memory. */
static int find_sides(const struct builder *b, int *left, int *right)
{
    const struct espi_legs *legs = b->legs;
    int n = b->p->n_nodes, *side = NULL, *stack;
    if (!only_ports(b))
        return 0;
    if (b->p->model == ESP_MODEL_HALF_DUPLEX) {
        side = ESPI_ARENA_NEW(b->arena, int, n);
        stack = ESPI_ARENA_NEW(b->arena, int, n);
        if (!side || !stack)
            return -1;
        int two = two_classes(b, side, stack);
        if (two <= 0)
            return two;
    }
    for (int a = 0; a < legs->n_arcs; a++) {
        const struct espi_leg *leg = &legs->leg[legs->arc_leg[a]];
        int swap = side && side[leg->from];
        left[a] = swap ? leg->to : leg->from;
        right[a] = swap ? leg->from : leg->to;
    }
    return 1;
}

static int colour(const struct builder *b, const int *left, const int *right,
                  struct espi_periodic *s)
{
    struct espi_colouring c;
    int m = b->legs->n_arcs;
    int64_t *ticks = ESPI_ARENA_NEW(b->arena, int64_t, m);
    if (!ticks)
        return -1;
    for (int a = 0; a < m; a++)
        ticks[a] = llround(b->work_s[a] / b->longest_s * TICKS);
    if (espi_colouring_init(&c, b->p->n_nodes, b->p->n_nodes, m, left, right, ticks,
                            b->arena))
        return -1;
    s->duration_s = ESPI_ARENA_NEW(b->arena, double, c.n);
    if (!s->duration_s)
        return -1;
    s->period_s = b->longest_s;
    s->n_slots = c.n;
    s->arcs = (struct espi_rows){c.start, c.edge};
    for (int i = 0; i < c.n; i++)
        s->duration_s[i] = (double)c.ticks[i] / (double)c.total * b->longest_s;
    return 0;
}

/* ---- otherwise: greedy ---- */

struct candidate {
    double urgency_s; /* load of its busiest resource */
    double work_s;
    int arc;
};

static int more_urgent(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->urgency_s != y->urgency_s)
        return x->urgency_s > y->urgency_s ? -1 : 1;
    if (x->work_s != y->work_s)
        return x->work_s > y->work_s ? -1 : 1;
    return x->arc < y->arc ? -1 : x->arc > y->arc;
}

struct filler {
    struct builder *b;
    struct candidate *line; /* arcs with work left */
    int n_line;
    double *used; /* resource -> by the slot being filled */
    size_t room, arc_room;
    double least_s; /* what is shorter counts as done */
};

static void rank_arcs(struct filler *f)
{
    const struct espi_arc_uses *u = f->b->uses;
    int left = 0;
    for (int i = 0; i < f->n_line; i++) {
        int a = f->line[i].arc;
        double most = 0;
        if (f->b->work_s[a] <= f->least_s)
            continue;
        for (int k = u->start[a]; k < u->start[a + 1]; k++)
            most = fmax(most, f->b->load[u->resource[k]]);
        f->line[left++] = (struct candidate){most, f->b->work_s[a], a};
    }
    f->n_line = left;
    qsort(f->line, (size_t)left, sizeof *f->line, more_urgent);
}

static int fits(const struct filler *f, int a)
{
    const struct espi_arc_uses *u = f->b->uses;
    for (int k = u->start[a]; k < u->start[a + 1]; k++)
        if (f->used[u->resource[k]] + u->time_s[k] / u->slice_s[a] > 1 + 1e-12)
            return 0;
    return 1;
}

/* Fills the slot with arcs, most urgent first; gives how long all of them have work. */
static double fill_slot(struct filler *f, int *arcs, int *n)
{
    const struct espi_arc_uses *u = f->b->uses;
    double until_s = INFINITY;
    memset(f->used, 0, (size_t)u->n_resources * sizeof *f->used);
    for (int i = 0; i < f->n_line; i++) {
        int a = f->line[i].arc;
        if (!fits(f, a))
            continue;
        for (int k = u->start[a]; k < u->start[a + 1]; k++)
            f->used[u->resource[k]] += u->time_s[k] / u->slice_s[a];
        arcs[(*n)++] = a;
        until_s = fmin(until_s, f->b->work_s[a]);
    }
    return until_s;
}

/* The slot also ends when a resource that it uses little becomes the busiest one, so that
 * the next slot can turn to it. */
static double last_for(const struct filler *f, double until_s)
{
    const struct builder *b = f->b;
    double busiest_s = f->line[0].urgency_s;
    for (int i = 0; i < f->n_line; i++)
        for (int k = b->uses->start[f->line[i].arc];
             k < b->uses->start[f->line[i].arc + 1]; k++) {
            int r = b->uses->resource[k];
            double slack_s = busiest_s - b->load[r];
            if (f->used[r] < 1 - 1e-9 && slack_s > 0.01 * busiest_s)
                until_s = fmin(until_s, slack_s / (1 - f->used[r]));
        }
    return until_s;
}

static void spend(struct filler *f, const int *arcs, int n, double duration_s)
{
    const struct espi_arc_uses *u = f->b->uses;
    for (int i = 0; i < n; i++) {
        int a = arcs[i];
        f->b->work_s[a] -= duration_s;
        for (int k = u->start[a]; k < u->start[a + 1]; k++)
            f->b->load[u->resource[k]] -= duration_s * u->time_s[k] / u->slice_s[a];
    }
}

/* Room for one more slot with all arcs in it. */
static int make_room(struct filler *f, struct espi_periodic *s)
{
    size_t n = (size_t)s->n_slots, edges = (size_t)s->arcs.start[n];
    if (n + 1 > f->room) {
        double *duration_s = ESPI_ARENA_NEW(f->b->arena, double, 2 * f->room + 64);
        int *start = ESPI_ARENA_NEW(f->b->arena, int, 2 * f->room + 65);
        if (!duration_s || !start)
            return -1;
        if (n)
            memcpy(duration_s, s->duration_s, n * sizeof *duration_s);
        memcpy(start, s->arcs.start, (n + 1) * sizeof *start);
        s->duration_s = duration_s;
        s->arcs.start = start;
        f->room = 2 * f->room + 64;
    }
    if (edges + (size_t)f->n_line > f->arc_room) {
        size_t room = 2 * f->arc_room + 64 * (size_t)f->n_line;
        int *item = ESPI_ARENA_NEW(f->b->arena, int, room);
        if (!item)
            return -1;
        if (edges && s->arcs.item)
            memcpy(item, s->arcs.item, edges * sizeof *item);
        s->arcs.item = item;
        f->arc_room = room;
    }
    return s->duration_s && s->arcs.item ? 0 : -1;
}

static int fill(struct builder *b, struct espi_periodic *s)
{
    struct filler f = {.b = b, .n_line = b->legs->n_arcs};
    s->n_slots = 0;
    s->arcs.start = ESPI_ARENA_ZNEW(b->arena, int, 1);
    f.line = ESPI_ARENA_NEW(b->arena, struct candidate, f.n_line);
    f.used = ESPI_ARENA_NEW(b->arena, double, b->uses->n_resources);
    if (!f.line || !f.used || !s->arcs.start)
        return -1;
    for (int a = 0; a < f.n_line; a++)
        f.line[a].arc = a;
    f.least_s = 1e-12 * b->longest_s;
    for (rank_arcs(&f); f.n_line > 0; rank_arcs(&f)) {
        if (make_room(&f, s))
            return -1;
        int n = 0, *arcs = s->arcs.item + s->arcs.start[s->n_slots];
        double duration_s = last_for(&f, fill_slot(&f, arcs, &n));
        spend(&f, arcs, n, duration_s);
        s->duration_s[s->n_slots++] = duration_s;
        s->arcs.start[s->n_slots] = s->arcs.start[s->n_slots - 1] + n;
        s->period_s += duration_s;
    }
    return 0;
}

int espi_periodic_init(struct espi_periodic *s, const struct esp_platform *p,
                       const struct espi_legs *legs, const struct espi_arc_uses *uses,
                       const int *count, struct espi_arena *arena)
{
    struct builder b = {.p = p, .legs = legs, .uses = uses, .arena = arena};
    int *left = ESPI_ARENA_NEW(arena, int, legs->n_arcs);
    int *right = ESPI_ARENA_NEW(arena, int, legs->n_arcs);
    if (!left || !right || builder_init(&b, count))
        return -1;
    struct espi_periodic x = {0};
    int sides = find_sides(&b, left, right);
    if (sides < 0 || (sides ? colour(&b, left, right, &x) : fill(&b, &x)))
        return -1;
    *s = x;
    return 0;
}
