/* What a simulation starts from: the program's nodes and links found in the reality,
 * times of all streams, rates that change, nodes that stop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sim/sim.h"

static esp_status find_nodes(struct espi_sim *s, struct esp_err *err)
{
    const struct espi_program *prog = s->prog;
    s->node = ESPI_ARENA_NEW(s->arena, int, prog->n_ranks);
    s->stop_s = ESPI_ARENA_NEW(s->arena, double, prog->n_ranks);
    if (!s->node || !s->stop_s)
        return espi_err_nomem(err);
    for (int r = 0; r < prog->n_ranks; r++) {
        const char *name = espi_node_name(prog->p, prog->node[r]);
        char shown[64];
        s->stop_s[r] = INFINITY;
        s->node[r] = s->reality == prog->p ? prog->node[r]
                                           : esp_platform_find_node(s->reality, name);
        if (s->node[r] < 0)
            return espi_err(err, ESP_EINPUT, "the reality has no node named '%s'",
                            espi_quote(shown, sizeof shown, name));
    }
    return ESP_OK;
}

static esp_status note_stops(struct espi_sim *s, struct esp_err *err)
{
    const struct esp_sim_options *o = s->options;
    int n = s->reality->n_nodes;
    int *rank = o->n_stops > 0 ? ESPI_ARENA_NEW(s->arena, int, n) : NULL;
    if (o->n_stops > 0 && !rank)
        return espi_err_nomem(err);
    for (int u = 0; rank && u < n; u++)
        rank[u] = -1;
    for (int r = 0; rank && r < s->prog->n_ranks; r++)
        rank[s->node[r]] = r;
    for (int i = 0; i < o->n_stops; i++) {
        int node = o->stops[i].node, r = node >= 0 && node < n ? rank[node] : -1;
        if (!(o->stops[i].at_s >= 0))
            return espi_err(err, ESP_EUSAGE, "stop %d: a time must not be negative", i);
        if (r < 0)
            return espi_err(err, ESP_EUSAGE, "stop %d: no host %d takes part", i, node);
        s->stop_s[r] = fmin(s->stop_s[r], o->stops[i].at_s);
    }
    return ESP_OK;
}

static int real_node(const struct espi_sim *s, int node)
{
    if (s->reality == s->prog->p)
        return node;
    return esp_platform_find_node(s->reality, espi_node_name(s->prog->p, node));
}

static esp_status find_links(struct espi_sim *s, struct esp_err *err)
{
    const struct esp_platform *p = s->prog->p;
    int n = 0;
    for (int i = 0; i < s->prog->n_streams; i++)
        n += s->prog->streams[i].n_hops;
    s->hops = ESPI_ARENA_NEW(s->arena, int, n);
    if (!s->hops)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++) {
        int link = s->prog->hops[i];
        s->hops[i] = link;
        if (s->reality == p)
            continue;
        int u = real_node(s, p->tail[link]), v = real_node(s, p->head[link]);
        s->hops[i] = u < 0 || v < 0 ? -1 : esp_platform_find_link(s->reality, u, v);
        if (s->hops[i] < 0) {
            char a[64], b[64];
            return espi_err(err, ESP_EINPUT, "the reality has no link %s -> %s",
                            espi_quote(a, sizeof a, espi_node_name(p, p->tail[link])),
                            espi_quote(b, sizeof b, espi_node_name(p, p->head[link])));
        }
    }
    return ESP_OK;
}

/* Overhead of the sender, multi-port only: looked up once a host. */
static double *overheads(struct espi_sim *s)
{
    double *send_s = ESPI_ARENA_ZNEW(s->arena, double, s->prog->n_ranks);
    if (send_s && s->reality->model == ESP_MODEL_MULTI_PORT)
        for (int r = 0; r < s->prog->n_ranks; r++)
            send_s[r] = espi_send_overhead_s(s->reality, s->node[r], s->slice_bytes);
    return send_s;
}

static int time_streams(struct espi_sim *s)
{
    const struct espi_program *prog = s->prog;
    double *send_s = overheads(s);
    s->bytes = ESPI_ARENA_NEW(s->arena, double, prog->n_streams);
    s->latency_s = ESPI_ARENA_NEW(s->arena, double, prog->n_streams);
    s->lag_s = ESPI_ARENA_NEW(s->arena, double, prog->n_streams);
    s->bandwidth_Bps = ESPI_ARENA_NEW(s->arena, double, prog->n_streams);
    if (!send_s || !s->bytes || !s->latency_s || !s->lag_s || !s->bandwidth_Bps)
        return -1;
    for (int i = 0; i < prog->n_streams; i++) {
        const struct espi_stream *stream = &prog->streams[i];
        double latency_s = 0, bandwidth_Bps = INFINITY;
        for (int k = 0; k < stream->n_hops; k++) {
            int link = s->hops[stream->first_hop + k];
            latency_s += s->reality->latency_s[link];
            bandwidth_Bps = fmin(bandwidth_Bps, s->reality->bandwidth_Bps[link]);
        }
        int pieces = espi_stream_pieces(prog, i);
        double overhead_s = send_s[stream->from];
        s->bytes[i] = pieces * s->slice_bytes;
        if (pieces > 1 && s->reality->model == ESP_MODEL_MULTI_PORT)
            overhead_s =
                espi_send_overhead_s(s->reality, s->node[stream->from], s->bytes[i]);
        s->latency_s[i] = overhead_s + latency_s;
        s->bandwidth_Bps[i] = bandwidth_Bps;
        s->lag_s[i] = s->latency_s[i] + s->bytes[i] / bandwidth_Bps;
    }
    return 0;
}

/* Adds the uses of one link to those of the stream, which start at `first`. */
static int add_uses(struct espi_sim *s, int stream, int link, int first, int at)
{
    const struct espi_resources *r = &s->links;
    for (int u = r->start[link]; u < r->start[link + 1]; u++) {
        int x = first;
        while (x < at && s->use_resource[x] != r->resource[u])
            x++;
        if (x == at) {
            s->use_resource[at] = r->resource[u];
            s->use_s[at++] = 0;
        }
        s->use_s[x] += s->bytes[stream] == s->slice_bytes
                           ? r->time_s[u]
                           : espi_use_time_s(r, s->reality, link, u, s->bytes[stream]);
    }
    return at;
}

/* The uses of a stream: those of its links, times of equal resources added up. */
static int list_uses(struct espi_sim *s)
{
    const struct espi_program *prog = s->prog;
    const struct espi_resources *r = &s->links;
    size_t most = 0;
    for (int i = 0; i < prog->n_streams; i++)
        for (int k = 0; k < prog->streams[i].n_hops; k++) {
            int link = s->hops[prog->streams[i].first_hop + k];
            most += (size_t)(r->start[link + 1] - r->start[link]);
        }
    s->use_start = ESPI_ARENA_NEW(s->arena, int, (size_t)prog->n_streams + 1);
    s->use_resource = ESPI_ARENA_NEW(s->arena, int, most);
    s->use_s = ESPI_ARENA_NEW(s->arena, double, most);
    if (!s->use_start || !s->use_resource || !s->use_s)
        return -1;
    int at = 0;
    for (int i = 0; i < prog->n_streams; i++) {
        int first = s->use_start[i] = at;
        for (int k = 0; k < prog->streams[i].n_hops; k++)
            at = add_uses(s, i, s->hops[prog->streams[i].first_hop + k], first, at);
    }
    s->use_start[prog->n_streams] = at;
    return 0;
}

/* ---- rates that change ---- */

/* Changes at the same time stay in their order: the last one counts. */
static int by_time(const void *a, const void *b, void *changes)
{
    const struct esp_rate_change *all = changes;
    int x = *(const int *)a, y = *(const int *)b;
    if (all[x].at_s != all[y].at_s)
        return all[x].at_s < all[y].at_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

static struct espi_rate_changes *rate_of(struct espi_sim *s,
                                         const struct esp_rate_change *c)
{
    return c->is_cable ? &s->cable_rate[c->id] : &s->link_rate[c->id];
}

/* Memory for n values of a rate, taken when its first one comes. */
static int rate_room(struct espi_sim *s, struct espi_rate_changes *rate, int n)
{
    rate->at_s = ESPI_ARENA_NEW(s->arena, double, n);
    rate->factor = ESPI_ARENA_NEW(s->arena, double, n);
    return rate->at_s && rate->factor ? 0 : -1;
}

/* Deals the changes, in the order of time, to their links and cables. */
static int deal_changes(struct espi_sim *s)
{
    const struct esp_rate_change *changes = s->options->changes;
    int n = s->options->n_changes;
    int *order = ESPI_ARENA_NEW(s->arena, int, n);
    if (!order)
        return -1;
    for (int i = 0; i < n; i++) {
        order[i] = i;
        rate_of(s, &changes[i])->n++; /* how many there will be */
    }
    qsort_r(order, (size_t)n, sizeof *order, by_time, (void *)changes);
    for (int i = 0; i < n; i++) {
        const struct esp_rate_change *c = &changes[order[i]];
        struct espi_rate_changes *rate = rate_of(s, c);
        if (!rate->at_s) {
            if (rate_room(s, rate, rate->n))
                return -1;
            rate->n = 0;
        }
        rate->at_s[rate->n] = c->at_s;
        rate->factor[rate->n++] = c->factor;
    }
    return 0;
}

static esp_status check_change(const struct espi_sim *s, int i, struct esp_err *err)
{
    const struct esp_rate_change *c = &s->options->changes[i];
    int n = c->is_cable ? s->reality->n_shared : s->reality->n_links;
    if (c->id < 0 || c->id >= n)
        return espi_err(err, ESP_EUSAGE, "change %d: no %s %d", i,
                        c->is_cable ? "cable" : "link", c->id);
    if (!(c->at_s >= 0) || !(c->factor >= 0 && isfinite(c->factor)))
        return espi_err(err, ESP_EUSAGE,
                        "change %d: time and factor must be finite and not negative", i);
    return ESP_OK;
}

static esp_status note_changes(struct espi_sim *s, struct esp_err *err)
{
    int n = s->options->n_changes;
    if (n <= 0)
        return ESP_OK;
    s->link_rate =
        ESPI_ARENA_ZNEW(s->arena, struct espi_rate_changes, s->reality->n_links);
    s->cable_rate =
        ESPI_ARENA_ZNEW(s->arena, struct espi_rate_changes, s->reality->n_shared);
    s->varies = ESPI_ARENA_ZNEW(s->arena, unsigned char, s->prog->n_streams);
    if (!s->link_rate || !s->cable_rate || !s->varies)
        return espi_err_nomem(err);
    for (int i = 0; i < n; i++) {
        esp_status st = check_change(s, i, err);
        if (st)
            return st;
    }
    return deal_changes(s) ? espi_err_nomem(err) : ESP_OK;
}

static int link_varies(const struct espi_sim *s, int link)
{
    const struct esp_platform *p = s->reality;
    if (s->link_rate[link].n)
        return 1;
    if (p->n_shared)
        for (int k = p->link_shared.start[link]; k < p->link_shared.start[link + 1]; k++)
            if (s->cable_rate[p->link_shared.item[k]].n)
                return 1;
    return 0;
}

static void note_varying(struct espi_sim *s)
{
    if (!s->varies)
        return;
    for (int i = 0; i < s->prog->n_streams; i++)
        for (int k = 0; k < s->prog->streams[i].n_hops; k++)
            s->varies[i] |=
                (unsigned char)link_varies(s, s->hops[s->prog->streams[i].first_hop + k]);
}

double espi_rate_at(const struct espi_rate_changes *rate, double at_s, double *until_s)
{
    int low = 0, high = rate->n; /* changes before low have happened, from high on not */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rate->at_s[middle] > at_s)
            high = middle;
        else
            low = middle + 1;
    }
    if (low < rate->n)
        *until_s = fmin(*until_s, rate->at_s[low]);
    return low > 0 ? rate->factor[low - 1] : 1;
}

/* The stream's bandwidth at a time: its slowest link or cable. */
static double bandwidth_at(const struct espi_sim *s, int stream, double at_s,
                           double *until_s)
{
    const struct esp_platform *p = s->reality;
    const struct espi_stream *st = &s->prog->streams[stream];
    double least = INFINITY;
    for (int h = 0; h < st->n_hops; h++) {
        int link = s->hops[st->first_hop + h];
        least = fmin(least, p->bandwidth_Bps[link] *
                                espi_rate_at(&s->link_rate[link], at_s, until_s));
        if (!p->n_shared)
            continue;
        for (int k = p->link_shared.start[link]; k < p->link_shared.start[link + 1];
             k++) {
            int cable = p->link_shared.item[k];
            if (s->cable_rate[cable].n)
                least =
                    fmin(least, p->shared_Bps[cable] *
                                    espi_rate_at(&s->cable_rate[cable], at_s, until_s));
        }
    }
    return least;
}

double espi_sim_carry_s(const struct espi_sim *s, int stream, double start_s,
                        double *silent_s)
{
    double until_s = INFINITY, silent = INFINITY;
    *silent_s = INFINITY;
    if (!s->varies || !s->varies[stream])
        return start_s + s->lag_s[stream];
    if (!(bandwidth_at(s, stream, start_s, &until_s) > 0))
        silent = start_s;
    double at_s = start_s + s->latency_s[stream], left = s->bytes[stream];
    for (;;) {
        until_s = INFINITY;
        double rate = bandwidth_at(s, stream, at_s, &until_s);
        if (rate > 0 && at_s + left / rate <= until_s)
            return at_s + left / rate;
        silent = rate > 0 ? INFINITY : fmin(silent, at_s);
        if (!isfinite(until_s)) {
            *silent_s = silent;
            return INFINITY;
        }
        left -= rate * (until_s - at_s);
        at_s = until_s;
    }
}

double espi_sim_arrival_s(const struct espi_sim *s, int stream, double start_s)
{
    double silent_s;
    return espi_sim_carry_s(s, stream, start_s, &silent_s);
}

/* ---- all of it ---- */

static int make_results(struct espi_sim *s)
{
    int n = s->prog->n_ranks;
    s->busy_s = ESPI_ARENA_ZNEW(s->arena, double, s->links.n);
    s->delivered_s = ESPI_ARENA_NEW(s->arena, double, n);
    s->kept = ESPI_ARENA_ZNEW(s->arena, int64_t, n);
    if (!s->busy_s || !s->delivered_s || !s->kept)
        return -1;
    for (int r = 0; r < n; r++)
        s->delivered_s[r] = s->prog->expects[r] > 0 ? INFINITY : 0;
    return 0;
}

esp_status espi_sim_init(struct espi_sim *sim, const struct espi_program *prog,
                         const struct esp_sim_options *options, struct espi_arena *arena,
                         struct esp_err *err)
{
    memset(sim, 0, sizeof *sim);
    sim->prog = prog;
    sim->options = options;
    sim->reality = options->reality ? options->reality : prog->p;
    sim->arena = arena;
    sim->slice_bytes = prog->size_bytes / (double)prog->n_slices;
    esp_status st = find_nodes(sim, err);
    if (!st)
        st = note_stops(sim, err);
    if (!st)
        st = find_links(sim, err);
    if (!st && (espi_resources_init(&sim->links, sim->reality, sim->slice_bytes, arena) ||
                time_streams(sim) || list_uses(sim) || make_results(sim)))
        st = espi_err_nomem(err);
    if (!st)
        st = note_changes(sim, err);
    if (!st)
        note_varying(sim);
    return st;
}
