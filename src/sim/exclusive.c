/* The exclusive simulator: a transfer starts when its slice is there, its turn has come
 * and all its resources are free, and holds each of them for that resource's time.
 *
 * Each rank works through its list of sends in order, one at a time. A rank that must
 * wait stands in the queue of one busy resource (by the time of its wish, then by number)
 * and is woken when that is free; no event is spent on waiting. Two events a transfer,
 * each O(log ranks). Memory: a few numbers for each (stream, slot) pair and each rank,
 * whatever the number of slices. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/events.h"
#include "sim/sim.h"

/* At equal times arrivals come before wake-ups, so that who wakes sees what is there. */
enum {
    ARRIVAL,  /* of a state, of the stream `about` */
    WAKE_UP,  /* of a resource */
    LOOSENING /* of the order of receives */
};

enum { RUNNING, WAITS_FOR_DATA, WAITS_FOR_TURN, QUEUED, DONE };

struct engine {
    struct espi_sim *sim;
    const struct espi_program *prog;
    espi_ordering ordered;
    double now_s;
    /* ranks */
    int64_t *send_round, *recv_round;
    int *send_at, *recv_at; /* step within the round */
    unsigned char *status;
    double *wish_s; /* since when it wants to send */
    int *next;      /* in the queue of a resource */
    /* resources */
    double *free_s;
    int *queue;
    unsigned char *will_wake; /* a wake-up is among the events */
    /* (stream, slot) pairs: rounds that have arrived */
    int64_t *arrived;
    struct espi_events events;
    int out_of_memory;
};

static void push_event(struct engine *g, struct espi_event e)
{
    if (espi_events_push(&g->events, e))
        g->out_of_memory = 1;
}

/* ---- cursors over the lists of steps ---- */

static const struct espi_step *current_send(struct engine *g, int rank)
{
    const struct espi_program *prog = g->prog;
    int first = prog->send_start[rank];
    return espi_next_step(prog, prog->sends + first, prog->send_start[rank + 1] - first,
                          &g->send_round[rank], &g->send_at[rank]);
}

/* Can this stream still bring anything? Not once one of its ends has stopped. */
static int dead(const struct engine *g, int stream)
{
    const struct espi_stream *s = &g->prog->streams[stream];
    return g->sim->stop_s[s->from] <= g->now_s || g->sim->stop_s[s->to] <= g->now_s;
}

/* The step that the rank expects to receive next, when receives are ordered. */
static const struct espi_step *current_recv(struct engine *g, int rank)
{
    const struct espi_program *prog = g->prog;
    int first = prog->recv_start[rank], n = prog->recv_start[rank + 1] - first;
    for (;;) {
        const struct espi_step *step = espi_next_step(
            prog, prog->recvs + first, n, &g->recv_round[rank], &g->recv_at[rank]);
        if (!step || !dead(g, step->stream))
            return step;
        g->recv_at[rank]++;
    }
}

/* ---- starting transfers ---- */

/* The use that is free last, if one is not free now; -1: all are free. */
static int blocking_resource(const struct engine *g, int stream)
{
    const struct espi_sim *s = g->sim;
    int worst = -1;
    double last_s = g->now_s;
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
        if (g->free_s[s->use_resource[k]] > last_s) {
            last_s = g->free_s[s->use_resource[k]];
            worst = s->use_resource[k];
        }
    return worst;
}

/* One wake-up a resource at a time; what is held for ever wakes nobody. */
static void plan_wake_up(struct engine *g, int resource)
{
    if (g->will_wake[resource] || g->queue[resource] < 0 ||
        !isfinite(g->free_s[resource]))
        return;
    g->will_wake[resource] = 1;
    push_event(g, (struct espi_event){g->free_s[resource], WAKE_UP, resource, -1});
}

static void stand_in_queue(struct engine *g, int rank, int resource)
{
    int *link = &g->queue[resource];
    while (*link >= 0 && (g->wish_s[*link] < g->wish_s[rank] ||
                          (g->wish_s[*link] == g->wish_s[rank] && *link < rank)))
        link = &g->next[*link];
    g->next[rank] = *link;
    *link = rank;
    g->status[rank] = QUEUED;
    plan_wake_up(g, resource);
}

/* Starts the transfer now. One whose receiver or sender stops before its end is lost: the
 * sender notices when it would have ended, and goes on. */
static void start_transfer(struct engine *g, const struct espi_step *step, int64_t slice)
{
    struct espi_sim *s = g->sim;
    int stream = step->stream;
    const struct espi_stream *st = &g->prog->streams[stream];
    double end_s = espi_sim_arrival_s(s, stream, g->now_s);
    double stretch = 1;
    if (s->varies && s->varies[stream])
        stretch = (end_s - g->now_s) / s->lag_s[stream];
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++) {
        double time_s = s->use_s[k] * stretch;
        g->free_s[s->use_resource[k]] = g->now_s + time_s;
        s->busy_s[s->use_resource[k]] += isfinite(time_s) ? time_s : 0;
    }
    int lost =
        !(end_s <= fmin(s->stop_s[st->from], s->stop_s[st->to])) || !isfinite(end_s);
    if (!lost)
        push_event(g, (struct espi_event){end_s, ARRIVAL, step->state, stream});
    espi_sim_send(s, stream, slice);
    espi_sim_tell(s, stream, slice, g->now_s, end_s, lost);
}

/* Does the rank have to receive something before it may send this? */
static int must_receive_first(struct engine *g, int rank, const struct espi_step *send,
                              int64_t round)
{
    const struct espi_step *recv = current_recv(g, rank);
    return recv && (g->recv_round[rank] < round ||
                    (g->recv_round[rank] == round && recv->place < send->place));
}

/* Does the rank have to send something before it may receive this? */
static int must_send_first(struct engine *g, int rank, const struct espi_step *recv,
                           int64_t round)
{
    const struct espi_step *send = current_send(g, rank);
    return send && (g->send_round[rank] < round ||
                    (g->send_round[rank] == round && send->place < recv->place));
}

/* Are both ends ready for this step? With ordered receives only when it is its turn. */
static int is_turn(struct engine *g, const struct espi_step *step, int64_t round)
{
    if (g->ordered == ESPI_UNORDERED)
        return 1;
    const struct espi_stream *s = &g->prog->streams[step->stream];
    const struct espi_step *wanted = current_recv(g, s->to);
    if (wanted && (wanted->state != step->state || wanted->lag != step->lag ||
                   g->recv_round[s->to] != round))
        return 0;
    return g->ordered == ESPI_ORDERED || (!must_receive_first(g, s->from, step, round) &&
                                          !must_send_first(g, s->to, step, round));
}

static void run_rank(struct engine *g, int rank);

static void run_if_turn_awaited(struct engine *g, int rank)
{
    if (g->status[rank] == WAITS_FOR_TURN)
        run_rank(g, rank);
}

/* A transfer has begun: who waits for its turn at one of its ends may go now. */
static void next_turns(struct engine *g, const struct espi_stream *s)
{
    int ends[2] = {s->to, s->from};
    if (g->ordered == ESPI_UNORDERED)
        return;
    g->recv_at[s->to]++;
    for (int i = 0; i < (g->ordered == ESPI_INTERLEAVED ? 2 : 1); i++) {
        const struct espi_step *wanted = current_recv(g, ends[i]);
        if (wanted)
            run_if_turn_awaited(g, g->prog->streams[wanted->stream].from);
        if (g->ordered == ESPI_INTERLEAVED)
            run_if_turn_awaited(g, ends[i]);
    }
}

/* Sends what the rank can send now. */
static void run_rank(struct engine *g, int rank)
{
    for (;;) {
        const struct espi_step *step = current_send(g, rank);
        if (!step || g->sim->stop_s[rank] <= g->now_s) {
            g->status[rank] = DONE;
            return;
        }
        int64_t round = g->send_round[rank];
        int64_t slice = espi_step_slice(g->prog, step, round);
        if (g->status[rank] == RUNNING)
            g->wish_s[rank] = g->now_s;
        if (!espi_step_has_data(g->prog, step, g->arrived, round)) {
            g->status[rank] = WAITS_FOR_DATA;
            return;
        }
        if (!is_turn(g, step, round)) {
            g->status[rank] = WAITS_FOR_TURN;
            return;
        }
        int resource = blocking_resource(g, step->stream);
        if (resource >= 0) {
            stand_in_queue(g, rank, resource);
            return;
        }
        start_transfer(g, step, slice);
        g->status[rank] = RUNNING;
        g->send_at[rank]++;
        next_turns(g, &g->prog->streams[step->stream]);
    }
}

static void end_transfer(struct engine *g, const struct espi_event *e)
{
    const struct espi_stream *s = &g->prog->streams[e->about];
    g->arrived[e->id]++;
    if (s->keeps)
        espi_sim_keep(g->sim, e->about, e->at_s);
    if (g->status[s->to] == WAITS_FOR_DATA) {
        g->status[s->to] = RUNNING;
        run_rank(g, s->to);
    }
}

/* The resource is free: who stands first may go; who finds another resource busy stands
 * there instead, and the next may try. */
static void wake_waiting(struct engine *g, int resource)
{
    g->will_wake[resource] = 0;
    while (g->queue[resource] >= 0 && g->free_s[resource] <= g->now_s) {
        int rank = g->queue[resource];
        g->queue[resource] = g->next[rank];
        run_rank(g, rank);
    }
    plan_wake_up(g, resource);
}

/* Until when the order of receives is kept. One that waits for what never comes would
 * hold up all the others: from the moment that a node stops or a link goes down receives
 * happen as they come. Nothing before that moment hangs on it. */
static double order_kept_s(const struct espi_sim *sim)
{
    const struct esp_sim_options *o = sim->options;
    double until_s = sim->prog->ordered == ESPI_FREE ? 0 : INFINITY;
    for (int r = 0; r < sim->prog->n_ranks; r++)
        until_s = fmin(until_s, sim->stop_s[r]);
    for (int i = 0; i < o->n_changes; i++)
        if (o->changes[i].factor == 0)
            until_s = fmin(until_s, o->changes[i].at_s);
    return until_s;
}

/* From now on receives happen as they come. */
static void loosen_order(struct engine *g)
{
    g->ordered = ESPI_UNORDERED;
    for (int r = 0; r < g->prog->n_ranks; r++)
        if (g->status[r] == WAITS_FOR_TURN)
            run_rank(g, r);
}

static int engine_init(struct engine *g, struct espi_sim *sim)
{
    const struct espi_program *prog = sim->prog;
    struct espi_arena *a = sim->arena;
    int n = prog->n_ranks;
    *g = (struct engine){.sim = sim,
                         .prog = prog,
                         .ordered =
                             order_kept_s(sim) > 0 ? prog->ordered : ESPI_UNORDERED};
    g->send_round = ESPI_ARENA_ZNEW(a, int64_t, n);
    g->recv_round = ESPI_ARENA_ZNEW(a, int64_t, n);
    g->send_at = ESPI_ARENA_ZNEW(a, int, n);
    g->recv_at = ESPI_ARENA_ZNEW(a, int, n);
    g->status = ESPI_ARENA_ZNEW(a, unsigned char, n);
    g->wish_s = ESPI_ARENA_ZNEW(a, double, n);
    g->next = ESPI_ARENA_NEW(a, int, n);
    g->free_s = ESPI_ARENA_ZNEW(a, double, sim->links.n);
    g->queue = ESPI_ARENA_NEW(a, int, sim->links.n);
    g->will_wake = ESPI_ARENA_ZNEW(a, unsigned char, sim->links.n);
    g->arrived = ESPI_ARENA_ZNEW(a, int64_t, prog->n_states);
    if (!g->send_round || !g->recv_round || !g->send_at || !g->recv_at || !g->status ||
        !g->wish_s || !g->next || !g->free_s || !g->queue || !g->will_wake || !g->arrived)
        return -1;
    memset(g->queue, 0xff, (size_t)sim->links.n * sizeof *g->queue);
    return 0;
}

esp_status espi_run_exclusive(struct espi_sim *sim, struct esp_err *err)
{
    struct engine g;
    if (engine_init(&g, sim))
        return espi_err_nomem(err);
    double kept_s = order_kept_s(sim);
    if (kept_s > 0 && isfinite(kept_s))
        push_event(&g, (struct espi_event){kept_s, LOOSENING, -1, -1});
    for (int r = 0; r < sim->prog->n_ranks; r++)
        if (g.status[r] == RUNNING)
            run_rank(&g, r);
    int ended = 0;
    while (g.events.size > 0 && !g.out_of_memory && !ended) {
        struct espi_event e = espi_events_pop(&g.events);
        g.now_s = e.at_s;
        sim->events += e.kind != LOOSENING;
        if (e.kind == ARRIVAL)
            end_transfer(&g, &e);
        else if (e.kind == LOOSENING)
            loosen_order(&g);
        else
            wake_waiting(&g, e.id);
        ended = espi_sim_must_end(sim, g.now_s);
    }
    espi_free(g.events.item);
    if (g.out_of_memory)
        return espi_err_nomem(err);
    return ended ? espi_sim_ended(sim, g.now_s, err) : ESP_OK;
}
