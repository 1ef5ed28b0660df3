#include "platform/view.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "graph/dijkstra.h"

/* limit: more pairs of hosts than this are not a platform but a mistake (and 8 GB). */
enum { MAX_ARCS = 1 << 27 };

static int number_hosts(struct espi_view *v, struct espi_arena *a)
{
    const struct esp_platform *p = v->p;
    int n = 0;
    v->node = ESPI_ARENA_NEW(a, int, p->n_hosts);
    v->host = ESPI_ARENA_NEW(a, int, p->n_nodes);
    if (!v->node || !v->host)
        return -1;
    for (int i = 0; i < p->n_nodes; i++) {
        v->host[i] = espi_is_switch(p, i) ? -1 : n;
        if (v->host[i] >= 0)
            v->node[n++] = i;
    }
    return 0;
}

/* No switches: arcs are links, and share their arrays. */
static int arcs_are_links(struct espi_view *v, struct espi_arena *a)
{
    const struct esp_platform *p = v->p;
    int m = p->n_links;
    v->g = (struct espi_digraph){p->n_nodes, m, p->tail, p->head, p->out, p->in};
    v->latency_s = p->latency_s;
    v->bandwidth_Bps = p->bandwidth_Bps;
    v->hop_start = ESPI_ARENA_NEW(a, int, (size_t)m + 1);
    v->hops = ESPI_ARENA_NEW(a, int, m);
    v->time_s = ESPI_ARENA_NEW(a, double, m);
    if (!v->hop_start || !v->hops || !v->time_s)
        return -1;
    for (int e = 0; e < m; e++) {
        v->hop_start[e] = v->hops[e] = e;
        v->time_s[e] = espi_link_time_s(p, e, v->slice_bytes);
    }
    v->hop_start[m] = m;
    v->use_start = v->links.start;
    v->use_resource = v->links.resource;
    v->use_s = v->links.time_s;
    return 0;
}

/* ---- with switches: shortest paths between hosts ---- */

struct closure {
    struct espi_view *v;
    struct espi_arena *arena;
    struct espi_digraph links;
    struct espi_dijkstra work;
    double *weight, *distance;
    int *last_arc;
    unsigned char *is_switch;
    /* what is found */
    int m;
    int64_t n_hops;
    int *tail, *head, *start, *hops;
};

/* Links on the path that Dijkstra found from `from` to node `to`. */
static int path_length(const struct closure *c, const int *last_arc, int from, int to)
{
    int length = 0;
    for (int x = to; x != from; x = c->v->p->tail[last_arc[x]])
        length++;
    return length;
}

static void add_path(struct closure *c, const int *last_arc, int from, int to)
{
    const struct esp_platform *p = c->v->p;
    c->tail[c->m] = c->v->host[from];
    c->head[c->m] = c->v->host[to];
    c->start[c->m] = (int)c->n_hops;
    c->n_hops += path_length(c, last_arc, from, to);
    int at = (int)c->n_hops;
    for (int x = to; x != from; x = p->tail[last_arc[x]])
        c->hops[--at] = last_arc[x];
    c->start[++c->m] = (int)c->n_hops;
}

static int closure_init(struct closure *c)
{
    const struct esp_platform *p = c->v->p;
    struct espi_arena *a = c->arena;
    c->links =
        (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    c->weight = ESPI_ARENA_NEW(a, double, p->n_links);
    c->distance = ESPI_ARENA_NEW(a, double, p->n_nodes);
    c->is_switch = ESPI_ARENA_NEW(a, unsigned char, p->n_nodes);
    c->last_arc = ESPI_NEW(int, (size_t)p->n_hosts *(size_t)p->n_nodes);
    if (!c->weight || !c->distance || !c->last_arc || !c->is_switch ||
        espi_dijkstra_init(&c->work, p->n_nodes, a))
        return -1;
    for (int e = 0; e < p->n_links; e++)
        c->weight[e] = espi_link_time_s(p, e, c->v->slice_bytes);
    for (int i = 0; i < p->n_nodes; i++)
        c->is_switch[i] = (unsigned char)espi_is_switch(p, i);
    return 0;
}

static int *last_arcs(const struct closure *c, int host)
{
    return c->last_arc + (size_t)host * (size_t)c->v->p->n_nodes;
}

/* The shortest paths of one host to the others, whose last arcs are -1 where there is
 * none. */
static void find_paths(struct closure *c, int host)
{
    const struct espi_view *v = c->v;
    int from = v->node[host], *last = last_arcs(c, host);
    struct espi_dijkstra_query q = {c->weight, &from, 1, c->is_switch};
    espi_dijkstra(&c->work, &c->links, &q, c->distance, last);
    for (int h = 0; h < v->p->n_hosts; h++) {
        int to = v->node[h];
        if (h == host || !isfinite(c->distance[to])) {
            last[to] = -1;
            continue;
        }
        c->m++;
        c->n_hops += path_length(c, last, from, to);
    }
}

/* A direct link stands beside no path through switches: the cheaper of the two is taken,
 * which is what shortest paths do. */
static esp_status count_paths(struct closure *c, struct esp_err *err)
{
    for (int h = 0; h < c->v->p->n_hosts; h++) {
        find_paths(c, h);
        if (c->m >= MAX_ARCS || c->n_hops > INT32_MAX)
            return espi_err(err, ESP_EUNSUPPORTED,
                            "too many pairs of hosts are joined through switches");
    }
    return ESP_OK;
}

/* They are counted first: arrays of millions of arcs are of the right size at once. */
static int list_paths(struct closure *c)
{
    const struct espi_view *v = c->v;
    c->tail = ESPI_ARENA_NEW(c->arena, int, c->m);
    c->head = ESPI_ARENA_NEW(c->arena, int, c->m);
    c->start = ESPI_ARENA_NEW(c->arena, int, (size_t)c->m + 1);
    c->hops = ESPI_ARENA_NEW(c->arena, int, (size_t)c->n_hops);
    if (!c->tail || !c->head || !c->start || !c->hops)
        return -1;
    c->m = 0;
    c->n_hops = c->start[0] = 0;
    for (int h = 0; h < v->p->n_hosts; h++)
        for (int to = 0; to < v->p->n_nodes; to++)
            if (v->host[to] >= 0 && last_arcs(c, h)[to] >= 0)
                add_path(c, last_arcs(c, h), v->node[h], to);
    return 0;
}

/* Uses of an arc: those of its links, the times of equal resources added up. */
static int gather_uses(struct espi_view *v, struct espi_arena *a)
{
    const struct espi_resources *r = &v->links;
    size_t most = 0;
    for (int k = 0; k < v->hop_start[v->g.m]; k++)
        most += (size_t)(r->start[v->hops[k] + 1] - r->start[v->hops[k]]);
    v->use_start = ESPI_ARENA_NEW(a, int, (size_t)v->g.m + 1);
    v->use_resource = ESPI_ARENA_NEW(a, int, most);
    v->use_s = ESPI_ARENA_NEW(a, double, most);
    int *last_use = ESPI_ARENA_NEW(a, int, r->n);
    if (!v->use_start || !v->use_resource || !v->use_s || !last_use || most > INT32_MAX)
        return -1;
    for (int i = 0; i < r->n; i++)
        last_use[i] = -1;
    int at = 0;
    for (int e = 0; e < v->g.m; e++) {
        v->use_start[e] = at;
        for (int h = v->hop_start[e]; h < v->hop_start[e + 1]; h++)
            for (int k = r->start[v->hops[h]]; k < r->start[v->hops[h] + 1]; k++) {
                int resource = r->resource[k];
                if (last_use[resource] < v->use_start[e]) {
                    last_use[resource] = at;
                    v->use_resource[at] = resource;
                    v->use_s[at++] = 0;
                }
                v->use_s[last_use[resource]] += r->time_s[k];
            }
    }
    v->use_start[v->g.m] = at;
    return 0;
}

/* A slice goes through switches without being stored: latencies add up, the slowest link
 * sets the pace. */
static int measure_arcs(struct espi_view *v, struct espi_arena *a)
{
    int m = v->g.m;
    v->time_s = ESPI_ARENA_NEW(a, double, m);
    v->latency_s = ESPI_ARENA_NEW(a, double, m);
    v->bandwidth_Bps = ESPI_ARENA_NEW(a, double, m);
    if (!v->time_s || !v->latency_s || !v->bandwidth_Bps)
        return -1;
    for (int e = 0; e < m; e++) {
        double latency_s = 0, bandwidth_Bps = INFINITY;
        for (int k = v->hop_start[e]; k < v->hop_start[e + 1]; k++) {
            latency_s += v->p->latency_s[v->hops[k]];
            bandwidth_Bps = fmin(bandwidth_Bps, v->p->bandwidth_Bps[v->hops[k]]);
        }
        v->latency_s[e] = latency_s;
        v->bandwidth_Bps[e] = bandwidth_Bps;
        v->time_s[e] = latency_s + v->slice_bytes / bandwidth_Bps;
    }
    return 0;
}

static esp_status close_over_switches(struct closure *c, struct esp_err *err)
{
    struct espi_view *v = c->v;
    if (closure_init(c))
        return espi_err_nomem(err);
    esp_status st = count_paths(c, err);
    if (st)
        return st;
    if (list_paths(c))
        return espi_err_nomem(err);
    v->hop_start = c->start;
    v->hops = c->hops;
    if (espi_digraph_init(&v->g, v->p->n_hosts, c->m, c->tail, c->head, c->arena) ||
        measure_arcs(v, c->arena) || gather_uses(v, c->arena))
        return espi_err_nomem(err);
    return ESP_OK;
}

static esp_status arcs_through_switches(struct espi_view *v, struct espi_arena *a,
                                        struct esp_err *err)
{
    struct closure c = {.v = v, .arena = a};
    esp_status st = close_over_switches(&c, err);
    espi_free(c.last_arc);
    return st;
}

/* Time of a slice over a stretch of links with only switches between. */
static double stretch_time_s(const struct esp_platform *p, double slice_bytes,
                             const int *hops, int n_hops)
{
    double latency_s = 0, bandwidth_Bps = INFINITY;
    for (int k = 0; k < n_hops; k++) {
        latency_s += p->latency_s[hops[k]];
        bandwidth_Bps = fmin(bandwidth_Bps, p->bandwidth_Bps[hops[k]]);
    }
    return latency_s + slice_bytes / bandwidth_Bps;
}

static double overhead_s(const struct esp_platform *p, int node, double slice_bytes)
{
    if (p->model != ESP_MODEL_MULTI_PORT)
        return 0;
    return espi_send_overhead_s(p, node, slice_bytes);
}

/* How long a send over a link keeps its sender, a host, from the next. */
static double link_hold_s(const struct esp_platform *p, int link, double slice_bytes)
{
    switch (p->model) {
    case ESP_MODEL_CAPACITY:
        return 0;
    case ESP_MODEL_MULTI_PORT:
        return espi_send_overhead_s(p, p->tail[link], slice_bytes);
    case ESP_MODEL_HNOW:
        return espi_hold_s(p, p->tail[link], slice_bytes);
    default:
        return espi_link_time_s(p, link, slice_bytes);
    }
}

struct espi_path_time espi_path_time(const struct esp_platform *p, double slice_bytes,
                                     const int *hops, int n_hops)
{
    struct espi_path_time t = {0, 0};
    for (int first = 0, k = 1; k <= n_hops; k++) {
        if (k < n_hops && espi_is_switch(p, p->tail[hops[k]]))
            continue;
        t.lag_s += overhead_s(p, p->tail[hops[first]], slice_bytes) +
                   stretch_time_s(p, slice_bytes, hops + first, k - first);
        first = k;
    }
    t.hold_s = link_hold_s(p, hops[0], slice_bytes);
    return t;
}

/* What espi_path_time says of each arc; overheads are looked up once a host, not once an
 * arc, since a look-up may scan the host's links. */
static int time_sends(struct espi_view *v, struct espi_arena *a)
{
    const struct esp_platform *p = v->p;
    int by_host = p->model == ESP_MODEL_MULTI_PORT || p->model == ESP_MODEL_HNOW;
    double *hold_s = ESPI_ARENA_ZNEW(a, double, p->n_hosts);
    v->send_s = ESPI_ARENA_ZNEW(a, double, p->n_hosts);
    v->hold_s = ESPI_ARENA_NEW(a, double, v->g.m);
    v->lag_s = ESPI_ARENA_NEW(a, double, v->g.m);
    if (!hold_s || !v->send_s || !v->hold_s || !v->lag_s)
        return -1;
    for (int h = 0; h < p->n_hosts; h++) {
        v->send_s[h] = overhead_s(p, v->node[h], v->slice_bytes);
        hold_s[h] = p->model == ESP_MODEL_HNOW
                        ? espi_hold_s(p, v->node[h], v->slice_bytes)
                        : v->send_s[h];
    }
    for (int e = 0; e < v->g.m; e++) {
        v->lag_s[e] = v->send_s[v->g.tail[e]] + v->time_s[e];
        v->hold_s[e] = by_host ? hold_s[v->g.tail[e]]
                               : link_hold_s(p, v->hops[v->hop_start[e]], v->slice_bytes);
    }
    return 0;
}

esp_status espi_view_init(struct espi_view *v, const struct esp_platform *p,
                          double slice_bytes, struct espi_arena *arena,
                          struct esp_err *err)
{
    memset(v, 0, sizeof *v);
    v->p = p;
    v->slice_bytes = slice_bytes;
    if (!(slice_bytes > 0 && isfinite(slice_bytes)))
        return espi_err(err, ESP_EUSAGE, "a slice needs a positive size");
    if (number_hosts(v, arena) || espi_resources_init(&v->links, p, slice_bytes, arena))
        return espi_err_nomem(err);
    esp_status st = ESP_OK;
    if (p->n_hosts < p->n_nodes)
        st = arcs_through_switches(v, arena, err);
    else if (arcs_are_links(v, arena))
        st = espi_err_nomem(err);
    if (!st && time_sends(v, arena))
        st = espi_err_nomem(err);
    return st;
}

/* ---- a source for all hosts ---- */

/* Rows of uses with n more, each of one use of a resource of its own. */
static int add_uses(const int *start, const int *resource, const double *time_s, int m,
                    int n, int first_resource, struct espi_arena *a, int **start_out,
                    int **resource_out, double **time_out)
{
    int old = start[m];
    *start_out = ESPI_ARENA_NEW(a, int, (size_t)m + (size_t)n + 1);
    *resource_out = ESPI_ARENA_NEW(a, int, (size_t)old + (size_t)n);
    *time_out = ESPI_ARENA_NEW(a, double, (size_t)old + (size_t)n);
    if (!*start_out || !*resource_out || !*time_out)
        return -1;
    memcpy(*start_out, start, ((size_t)m + 1) * sizeof *start);
    memcpy(*resource_out, resource, (size_t)old * sizeof *resource);
    memcpy(*time_out, time_s, (size_t)old * sizeof *time_s);
    for (int h = 0; h < n; h++) {
        (*start_out)[m + h + 1] = old + h + 1;
        (*resource_out)[old + h] = first_resource + h;
    }
    return 0;
}

int espi_view_add_source(const struct espi_view *v, double use_s,
                         struct espi_arena *arena, struct espi_view *out)
{
    struct espi_view x = *v;
    int n = v->g.n, m = v->g.m, links = v->p->n_links, switched = n < v->p->n_nodes;
    int *tail = ESPI_ARENA_NEW(arena, int, (size_t)m + (size_t)n);
    int *head = ESPI_ARENA_NEW(arena, int, (size_t)m + (size_t)n);
    if (!tail || !head ||
        add_uses(v->links.start, v->links.resource, v->links.time_s, links, n, v->links.n,
                 arena, &x.links.start, &x.links.resource, &x.links.time_s))
        return -1;
    x.use_start = x.links.start;
    x.use_resource = x.links.resource;
    x.use_s = x.links.time_s;
    if (switched && add_uses(v->use_start, v->use_resource, v->use_s, m, n, v->links.n,
                             arena, &x.use_start, &x.use_resource, &x.use_s))
        return -1;
    memcpy(tail, v->g.tail, (size_t)m * sizeof *tail);
    memcpy(head, v->g.head, (size_t)m * sizeof *head);
    for (int h = 0; h < n; h++) {
        tail[m + h] = n;
        head[m + h] = h;
    }
    if (espi_digraph_init(&x.g, n + 1, m + n, tail, head, arena))
        return -1;
    x.links.n += n;
    x.n_sources = n;
    espi_view_set_source(&x, use_s);
    *out = x;
    return 0;
}

void espi_view_set_source(struct espi_view *v, double use_s)
{
    int n = v->n_sources, links = v->links.start[v->p->n_links + n];
    int uses = v->use_start[v->g.m];
    for (int h = 1; h <= n; h++) {
        v->links.time_s[links - h] = use_s;
        v->use_s[uses - h] = use_s;
    }
}
