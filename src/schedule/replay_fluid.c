/* In the capacity model nothing but the network limits what hosts do at once, and what
 * meets on a link or a cable shares it, max-min fairly, as TCP connections do. Every
 * connection has one slice under way, of those that are there the first of the schedule;
 * and what a host has from the start leaves along no tree more than ESPI_SLICES_AHEAD
 * slices a tree before another. That is what programs do (program/connections.h), and the
 * time found is that of the simulator (tests/unit/test_finishes.c), which has its own way
 * to it.
 *
 * Complexity: a transfer O(log connections), and what it takes to change the rates that
 * it changes (graph/fair_rates.h). Where a connection goes on with its next slice at once
 * nothing changes. */
#include "schedule/replay_fluid.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/events.h"
#include "base/heap.h"
#include "base/portable_math.h"
#include "graph/csr.h"
#include "graph/fair_rates.h"
#include "graph/parallel_arcs.h"

struct leg_state {
    int64_t n;       /* slices that it carries in all */
    int64_t sent;    /* started */
    int64_t arrived; /* there */
    int64_t round;   /* of the next one: which it is, and its place in that */
    int at;
    int count;    /* of a round */
    int first_op; /* its sends in the order: places[first_op + slice] */
    int connection;
};

struct connection {
    int from;
    int first, last; /* legs: of_host.id[first .. last) */
    int leg;         /* under way; -1: none */
    double left;     /* part of a slice, at since_s */
    double since_s, rate;
};

struct place {
    int at, slot;
};

struct fluid {
    const struct espi_arrangement *a;
    const double *latency_s; /* by arc */
    const struct espi_legs *legs;
    const struct espi_arc_uses *u;
    double now_s, last_s;
    struct leg_state *leg;
    struct place *places;
    int *tree_first;                   /* tree -> slots of a round of those before it */
    int *tree_lag;                     /* tree -> rounds by which all of it comes later */
    struct espi_parallel_arcs of_host; /* connections and their legs */
    struct connection *connection;
    unsigned char *is_first; /* node: has it something from the start? */
    int64_t *lead;           /* tree -> how far its first leg from the host is; scratch */
    struct espi_heap ends;   /* connections by the time at which the slice has left */
    struct espi_events under_way;
    struct espi_rows next; /* leg -> the legs that wait for it */
    /* Who may have something to send: connections, and nodes that have several trees to
     * begin, for what these begin depends on how far each is. */
    struct awake {
        int *who, n;
        unsigned char *is_on;
    } connections, nodes;
    struct espi_fair_rates rates; /* by arc */
    int *of_arc;                  /* arc -> connection */
    int *begun, n_begun;          /* connections whose slice has no rate yet */
    int is_near_end;              /* the next slice of some leg is its last */
    int out_of_memory;
};

/* Something of the state, and its copy. */
struct kept {
    void *live, *copy;
    size_t bytes;
};

enum { KEPT_MOST = 12 }; /* limit: of keep_state() */

struct espi_fluid_player {
    struct fluid f;
    struct espi_arena *arena;
    int *rest;           /* tree -> slices of the last round, which may be short */
    int is_kept_at_ends; /* no leg starts several slices in a moment */
    /* How all stood before a moment up to which the length of the message made no
     * difference. */
    struct kept kept[KEPT_MOST];
    int n_kept;
    struct espi_event *event;
    size_t n_events;
    double at_s, last_s; /* of the moment; 0: all is still to begin */
    int n_ends;
};

/* ---- which slice is next ---- */

static int has_data(const struct fluid *f, int leg)
{
    for (int q = f->legs->leg[leg].source; q >= 0; q = f->legs->leg[q].also)
        if (f->leg[q].arrived <= f->leg[leg].sent)
            return 0;
    return 1;
}

/* The round in which the leg's next slice has its turn. */
static int64_t turn_of(const struct fluid *f, int leg)
{
    const struct leg_state *s = &f->leg[leg];
    return s->round + f->tree_lag[f->legs->leg[leg].tree];
}

/* Which slot that is, of all rounds. */
static int64_t slot_of(const struct fluid *f, int leg)
{
    const struct leg_state *s = &f->leg[leg];
    return turn_of(f, leg) * f->a->round.slots + f->places[s->first_op + s->at].slot;
}

/* Is what it begins limited by what else it begins? */
static int is_limited(const struct fluid *f, int host)
{
    return f->legs->plan->n_trees > 1 && f->is_first[host];
}

/* How far each tree is of which the host has something from the start: only of these says
 * f->lead. */
static void find_leads(struct fluid *f, int first, int last)
{
    for (int i = first; i < last; i++)
        f->lead[f->legs->leg[f->of_host.id[i]].tree] = -1;
    for (int i = first; i < last; i++) {
        int leg = f->of_host.id[i];
        int64_t *lead = &f->lead[f->legs->leg[leg].tree];
        if (f->legs->leg[leg].source >= 0)
            continue;
        int64_t slot = f->leg[leg].sent < f->leg[leg].n ? slot_of(f, leg) : INT64_MAX;
        *lead = slot > *lead ? slot : *lead;
    }
}

/* How far the host may be with what it has from the start. */
static int64_t limit_of(struct fluid *f, int host)
{
    int64_t ahead = (int64_t)ESPI_SLICES_AHEAD * f->legs->plan->n_trees;
    int64_t least = INT64_MAX - ahead;
    int c = f->of_host.node_start[host], end = f->of_host.node_start[host + 1];
    if (c == end)
        return least + ahead;
    int first = f->connection[c].first, last = f->connection[end - 1].last;
    find_leads(f, first, last);
    for (int i = first; i < last; i++) {
        int64_t lead = f->lead[f->legs->leg[f->of_host.id[i]].tree];
        if (lead >= 0 && lead < least)
            least = lead;
    }
    return least + ahead;
}

/* The leg of the connection that goes next; -1: none. */
static int next_leg(const struct fluid *f, const struct connection *c, int64_t limit)
{
    int best = -1, best_place = 0;
    int64_t best_turn = 0;
    for (int i = c->first; i < c->last; i++) {
        int leg = f->of_host.id[i];
        const struct leg_state *x = &f->leg[leg];
        if (x->sent == x->n || !has_data(f, leg) ||
            (f->legs->leg[leg].source < 0 && slot_of(f, leg) > limit))
            continue;
        int64_t turn = turn_of(f, leg);
        int place = f->places[x->first_op + x->at].at;
        if (best < 0 || turn < best_turn || (turn == best_turn && place < best_place)) {
            best = leg;
            best_turn = turn;
            best_place = place;
        }
    }
    return best;
}

/* ---- rates ---- */

/* The rate of what is under way, in slices a second. */
static void set_rate(struct fluid *f, int c)
{
    struct connection *x = &f->connection[c];
    double rate = x->leg < 0 ? 0 : f->rates.rate[f->legs->leg[x->leg].arc];
    if (x->leg < 0 || (x->rate == rate && espi_heap_has(&f->ends, c)))
        return;
    x->left -= x->rate * (f->now_s - x->since_s);
    x->since_s = f->now_s;
    x->rate = rate;
    espi_heap_set(&f->ends, c, f->now_s + fmax(x->left, 0) / rate);
}

static void set_rates(struct fluid *f)
{
    espi_fair_rates_update(&f->rates);
    for (int i = 0; i < f->rates.n_updated; i++)
        set_rate(f, f->of_arc[f->rates.updated[i]]);
    for (int i = 0; i < f->n_begun; i++)
        set_rate(f, f->begun[i]);
    f->n_begun = 0;
}

/* ---- what happens ---- */

static void wake(struct awake *a, int who)
{
    if (!a->is_on[who])
        a->who[a->n++] = who;
    a->is_on[who] = 1;
}

static void wake_connection(struct fluid *f, int c)
{
    int from = f->connection[c].from;
    if (is_limited(f, from))
        wake(&f->nodes, from);
    else
        wake(&f->connections, c);
}

static void start_slice(struct fluid *f, int c, int leg)
{
    struct connection *x = &f->connection[c];
    int arc = f->legs->leg[leg].arc;
    struct leg_state *s = &f->leg[leg];
    s->sent++;
    f->is_near_end |= s->sent >= s->n - 1;
    if (++s->at == s->count) {
        s->at = 0;
        s->round++;
    }
    x->leg = leg;
    x->left = 1;
    x->rate = 0;
    x->since_s = f->now_s;
    if (f->u->slice_s[arc] > 0) {
        espi_fair_rates_set(&f->rates, arc, 1);
        f->begun[f->n_begun++] = c;
    } else { /* nothing limits it */
        x->rate = 1;
        espi_heap_set(&f->ends, c, f->now_s);
    }
}

static void start_connection(struct fluid *f, int c, int64_t limit)
{
    int leg = f->connection[c].leg < 0 ? next_leg(f, &f->connection[c], limit) : -1;
    if (leg >= 0)
        start_slice(f, c, leg);
}

static void start_host(struct fluid *f, int host)
{
    int64_t limit = limit_of(f, host);
    for (int c = f->of_host.node_start[host]; c < f->of_host.node_start[host + 1]; c++)
        start_connection(f, c, limit);
}

static void start_awake(struct fluid *f)
{
    for (int i = 0; i < f->nodes.n; i++) {
        f->nodes.is_on[f->nodes.who[i]] = 0;
        start_host(f, f->nodes.who[i]);
    }
    for (int i = 0; i < f->connections.n; i++) {
        f->connections.is_on[f->connections.who[i]] = 0;
        start_connection(f, f->connections.who[i], INT64_MAX);
    }
    f->nodes.n = f->connections.n = 0;
}

static void end_slice(struct fluid *f, int c)
{
    struct connection *x = &f->connection[c];
    int leg = x->leg;
    double at_s = f->now_s + f->latency_s[f->legs->leg[leg].arc];
    espi_heap_remove(&f->ends, c);
    x->leg = -1;
    espi_fair_rates_set(&f->rates, f->legs->leg[leg].arc, 0);
    wake_connection(f, c);
    if (espi_events_push(&f->under_way, (struct espi_event){at_s, 0, leg, leg}))
        f->out_of_memory = 1;
}

static void land_slice(struct fluid *f)
{
    struct espi_event e = espi_events_pop(&f->under_way);
    f->leg[e.id].arrived++;
    f->last_s = espi_max(f->last_s, e.at_s);
    int to = f->legs->leg[e.id].to;
    if (is_limited(f, to))
        wake(&f->nodes, to);
    else
        for (int i = f->next.start[e.id]; i < f->next.start[e.id + 1]; i++)
            wake_connection(f, f->leg[f->next.item[i]].connection);
}

/* Slices leave together that do so but for rounding. */
static int is_due(const struct fluid *f, int c)
{
    return (f->ends.key[c] - f->now_s) * f->connection[c].rate <= 1e-9;
}

static double next_s(const struct fluid *f)
{
    double at_s = f->under_way.size > 0 ? f->under_way.item[0].at_s : INFINITY;
    return f->ends.size > 0 ? fmin(at_s, f->ends.key[espi_heap_top(&f->ends)]) : at_s;
}

static int has_due(const struct fluid *f)
{
    return (f->ends.size > 0 && is_due(f, espi_heap_top(&f->ends))) ||
           (f->under_way.size > 0 && f->under_way.item[0].at_s <= f->now_s);
}

/* All that happens at this moment. */
static void pass_moment(struct fluid *f)
{
    while (has_due(f) || f->nodes.n > 0 || f->connections.n > 0) {
        while (f->ends.size > 0 && is_due(f, espi_heap_top(&f->ends)))
            end_slice(f, espi_heap_top(&f->ends));
        while (f->under_way.size > 0 && f->under_way.item[0].at_s <= f->now_s)
            land_slice(f);
        start_awake(f);
    }
    set_rates(f);
}

/* ---- set-up ---- */

/* The slots of a round in the order of its first sends of each, those of a tree together;
 * f->tree_first[t]: its first. */
static int *slots_by_tree(struct fluid *f, struct espi_arena *a)
{
    const struct espi_round *round = &f->a->round;
    const struct espi_order *order = &f->a->order;
    int n_trees = f->legs->plan->n_trees, next = 0;
    int *slot = ESPI_ARENA_NEW(a, int, round->slots);
    f->tree_first = ESPI_ARENA_ZNEW(a, int, (size_t)n_trees + 1);
    if (!slot || !f->tree_first)
        return NULL;
    for (int t = 0; t < n_trees; t++)
        f->tree_first[t + 1] = f->tree_first[t] + round->count[t];
    memset(slot, 0xff, (size_t)round->slots * sizeof *slot);
    for (int k = 0; k < order->n; k++) {
        const struct espi_op *op = &order->op[k];
        int i = f->tree_first[f->legs->leg[op->leg].tree] + op->slice;
        if (slot[i] < 0)
            slot[i] = next++;
    }
    return slot;
}

static int legs_set(struct fluid *f, struct espi_arena *a)
{
    const struct espi_arrangement *x = f->a;
    int n_trees = f->legs->plan->n_trees, at = 0;
    int *slot = slots_by_tree(f, a);
    f->leg = ESPI_ARENA_ZNEW(a, struct leg_state, f->legs->n);
    f->places = ESPI_ARENA_NEW(a, struct place, x->order.n);
    f->tree_lag = ESPI_ARENA_NEW(a, int, n_trees);
    if (!slot || !f->leg || !f->places || !f->tree_lag)
        return -1;
    for (int t = 0; t < n_trees; t++)
        f->tree_lag[t] = INT_MAX;
    for (int i = 0; i < f->legs->n; i++) {
        int tree = f->legs->leg[i].tree;
        f->leg[i].count = x->round.count[tree];
        f->leg[i].first_op = at;
        at += f->leg[i].count;
    }
    for (int k = 0; k < x->order.n; k++) {
        const struct espi_op *op = &x->order.op[k];
        int tree = f->legs->leg[op->leg].tree;
        f->places[f->leg[op->leg].first_op + op->slice] =
            (struct place){k, slot[f->tree_first[tree] + op->slice]};
        f->tree_lag[tree] = op->lag < f->tree_lag[tree] ? op->lag : f->tree_lag[tree];
    }
    return 0;
}

/* Legs of trees that get slices, by connection. */
static int connections_set(struct fluid *f, int n_nodes, struct espi_arena *a)
{
    int n = 0;
    struct espi_parallel_arc *ends =
        ESPI_ARENA_NEW(a, struct espi_parallel_arc, f->legs->n);
    f->connection = ESPI_ARENA_NEW(a, struct connection, f->legs->n);
    f->of_arc = ESPI_ARENA_NEW(a, int, f->legs->n_arcs);
    f->is_first = ESPI_ARENA_ZNEW(a, unsigned char, n_nodes);
    if (!ends || !f->connection || !f->of_arc || !f->is_first)
        return -1;
    for (int i = 0; i < f->legs->n; i++)
        if (f->leg[i].count > 0)
            ends[n++] =
                (struct espi_parallel_arc){f->legs->leg[i].from, f->legs->leg[i].to, i};
    for (int i = 0; i < n; i++)
        f->is_first[ends[i].from] |= f->legs->leg[ends[i].id].source < 0;
    if (espi_parallel_arcs_init(&f->of_host, ends, n, n_nodes, a))
        return -1;
    for (int c = 0; c < f->of_host.n; c++) {
        f->connection[c] = (struct connection){.from = ends[f->of_host.start[c]].from,
                                               .first = f->of_host.start[c],
                                               .last = f->of_host.start[c + 1],
                                               .leg = -1};
        for (int i = f->connection[c].first; i < f->connection[c].last; i++) {
            f->of_arc[f->legs->leg[f->of_host.id[i]].arc] = c;
            f->leg[f->of_host.id[i]].connection = c;
        }
    }
    return 0;
}

/* Is a use of what nobody else uses of no account, since another one of the same arc
 * limits it as much? So are most links: ports or cables are what limits transfers. */
static int is_idle_use(const struct espi_arc_uses *u, const int *users, int arc, int use)
{
    for (int k = u->start[arc]; k < u->start[arc + 1]; k++) {
        int before = u->time_s[k] == u->time_s[use] && users[u->resource[k]] == 1;
        if (k != use && u->time_s[k] >= u->time_s[use] && (!before || k < use))
            return users[u->resource[use]] == 1;
    }
    return 0;
}

/* The uses by which rates are found. */
static int limits_set(struct fluid *f, int **start, int **resource, double **part,
                      struct espi_arena *a)
{
    const struct espi_arc_uses *u = f->u;
    int n = f->legs->n_arcs, kept = 0, *users = ESPI_ARENA_ZNEW(a, int, u->n_resources);
    *start = ESPI_ARENA_NEW(a, int, (size_t)n + 1);
    *resource = ESPI_ARENA_NEW(a, int, u->start[n]);
    *part = ESPI_ARENA_NEW(a, double, u->start[n]);
    if (!users || !*start || !*resource || !*part)
        return -1;
    for (int k = 0; k < u->start[n]; k++)
        users[u->resource[k]]++;
    for (int arc = 0; arc < n; arc++) {
        (*start)[arc] = kept;
        for (int k = u->start[arc]; k < u->start[arc + 1]; k++)
            if (!is_idle_use(u, users, arc, k)) {
                (*resource)[kept] = u->resource[k];
                (*part)[kept++] = u->time_s[k];
            }
    }
    (*start)[n] = kept;
    return 0;
}

static int rates_set(struct fluid *f, struct espi_arena *a)
{
    int n = f->legs->n_arcs, *start, *resource;
    double *part;
    f->begun = ESPI_ARENA_NEW(a, int, f->of_host.n);
    if (!f->begun || espi_heap_init(&f->ends, a, f->of_host.n) ||
        limits_set(f, &start, &resource, &part, a) ||
        espi_fair_rates_init(&f->rates, n, f->u->n_resources, start, resource, a))
        return -1;
    memcpy(f->rates.part, part, (size_t)start[n] * sizeof *part);
    return 0;
}

static int awake_set(struct awake *a, int n, struct espi_arena *arena)
{
    a->who = ESPI_ARENA_NEW(arena, int, n);
    a->is_on = ESPI_ARENA_ZNEW(arena, unsigned char, n);
    return a->who && a->is_on ? 0 : -1;
}

static int nodes_of(const struct espi_legs *legs)
{
    int n = 0;
    for (int i = 0; i < legs->n; i++) {
        n = legs->leg[i].from >= n ? legs->leg[i].from + 1 : n;
        n = legs->leg[i].to >= n ? legs->leg[i].to + 1 : n;
    }
    return n;
}

static int fluid_init(struct fluid *f, struct espi_arena *arena)
{
    int n_nodes = nodes_of(f->legs);
    f->lead = ESPI_ARENA_NEW(arena, int64_t, f->legs->plan->n_trees);
    return !f->lead || legs_set(f, arena) || connections_set(f, n_nodes, arena) ||
                   rates_set(f, arena) || espi_legs_next(&f->next, f->legs, arena) ||
                   awake_set(&f->nodes, n_nodes, arena) ||
                   awake_set(&f->connections, f->of_host.n, arena)
               ? -1
               : 0;
}

/* ---- messages of the same beginning ---- */

static void keep_part(struct espi_fluid_player *x, void *live, size_t n, size_t size)
{
    void *copy = espi_arena_alloc(x->arena, n, size);
    x->f.out_of_memory |= !copy;
    x->kept[x->n_kept++] = (struct kept){live, copy, n * size};
}

/* All that changes from moment to moment, but for what is empty between two. */
static int list_parts(struct espi_fluid_player *x)
{
    struct fluid *f = &x->f;
    struct espi_fair_rates *r = &f->rates;
    size_t n = (size_t)f->of_host.n, flows = (size_t)r->n_flows;
    size_t uses = (size_t)r->use_start[r->n_flows];
    keep_part(x, f->leg, (size_t)f->legs->n, sizeof *f->leg);
    keep_part(x, f->connection, n, sizeof *f->connection);
    keep_part(x, f->ends.entry, n, sizeof *f->ends.entry);
    keep_part(x, f->ends.place, n, sizeof *f->ends.place);
    keep_part(x, f->ends.key, n, sizeof *f->ends.key);
    keep_part(x, r->resource, (size_t)r->n_resources, sizeof *r->resource);
    keep_part(x, r->next, uses, sizeof *r->next);
    keep_part(x, r->before, uses, sizeof *r->before);
    keep_part(x, r->rate, flows, sizeof *r->rate);
    keep_part(x, r->holder, flows, sizeof *r->holder);
    keep_part(x, r->is_wanted, flows, sizeof *r->is_wanted);
    keep_part(x, r->is_there, flows, sizeof *r->is_there);
    return f->out_of_memory ? -1 : 0;
}

static void keep_state(struct espi_fluid_player *x, double at_s)
{
    struct fluid *f = &x->f;
    size_t n = f->under_way.size;
    struct espi_event *event = ESPI_ARENA_NEW(x->arena, struct espi_event, n);
    if (!event) {
        f->out_of_memory = 1;
        return;
    }
    if (n > 0)
        memcpy(event, f->under_way.item, n * sizeof *event);
    for (int i = 0; i < x->n_kept; i++)
        memcpy(x->kept[i].copy, x->kept[i].live, x->kept[i].bytes);
    x->event = event;
    x->n_events = n;
    x->at_s = at_s;
    x->last_s = f->last_s;
    x->n_ends = f->ends.size;
}

/* Whatever is under way then was so before: there is room for it. */
static void restore_state(struct espi_fluid_player *x)
{
    struct fluid *f = &x->f;
    for (int i = 0; i < x->n_kept; i++)
        memcpy(x->kept[i].live, x->kept[i].copy, x->kept[i].bytes);
    if (x->n_events > 0)
        memcpy(f->under_way.item, x->event, x->n_events * sizeof *x->event);
    f->under_way.size = x->n_events;
    f->last_s = x->last_s;
    f->ends.size = x->n_ends;
}

/* How many slices each leg carries. Is one of them at its last, or none left? */
static int set_length(struct espi_fluid_player *x, int64_t n_slices)
{
    struct fluid *f = &x->f;
    const struct espi_round *round = &f->a->round;
    int is_near = 0;
    espi_round_lay(round, f->legs->plan->n_trees, (int)(n_slices % round->slots), NULL,
                   x->rest);
    for (int i = 0; i < f->legs->n; i++) {
        int tree = f->legs->leg[i].tree;
        struct leg_state *s = &f->leg[i];
        s->n = n_slices / round->slots * round->count[tree] + x->rest[tree];
        is_near |= s->count > 0 && s->sent >= s->n - 1;
    }
    return is_near;
}

struct espi_fluid_player *espi_fluid_player_new(const struct espi_fluid_message *m,
                                                struct espi_arena *arena)
{
    struct espi_fluid_player *x = ESPI_ARENA_ZNEW(arena, struct espi_fluid_player, 1);
    if (!x)
        return NULL;
    x->f = (struct fluid){
        .a = m->a, .latency_s = m->latency_s, .legs = &m->a->legs, .u = m->uses};
    x->arena = arena;
    x->is_kept_at_ends = 1;
    for (int arc = 0; arc < m->a->legs.n_arcs; arc++)
        x->is_kept_at_ends &= m->uses->slice_s[arc] > 0;
    x->rest = ESPI_ARENA_NEW(arena, int, m->a->legs.plan->n_trees);
    if (!x->rest || fluid_init(&x->f, arena) || list_parts(x))
        return NULL;
    keep_state(x, 0);
    return x->f.out_of_memory ? NULL : x;
}

int espi_fluid_play(struct espi_fluid_player *x, int64_t n_slices, double *finish_s)
{
    struct fluid *f = &x->f;
    restore_state(x);
    int is_past = set_length(x, n_slices) || !x->is_kept_at_ends;
    f->is_near_end = 0;
    for (int c = 0; c < f->of_host.n && x->at_s == 0; c++)
        wake_connection(f, c);
    for (double at_s = x->at_s; isfinite(at_s) && !f->out_of_memory; at_s = next_s(f)) {
        if (f->is_near_end && !is_past) {
            is_past = 1;
            keep_state(x, at_s);
        }
        f->now_s = at_s;
        pass_moment(f);
    }
    *finish_s = f->last_s;
    return f->out_of_memory ? -1 : 0;
}

void espi_fluid_player_done(struct espi_fluid_player *x)
{
    if (x)
        espi_free(x->f.under_way.item);
}
