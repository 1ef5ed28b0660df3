/* The fluid simulator: transfers under way share resources max-min fairly, as TCP
 * connections do, and their rates change whenever one starts or ends.
 *
 * A transfer first waits for its latency, then flows; in the capacity model, where
 * latency delays but does not occupy, it flows at once, its stream is free when all has
 * left, and it arrives a latency later. A resource has capacity 1; a flow of rate x over
 * links of bandwidth b uses x / b of their ports and of the links themselves, and x / c
 * of a cable of bandwidth c. Rates by progressive filling. In the one-port and
 * half-duplex models a rank has one transfer under way, in the multi-port model one a
 * stream, and starts its transfers in the order of its list. In the capacity model every
 * connection has one under way, of what is there (program/connections.h).
 *
 * An event costs O(log streams), and what it takes to change the rates of those flows
 * whose rates one that begins or ends touches (fair_rates.h): a message that flows
 * steadily through a tree changes none. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/events.h"
#include "base/heap.h"
#include "program/connections.h"
#include "graph/fair_rates.h"
#include "sim/sim.h"

enum { IDLE, LATENCY, FLOWING };

struct flow {
    int phase;
    double start_s, since_s; /* of the transfer; of what is left and of the rate */
    double left_bytes, rate_Bps;
    int64_t slice;
    int state;
};

struct landing {
    struct flow flow;
    int next_spare;
};

struct engine {
    struct espi_sim *sim;
    const struct espi_program *prog;
    double now_s;
    int blocking;       /* one transfer a rank at a time */
    int pipelined;      /* latency comes last, and the stream is free meanwhile */
    struct flow *flows; /* by stream */
    struct espi_fair_rates rates;
    unsigned char *has_parts; /* by stream: were its parts set? */
    /* What happens next by itself: streams that begin to flow or have ended, then ranks
     * that are ready to send, then ranks that stop, then a change of rates. */
    struct espi_heap due;
    /* What has left its sender and is on its way: landings[about] arrives. */
    struct espi_events under_way;
    struct landing *landings;
    size_t n_landings, room;
    int spare;           /* the first that is free; -1: none */
    int *awake, n_awake; /* ranks that may have something to send */
    unsigned char *is_awake;
    int *begun, n_begun; /* streams that began to flow and have no rate yet */
    int *busy;           /* rank -> transfers under way (blocking only) */
    struct espi_connections connections; /* of free programs */
    double *ready_s; /* rank -> when it may start the next send (multi-port overhead) */
    int64_t *round;
    int *at;
    int64_t *arrived;
    int out_of_memory;
};

static int is_free(const struct engine *g)
{
    return g->prog->ordered == ESPI_FREE;
}

static int ready_of(const struct engine *g, int rank)
{
    return g->prog->n_streams + rank;
}

static int stop_event_of(const struct engine *g, int rank)
{
    return g->prog->n_streams + g->prog->n_ranks + rank;
}

static int change_event(const struct engine *g)
{
    return g->prog->n_streams + 2 * g->prog->n_ranks;
}

/* ---- parts of resources ---- */

static double link_factor(const struct engine *g, int link)
{
    double never = INFINITY;
    return g->sim->link_rate ? espi_rate_at(&g->sim->link_rate[link], g->now_s, &never)
                             : 1;
}

static double cable_factor(const struct engine *g, int cable)
{
    double never = INFINITY;
    return g->sim->cable_rate ? espi_rate_at(&g->sim->cable_rate[cable], g->now_s, &never)
                              : 1;
}

/* What 1 B/s over one link takes of a resource it uses. Overheads of the multi-port model
 * are waiting times, not shares. */
static double part_of(const struct engine *g, int link, int resource)
{
    const struct espi_sim *s = g->sim;
    int owner;
    espi_resource_kind kind = espi_resource_kind_of(&s->links, resource, &owner);
    if (kind == ESPI_CABLE)
        return 1 / (s->reality->shared_Bps[owner] * cable_factor(g, owner));
    if (kind != ESPI_LINK && s->reality->model == ESP_MODEL_MULTI_PORT)
        return 0;
    return 1 / (s->reality->bandwidth_Bps[link] * link_factor(g, link));
}

static void set_parts(struct engine *g, int stream)
{
    const struct espi_sim *s = g->sim;
    const struct espi_stream *st = &g->prog->streams[stream];
    if (g->has_parts[stream])
        return;
    g->has_parts[stream] = 1;
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++) {
        g->rates.part[k] = 0;
        for (int h = 0; h < st->n_hops; h++) {
            int link = s->hops[st->first_hop + h];
            for (int u = s->links.start[link]; u < s->links.start[link + 1]; u++)
                if (s->links.resource[u] == s->use_resource[k])
                    g->rates.part[k] += part_of(g, link, s->use_resource[k]);
        }
    }
}

/* ---- flows ---- */

/* What has flowed since the rate was set. */
static void count_flow(struct engine *g, int stream)
{
    struct espi_sim *s = g->sim;
    struct flow *f = &g->flows[stream];
    double passed_s = g->now_s - f->since_s;
    f->since_s = g->now_s;
    if (!(passed_s > 0 && f->rate_Bps > 0))
        return;
    f->left_bytes -= f->rate_Bps * passed_s;
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
        if (isfinite(g->rates.part[k]))
            s->busy_s[s->use_resource[k]] += f->rate_Bps * g->rates.part[k] * passed_s;
}

static void set_rate(struct engine *g, int stream)
{
    struct flow *f = &g->flows[stream];
    if (f->phase != FLOWING ||
        (f->rate_Bps == g->rates.rate[stream] && espi_heap_has(&g->due, stream)))
        return;
    count_flow(g, stream);
    f->rate_Bps = g->rates.rate[stream];
    if (f->rate_Bps > 0)
        espi_heap_set(&g->due, stream, g->now_s + fmax(f->left_bytes, 0) / f->rate_Bps);
    else
        espi_heap_remove(&g->due, stream);
}

/* The rates of flows that others than before share resources with. A stream that ended
 * and began anew has its old rate. */
static void set_rates(struct engine *g)
{
    espi_fair_rates_update(&g->rates);
    for (int i = 0; i < g->rates.n_updated; i++)
        set_rate(g, g->rates.updated[i]);
    for (int i = 0; i < g->n_begun; i++)
        set_rate(g, g->begun[i]);
    g->n_begun = 0;
}

/* ---- ranks ---- */

static void wake_rank(struct engine *g, int rank)
{
    if (!g->is_awake[rank])
        g->awake[g->n_awake++] = rank;
    g->is_awake[rank] = 1;
}

static double stop_of(const struct engine *g, int stream)
{
    const struct espi_stream *s = &g->prog->streams[stream];
    return fmin(g->sim->stop_s[s->from], g->sim->stop_s[s->to]);
}

static const struct espi_step *current_step(struct engine *g, int rank)
{
    const struct espi_program *prog = g->prog;
    int first = prog->send_start[rank];
    return espi_next_step(prog, prog->sends + first, prog->send_start[rank + 1] - first,
                          &g->round[rank], &g->at[rank]);
}

static int can_start(const struct engine *g, int rank, const struct espi_step *step)
{
    if (g->flows[step->stream].phase != IDLE || (g->blocking && g->busy[rank]) ||
        g->ready_s[rank] > g->now_s)
        return 0;
    return espi_step_has_data(g->prog, step, g->arrived, g->round[rank]);
}

static void start_flow(struct engine *g, int rank, const struct espi_step *step,
                       int64_t round)
{
    struct espi_sim *s = g->sim;
    int stream = step->stream;
    g->flows[stream] = (struct flow){
        .phase = LATENCY,
        .start_s = g->now_s,
        .left_bytes = s->bytes[stream],
        .slice = espi_step_slice(g->prog, step, round),
        .state = step->state,
    };
    espi_heap_set(&g->due, stream, g->now_s + (g->pipelined ? 0 : s->latency_s[stream]));
    g->busy[rank]++;
    espi_sim_send(s, stream, g->flows[stream].slice);
    if (s->reality->model != ESP_MODEL_MULTI_PORT)
        return;
    g->ready_s[rank] =
        g->now_s + espi_send_overhead_s(s->reality, s->node[rank], s->bytes[stream]);
    if (g->ready_s[rank] > g->now_s)
        espi_heap_set(&g->due, ready_of(g, rank), g->ready_s[rank]);
}

/* ---- events ---- */

static void flow_arrives(struct engine *g, int stream, const struct flow *f, int lost)
{
    espi_sim_tell(g->sim, stream, f->slice, f->start_s, lost ? INFINITY : g->now_s, lost);
    if (lost)
        return;
    g->arrived[f->state]++;
    wake_rank(g, g->prog->streams[stream].to);
    if (g->prog->streams[stream].keeps)
        espi_sim_keep(g->sim, stream, g->now_s);
}

/* What has left its sender arrives after the latency. */
static void take_off(struct engine *g, int stream)
{
    int at = g->spare;
    if (at >= 0) {
        g->spare = g->landings[at].next_spare;
    } else if (espi_grow((void **)&g->landings, &g->room, g->n_landings + 1,
                         sizeof *g->landings)) {
        g->out_of_memory = 1;
        return;
    } else {
        at = (int)g->n_landings++;
    }
    g->landings[at].flow = g->flows[stream];
    double at_s = g->now_s + g->sim->latency_s[stream];
    if (espi_events_push(&g->under_way, (struct espi_event){at_s, 0, stream, at}))
        g->out_of_memory = 1;
}

static void land(struct engine *g)
{
    struct espi_event e = espi_events_pop(&g->under_way);
    struct flow flow = g->landings[e.about].flow;
    g->landings[e.about].next_spare = g->spare;
    g->spare = e.about;
    flow_arrives(g, e.id, &flow, stop_of(g, e.id) < e.at_s);
}

/* All has left, or one of the ends is gone. */
static void end_flow(struct engine *g, int stream, int lost)
{
    struct flow *f = &g->flows[stream];
    if (f->phase == FLOWING) {
        count_flow(g, stream);
        espi_fair_rates_set(&g->rates, stream, 0);
    }
    f->phase = IDLE;
    espi_heap_remove(&g->due, stream);
    g->busy[g->prog->streams[stream].from]--;
    if (is_free(g))
        espi_connection_end(&g->connections, stream);
    wake_rank(g, g->prog->streams[stream].from);
    if (lost || !g->pipelined || !(g->sim->latency_s[stream] > 0))
        flow_arrives(g, stream, f, lost);
    else
        take_off(g, stream);
}

static void begin_flow(struct engine *g, int stream)
{
    struct flow *f = &g->flows[stream];
    espi_heap_remove(&g->due, stream);
    f->phase = FLOWING;
    f->since_s = g->now_s;
    set_parts(g, stream);
    espi_fair_rates_set(&g->rates, stream, 1);
    g->begun[g->n_begun++] = stream;
}

/* A rank stops: what it sends or receives is lost. */
static void stop_rank(struct engine *g, int rank)
{
    espi_heap_remove(&g->due, stop_event_of(g, rank));
    for (int i = 0; i < g->prog->n_streams; i++)
        if (g->flows[i].phase != IDLE && stop_of(g, i) <= g->now_s)
            end_flow(g, i, 1);
}

static void expect_change(struct engine *g)
{
    const struct esp_sim_options *o = g->sim->options;
    double next_s = INFINITY;
    for (int i = 0; i < o->n_changes; i++)
        if (o->changes[i].at_s > g->now_s)
            next_s = fmin(next_s, o->changes[i].at_s);
    if (isfinite(next_s))
        espi_heap_set(&g->due, change_event(g), next_s);
    else
        espi_heap_remove(&g->due, change_event(g));
}

/* Links and cables have other rates from now on. */
static void change_parts(struct engine *g)
{
    for (int i = 0; i < g->prog->n_streams; i++) {
        if (!g->sim->varies[i])
            continue;
        if (g->flows[i].phase == FLOWING)
            count_flow(g, i);
        /* also one that has just ended, which may be back at once */
        espi_fair_rates_drop(&g->rates, i);
        g->has_parts[i] = 0;
        set_parts(g, i);
    }
    expect_change(g);
}

static void happen(struct engine *g, int event)
{
    int n = g->prog->n_streams;
    if (event == change_event(g))
        change_parts(g);
    else if (event >= stop_event_of(g, 0))
        stop_rank(g, event - stop_event_of(g, 0));
    else if (event < n && g->flows[event].phase == FLOWING)
        end_flow(g, event, 0);
    else if (event < n)
        begin_flow(g, event);
    else {
        espi_heap_remove(&g->due, event);
        wake_rank(g, event - n);
    }
}

/* Is the event due now? Flows end together that do so but for rounding. */
static int is_due(const struct engine *g, int event)
{
    double ahead_s = g->due.key[event] - g->now_s;
    return ahead_s <= 0 ||
           (event < g->prog->n_streams && g->flows[event].phase == FLOWING &&
            ahead_s * g->flows[event].rate_Bps <= 1e-9 * g->sim->slice_bytes);
}

static void happen_all(struct engine *g)
{
    while (g->under_way.size > 0 && g->under_way.item[0].at_s <= g->now_s)
        land(g);
    while (g->due.size > 0 && is_due(g, espi_heap_top(&g->due)))
        happen(g, espi_heap_top(&g->due));
}

/* In the order of the list. */
static void start_in_order(struct engine *g, int rank)
{
    const struct espi_step *step;
    while ((step = current_step(g, rank)) && can_start(g, rank, step)) {
        start_flow(g, rank, step, g->round[rank]);
        g->at[rank]++;
        if (stop_of(g, step->stream) <= g->now_s)
            end_flow(g, step->stream, 1);
    }
}

/* On every connection what is there. */
static void start_free(struct engine *g, int rank)
{
    struct espi_connections *all = &g->connections;
    struct espi_sendable now = {.arrived = g->arrived,
                                .limit = espi_connections_limit(all, g->prog, rank)};
    const struct espi_step *step;
    int64_t round = 0;
    for (int c = all->rank_start[rank]; c < all->rank_start[rank + 1]; c++)
        while (all->open[c] == 0 &&
               (step = espi_connection_next(all, g->prog, c, &now, &round))) {
            start_flow(g, rank, step, round);
            espi_connection_start(all, step);
            if (stop_of(g, step->stream) <= g->now_s)
                end_flow(g, step->stream, 1);
        }
}

/* Starts everything that can start now. */
static void start_all(struct engine *g)
{
    for (int i = 0; i < g->n_awake; i++) {
        int rank = g->awake[i];
        if (g->sim->stop_s[rank] > g->now_s && is_free(g))
            start_free(g, rank);
        else if (g->sim->stop_s[rank] > g->now_s)
            start_in_order(g, rank);
        g->is_awake[rank] = 0;
    }
    g->n_awake = 0;
}

static double next_event_s(const struct engine *g)
{
    double next_s = INFINITY;
    if (g->under_way.size > 0)
        next_s = g->under_way.item[0].at_s;
    if (g->due.size > 0)
        next_s = fmin(next_s, g->due.key[espi_heap_top(&g->due)]);
    return next_s;
}

static int engine_alloc(struct engine *g, struct espi_arena *a)
{
    const struct espi_program *prog = g->prog;
    g->flows = ESPI_ARENA_ZNEW(a, struct flow, prog->n_streams);
    g->has_parts = ESPI_ARENA_ZNEW(a, unsigned char, prog->n_streams);
    g->begun = ESPI_ARENA_NEW(a, int, prog->n_streams);
    g->awake = ESPI_ARENA_NEW(a, int, prog->n_ranks);
    g->is_awake = ESPI_ARENA_ZNEW(a, unsigned char, prog->n_ranks);
    g->busy = ESPI_ARENA_ZNEW(a, int, prog->n_ranks);
    g->ready_s = ESPI_ARENA_ZNEW(a, double, prog->n_ranks);
    g->round = ESPI_ARENA_ZNEW(a, int64_t, prog->n_ranks);
    g->at = ESPI_ARENA_ZNEW(a, int, prog->n_ranks);
    g->arrived = ESPI_ARENA_ZNEW(a, int64_t, prog->n_states);
    return g->flows && g->has_parts && g->begun && g->awake && g->is_awake && g->busy &&
                   g->ready_s && g->round && g->at && g->arrived
               ? 0
               : -1;
}

static int engine_init(struct engine *g, struct espi_sim *sim)
{
    const struct espi_program *prog = sim->prog;
    esp_model model = sim->reality->model;
    *g = (struct engine){.sim = sim, .prog = prog, .spare = -1};
    g->blocking = model == ESP_MODEL_ONE_PORT || model == ESP_MODEL_HALF_DUPLEX;
    g->pipelined = model == ESP_MODEL_CAPACITY;
    if (engine_alloc(g, sim->arena) ||
        (is_free(g) && espi_connections_init(&g->connections, prog, -1, sim->arena)) ||
        espi_heap_init(&g->due, sim->arena, change_event(g) + 1) ||
        espi_fair_rates_init(&g->rates, prog->n_streams, sim->links.n, sim->use_start,
                             sim->use_resource, sim->arena))
        return -1;
    for (int r = 0; r < prog->n_ranks; r++) {
        wake_rank(g, r);
        if (isfinite(sim->stop_s[r]))
            espi_heap_set(&g->due, stop_event_of(g, r), sim->stop_s[r]);
    }
    expect_change(g);
    return 0;
}

esp_status espi_run_fluid(struct espi_sim *sim, struct esp_err *err)
{
    struct engine g;
    if (engine_init(&g, sim))
        return espi_err_nomem(err);
    int ended = 0;
    for (double next_s = 0; isfinite(next_s) && !g.out_of_memory && !ended;) {
        g.now_s = next_s;
        happen_all(&g);
        start_all(&g);
        if (next_event_s(&g) > g.now_s) { /* nothing more happens now */
            set_rates(&g);
            sim->events++;
        }
        next_s = next_event_s(&g);
        ended = espi_sim_must_end(sim, g.now_s);
    }
    espi_free(g.under_way.item);
    espi_free(g.landings);
    if (g.out_of_memory)
        return espi_err_nomem(err);
    return ended ? espi_sim_ended(sim, g.now_s, err) : ESP_OK;
}
