/* Plays the rounds of an order through: the same recursion as the simulator runs, without
 * events, for choosing between orders and for telling when a message is through. */
#include "schedule/replay.h"

#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "schedule/tuning.h"

struct player {
    const struct espi_replay *r;
    double *free_s; /* by resource */
    /* Arrivals of the slices of the last `depth` rounds: (round % depth) * sends + slice
     * of the leg. Older ones were sent on before these are written. */
    double *arrival_s;
    int depth;
    struct send *send; /* of the order */
};

/* What is asked of a send of the order, in one place. */
struct send {
    int arc;
    int id;     /* slice of the leg */
    int before; /* slice of the leg that brings the data; -1: none does */
    int also;   /* another leg whose data it waits for; -1: none */
};

int espi_order_max_lag(const struct espi_order *o)
{
    int most = 0;
    for (int k = 0; k < o->n; k++)
        most = o->op[k].lag > most ? o->op[k].lag : most;
    return most;
}

/* Rounds of the order between which the pace is taken. */
struct span {
    int from, to;
    int max_lag;
};

static void make_sends(struct player *p)
{
    for (int k = 0; k < p->r->order->n; k++) {
        const struct espi_op *op = &p->r->order->op[k];
        const struct espi_leg *leg = &p->r->legs->leg[op->leg];
        int source = leg->source;
        p->send[k] = (struct send){leg->arc, p->r->first[op->leg] + op->slice, -1, -1};
        if (source < 0)
            continue;
        p->send[k].before = p->r->first[source] + op->slice;
        p->send[k].also = p->r->legs->leg[source].also;
    }
}

/* The lag of each slice of a leg, by its place in the arrivals. */
static int *lags_of_slices(const struct espi_replay *r, struct espi_arena *arena)
{
    int *lag = ESPI_ARENA_ZNEW(arena, int, (size_t)r->order->n + 1);
    for (int k = 0; lag && k < r->order->n; k++) {
        const struct espi_op *op = &r->order->op[k];
        lag[r->first[op->leg] + op->slice] = op->lag;
    }
    return lag;
}

/* For how many rounds an arrival may be asked for: as long as the one who sends it on
 * lags behind the one who brings it, of all the rounds that are under way few. 0: out of
 * memory. O(sends). */
static int rounds_kept(const struct espi_replay *r, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    const struct espi_leg *legs = r->legs->leg;
    int *lag = lags_of_slices(r, arena), most = 0;
    if (!lag)
        return 0;
    for (int k = 0; k < r->order->n; k++) {
        const struct espi_op *op = &r->order->op[k];
        for (int s = legs[op->leg].source; s >= 0; s = legs[s].also) {
            int behind = op->lag - lag[r->first[s] + op->slice];
            most = behind > most ? behind : most;
        }
    }
    espi_arena_release(arena, mark);
    return most + 1;
}

/* Send k of the order, of the slice of a round; returns when it has arrived. */
static double play_send(struct player *p, int k, int64_t round)
{
    const struct send *send = &p->send[k];
    const struct espi_leg *legs = p->r->legs->leg;
    const struct espi_arc_uses *u = p->r->uses;
    int first = u->start[send->arc], end = u->start[send->arc + 1];
    double *arrivals = p->arrival_s + (round % p->depth) * p->r->order->n, start_s = 0;
    if (send->before >= 0)
        start_s = espi_max(start_s, arrivals[send->before]);
    for (int s = send->also; s >= 0; s = legs[s].also)
        start_s = espi_max(start_s, arrivals[p->r->first[s] + p->r->order->op[k].slice]);
    for (int i = first; i < end; i++)
        start_s = espi_max(start_s, p->free_s[u->resource[i]]);
    for (int i = first; i < end; i++)
        p->free_s[u->resource[i]] = start_s + u->time_s[i];
    return arrivals[send->id] = start_s + u->lag_s[send->arc];
}

/* All that happens in round j; returns when the last of it has arrived. */
static double play_round(struct player *p, int64_t j)
{
    double last_s = 0;
    for (int k = 0; k < p->r->order->n; k++) {
        const struct espi_op *op = &p->r->order->op[k];
        int64_t round = espi_replay_round(p->r, op, j);
        if (round >= 0)
            last_s = espi_max(last_s, play_send(p, k, round));
    }
    return last_s;
}

/* The pace of a round is that of the slowest resource: where nothing holds up who is
 * ahead, what is last to arrive may for long not come by it. */
static int play_in_order(const struct espi_replay *r, const struct span *span,
                         double *done_s, double *pace_s, struct espi_arena *arena)
{
    int n = r->uses->n_resources;
    struct player p = {.r = r, .depth = rounds_kept(r, arena)};
    if (p.depth == 0)
        return -1;
    p.free_s = ESPI_ARENA_ZNEW(arena, double, n);
    p.arrival_s = ESPI_ARENA_NEW(arena, double, (size_t)p.depth *(size_t)r->order->n);
    p.send = ESPI_ARENA_NEW(arena, struct send, r->order->n);
    double *then_s = ESPI_ARENA_ZNEW(arena, double, n);
    if (!p.free_s || !p.arrival_s || !p.send || !then_s)
        return -1;
    make_sends(&p);
    for (int64_t j = 0; j <= r->message.rounds + span->max_lag; j++) {
        done_s[j] = play_round(&p, j);
        if (j == span->from)
            memcpy(then_s, p.free_s, (size_t)n * sizeof *then_s);
        for (int i = 0; j == span->to && i < n; i++)
            *pace_s = fmax(*pace_s, (p.free_s[i] - then_s[i]) / (span->to - span->from));
    }
    return 0;
}

/* How many rounds are played before the pace is taken, and for how many it is. Short
 * rounds take long, counted in rounds, until what holds them up has made itself felt
 * everywhere; but then they cost little. */
static int rounds_measured(const struct espi_replay *r)
{
    int64_t n = r->sends / r->order->n, most = r->message.rounds / 2;
    most = most > ESPI_PACE_ROUNDS_MOST ? most : ESPI_PACE_ROUNDS_MOST;
    return (int)(n < ESPI_PACE_ROUNDS_LEAST ? ESPI_PACE_ROUNDS_LEAST
                 : n > most                 ? most
                                            : n);
}

int espi_replay(const struct espi_replay *whole, int fair, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_replay r = *whole;
    struct espi_order *o = r.order;
    struct span span = {.max_lag = espi_order_max_lag(o)};
    int measured = rounds_measured(whole);
    span.from = span.max_lag + measured - 1;
    span.to = span.from + measured;
    if (r.message.rounds > span.to + 2) /* else all are played */
        r.message.rounds = span.to + 1;
    int64_t last = r.message.rounds + span.max_lag;
    double *done_s = ESPI_ARENA_ZNEW(arena, double, (size_t)last + 1), pace_s = 0;
    if (!done_s || (fair ? espi_replay_fair(&r, last, done_s, arena)
                         : play_in_order(&r, &span, done_s, &pace_s, arena)))
        return -1;
    for (int64_t j = 1; j <= last; j++)
        done_s[j] = fmax(done_s[j], done_s[j - 1]);
    if (r.message.rounds > span.to)
        o->pace_s =
            fair ? (done_s[span.to] - done_s[span.from]) / (double)measured : pace_s;
    o->finish_s =
        done_s[last] + (double)(whole->message.rounds - r.message.rounds) * o->pace_s;
    espi_arena_release(arena, mark);
    return 0;
}

/* When a message of so many rounds is through; -1 when out of memory. */
static double finish_s(const struct espi_replay *whole, int64_t rounds, int max_lag,
                       struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_replay r = *whole;
    int64_t last = rounds + max_lag;
    double *done_s = ESPI_ARENA_ZNEW(arena, double, (size_t)last + 1), most_s = 0;
    r.message.rounds = rounds;
    if (!done_s || espi_replay_fair(&r, last, done_s, arena))
        return -1;
    for (int64_t j = 0; j <= last; j++)
        most_s = fmax(most_s, done_s[j]);
    espi_arena_release(arena, mark);
    return most_s;
}

int espi_replay_settle(const struct espi_replay *r, struct espi_arena *arena)
{
    struct espi_order *o = r->order;
    int max_lag = espi_order_max_lag(o);
    int64_t rounds = r->sends / o->n;
    rounds = rounds > max_lag + 3 ? rounds : max_lag + 3;
    double before_s = finish_s(r, rounds, max_lag, arena), pace_s = 0, old_s;
    if (before_s < 0)
        return -1;
    do {
        double now_s = finish_s(r, 2 * rounds, max_lag, arena);
        if (now_s < 0)
            return -1;
        old_s = pace_s;
        pace_s = (now_s - before_s) / (double)rounds;
        before_s = now_s;
        rounds *= 2;
    } while (fabs(pace_s - old_s) > ESPI_PACE_SETTLED * pace_s &&
             rounds < r->message.rounds);
    o->pace_s = pace_s;
    return 0;
}
