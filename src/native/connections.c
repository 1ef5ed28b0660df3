#include "native/connections.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "graph/dijkstra.h"
#include "graph/parallel_arcs.h"

/* Routes are those of packets. */
#define PACKET_BYTES 1500 /* published: the largest payload of Ethernet */

struct routing {
    struct espi_rank_connections *c;
    const struct esp_platform *p;
    struct espi_arena *arena;
    struct espi_digraph g;
    struct espi_dijkstra work;
    double *weight, *distance;
    int *last_arc;
    int source; /* the node whose distances are known; -1 */
    int *hop_start, *hops;
    size_t n_hops, room;
};

/* ---- who sends to whom ---- */

static int list_connections(struct espi_rank_connections *c, const struct espi_script *s,
                            struct espi_arena *arena)
{
    struct espi_parallel_arc *arc = ESPI_ARENA_NEW(arena, struct espi_parallel_arc, s->n);
    struct espi_parallel_arcs pairs;
    int n = 0;
    c->of_call = ESPI_ARENA_NEW(arena, int, s->n);
    if (!arc || !c->of_call)
        return -1;
    for (int r = 0; r < s->n_ranks; r++)
        for (int k = s->start[r]; k < s->start[r + 1]; k++) {
            c->of_call[k] = -1;
            if (s->call[k].kind == ESPI_ISEND)
                arc[n++] = (struct espi_parallel_arc){r, s->call[k].other, k};
        }
    if (espi_parallel_arcs_init(&pairs, arc, n, s->n_ranks, arena))
        return -1;
    c->n = pairs.n;
    c->from = ESPI_ARENA_NEW(arena, int, c->n);
    c->to = ESPI_ARENA_NEW(arena, int, c->n);
    if (!c->from || !c->to)
        return -1;
    for (int i = 0; i < c->n; i++) {
        c->from[i] = arc[pairs.start[i]].from;
        c->to[i] = arc[pairs.start[i]].to;
        for (int k = pairs.start[i]; k < pairs.start[i + 1]; k++)
            c->of_call[pairs.id[k]] = i;
    }
    return 0;
}

/* ---- over which links ---- */

static void place_ranks(struct routing *x, const int *nodes)
{
    for (int u = 0, rank = 0; u < x->p->n_nodes; u++)
        if (!espi_is_switch(x->p, u)) {
            x->c->node[rank] = nodes ? nodes[rank] : u;
            rank++;
        }
}

static int routing_init(struct routing *x, const int *nodes)
{
    const struct esp_platform *p = x->p;
    x->c->node = ESPI_ARENA_NEW(x->arena, int, p->n_hosts);
    x->weight = ESPI_ARENA_NEW(x->arena, double, p->n_links);
    x->distance = ESPI_ARENA_NEW(x->arena, double, p->n_nodes);
    x->last_arc = ESPI_ARENA_NEW(x->arena, int, p->n_nodes);
    x->hop_start = ESPI_ARENA_ZNEW(x->arena, int, (size_t)x->c->n + 1);
    if (!x->c->node || !x->weight || !x->distance || !x->last_arc || !x->hop_start ||
        espi_dijkstra_init(&x->work, p->n_nodes, x->arena))
        return -1;
    x->g = (struct espi_digraph){p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    x->source = -1;
    for (int e = 0; e < p->n_links; e++)
        x->weight[e] = espi_link_time_s(p, e, PACKET_BYTES);
    place_ranks(x, nodes);
    return 0;
}

/* Shortest paths from a node; those of the last one are kept. */
static void find_paths(struct routing *x, int from)
{
    struct espi_dijkstra_query q = {x->weight, &from, 1, NULL};
    if (x->source != from)
        espi_dijkstra(&x->work, &x->g, &q, x->distance, x->last_arc);
    x->source = from;
}

/* Adds the hops from node to node; -1 when out of memory. The path must be there. */
static int add_hops(struct routing *x, int from, int to)
{
    int link = esp_platform_find_link(x->p, from, to), length = 0;
    for (int u = to; link < 0 && u != from; u = x->p->tail[x->last_arc[u]])
        length++;
    length = link < 0 ? length : 1;
    if (espi_arena_grow_ints(x->arena, &x->hops, x->n_hops, (size_t)length, &x->room))
        return -1;
    x->n_hops += (size_t)length;
    if (link >= 0)
        x->hops[x->n_hops - 1] = link;
    for (int u = to, k = 1; link < 0 && u != from; u = x->p->tail[x->last_arc[u]])
        x->hops[x->n_hops - (size_t)k++] = x->last_arc[u];
    return 0;
}

static esp_status route_connection(struct routing *x, int i, struct esp_err *err)
{
    int from = x->c->node[x->c->from[i]], to = x->c->node[x->c->to[i]];
    char a[64], b[64];
    if (esp_platform_find_link(x->p, from, to) < 0) {
        find_paths(x, from);
        if (!isfinite(x->distance[to]))
            return espi_err(err, ESP_EUNSUPPORTED, "no path leads from %s to %s",
                            espi_quote(a, sizeof a, espi_node_name(x->p, from)),
                            espi_quote(b, sizeof b, espi_node_name(x->p, to)));
    }
    if (add_hops(x, from, to))
        return espi_err_nomem(err);
    x->hop_start[i + 1] = (int)x->n_hops;
    return ESP_OK;
}

/* The latency of a connection's path; of the way back, that of the link back where there
 * is one, else the same. */
static int time_connections(struct routing *x)
{
    struct espi_rank_connections *c = x->c;
    c->latency_s = ESPI_ARENA_ZNEW(x->arena, double, c->n);
    c->back_s = ESPI_ARENA_NEW(x->arena, double, c->n);
    if (!c->latency_s || !c->back_s)
        return -1;
    for (int i = 0; i < c->n; i++) {
        for (int k = x->hop_start[i]; k < x->hop_start[i + 1]; k++)
            c->latency_s[i] += x->p->latency_s[x->hops[k]];
        int back = esp_platform_find_link(x->p, c->node[c->to[i]], c->node[c->from[i]]);
        c->back_s[i] = back >= 0 ? x->p->latency_s[back] : c->latency_s[i];
    }
    return 0;
}

/* ---- what that uses ---- */

/* As the fluid simulator has it (sim/fluid.c). */
static double use_part(const struct routing *x, int link, int resource)
{
    int owner;
    espi_resource_kind kind = espi_resource_kind_of(&x->c->links, resource, &owner);
    if (kind == ESPI_CABLE)
        return 1 / x->p->shared_Bps[owner];
    if (kind != ESPI_LINK && x->p->model == ESP_MODEL_MULTI_PORT)
        return 0;
    return 1 / x->p->bandwidth_Bps[link];
}

static int add_link_uses(struct routing *x, int link, int first, int at)
{
    struct espi_rank_connections *c = x->c;
    for (int u = c->links.start[link]; u < c->links.start[link + 1]; u++) {
        int resource = c->links.resource[u], k = first;
        while (k < at && c->use_resource[k] != resource)
            k++;
        if (k == at) {
            c->use_resource[at] = resource;
            c->use_part[at++] = 0;
        }
        c->use_part[k] += use_part(x, link, resource);
    }
    return at;
}

static int list_connection_uses(struct routing *x)
{
    struct espi_rank_connections *c = x->c;
    size_t most = 0;
    int at = 0;
    if (espi_resources_init(&c->links, x->p, 1, x->arena))
        return -1;
    for (size_t k = 0; k < x->n_hops; k++)
        most += (size_t)(c->links.start[x->hops[k] + 1] - c->links.start[x->hops[k]]);
    c->use_start = ESPI_ARENA_ZNEW(x->arena, int, (size_t)c->n + 1);
    c->use_resource = ESPI_ARENA_NEW(x->arena, int, most);
    c->use_part = ESPI_ARENA_NEW(x->arena, double, most);
    if (!c->use_start || !c->use_resource || !c->use_part)
        return -1;
    for (int i = 0; i < c->n; i++) {
        int first = at;
        for (int k = x->hop_start[i]; k < x->hop_start[i + 1]; k++)
            at = add_link_uses(x, x->hops[k], first, at);
        c->use_start[i + 1] = at;
    }
    return 0;
}

esp_status espi_rank_connections_init(struct espi_rank_connections *c,
                                      const struct esp_platform *p,
                                      const struct espi_script *s, const int *nodes,
                                      struct espi_arena *arena, struct esp_err *err)
{
    struct routing x = {.c = c, .p = p, .arena = arena};
    memset(c, 0, sizeof *c);
    if (p->model == ESP_MODEL_HNOW)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "in the hnow model processors work on one message at a time: "
                        "what MPI libraries do is not simulated there");
    if (s->n_ranks > p->n_hosts)
        return espi_err(err, ESP_EUNSUPPORTED, "%d ranks do not fit on %d hosts",
                        s->n_ranks, p->n_hosts);
    if (list_connections(c, s, arena) || routing_init(&x, nodes))
        return espi_err_nomem(err);
    for (int i = 0; i < c->n; i++) {
        esp_status st = route_connection(&x, i, err);
        if (st)
            return st;
    }
    return time_connections(&x) || list_connection_uses(&x) ? espi_err_nomem(err)
                                                            : ESP_OK;
}
