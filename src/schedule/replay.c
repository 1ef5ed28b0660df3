/* Plays the rounds of an order through: the same recursion as the simulator runs, without
 * events, for choosing between orders and for telling when a message is through. */
#include "schedule/replay.h"

#include <math.h>

struct player {
    const struct espi_order *o;
    const struct espi_legs *legs;
    const struct espi_arc_uses *u;
    const int *first;
    int64_t full; /* rounds that are whole */
    const int *rest;
    double *free_s; /* by resource */
    /* arrivals of the slices of the last `depth` rounds: (round % depth) * sends + slice
     * of the leg */
    double *arrival_s;
    int depth;
};

/* A send of the slice of a round; returns when it has arrived. */
static double play(struct player *p, const struct espi_op *op, int64_t round)
{
    const struct espi_leg *leg = &p->legs->leg[op->leg];
    const struct espi_arc_uses *u = p->u;
    double *arrivals = p->arrival_s + (round % p->depth) * p->o->n, start_s = 0;
    for (int s = leg->source; s >= 0; s = p->legs->leg[s].also)
        start_s = fmax(start_s, arrivals[p->first[s] + op->slice]);
    for (int k = u->start[leg->arc]; k < u->start[leg->arc + 1]; k++)
        start_s = fmax(start_s, p->free_s[u->resource[k]]);
    for (int k = u->start[leg->arc]; k < u->start[leg->arc + 1]; k++)
        p->free_s[u->resource[k]] = start_s + u->time_s[k];
    return arrivals[p->first[op->leg] + op->slice] = start_s + u->lag_s[leg->arc];
}

/* All that happens in round j; returns when the last of it has arrived. */
static double play_round(struct player *p, int64_t j)
{
    double last_s = 0;
    for (int k = 0; k < p->o->n; k++) {
        const struct espi_op *op = &p->o->op[k];
        int64_t round = j - op->lag;
        if (round < 0 || round > p->full ||
            (round == p->full && op->slice >= p->rest[p->legs->leg[op->leg].tree]))
            continue;
        last_s = fmax(last_s, play(p, op, round));
    }
    return last_s;
}

/* Short rounds take long, counted in rounds, until what holds them up has made itself
 * felt everywhere; but then they cost little. */
static int rounds_to_play(int sends)
{
    enum { SENDS = 1 << 12 };
    int n = SENDS / sends;
    return n < 3 ? 3 : n > 256 ? 256 : n;
}

int espi_order_replay(struct espi_order *o, const struct espi_legs *legs,
                      const struct espi_arc_uses *uses, const int *first,
                      const struct espi_message *m, struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct player p = {.o = o, .legs = legs, .u = uses, .first = first, .rest = m->rest};
    int max_lag = 0;
    for (int k = 0; k < o->n; k++)
        max_lag = o->op[k].lag > max_lag ? o->op[k].lag : max_lag;
    int measured = rounds_to_play(o->n), warm_up = measured,
        most = max_lag + 2 * measured;
    p.full = m->rounds < most ? m->rounds : most;
    p.depth = max_lag + 1;
    p.free_s = ESPI_ARENA_ZNEW(arena, double, uses->n_resources);
    p.arrival_s = ESPI_ARENA_NEW(arena, double, (size_t)p.depth *(size_t)o->n);
    if (!p.free_s || !p.arrival_s)
        return -1;
    double begun_s = 0;
    o->finish_s = 0;
    for (int64_t j = 0; j <= p.full + max_lag; j++) {
        o->finish_s = fmax(o->finish_s, play_round(&p, j));
        if (j == max_lag + warm_up - 1)
            begun_s = o->finish_s;
        if (j == most - 1 && p.full == most)
            o->pace_s = (o->finish_s - begun_s) / measured;
    }
    o->finish_s += (double)(m->rounds - p.full) * o->pace_s;
    espi_arena_release(arena, mark);
    return 0;
}
