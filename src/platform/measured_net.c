#include "platform/measured_net.h"

#include <math.h>
#include <stdio.h>

/* Sites of Grid'5000, whose names sites of a measured network might have. */
static const char *const site_names[ESPI_NET_SITES_MAX] = {
    "lyon", "nice", "lille", "nancy", "rennes", "toulouse", "grenoble", "nantes"};

esp_status espi_measured_net_init(struct espi_measured_net *net, struct espi_gen *g,
                                  int n_hosts, int n_areas, int shared_room)
{
    struct espi_arena *arena = &g->arena;
    size_t n = (size_t)n_hosts, areas = (size_t)n_areas;
    *net = (struct espi_measured_net){
        .n_hosts = n_hosts, .n_areas = n_areas, .shared_room = shared_room};
    net->area = ESPI_ARENA_ZNEW(arena, int, n);
    net->out_Bps = ESPI_ARENA_ZNEW(arena, double, n);
    net->in_Bps = ESPI_ARENA_ZNEW(arena, double, n);
    net->send_s = ESPI_ARENA_NEW(arena, double, n);
    net->recv_s = ESPI_ARENA_NEW(arena, double, n);
    net->latency_s = ESPI_ARENA_ZNEW(arena, double, n *n);
    net->flow_Bps = ESPI_ARENA_NEW(arena, double, areas *areas);
    net->shared = ESPI_ARENA_ZNEW(arena, struct espi_net_shared, (size_t)shared_room + 1);
    if (!net->area || !net->out_Bps || !net->in_Bps || !net->send_s || !net->recv_s ||
        !net->latency_s || !net->flow_Bps || !net->shared)
        return espi_err_nomem(g->err);
    for (int i = 0; i < shared_room; i++) {
        net->shared[i].pairs = ESPI_ARENA_ZNEW(arena, unsigned char, areas *areas);
        if (!net->shared[i].pairs)
            return espi_err_nomem(g->err);
    }
    for (size_t h = 0; h < n; h++)
        net->send_s[h] = net->recv_s[h] = ESP_UNSET;
    for (size_t k = 0; k < areas * areas; k++)
        net->flow_Bps[k] = INFINITY;
    return ESP_OK;
}

const char *espi_measured_net_site(const struct espi_measured_net *net, int area)
{
    return site_names[net->one_site ? 0 : area];
}

/* ---- what is shared ---- */

struct espi_net_shared *espi_measured_net_share(struct espi_measured_net *net, double Bps)
{
    struct espi_net_shared *s = &net->shared[net->n_shared++];
    s->Bps = Bps;
    return s;
}

static double link_Bps(const struct espi_measured_net *net, int from, int to)
{
    double ports = fmin(net->out_Bps[from], net->in_Bps[to]);
    return fmin(ports, net->flow_Bps[net->area[from] * net->n_areas + net->area[to]]);
}

/* What all transfers over it get together, by their ports and each by itself. */
static double most_Bps(const struct espi_measured_net *net,
                       const struct espi_net_shared *s)
{
    double out = 0, in = 0, single = 0;
    for (int h = 0; h < net->n_hosts; h++) {
        int from = 0, to = 0;
        for (int other = 0; other < net->n_hosts; other++) {
            int uses = s->pairs[net->area[h] * net->n_areas + net->area[other]];
            from |= uses;
            to |= s->pairs[net->area[other] * net->n_areas + net->area[h]];
            single += uses && h != other ? link_Bps(net, h, other) : 0;
        }
        out += from ? net->out_Bps[h] : 0;
        in += to ? net->in_Bps[h] : 0;
    }
    return fmin(single, fmin(out, in));
}

void espi_measured_net_settle(struct espi_measured_net *net)
{
    struct espi_net_shared *s = &net->shared[net->n_shared - 1];
    if (s->Bps < most_Bps(net, s))
        return;
    for (int k = 0; k < net->n_areas * net->n_areas; k++)
        s->pairs[k] = 0;
    net->n_shared--;
}

/* ---- the platform ---- */

/* "lyon-3": hosts are counted site by site. */
static void host_name(const struct espi_measured_net *net, int host, char *name,
                      size_t size)
{
    int number = 1;
    for (int h = 0; h < host; h++)
        number += net->one_site || net->area[h] == net->area[host];
    snprintf(name, size, "%s-%d", espi_measured_net_site(net, net->area[host]), number);
}

static esp_status build_hosts(const struct espi_measured_net *net, struct espi_gen *g)
{
    esp_status status = ESP_OK;
    for (int h = 0; h < net->n_hosts && !status; h++) {
        char name[32];
        host_name(net, h, name, sizeof name);
        struct esp_node_spec spec = {.name = name,
                                     .site = espi_measured_net_site(net, net->area[h]),
                                     .kind = ESP_NODE_HOST,
                                     .send_s = net->send_s[h],
                                     .recv_s = net->recv_s[h]};
        status = esp_builder_add_node(g->builder, &spec, NULL, g->err);
    }
    return status;
}

static esp_status build_links(const struct espi_measured_net *net, struct espi_gen *g)
{
    int n = net->n_hosts;
    esp_status status = ESP_OK;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n && !status; j++) {
            int pair = net->area[i] * net->n_areas + net->area[j];
            double ports = fmin(net->out_Bps[i], net->in_Bps[j]);
            if (i != j)
                status =
                    esp_builder_add_link(g->builder, i, j, net->latency_s[i * n + j],
                                         fmin(ports, net->flow_Bps[pair]), NULL, g->err);
        }
    return status;
}

/* The links i -> j for which `pairs` has their areas, or that are of one host's port. */
static int gather_links(const struct espi_measured_net *net, const unsigned char *pairs,
                        int from, int to, int *links)
{
    int n = net->n_hosts, count = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && (i == from || j == to ||
                           (pairs && pairs[net->area[i] * net->n_areas + net->area[j]])))
                links[count++] = i * (n - 1) + j - (j > i);
    return count;
}

static esp_status build_ports(const struct espi_measured_net *net, struct espi_gen *g,
                              int out, int *links)
{
    esp_status status = ESP_OK;
    for (int h = 0; h < net->n_hosts && !status; h++) {
        char host[32], name[48];
        host_name(net, h, host, sizeof host);
        snprintf(name, sizeof name, "%s:%s", host, out ? "out" : "in");
        int n = gather_links(net, NULL, out ? h : -1, out ? -1 : h, links);
        status = esp_builder_add_cable(
            g->builder, name, out ? net->out_Bps[h] : net->in_Bps[h], links, n, g->err);
    }
    return status;
}

esp_status espi_measured_net_build(const struct espi_measured_net *net,
                                   struct espi_gen *g)
{
    size_t n = (size_t)net->n_hosts;
    int *links = ESPI_ARENA_NEW(&g->arena, int, n *n);
    esp_status status = links ? ESP_OK : espi_err_nomem(g->err);
    esp_builder_set_model(g->builder, ESP_MODEL_CAPACITY);
    if (!status)
        status = build_hosts(net, g);
    if (!status)
        status = build_links(net, g);
    for (int out = 1; out >= 0 && n > 2 && !status; out--)
        status = build_ports(net, g, out, links);
    for (int c = 0; c < net->n_shared && !status; c++) {
        const struct espi_net_shared *s = &net->shared[c];
        int count = gather_links(net, s->pairs, -1, -1, links);
        status = esp_builder_add_cable(g->builder, s->name, s->Bps, links, count, g->err);
    }
    return status;
}
