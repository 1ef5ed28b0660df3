/* The fluid simulator: transfers under way share resources max-min fairly, as TCP
 * connections do, and their rates change whenever one starts or ends.
 *
 * A transfer first waits for its latency, then flows; in the capacity model, where
 * latency delays but does not occupy, it flows at once, its stream is free when all has
 * left, and it arrives a latency later. A resource has capacity 1; a flow of rate x over
 * links of bandwidth b uses x / b of their ports and of the links themselves, and x / c
 * of a cable of bandwidth c. Rates by progressive filling. In the one-port and
 * half-duplex models a rank has one transfer under way, in the others one a stream; each
 * rank starts its transfers in the order of its list.
 *
 * An event costs O(active flows * their uses) for each level of the filling: right for
 * the hundreds of flows of a real network, not for 10,000 ranks. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "sim/sim.h"

enum { IDLE, LATENCY, FLOWING };

struct flow {
    int phase;
    double start_s, begin_s; /* of the transfer, of the flow */
    double left_bytes, rate_Bps;
    int64_t slice;
    int state;
};

/* What has left its sender and is on its way. */
struct landing {
    int stream;
    struct flow flow;
    double at_s;
};

struct engine {
    struct espi_scene *scene;
    const struct espi_program *prog;
    double now_s;
    int blocking;       /* one transfer a rank at a time */
    int pipelined;      /* latency comes last, and the stream is free meanwhile */
    struct flow *flows; /* by stream */
    int *active, n_active;
    struct landing *landings;
    int n_landings, max_landings;
    double *part;    /* by use of a stream: share of the resource for 1 B/s */
    int *busy;       /* rank -> transfers under way (blocking only) */
    double *ready_s; /* rank -> when it may start the next send (multi-port overhead) */
    int64_t *round;
    int *at;
    int64_t *arrived;
    /* filling */
    double *room, *weight; /* by resource */
    int *touched, n_touched;
    unsigned char *fixed; /* by stream */
};

/* ---- parts of resources ---- */

static double link_factor(const struct engine *g, int link)
{
    double never = INFINITY;
    return g->scene->link_rate
               ? espi_rate_at(&g->scene->link_rate[link], g->now_s, &never)
               : 1;
}

static double cable_factor(const struct engine *g, int cable)
{
    double never = INFINITY;
    return g->scene->cable_rate
               ? espi_rate_at(&g->scene->cable_rate[cable], g->now_s, &never)
               : 1;
}

/* What 1 B/s over one link takes of a resource it uses. Overheads of the multi-port model
 * are waiting times, not shares. */
static double part_of(const struct engine *g, int link, int resource)
{
    const struct espi_scene *s = g->scene;
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
    const struct espi_scene *s = g->scene;
    const struct espi_stream *st = &g->prog->streams[stream];
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++) {
        g->part[k] = 0;
        for (int h = 0; h < st->n_hops; h++) {
            int link = s->hops[st->first_hop + h];
            for (int u = s->links.start[link]; u < s->links.start[link + 1]; u++)
                if (s->links.resource[u] == s->use_resource[k])
                    g->part[k] += part_of(g, link, s->use_resource[k]);
        }
    }
}

/* ---- rates ---- */

static void touch(struct engine *g, int resource)
{
    if (g->weight[resource] < 0) {
        g->weight[resource] = 0;
        g->room[resource] = 1;
        g->touched[g->n_touched++] = resource;
    }
}

static void gather(struct engine *g)
{
    const struct espi_scene *s = g->scene;
    g->n_touched = 0;
    for (int i = 0; i < g->n_active; i++) {
        int stream = g->active[i];
        struct flow *f = &g->flows[stream];
        g->fixed[stream] = f->phase != FLOWING;
        f->rate_Bps = 0;
        if (f->phase != FLOWING)
            continue;
        for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
            if (g->part[k] > 0) {
                touch(g, s->use_resource[k]);
                g->weight[s->use_resource[k]] += g->part[k];
            }
    }
}

/* The lowest fair rate of a resource among flows not fixed; -1: none is left. */
static int tightest(const struct engine *g, double *rate)
{
    int best = -1;
    for (int i = 0; i < g->n_touched; i++) {
        int r = g->touched[i];
        if (!(g->weight[r] > 0))
            continue;
        double fair = isfinite(g->weight[r]) ? fmax(g->room[r], 0) / g->weight[r] : 0;
        if (best < 0 || fair < *rate || (fair == *rate && r < best)) {
            best = r;
            *rate = fair;
        }
    }
    return best;
}

static void fix_flow(struct engine *g, int stream, double rate)
{
    const struct espi_scene *s = g->scene;
    g->fixed[stream] = 1;
    g->flows[stream].rate_Bps = rate;
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++) {
        int r = s->use_resource[k];
        if (!(g->part[k] > 0))
            continue;
        if (isfinite(g->part[k])) {
            g->room[r] -= rate * g->part[k];
            g->weight[r] -= g->part[k];
        }
        /* What is left of a sum of a few terms after its terms were taken away. */
        if (g->weight[r] < 1e-12 * g->part[k])
            g->weight[r] = 0;
    }
}

static int uses(const struct engine *g, int stream, int resource)
{
    const struct espi_scene *s = g->scene;
    for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
        if (s->use_resource[k] == resource && g->part[k] > 0)
            return 1;
    return 0;
}

static void set_rates(struct engine *g)
{
    double rate = 0;
    int resource;
    gather(g);
    while ((resource = tightest(g, &rate)) >= 0) {
        for (int i = 0; i < g->n_active; i++)
            if (!g->fixed[g->active[i]] && uses(g, g->active[i], resource))
                fix_flow(g, g->active[i], rate);
        g->weight[resource] = 0;
    }
    for (int i = 0; i < g->n_touched; i++)
        g->weight[g->touched[i]] = -1;
}

/* ---- ranks ---- */

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

static void start(struct engine *g, int rank, const struct espi_step *step)
{
    struct espi_scene *s = g->scene;
    int stream = step->stream;
    g->flows[stream] = (struct flow){
        .phase = LATENCY,
        .start_s = g->now_s,
        .begin_s = g->now_s + (g->pipelined ? 0 : s->latency_s[stream]),
        .left_bytes = s->bytes[stream],
        .slice = espi_step_slice(g->prog, step, g->round[rank]),
        .state = step->state,
    };
    g->active[g->n_active++] = stream;
    g->busy[rank]++;
    g->at[rank]++;
    s->transfers++;
    if (s->reality->model == ESP_MODEL_MULTI_PORT)
        g->ready_s[rank] =
            g->now_s + espi_send_overhead_s(s->reality, s->node[rank], s->bytes[stream]);
}

/* Starts everything that can start now. */
static void start_all(struct engine *g)
{
    for (int rank = 0; rank < g->prog->n_ranks; rank++) {
        const struct espi_step *step;
        if (g->scene->stop_s[rank] <= g->now_s)
            continue;
        while ((step = current_step(g, rank)) && can_start(g, rank, step))
            start(g, rank, step);
    }
}

/* ---- events ---- */

static void tell(const struct engine *g, int stream, const struct flow *f, int lost)
{
    const struct esp_sim_options *o = g->scene->options;
    const struct espi_stream *s = &g->prog->streams[stream];
    if (!o->on_transfer)
        return;
    struct esp_sim_transfer transfer = {
        .from = g->prog->node[s->from],
        .to = g->prog->node[s->to],
        .tree = s->tree,
        .slice = f->slice,
        .start_s = f->start_s,
        .end_s = lost ? INFINITY : g->now_s,
        .lost = lost,
    };
    o->on_transfer(o->arg, &transfer);
}

static void arrive(struct engine *g, int stream, const struct flow *f, int lost)
{
    tell(g, stream, f, lost);
    if (lost)
        return;
    g->arrived[f->state]++;
    if (g->prog->streams[stream].keeps)
        espi_scene_keep(g->scene, stream, g->now_s);
}

/* All has left; it arrives now, or after the latency. -1 when out of memory. */
static int end_flow(struct engine *g, int at, int lost)
{
    int stream = g->active[at];
    struct flow *f = &g->flows[stream];
    f->phase = IDLE;
    g->busy[g->prog->streams[stream].from]--;
    g->active[at] = g->active[--g->n_active];
    if (lost || !g->pipelined || !(g->scene->latency_s[stream] > 0)) {
        arrive(g, stream, f, lost);
        return 0;
    }
    if (g->n_landings == g->max_landings) {
        int most = 2 * g->max_landings;
        struct landing *more = ESPI_ARENA_NEW(g->scene->arena, struct landing, most);
        if (!more)
            return -1;
        memcpy(more, g->landings, (size_t)g->n_landings * sizeof *more);
        g->landings = more;
        g->max_landings = most;
    }
    g->landings[g->n_landings++] =
        (struct landing){stream, *f, g->now_s + g->scene->latency_s[stream]};
    return 0;
}

static double stop_of(const struct engine *g, int stream)
{
    const struct espi_stream *s = &g->prog->streams[stream];
    return fmin(g->scene->stop_s[s->from], g->scene->stop_s[s->to]);
}

static void land(struct engine *g)
{
    int kept = 0;
    for (int i = 0; i < g->n_landings; i++) {
        struct landing *l = &g->landings[i];
        if (l->at_s <= g->now_s)
            arrive(g, l->stream, &l->flow, 0);
        else if (stop_of(g, l->stream) <= g->now_s)
            arrive(g, l->stream, &l->flow, 1);
        else
            g->landings[kept++] = *l;
    }
    g->n_landings = kept;
}

/* Changes that are due: flows begin, end, or lose an end. */
static int settle(struct engine *g)
{
    land(g);
    double tiny = 1e-9 * g->scene->slice_bytes;
    for (int i = g->n_active - 1; i >= 0; i--) {
        int stream = g->active[i], lost = stop_of(g, g->active[i]) <= g->now_s;
        struct flow *f = &g->flows[stream];
        if (f->phase == LATENCY && f->begin_s <= g->now_s) {
            f->phase = FLOWING;
            set_parts(g, stream);
        }
        int ends = f->phase == FLOWING && f->left_bytes <= tiny;
        if ((ends || lost) && end_flow(g, i, !ends))
            return -1;
    }
    return 0;
}

/* When a rate, a node or a sender's readiness changes next by itself. */
static double next_outside_s(const struct engine *g)
{
    const struct espi_scene *s = g->scene;
    double next_s = INFINITY;
    for (int i = 0; i < s->options->n_changes; i++)
        if (s->options->changes[i].at_s > g->now_s)
            next_s = fmin(next_s, s->options->changes[i].at_s);
    for (int r = 0; r < g->prog->n_ranks; r++) {
        if (s->stop_s[r] > g->now_s)
            next_s = fmin(next_s, s->stop_s[r]);
        if (g->ready_s[r] > g->now_s)
            next_s = fmin(next_s, g->ready_s[r]);
    }
    return next_s;
}

static double next_event_s(const struct engine *g)
{
    double next_s = INFINITY;
    for (int i = 0; i < g->n_landings; i++)
        next_s = fmin(next_s, g->landings[i].at_s);
    for (int i = 0; i < g->n_active; i++) {
        const struct flow *f = &g->flows[g->active[i]];
        if (f->phase == LATENCY)
            next_s = fmin(next_s, f->begin_s);
        else if (f->rate_Bps > 0)
            next_s = fmin(next_s, g->now_s + f->left_bytes / f->rate_Bps);
    }
    return fmin(next_s, next_outside_s(g));
}

static void advance(struct engine *g, double to_s)
{
    struct espi_scene *s = g->scene;
    double passed_s = to_s - g->now_s;
    for (int i = 0; i < g->n_active; i++) {
        int stream = g->active[i];
        struct flow *f = &g->flows[stream];
        if (f->phase != FLOWING)
            continue;
        f->left_bytes -= f->rate_Bps * passed_s;
        if (g->now_s + (f->left_bytes + f->rate_Bps * passed_s) / f->rate_Bps <= to_s)
            f->left_bytes = 0;
        for (int k = s->use_start[stream]; k < s->use_start[stream + 1]; k++)
            if (isfinite(g->part[k]))
                s->busy_s[s->use_resource[k]] += f->rate_Bps * g->part[k] * passed_s;
    }
    g->now_s = to_s;
}

static void refresh_parts(struct engine *g)
{
    if (g->scene->options->n_changes)
        for (int i = 0; i < g->n_active; i++)
            set_parts(g, g->active[i]);
}

static int engine_init(struct engine *g, struct espi_scene *scene)
{
    const struct espi_program *prog = scene->prog;
    struct espi_arena *a = scene->arena;
    esp_model model = scene->reality->model;
    *g = (struct engine){.scene = scene, .prog = prog};
    g->blocking = model == ESP_MODEL_ONE_PORT || model == ESP_MODEL_HALF_DUPLEX;
    g->pipelined = model == ESP_MODEL_CAPACITY;
    g->max_landings = prog->n_streams + 1;
    g->landings = ESPI_ARENA_NEW(a, struct landing, g->max_landings);
    g->flows = ESPI_ARENA_ZNEW(a, struct flow, prog->n_streams);
    g->active = ESPI_ARENA_NEW(a, int, prog->n_streams);
    g->part = ESPI_ARENA_ZNEW(a, double, scene->use_start[prog->n_streams]);
    g->busy = ESPI_ARENA_ZNEW(a, int, prog->n_ranks);
    g->ready_s = ESPI_ARENA_ZNEW(a, double, prog->n_ranks);
    g->round = ESPI_ARENA_ZNEW(a, int64_t, prog->n_ranks);
    g->at = ESPI_ARENA_ZNEW(a, int, prog->n_ranks);
    g->arrived = ESPI_ARENA_ZNEW(a, int64_t, prog->n_states);
    g->room = ESPI_ARENA_NEW(a, double, scene->links.n);
    g->weight = ESPI_ARENA_NEW(a, double, scene->links.n);
    g->touched = ESPI_ARENA_NEW(a, int, scene->links.n);
    g->fixed = ESPI_ARENA_NEW(a, unsigned char, prog->n_streams);
    if (!g->landings || !g->flows || !g->active || !g->part || !g->busy || !g->ready_s ||
        !g->round || !g->at || !g->arrived || !g->room || !g->weight || !g->touched ||
        !g->fixed)
        return -1;
    for (int r = 0; r < scene->links.n; r++)
        g->weight[r] = -1;
    return 0;
}

esp_status espi_run_fluid(struct espi_scene *scene, struct esp_err *err)
{
    struct engine g;
    if (engine_init(&g, scene))
        return espi_err_nomem(err);
    for (;;) {
        if (settle(&g))
            return espi_err_nomem(err);
        start_all(&g);
        if (settle(&g)) /* transfers without latency flow at once */
            return espi_err_nomem(err);
        refresh_parts(&g);
        set_rates(&g);
        double next_s = next_event_s(&g);
        if (!isfinite(next_s))
            return ESP_OK;
        advance(&g, next_s);
        scene->events++;
    }
}
