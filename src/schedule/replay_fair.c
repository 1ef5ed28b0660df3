/* Orders played through where sends of strangers share a resource.
 *
 * Hosts serve their lists of sends, and of receives where they have ports for them, in
 * order. The first of its lists is what a host would do next; when the data are there
 * too it can be started from some time on, and of all such sends the one that can be
 * first is started, then the next; among equals the one that has been waiting longest. So
 * time never runs backwards, and no resource is kept for a send that waits for another.
 * Complexity: O(sends * log hosts), times the senders that wait for a shared resource. */
#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "graph/csr.h"
#include "schedule/replay.h"

/* A list of sends that happen one after the other, and where it is. */
struct line {
    int at;
    int64_t round;
};

struct player {
    const struct espi_replay *r;
    int64_t last;           /* round of the order */
    int *line_of[2];        /* send -> its lines, -1: none */
    struct espi_rows sends; /* line -> places in the order */
    struct line *line;
    double *free_s;         /* by resource */
    double *arrival_s;      /* round * sends + slice of the leg */
    int64_t *started;       /* slice of a leg -> rounds in which it was sent */
    struct espi_rows next;  /* leg -> the legs that wait for it */
    unsigned char *waits;   /* sender -> is it ready? */
    double *wish_s;         /* sender -> since when it is */
    struct espi_heap ready; /* senders by when they can start */
    int *tied;              /* those who can at the same time */
    double now_s, *done_s;
};

static const struct espi_op *op_of(const struct player *p, int place)
{
    return &p->r->order->op[place];
}

/* ---- lines ---- */

/* Moves a line on to the next send that happens; its place, or -1. */
static int head(struct player *p, int line)
{
    struct line *l = &p->line[line];
    int first = p->sends.start[line], n = p->sends.start[line + 1] - first;
    for (; n > 0 && l->round <= p->last; l->at = 0, l->round++)
        for (; l->at < n; l->at++) {
            int place = p->sends.item[first + l->at];
            if (espi_replay_round(p->r, op_of(p, place), l->round) >= 0)
                return place;
        }
    return -1;
}

/* When the data of the send of a round are there; INFINITY: not known yet. */
static double data_s(const struct player *p, const struct espi_op *op, int64_t round)
{
    const struct espi_legs *legs = p->r->legs;
    const double *arrivals = p->arrival_s + round * p->r->order->n;
    double at_s = 0;
    for (int s = legs->leg[op->leg].source; s >= 0; s = legs->leg[s].also) {
        int state = p->r->first[s] + op->slice;
        if (p->started[state] <= round)
            return INFINITY;
        at_s = fmax(at_s, arrivals[state]);
    }
    return at_s;
}

/* When the resources of a send are free. */
static double free_s(const struct player *p, int place)
{
    const struct espi_arc_uses *u = p->r->uses;
    int arc = p->r->legs->leg[op_of(p, place)->leg].arc;
    double at_s = p->now_s;
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
        at_s = fmax(at_s, p->free_s[u->resource[k]]);
    return at_s;
}

/* Looks whether the first send of a line is that of its other line too, and whether when
 * it can start is known; if so its sender joins those who are ready. */
static void look_at(struct player *p, int line)
{
    int place = head(p, line);
    if (place < 0)
        return;
    for (int i = 0; i < 2; i++) {
        int other = p->line_of[i][place];
        if (other >= 0 && other != line &&
            (head(p, other) != place || p->line[other].round != p->line[line].round))
            return;
    }
    const struct espi_op *op = op_of(p, place);
    int sender = p->line_of[0][place];
    double there_s = data_s(p, op, p->line[line].round - op->lag);
    if (isinf(there_s) || p->waits[sender])
        return;
    p->waits[sender] = 1;
    p->wish_s[sender] = fmax(p->now_s, there_s);
    espi_heap_set(&p->ready, sender, fmax(there_s, free_s(p, place)));
}

/* ---- sends ---- */

static void start(struct player *p, int sender)
{
    const struct espi_arc_uses *u = p->r->uses;
    int place = head(p, sender), leg = op_of(p, place)->leg;
    int arc = p->r->legs->leg[leg].arc, state = p->r->first[leg] + op_of(p, place)->slice;
    int64_t j = p->line[sender].round, round = j - op_of(p, place)->lag;
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
        p->free_s[u->resource[k]] = p->now_s + u->time_s[k];
    double at_s = p->now_s + u->lag_s[arc];
    p->arrival_s[round * p->r->order->n + state] = at_s;
    p->started[state] = round + 1;
    p->done_s[j] = fmax(p->done_s[j], at_s);
    p->waits[sender] = 0;
    for (int i = 0; i < 2; i++)
        if (p->line_of[i][place] >= 0)
            p->line[p->line_of[i][place]].at++;
    for (int i = 0; i < 2; i++)
        if (p->line_of[i][place] >= 0)
            look_at(p, p->line_of[i][place]);
    for (int k = p->next.start[leg]; k < p->next.start[leg + 1]; k++)
        look_at(p, p->r->legs->leg[p->next.item[k]].from);
}

/* Starts what can start first. */
static void next_moment(struct player *p)
{
    int n = 0;
    double at_s = p->ready.key[espi_heap_top(&p->ready)];
    p->now_s = fmax(p->now_s, at_s);
    while (p->ready.size > 0 && p->ready.key[espi_heap_top(&p->ready)] <= at_s) {
        int sender = espi_heap_pop(&p->ready), at = n++;
        for (; at > 0 && p->wish_s[p->tied[at - 1]] > p->wish_s[sender]; at--)
            p->tied[at] = p->tied[at - 1];
        p->tied[at] = sender;
    }
    for (int i = 0; i < n; i++) {
        double free_at_s = free_s(p, head(p, p->tied[i]));
        if (free_at_s > p->now_s)
            espi_heap_set(&p->ready, p->tied[i], free_at_s);
        else
            start(p, p->tied[i]);
    }
}

/* ---- set-up ---- */

/* The lines of all sends: by sender, and by receiver where receives happen in order; on
 * ports for both ways these are the same. */
static int make_lines(struct player *p, int n_nodes, struct espi_arena *a)
{
    const struct espi_order *o = p->r->order;
    esp_model model = p->r->model;
    int n = 0, *key = ESPI_ARENA_NEW(a, int, 2 * (size_t)o->n);
    int *place = ESPI_ARENA_NEW(a, int, 2 * (size_t)o->n);
    p->line_of[0] = ESPI_ARENA_NEW(a, int, o->n);
    p->line_of[1] = ESPI_ARENA_NEW(a, int, o->n);
    p->line = ESPI_ARENA_ZNEW(a, struct line, 2 * (size_t)n_nodes);
    if (!key || !place || !p->line_of[0] || !p->line_of[1] || !p->line)
        return -1;
    for (int k = 0; k < o->n; k++) {
        const struct espi_leg *leg = &p->r->legs->leg[o->op[k].leg];
        int to = model == ESP_MODEL_CAPACITY      ? -1
                 : model == ESP_MODEL_HALF_DUPLEX ? leg->to
                                                  : n_nodes + leg->to;
        p->line_of[0][k] = leg->from;
        p->line_of[1][k] = to;
        for (int i = 0; i < 2; i++)
            if (p->line_of[i][k] >= 0) {
                key[n] = p->line_of[i][k];
                place[n++] = k;
            }
    }
    if (espi_rows_build(&p->sends, 2 * n_nodes, n, key, a))
        return -1;
    for (int i = 0; i < n; i++)
        p->sends.item[i] = place[p->sends.item[i]];
    return 0;
}

static int player_init(struct player *p, int n_nodes, struct espi_arena *a)
{
    const struct espi_replay *r = p->r;
    size_t n = (size_t)r->order->n, rounds = (size_t)r->message.rounds + 1;
    p->free_s = ESPI_ARENA_ZNEW(a, double, r->uses->n_resources);
    p->arrival_s = ESPI_ARENA_NEW(a, double, n *rounds);
    p->started = ESPI_ARENA_ZNEW(a, int64_t, n);
    p->wish_s = ESPI_ARENA_ZNEW(a, double, n_nodes);
    p->waits = ESPI_ARENA_ZNEW(a, unsigned char, n_nodes);
    p->tied = ESPI_ARENA_NEW(a, int, n_nodes);
    return !p->free_s || !p->arrival_s || !p->started || !p->wish_s || !p->waits ||
                   !p->tied || make_lines(p, n_nodes, a) ||
                   espi_legs_next(&p->next, r->legs, a) ||
                   espi_heap_init(&p->ready, a, n_nodes)
               ? -1
               : 0;
}

int espi_replay_fair(const struct espi_replay *r, int64_t last, double *done_s,
                     struct espi_arena *arena)
{
    struct player p = {.r = r, .last = last, .done_s = done_s};
    int n_nodes = 0;
    for (int i = 0; i < r->legs->n; i++) {
        n_nodes = r->legs->leg[i].from >= n_nodes ? r->legs->leg[i].from + 1 : n_nodes;
        n_nodes = r->legs->leg[i].to >= n_nodes ? r->legs->leg[i].to + 1 : n_nodes;
    }
    if (player_init(&p, n_nodes, arena))
        return -1;
    for (int v = 0; v < n_nodes; v++)
        look_at(&p, v);
    while (p.ready.size > 0)
        next_moment(&p);
    return 0;
}
