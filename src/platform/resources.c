#include "platform/resources.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"

static double per_byte_s(double Bps, double bytes)
{
    return Bps > 0 ? bytes / Bps : 0;
}

/* published: 0.8 of the time of the fastest of the node's links, 0 if there is none. */
static double standard_s(const struct esp_platform *p, const struct espi_rows *links,
                         int node, double bytes)
{
    double least = INFINITY;
    for (int k = links->start[node]; k < links->start[node + 1]; k++)
        least = fmin(least, espi_link_time_s(p, links->item[k], bytes));
    return isfinite(least) ? 0.8 * least : 0; /* published: Beaumont et al. */
}

double espi_send_overhead_s(const struct esp_platform *p, int node, double slice_bytes)
{
    if (p->send_s[node] != ESP_UNSET)
        return p->send_s[node] +
               per_byte_s(p->rates ? p->rates[node].send_Bps : 0, slice_bytes);
    return standard_s(p, &p->out, node, slice_bytes);
}

double espi_recv_overhead_s(const struct esp_platform *p, int node, double bytes)
{
    if (p->recv_s[node] != ESP_UNSET)
        return p->recv_s[node] +
               per_byte_s(p->rates ? p->rates[node].recv_Bps : 0, bytes);
    return standard_s(p, &p->in, node, bytes);
}

double espi_hold_s(const struct esp_platform *p, int node, double bytes)
{
    double send_s = espi_send_overhead_s(p, node, bytes);
    if (!p->rates)
        return send_s;
    return fmax(send_s,
                p->rates[node].hold_s + per_byte_s(p->rates[node].hold_Bps, bytes));
}

struct filler {
    struct espi_resources *r;
    const struct esp_platform *p;
    double slice_bytes;
    const double *overhead_s; /* of nodes, multi-port and hnow only */
    const double *recv_s;     /* hnow only */
    int at;
};

static void add_use(struct filler *f, int resource, double time_s)
{
    f->r->resource[f->at] = resource;
    f->r->time_s[f->at++] = time_s;
}

/* The processors, and the interface where it may be what limits. */
static void use_processors(struct filler *f, int e)
{
    const struct esp_platform *p = f->p;
    int u = p->tail[e], v = p->head[e];
    if (!espi_is_switch(p, u))
        add_use(f, u, f->overhead_s[u]);
    if (!espi_is_switch(p, v))
        add_use(f, v, f->recv_s[v]);
    if (!espi_is_switch(p, u) && p->rates &&
        (p->rates[u].hold_s > 0 || p->rates[u].hold_Bps > 0))
        add_use(f, f->r->first_recv + u, espi_hold_s(p, u, f->slice_bytes));
}

/* The ports and the link, by model. */
static void use_by_model(struct filler *f, int e)
{
    const struct esp_platform *p = f->p;
    int u = p->tail[e], v = p->head[e];
    int u_port = !espi_is_switch(p, u), v_port = !espi_is_switch(p, v);
    double t = espi_link_time_s(p, e, f->slice_bytes);
    switch (p->model) {
    case ESP_MODEL_ONE_PORT:
    case ESP_MODEL_HALF_DUPLEX:
        if (u_port)
            add_use(f, u, t);
        if (v_port)
            add_use(f, p->model == ESP_MODEL_ONE_PORT ? f->r->first_recv + v : v, t);
        if (!u_port && !v_port)
            add_use(f, f->r->first_link + e, t);
        break;
    case ESP_MODEL_MULTI_PORT:
        if (u_port)
            add_use(f, u, f->overhead_s[u]);
        if (v_port && p->recv_s[v] > 0)
            add_use(f, f->r->first_recv + v, p->recv_s[v]);
        add_use(f, f->r->first_link + e, t);
        break;
    case ESP_MODEL_HNOW:
        use_processors(f, e);
        break;
    default:
        add_use(f, f->r->first_link + e, f->slice_bytes / p->bandwidth_Bps[e]);
        break;
    }
}

static void use_cables(struct filler *f, int e)
{
    const struct esp_platform *p = f->p;
    if (!p->n_shared)
        return;
    for (int k = p->link_shared.start[e]; k < p->link_shared.start[e + 1]; k++) {
        int cable = p->link_shared.item[k];
        add_use(f, f->r->first_cable + cable, f->slice_bytes / p->shared_Bps[cable]);
    }
}

int espi_resources_init(struct espi_resources *r, const struct esp_platform *p,
                        double slice_bytes, struct espi_arena *arena)
{
    size_t cables = p->n_shared ? (size_t)p->shared_links.start[p->n_shared] : 0;
    size_t most = 3 * (size_t)p->n_links + cables;
    r->first_recv = p->n_nodes;
    r->first_link = 2 * p->n_nodes;
    r->first_cable = r->first_link + p->n_links;
    r->n = r->first_cable + p->n_shared;
    r->start = ESPI_ARENA_NEW(arena, int, (size_t)p->n_links + 1);
    r->resource = ESPI_ARENA_NEW(arena, int, most);
    r->time_s = ESPI_ARENA_NEW(arena, double, most);
    if (!r->start || !r->resource || !r->time_s)
        return -1;
    double *overhead_s = NULL, *recv_s = NULL;
    if (p->model == ESP_MODEL_MULTI_PORT || p->model == ESP_MODEL_HNOW) {
        overhead_s = ESPI_ARENA_NEW(arena, double, p->n_nodes);
        recv_s = ESPI_ARENA_NEW(arena, double, p->n_nodes);
        if (!overhead_s || !recv_s)
            return -1;
        for (int u = 0; u < p->n_nodes; u++) {
            overhead_s[u] = espi_send_overhead_s(p, u, slice_bytes);
            recv_s[u] = espi_recv_overhead_s(p, u, slice_bytes);
        }
    }
    struct filler f = {r, p, slice_bytes, overhead_s, recv_s, 0};
    for (int e = 0; e < p->n_links; e++) {
        r->start[e] = f.at;
        use_by_model(&f, e);
        use_cables(&f, e);
    }
    r->start[p->n_links] = f.at;
    return 0;
}

double espi_use_time_s(const struct espi_resources *r, const struct esp_platform *p,
                       int link, int k, double bytes)
{
    int owner;
    espi_resource_kind kind = espi_resource_kind_of(r, r->resource[k], &owner);
    if (kind == ESPI_CABLE)
        return bytes / p->shared_Bps[owner];
    if (p->model == ESP_MODEL_CAPACITY)
        return bytes / p->bandwidth_Bps[link];
    if (p->model == ESP_MODEL_HNOW && kind == ESPI_RECV_PORT)
        return espi_hold_s(p, owner, bytes);
    if (p->model == ESP_MODEL_HNOW && owner == p->head[link])
        return espi_recv_overhead_s(p, owner, bytes);
    if ((p->model == ESP_MODEL_MULTI_PORT || p->model == ESP_MODEL_HNOW) &&
        kind == ESPI_SEND_PORT)
        return espi_send_overhead_s(p, owner, bytes);
    if (p->model == ESP_MODEL_MULTI_PORT && kind == ESPI_RECV_PORT)
        return p->recv_s[owner];
    return espi_link_time_s(p, link, bytes);
}

espi_resource_kind espi_resource_kind_of(const struct espi_resources *r, int resource,
                                         int *owner)
{
    static const espi_resource_kind kinds[] = {ESPI_SEND_PORT, ESPI_RECV_PORT, ESPI_LINK,
                                               ESPI_CABLE};
    int first[] = {0, r->first_recv, r->first_link, r->first_cable};
    int i = 3;
    while (resource < first[i])
        i--;
    *owner = resource - first[i];
    return kinds[i];
}

const char *espi_resource_text(const struct espi_resources *r,
                               const struct esp_platform *p, int resource, char *out,
                               size_t out_size)
{
    char a[64], b[64];
    int owner;
    espi_resource_kind kind = espi_resource_kind_of(r, resource, &owner);
    if (kind == ESPI_LINK) {
        snprintf(out, out_size, "the link %s -> %s",
                 espi_quote(a, sizeof a, espi_node_name(p, p->tail[owner])),
                 espi_quote(b, sizeof b, espi_node_name(p, p->head[owner])));
        return out;
    }
    const char *name =
        kind == ESPI_CABLE ? espi_shared_name(p, owner) : espi_node_name(p, owner);
    int hnow = p->model == ESP_MODEL_HNOW;
    const char *what = kind == ESPI_CABLE                  ? "the shared link"
                       : hnow && kind == ESPI_RECV_PORT    ? "the network interface of"
                       : hnow                              ? "the processor of"
                       : kind == ESPI_RECV_PORT            ? "the receive port of"
                       : p->model == ESP_MODEL_HALF_DUPLEX ? "the port of"
                                                           : "the send port of";
    snprintf(out, out_size, "%s %s", what, espi_quote(a, sizeof a, name));
    return out;
}
