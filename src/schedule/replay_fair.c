/* Orders played through where sends of strangers share a resource.
 *
 * Hosts start their sends in order, and their receives; on ports for both ways all of
 * them in one order. A host whose next send has its data
 * and its turn starts it when all resources are free, and else stands in the queue of the
 * one that is free last, by the time since when it wants to send. That is what cables and
 * the links between switches do, which know of no order, and who is served first decides
 * who is next: so the discipline, down to what happens at one moment, is that of programs
 * on exclusive resources, and the pace found is theirs.
 * Complexity: O(log sends under way) a send. */
#include <math.h>
#include <string.h>

#include "base/events.h"
#include "graph/csr.h"
#include "schedule/replay.h"

/* At equal times data arrive before resources are free. */
enum { ARRIVAL /* of the slice of a leg, the leg is `about` */, FREE /* resource */ };

enum { RUNNING, WAITS_FOR_DATA, WAITS_FOR_TURN, QUEUED, DONE };

/* A list of sends that happen one after the other, and where it is. */
struct line {
    int at;
    int next; /* the place in the order of the next that happens, -1: none, -2: unknown */
    int64_t round;
};

enum { NONE = -1, UNKNOWN = -2 };

/* What is asked of a send of the order, in one place. */
struct send {
    int from, to, arc, leg;
    int source; /* the leg that brings the data; -1: none */
    int id;     /* slice of a leg */
};

struct player {
    const struct espi_replay *r;
    int64_t last; /* round of the order */
    int n_nodes;
    struct espi_rows sends; /* line -> places in the order; the lines of the senders, then
                               those of the receivers */
    struct line *line;
    struct send *send;     /* by place in the order */
    double *free_s;        /* by resource */
    int *queue;            /* resource -> who stands first, -1: nobody */
    unsigned char *due;    /* resource -> is there an event when it is free? */
    int64_t *arrived;      /* slice of a leg -> rounds in which it has */
    unsigned char *status; /* by node */
    double *wish_s;        /* node -> since when it wants to send */
    int *next;             /* node -> who stands behind it */
    struct espi_events events;
    double now_s, *done_s;
    int out_of_memory;
};

static const struct espi_op *op_of(const struct player *p, int place)
{
    return &p->r->order->op[place];
}

static void push(struct player *p, struct espi_event e)
{
    if (espi_events_push(&p->events, e))
        p->out_of_memory = 1;
}

/* ---- turns ---- */

/* Moves a line on to the next send that happens; its place, or NONE. */
static int find_next(struct player *p, int line)
{
    struct line *l = &p->line[line];
    int first = p->sends.start[line], n = p->sends.start[line + 1] - first;
    for (; n > 0 && l->round <= p->last; l->at = 0, l->round++)
        for (; l->at < n; l->at++) {
            int place = p->sends.item[first + l->at];
            if (espi_replay_round(p->r, op_of(p, place), l->round) >= 0)
                return place;
        }
    return NONE;
}

static int head(struct player *p, int line)
{
    struct line *l = &p->line[line];
    if (l->next == UNKNOWN)
        l->next = find_next(p, line);
    return l->next;
}

static void pass_turn(struct player *p, int line)
{
    p->line[line].at++;
    p->line[line].next = UNKNOWN;
}

/* Does the first of one line come before the first of the other? */
static int comes_first(struct player *p, int line, int other)
{
    int a = head(p, line), b = head(p, other);
    if (a < 0 || p->line[line].round != p->line[other].round)
        return a >= 0 && p->line[line].round < p->line[other].round;
    return a < b;
}

/* Is it the turn of the next send of a node at its receiver, too? */
static int is_turn(struct player *p, int from, int place)
{
    int to = p->send[place].to, in = p->n_nodes + to;
    if (head(p, in) != place || p->line[in].round != p->line[from].round)
        return 0;
    return p->r->model != ESP_MODEL_HALF_DUPLEX ||
           (!comes_first(p, p->n_nodes + from, from) && !comes_first(p, to, in));
}

static int has_data(const struct player *p, int place, int64_t round)
{
    const struct espi_legs *legs = p->r->legs;
    int slice = op_of(p, place)->slice;
    for (int s = p->send[place].source; s >= 0; s = legs->leg[s].also)
        if (p->arrived[p->r->first[s] + slice] <= round)
            return 0;
    return 1;
}

/* ---- resources ---- */

/* The resource of an arc that is free last, if one is not free now; -1: all are. */
static int in_the_way(const struct player *p, int arc)
{
    const struct espi_arc_uses *u = p->r->uses;
    double last_s = p->now_s;
    int found = -1;
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
        if (p->free_s[u->resource[k]] > last_s) {
            found = u->resource[k];
            last_s = p->free_s[found];
        }
    return found;
}

static void wait_until_free(struct player *p, int resource)
{
    if (p->due[resource] || p->queue[resource] < 0)
        return;
    p->due[resource] = 1;
    push(p, (struct espi_event){p->free_s[resource], FREE, resource, 0});
}

static void stand_in_queue(struct player *p, int node, int resource)
{
    int *at = &p->queue[resource];
    while (*at >= 0 && (p->wish_s[*at] < p->wish_s[node] ||
                        (p->wish_s[*at] == p->wish_s[node] && *at < node)))
        at = &p->next[*at];
    p->next[node] = *at;
    *at = node;
    p->status[node] = QUEUED;
    wait_until_free(p, resource);
}

/* ---- sends ---- */

static void start_send(struct player *p, const struct send *send, int64_t j)
{
    const struct espi_arc_uses *u = p->r->uses;
    double at_s = p->now_s + u->lag_s[send->arc];
    for (int k = u->start[send->arc]; k < u->start[send->arc + 1]; k++)
        p->free_s[u->resource[k]] = p->now_s + u->time_s[k];
    push(p, (struct espi_event){at_s, ARRIVAL, send->id, send->leg});
    p->done_s[j] = fmax(p->done_s[j], at_s);
}

static void run_node(struct player *p, int node);

static void run_if_turn_awaited(struct player *p, int node)
{
    if (p->status[node] == WAITS_FOR_TURN)
        run_node(p, node);
}

/* A send has begun: who waited for its turn at one of its ends may go. */
static void next_turns(struct player *p, int from, int to)
{
    int ends[2] = {to, from}, both = p->r->model == ESP_MODEL_HALF_DUPLEX;
    pass_turn(p, p->n_nodes + to);
    for (int i = 0; i <= both; i++) {
        int wanted = head(p, p->n_nodes + ends[i]);
        if (wanted >= 0)
            run_if_turn_awaited(p, p->send[wanted].from);
        if (both)
            run_if_turn_awaited(p, ends[i]);
    }
}

/* Sends what the node can send now. */
static void run_node(struct player *p, int node)
{
    for (int place; (place = head(p, node)) >= 0;) {
        const struct send *send = &p->send[place];
        int64_t j = p->line[node].round;
        if (p->status[node] == RUNNING)
            p->wish_s[node] = p->now_s;
        if (!has_data(p, place, j - op_of(p, place)->lag)) {
            p->status[node] = WAITS_FOR_DATA;
            return;
        }
        if (!is_turn(p, node, place)) {
            p->status[node] = WAITS_FOR_TURN;
            return;
        }
        int resource = in_the_way(p, send->arc);
        if (resource >= 0) {
            stand_in_queue(p, node, resource);
            return;
        }
        start_send(p, send, j);
        p->status[node] = RUNNING;
        pass_turn(p, node);
        next_turns(p, node, send->to);
    }
    p->status[node] = DONE;
}

static void arrive(struct player *p, const struct espi_event *e)
{
    int to = p->r->legs->leg[e->about].to;
    p->arrived[e->id]++;
    if (p->status[to] != WAITS_FOR_DATA)
        return;
    p->status[to] = RUNNING;
    run_node(p, to);
}

/* Who stands first may go; who finds another resource busy stands there instead. */
static void set_free(struct player *p, int resource)
{
    p->due[resource] = 0;
    while (p->queue[resource] >= 0 && p->free_s[resource] <= p->now_s) {
        int node = p->queue[resource];
        p->queue[resource] = p->next[node];
        run_node(p, node);
    }
    wait_until_free(p, resource);
}

/* ---- set-up ---- */

static void make_sends(struct player *p)
{
    for (int k = 0; k < p->r->order->n; k++) {
        const struct espi_op *op = op_of(p, k);
        const struct espi_leg *leg = &p->r->legs->leg[op->leg];
        p->send[k] =
            (struct send){leg->from, leg->to,     leg->arc,
                          op->leg,   leg->source, p->r->first[op->leg] + op->slice};
    }
}

static int make_lines(struct player *p, struct espi_arena *a)
{
    int n = p->r->order->n, *key = ESPI_ARENA_NEW(a, int, 2 * (size_t)n);
    p->line = ESPI_ARENA_NEW(a, struct line, 2 * (size_t)p->n_nodes);
    p->send = ESPI_ARENA_NEW(a, struct send, n);
    if (!key || !p->line || !p->send)
        return -1;
    make_sends(p);
    for (int k = 0; k < n; k++) {
        key[k] = p->send[k].from;
        key[n + k] = p->n_nodes + p->send[k].to;
    }
    for (int i = 0; i < 2 * p->n_nodes; i++)
        p->line[i] = (struct line){.next = UNKNOWN};
    if (espi_rows_build(&p->sends, 2 * p->n_nodes, 2 * n, key, a))
        return -1;
    for (int i = 0; i < 2 * n; i++)
        p->sends.item[i] %= n;
    return 0;
}

static int player_init(struct player *p, struct espi_arena *a)
{
    const struct espi_replay *r = p->r;
    for (int i = 0; i < r->legs->n; i++) {
        int from = r->legs->leg[i].from, to = r->legs->leg[i].to;
        int most = from > to ? from : to;
        p->n_nodes = most >= p->n_nodes ? most + 1 : p->n_nodes;
    }
    p->free_s = ESPI_ARENA_ZNEW(a, double, r->uses->n_resources);
    p->queue = ESPI_ARENA_NEW(a, int, r->uses->n_resources);
    p->due = ESPI_ARENA_ZNEW(a, unsigned char, r->uses->n_resources);
    p->arrived = ESPI_ARENA_ZNEW(a, int64_t, r->order->n);
    p->status = ESPI_ARENA_ZNEW(a, unsigned char, p->n_nodes);
    p->wish_s = ESPI_ARENA_ZNEW(a, double, p->n_nodes);
    p->next = ESPI_ARENA_NEW(a, int, p->n_nodes);
    if (!p->free_s || !p->queue || !p->due || !p->arrived || !p->status || !p->wish_s ||
        !p->next)
        return -1;
    memset(p->queue, 0xff, (size_t)r->uses->n_resources * sizeof *p->queue);
    return make_lines(p, a);
}

int espi_replay_fair(const struct espi_replay *r, int64_t last, double *done_s,
                     struct espi_arena *arena)
{
    struct player p = {.r = r, .last = last, .done_s = done_s};
    if (player_init(&p, arena))
        return -1;
    for (int v = 0; v < p.n_nodes; v++)
        if (p.status[v] == RUNNING)
            run_node(&p, v);
    while (p.events.size > 0 && !p.out_of_memory) {
        struct espi_event e = espi_events_pop(&p.events);
        p.now_s = e.at_s;
        if (e.kind == ARRIVAL)
            arrive(&p, &e);
        else
            set_free(&p, e.id);
    }
    espi_free(p.events.item);
    return p.out_of_memory ? -1 : 0;
}
