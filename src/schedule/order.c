/* Orders of whole slices for the rounds of a schedule: candidates are woven and timed,
 * their sends given to the trees, and each slice to the first send of its next leg that
 * comes after its arrival. */
#include "schedule/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"
#include "schedule/weave.h"

/* An order this close to the load of the busiest resource is not worth a longer round. */
static const double GOOD = 1e-3;

struct orderer {
    const struct espi_legs *legs;
    const struct espi_arc_uses *uses;
    const struct espi_order_options *o;
    struct espi_rows on_arc; /* arc -> its legs */
    int *arc_count;
    int repeat;
    double load_s;      /* of the busiest resource in a period: no round is faster */
    int *first;         /* leg -> its first send */
    struct espi_op *op; /* sends by leg, then by time */
    int *place;         /* send -> its place in the order */
    int *shift;         /* leg -> sends of it that pass before its tree's first slice */
    int *given;         /* leg -> sends given to it so far */
};

static int count_of(const struct orderer *o, int leg)
{
    return o->o->tree_slices[o->legs->leg[leg].tree] * o->repeat;
}

static int orderer_init(struct orderer *o, struct espi_arena *a)
{
    int n = o->legs->n, *arc = ESPI_ARENA_NEW(a, int, n);
    if (!arc)
        return -1;
    for (int i = 0; i < n; i++)
        arc[i] = o->legs->leg[i].arc;
    o->arc_count = ESPI_ARENA_NEW(a, int, o->legs->n_arcs);
    double *load_s = ESPI_ARENA_ZNEW(a, double, o->uses->n_resources);
    if (!o->arc_count || !load_s ||
        espi_rows_build(&o->on_arc, o->legs->n_arcs, n, arc, a))
        return -1;
    for (int i = 0; i < n; i++)
        for (int k = o->uses->start[arc[i]]; k < o->uses->start[arc[i] + 1]; k++) {
            double *sum_s = &load_s[o->uses->resource[k]];
            *sum_s += o->o->tree_slices[o->legs->leg[i].tree] * o->uses->time_s[k];
            o->load_s = fmax(o->load_s, *sum_s);
        }
    return 0;
}

/* Memory for rounds of `repeat` periods. */
static int set_repeat(struct orderer *o, int repeat, struct espi_arena *a)
{
    int n = o->legs->n;
    o->repeat = repeat;
    o->first = ESPI_ARENA_NEW(a, int, (size_t)n + 1);
    o->shift = ESPI_ARENA_ZNEW(a, int, n);
    o->given = ESPI_ARENA_ZNEW(a, int, n);
    if (!o->first || !o->shift || !o->given)
        return -1;
    memset(o->arc_count, 0, (size_t)o->legs->n_arcs * sizeof *o->arc_count);
    o->first[0] = 0;
    for (int i = 0; i < n; i++) {
        o->first[i + 1] = o->first[i] + count_of(o, i);
        o->arc_count[o->legs->leg[i].arc] += count_of(o, i);
    }
    o->op = ESPI_ARENA_NEW(a, struct espi_op, o->first[n]);
    o->place = ESPI_ARENA_NEW(a, int, o->first[n]);
    return o->op && o->place ? 0 : -1;
}

/* The leg of the arc that is most behind its share of the arc's sends. */
static int leg_in_turn(const struct orderer *o, int arc, int sent)
{
    int best = -1;
    double most = 0;
    for (int k = o->on_arc.start[arc]; k < o->on_arc.start[arc + 1]; k++) {
        int leg = o->on_arc.item[k], count = count_of(o, leg);
        double behind = (double)count * (sent + 1) / o->arc_count[arc] - o->given[leg];
        if (o->given[leg] < count && (best < 0 || behind > most + 1e-12)) {
            best = leg;
            most = behind;
        }
    }
    return best;
}

/* Gives the sends of the arcs to their legs. */
static int give_sends(struct orderer *o, const struct espi_weave *w,
                      struct espi_order *out, struct espi_arena *a)
{
    int *sent = ESPI_ARENA_ZNEW(a, int, o->legs->n_arcs);
    if (!sent)
        return -1;
    for (int i = 0; i < w->n; i++) {
        int arc = w->arc[i], leg = leg_in_turn(o, arc, sent[arc]++);
        int k = o->given[leg]++;
        struct espi_op op = {.leg = leg, .slice = k};
        op.start_s = w->start_s[i];
        op.end_s = op.start_s + o->uses->slice_s[arc];
        o->op[o->first[leg] + k] = out->op[i] = op;
        o->place[o->first[leg] + k] = i;
    }
    return 0;
}

/* Does send `later` of leg b come after send `earlier` of leg a has ended, in time and in
 * the order? Sends are counted from round 0 on. */
static int follows(const struct orderer *o, int b, int64_t later, int a, int64_t earlier,
                   double pace_s)
{
    int count = count_of(o, b);
    int x = o->first[b] + (int)(later % count), y = o->first[a] + (int)(earlier % count);
    int64_t rounds = later / count - earlier / count;
    if (rounds * o->first[o->legs->n] + o->place[x] <= o->place[y])
        return 0;
    return (double)rounds * pace_s + o->op[x].start_s >= o->op[y].end_s - 1e-9 * pace_s;
}

/* The fewest sends to let pass so that every slice is there when its turn comes. */
static void find_shift(struct orderer *o, int leg, double pace_s)
{
    int count = count_of(o, leg);
    int64_t shift = 0;
    for (int s = o->legs->leg[leg].source; s >= 0; s = o->legs->leg[s].also) {
        int64_t before = o->shift[s];
        if (before > shift)
            shift = before;
        for (int i = 0; i < count; i++)
            while (!follows(o, leg, i + shift, s, i + before, pace_s))
                shift++;
    }
    o->shift[leg] = (int)shift;
}

/* Which slice of which round each send carries. */
static void assign_slices(struct orderer *o, struct espi_order *out)
{
    for (int leg = 0; leg < o->legs->n; leg++)
        if (count_of(o, leg) > 0)
            find_shift(o, leg, out->pace_s);
    out->span_s = 0;
    for (int k = 0; k < out->n; k++) {
        struct espi_op *op = &out->op[k];
        int count = count_of(o, op->leg), back = o->shift[op->leg];
        int slice = (op->slice - back % count + count) % count;
        op->lag = (slice + back - op->slice) / count;
        op->slice = slice;
        out->span_s = fmax(out->span_s, op->lag * out->pace_s + op->end_s);
    }
}

/* Slice by slice along the edges, as one tree on half-duplex ports is best served: at
 * every node the edge into it and then those out of it, over and over, fill a circle no
 * longer than the node's load, and in a tree all these circles fit together. */
static void weave_edges(const struct orderer *o, struct espi_weave *w, double *free_s,
                        double *end_s)
{
    const struct espi_arc_uses *u = o->uses;
    w->n = 0;
    memset(free_s, 0, (size_t)u->n_resources * sizeof *free_s);
    for (int leg = 0; leg < o->legs->n; leg++) {
        int arc = o->legs->leg[leg].arc;
        double start_s = 0;
        if (count_of(o, leg) == 0)
            continue;
        for (int s = o->legs->leg[leg].source; s >= 0; s = o->legs->leg[s].also)
            start_s = fmax(start_s, end_s[s]);
        for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
            start_s = fmax(start_s, free_s[u->resource[k]]);
        for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
            free_s[u->resource[k]] = start_s + u->time_s[k];
        end_s[leg] = start_s + u->slice_s[arc];
        w->arc[w->n] = arc;
        w->start_s[w->n++] = start_s;
    }
}

static int weave_tree(const struct orderer *o, struct espi_weave *w, struct espi_arena *a)
{
    double *free_s = ESPI_ARENA_NEW(a, double, o->uses->n_resources);
    double *end_s = ESPI_ARENA_NEW(a, double, o->legs->n);
    if (!free_s || !end_s)
        return -1;
    weave_edges(o, w, free_s, end_s);
    return 0;
}

double espi_order_finish_s(const struct espi_order *o,
                           const struct espi_order_options *options)
{
    double rounds = (double)options->n_slices / options->slices / o->repeat;
    return fmax(0, rounds - 1) * o->pace_s + o->span_s;
}

enum { EDGES, BUSIEST, EVEN, N_RULES };

/* One candidate, complete. */
static int try_rule(struct orderer *o, int rule, int repeat, struct espi_order *out,
                    struct espi_arena *a)
{
    struct espi_weave w;
    if (set_repeat(o, repeat, a))
        return -1;
    int n = o->first[o->legs->n];
    w.arc = ESPI_ARENA_NEW(a, int, n);
    w.start_s = ESPI_ARENA_NEW(a, double, n);
    *out = (struct espi_order){.n = n, .repeat = repeat};
    out->op = ESPI_ARENA_NEW(a, struct espi_op, n);
    if (!w.arc || !w.start_s || !out->op)
        return -1;
    if (rule == EDGES
            ? weave_tree(o, &w, a)
            : espi_weave(&w, o->uses, o->legs->n_arcs, o->arc_count,
                         rule == EVEN ? ESPI_WEAVE_EVEN : ESPI_WEAVE_BUSIEST, a))
        return -1;
    out->pace_s = espi_weave_pace_s(&w, o->uses, a);
    if (out->pace_s < 0 ||
        (rule != EDGES && espi_weave_settle(&w, o->uses, out->pace_s, a)) ||
        give_sends(o, &w, out, a))
        return -1;
    assign_slices(o, out);
    return 0;
}

/* Does some node, in the order of the edges, get a slice again after it has sent it on?
 * Then a round would have to wait for itself. */
static int goes_back(const struct orderer *o)
{
    const struct esp_plan *plan = o->legs->plan;
    int edges = 0;
    for (int t = 0; t < plan->n_trees; t++)
        edges += plan->trees[t].n_edges;
    return plan->op == ESP_OP_ALLREDUCE || o->legs->n > edges;
}

/* Tries the rules on rounds of so many periods and keeps the better of what it finds and
 * of what there is; *good tells whether some candidate is as good as can be hoped for. */
static int try_repeat(struct orderer *o, int repeat, struct espi_order *best, int *good,
                      struct espi_arena *arena)
{
    const struct espi_order_options *opt = o->o;
    for (int rule = 0; rule < N_RULES && !*good; rule++) {
        struct espi_order order;
        if (rule == EDGES &&
            (repeat > 1 || opt->slices > 1 || (goes_back(o) && opt->n_slices > 1)))
            continue;
        if (rule != EDGES && opt->n_slices == 1) /* nothing repeats: as the plan says */
            continue;
        struct espi_arena_mark mark = espi_arena_mark(arena);
        if (try_rule(o, rule, repeat, &order, arena))
            return -1;
        if (order.pace_s <= repeat * o->load_s * (1 + GOOD))
            *good = 1;
        if (best->n == 0 ||
            espi_order_finish_s(&order, opt) < espi_order_finish_s(best, opt))
            *best = order;
        else
            espi_arena_release(arena, mark);
    }
    return 0;
}

int espi_order_init(struct espi_order *out, const struct espi_legs *legs,
                    const struct espi_arc_uses *uses,
                    const struct espi_order_options *options, struct espi_arena *arena)
{
    enum { MAX_SENDS = 1 << 21 };
    struct orderer o = {.legs = legs, .uses = uses, .o = options};
    struct espi_order best = {0};
    int good = 0;
    if (orderer_init(&o, arena))
        return -1;
    for (int repeat = 1; !good; repeat *= 2) {
        int64_t slots = (int64_t)repeat * options->slices;
        int64_t sends = slots * (legs->n / legs->plan->n_trees + 1);
        if (repeat > 1 && (slots > options->n_slices || slots > options->max_slots ||
                           sends > MAX_SENDS || repeat > 64))
            break;
        if (try_repeat(&o, repeat, &best, &good, arena))
            return -1;
    }
    *out = best;
    return 0;
}
