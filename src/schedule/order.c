/* Orders of whole slices for the rounds of a schedule. Candidates are woven and timed:
 * some as if all data were there, whose slices are then given to the first send of their
 * next leg that comes after their arrival, perhaps rounds later; some as the data come,
 * in the same round. The former keep a better pace, the latter are earlier under way. */
#include "schedule/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"
#include "schedule/replay.h"
#include "schedule/round.h"
#include "schedule/tuning.h"
#include "schedule/weave.h"

static const struct espi_weave_rule rules[] = {ESPI_ORDER_RULES};

enum {
    N_RULES = sizeof rules / sizeof *rules,
    FIRST_FLOW = 5, /* code: a place in the list */
    EDGES = N_RULES
};

struct orderer {
    const struct espi_legs *legs;
    const struct espi_order_options *o;
    struct espi_batch batch;
    double load_s;      /* of the busiest resource in a round: none is faster */
    int *first;         /* leg -> its first send */
    struct espi_op *op; /* sends by leg, then by time */
    int *place;         /* send -> its place in the order */
    int *shift;         /* leg -> sends of it that pass before its tree's first slice */
    int *given;         /* leg -> sends given to it so far */
    int *rest;          /* tree -> its slices in the last round, which may be short */
};

static int orderer_alloc(struct orderer *o, struct espi_arena *a)
{
    int n = o->legs->n;
    o->batch.count = ESPI_ARENA_NEW(a, int, n);
    o->batch.arc_count = ESPI_ARENA_ZNEW(a, int, o->legs->n_arcs);
    o->first = ESPI_ARENA_NEW(a, int, (size_t)n + 1);
    o->shift = ESPI_ARENA_NEW(a, int, n);
    o->given = ESPI_ARENA_NEW(a, int, n);
    o->rest = ESPI_ARENA_NEW(a, int, o->legs->plan->n_trees);
    return o->batch.count && o->batch.arc_count && o->first && o->shift && o->given &&
                   o->rest
               ? 0
               : -1;
}

/* Which arcs use each resource. */
static int find_users(struct orderer *o, struct espi_arena *a)
{
    const struct espi_arc_uses *u = o->batch.uses;
    int n_arcs = o->legs->n_arcs, n = u->start[n_arcs];
    int *arc = ESPI_ARENA_NEW(a, int, n);
    if (!arc || espi_rows_build(&o->batch.users, u->n_resources, n, u->resource, a))
        return -1;
    for (int i = 0; i < n_arcs; i++)
        for (int k = u->start[i]; k < u->start[i + 1]; k++)
            arc[k] = i;
    for (int k = 0; k < n; k++)
        o->batch.users.item[k] = arc[o->batch.users.item[k]];
    return 0;
}

static int orderer_init(struct orderer *o, struct espi_arena *a)
{
    struct espi_batch *b = &o->batch;
    const struct espi_arc_uses *u = b->uses;
    int n = o->legs->n, *arc = ESPI_ARENA_NEW(a, int, n);
    double *load_s = ESPI_ARENA_ZNEW(a, double, u->n_resources);
    if (!arc || !load_s || orderer_alloc(o, a))
        return -1;
    o->first[0] = 0;
    for (int i = 0; i < n; i++) {
        arc[i] = o->legs->leg[i].arc;
        b->count[i] = o->o->round->count[o->legs->leg[i].tree];
        b->arc_count[arc[i]] += b->count[i];
        o->first[i + 1] = o->first[i] + b->count[i];
        for (int k = u->start[arc[i]]; k < u->start[arc[i] + 1]; k++) {
            load_s[u->resource[k]] += b->count[i] * u->time_s[k];
            o->load_s = fmax(o->load_s, load_s[u->resource[k]]);
        }
    }
    b->n = o->first[n];
    o->op = ESPI_ARENA_NEW(a, struct espi_op, b->n);
    o->place = ESPI_ARENA_NEW(a, int, b->n);
    return !o->op || !o->place ||
                   espi_rows_build(&b->on_arc, o->legs->n_arcs, n, arc, a) ||
                   find_users(o, a)
               ? -1
               : 0;
}

/* The sends of the weave as those of their legs. */
static void give_sends(struct orderer *o, const struct espi_weave *w,
                       struct espi_order *out)
{
    memset(o->given, 0, (size_t)o->legs->n * sizeof *o->given);
    for (int i = 0; i < w->n; i++) {
        int leg = w->leg[i], k = o->given[leg]++;
        struct espi_op op = {.leg = leg, .slice = k, .start_s = w->start_s[i]};
        op.end_s = op.start_s + o->batch.uses->lag_s[o->legs->leg[leg].arc];
        o->op[o->first[leg] + k] = out->op[i] = op;
        o->place[o->first[leg] + k] = i;
    }
}

/* Does send `later` of leg b come after send `earlier` of leg a has ended, in time and in
 * the order? Sends are counted from round 0 on. */
static int follows(const struct orderer *o, int b, int64_t later, int a, int64_t earlier,
                   double pace_s)
{
    int count = o->batch.count[b];
    int x = o->first[b] + (int)(later % count), y = o->first[a] + (int)(earlier % count);
    int64_t rounds = later / count - earlier / count;
    if (rounds * o->batch.n + o->place[x] <= o->place[y])
        return 0;
    return (double)rounds * pace_s + o->op[x].start_s >= o->op[y].end_s - 1e-9 * pace_s;
}

/* The fewest sends to let pass so that every slice is there when its turn comes. -1: too
 * many: where latencies are millions of times the load, no program has room for all that
 * would be under way. */
static int find_shift(struct orderer *o, int leg, double pace_s)
{
    int count = o->batch.count[leg];
    int64_t shift = 0, most = count * espi_most_lag(o->batch.n, o->legs->max_depth);
    for (int s = o->legs->leg[leg].source; s >= 0; s = o->legs->leg[s].also) {
        int64_t before = o->shift[s];
        if (before > shift)
            shift = before;
        for (int i = 0; i < count; i++)
            while (shift <= most && !follows(o, leg, i + shift, s, i + before, pace_s))
                shift++;
    }
    o->shift[leg] = (int)shift;
    return shift <= most ? 0 : -1;
}

/* Which slice of which round each send carries; -1 where rounds would lag too far. */
static int assign_slices(struct orderer *o, struct espi_order *out)
{
    for (int leg = 0; leg < o->legs->n; leg++)
        if (o->batch.count[leg] > 0 && find_shift(o, leg, out->pace_s))
            return -1;
    for (int k = 0; k < out->n; k++) {
        struct espi_op *op = &out->op[k];
        int count = o->batch.count[op->leg], back = o->shift[op->leg];
        int slice = (op->slice - back % count + count) % count;
        op->lag = (slice + back - op->slice) / count;
        op->slice = slice;
    }
    return 0;
}

/* Slice by slice along the edges, as one tree on half-duplex ports is best served: at
 * every node the edge into it and then those out of it, over and over, fill a circle no
 * longer than the node's load, and in a tree all these circles fit together. */
static void weave_edges(const struct orderer *o, struct espi_weave *w)
{
    w->n = 0;
    for (int leg = 0; leg < o->legs->n; leg++)
        for (int i = 0; i < o->batch.count[leg]; i++) {
            w->leg[w->n] = leg;
            w->start_s[w->n++] = 0;
        }
}

/* Some rounds one after the other, each going on where the one before leaves off; the
 * last of them is the one to repeat. */
static int weave_rounds(const struct orderer *o, const struct espi_weave_rule *rule,
                        struct espi_weave *w, struct espi_arena *a)
{
    int rounds = rule->ahead < 1e9 ? 3 : 1; /* all at once: as if there were but one */
    double *free_s = ESPI_ARENA_ZNEW(a, double, o->batch.uses->n_resources);
    if (!free_s)
        return -1;
    for (int i = 0; i < rounds; i++)
        if (espi_weave(w, &o->batch, rule, i * o->load_s, free_s, a))
            return -1;
    return 0;
}

/* The message in rounds. */
static struct espi_message count_rounds(const struct orderer *o)
{
    const struct espi_round *round = o->o->round;
    struct espi_message m = {o->o->n_slices / round->slots, o->rest};
    int left = (int)(o->o->n_slices % round->slots);
    if (o->o->whole && left > 0) {
        m.rounds++;
        left = 0;
    }
    espi_round_lay(round, o->legs->plan->n_trees, left, NULL, o->rest);
    return m;
}

/* One candidate, complete. 1: there is none by this rule; -1: no memory. */
static int try_rule(struct orderer *o, int rule, const struct espi_message *m,
                    struct espi_order *out, struct espi_arena *a)
{
    int n = o->batch.n, in_order = rule >= FIRST_FLOW;
    struct espi_weave w = {.leg = ESPI_ARENA_NEW(a, int, n)};
    w.start_s = ESPI_ARENA_NEW(a, double, n);
    *out = (struct espi_order){.n = n, .op = ESPI_ARENA_NEW(a, struct espi_op, n)};
    if (!w.leg || !w.start_s || !out->op)
        return -1;
    if (rule == EDGES)
        weave_edges(o, &w);
    else if (weave_rounds(o, &rules[rule], &w, a))
        return -1;
    out->pace_s = in_order ? 0 : espi_weave_settle(&w, &o->batch, a);
    if (out->pace_s < 0)
        return -1;
    give_sends(o, &w, out);
    if (!in_order && assign_slices(o, out))
        return 1;
    out->rule = rule == EDGES ? -1 : rule; /* that is for one slice */
    struct espi_replay replay = {out,         o->legs, o->batch.uses,        o->first,
                                 o->o->model, *m,      ESPI_PACE_SENDS_TRIED};
    return espi_replay(&replay, o->o->fair, a);
}

/* One tree: as the plan says, if that is good; one slice: in any case. Slices that are
 * sent on in their round keep no good pace: for short messages. */
static int first_rule(const struct espi_order_options *o, int64_t rounds)
{
    return o->rule >= 0            ? o->rule
           : o->round->slots == 1  ? EDGES
           : o->all || rounds <= 4 ? N_RULES - 1
                                   : FIRST_FLOW - 1;
}

/* Whole rounds: more slices, and these smaller. */
static void scale_to_size(const struct espi_order_options *o,
                          const struct espi_message *m, struct espi_order *out)
{
    if (o->whole)
        out->finish_s *= (double)o->n_slices / (double)(m->rounds * o->round->slots);
}

/* Sends handled to make an order and to time it: each is woven and settled a few times,
 * and played as long as a slice is under way. */
static int64_t work_of(const struct espi_order *order)
{
    return order->n * (int64_t)(ESPI_ORDER_PASSES + espi_order_max_lag(order));
}

/* Is the best so far, after this rule, as good as can be hoped for? */
static int is_enough(const struct orderer *o, int rule, const struct espi_order *best)
{
    if (best->n == 0)
        return 0;
    if (rule == EDGES)
        return o->o->n_slices == 1 ||
               (best->pace_s > 0 && best->pace_s <= o->load_s * (1 + ESPI_PACE_GOOD));
    return best->finish_s <= o->o->enough_s;
}

int espi_order_init(struct espi_order *out, const struct espi_legs *legs,
                    const struct espi_arc_uses *uses,
                    const struct espi_order_options *options, struct espi_arena *arena)
{
    struct orderer o = {
        .legs = legs, .batch = {.legs = legs, .uses = uses}, .o = options};
    struct espi_order best = {0};
    if (orderer_init(&o, arena))
        return -1;
    int64_t work = 0;
    struct espi_message m = count_rounds(&o);
    int first = first_rule(options, m.rounds), last = options->rule >= 0 ? first : 0;
    for (int rule = first; rule >= last; rule--) {
        struct espi_order order;
        struct espi_arena_mark mark = espi_arena_mark(arena);
        int got = try_rule(&o, rule, &m, &order, arena);
        if (got < 0)
            return -1;
        work += got ? 0 : work_of(&order);
        if (!got && (best.n == 0 || order.finish_s < best.finish_s))
            best = order;
        else
            espi_arena_release(arena, mark);
        if (is_enough(&o, rule, &best) ||
            (best.n > 0 && options->max_work > 0 && work >= options->max_work))
            break;
    }
    /* what is sent on in its round never lags */
    if (best.n == 0 && try_rule(&o, N_RULES - 1, &m, &best, arena))
        return -1;
    scale_to_size(options, &m, &best);
    best.work = work;
    *out = best;
    return 0;
}

/* An order of the round, to be played once more. */
static int replay_init(struct espi_replay *r, struct espi_order *out,
                       const struct espi_legs *legs, const struct espi_arc_uses *uses,
                       const struct espi_order_options *options, struct espi_arena *arena)
{
    struct orderer o = {
        .legs = legs, .batch = {.legs = legs, .uses = uses}, .o = options};
    if (orderer_init(&o, arena))
        return -1;
    *r = (struct espi_replay){out,
                              legs,
                              uses,
                              o.first,
                              options->model,
                              count_rounds(&o),
                              ESPI_PACE_SENDS_TRIED};
    return 0;
}

int espi_order_play(struct espi_order *out, const struct espi_legs *legs,
                    const struct espi_arc_uses *uses,
                    const struct espi_order_options *options, int64_t sends,
                    struct espi_arena *arena)
{
    struct espi_replay r;
    if (replay_init(&r, out, legs, uses, options, arena))
        return -1;
    r.sends = sends;
    return espi_replay(&r, options->fair, arena);
}

int espi_order_settle(struct espi_order *out, const struct espi_legs *legs,
                      const struct espi_arc_uses *uses,
                      const struct espi_order_options *options, struct espi_arena *arena)
{
    struct espi_replay r;
    if (replay_init(&r, out, legs, uses, options, arena))
        return -1;
    if (options->fair) {
        r.message.rounds = ESPI_PACE_SENDS_CHOSEN / out->n;
        return espi_replay_settle(&r, arena);
    }
    /* The pace is that of a message without end, however short the one that the order was
     * made for. */
    int64_t rounds = 2 * (ESPI_PACE_SENDS_CHOSEN / out->n) + espi_order_max_lag(out) + 8;
    r.message.rounds = r.message.rounds > rounds ? r.message.rounds : rounds;
    r.sends = ESPI_PACE_SENDS_CHOSEN;
    return espi_replay(&r, 0, arena);
}
