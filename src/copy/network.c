#include "copy/network.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/tuning.h"

struct copying {
    const struct esp_platform *p;
    struct esp_builder *b;
    int *node, *link; /* old -> new; -1: left out */
};

static esp_status copy_nodes(struct copying *c, const unsigned char *keeps,
                             struct esp_err *err)
{
    for (int v = 0; v < esp_platform_node_count(c->p); v++) {
        struct esp_node_spec spec = {.name = esp_platform_node_name(c->p, v),
                                     .site = esp_platform_node_site(c->p, v),
                                     .kind = esp_platform_node_kind(c->p, v),
                                     .send_s = esp_platform_node_send_s(c->p, v),
                                     .recv_s = esp_platform_node_recv_s(c->p, v)};
        struct esp_node_rates rates = esp_platform_node_rates(c->p, v);
        struct esp_machines machines = esp_platform_node_machines(c->p, v);
        c->node[v] = -1;
        if (spec.kind == ESP_NODE_HOST && !keeps[v])
            continue;
        esp_status status = esp_builder_add_node(c->b, &spec, &c->node[v], err);
        if (!status && esp_platform_model(c->p) == ESP_MODEL_HNOW)
            status = esp_builder_set_rates(c->b, c->node[v], &rates, err);
        if (!status) /* a plan may count them */
            status = esp_builder_set_machines(c->b, c->node[v], &machines, err);
        if (status)
            return status;
    }
    return ESP_OK;
}

static int is_banned(const struct copying *c, int link, const struct espi_copy_ban *ban,
                     int n_bans)
{
    const char *from = esp_platform_node_name(c->p, esp_platform_link_from(c->p, link));
    const char *to = esp_platform_node_name(c->p, esp_platform_link_to(c->p, link));
    for (int i = 0; i < n_bans; i++)
        if (strcmp(ban[i].from, from) == 0 && strcmp(ban[i].to, to) == 0)
            return 1;
    return 0;
}

static esp_status copy_links(struct copying *c, const struct espi_copy_ban *ban,
                             int n_bans, struct esp_err *err)
{
    for (int e = 0; e < esp_platform_link_count(c->p); e++) {
        int from = c->node[esp_platform_link_from(c->p, e)];
        int to = c->node[esp_platform_link_to(c->p, e)];
        c->link[e] = -1;
        if (from < 0 || to < 0 || is_banned(c, e, ban, n_bans))
            continue;
        esp_status status = esp_builder_add_link(
            c->b, from, to, esp_platform_link_latency_s(c->p, e),
            esp_platform_link_bandwidth_Bps(c->p, e), &c->link[e], err);
        if (status)
            return status;
    }
    return ESP_OK;
}

static esp_status copy_cables(struct copying *c, struct esp_err *err)
{
    int *links = ESPI_NEW(int, esp_platform_link_count(c->p) + 1);
    esp_status status = links ? ESP_OK : espi_err_nomem(err);
    for (int k = 0; !status && k < esp_platform_cable_count(c->p); k++) {
        int n = 0;
        for (int i = 0; i < esp_platform_cable_link_count(c->p, k); i++) {
            int link = c->link[esp_platform_cable_link(c->p, k, i)];
            if (link >= 0)
                links[n++] = link;
        }
        if (n > 0)
            status = esp_builder_add_cable(c->b, esp_platform_cable_name(c->p, k),
                                           esp_platform_cable_bandwidth_Bps(c->p, k),
                                           links, n, err);
    }
    espi_free(links);
    return status;
}

esp_status espi_copy_network(const struct esp_platform *p, const unsigned char *keeps,
                             const struct espi_copy_ban *ban, int n_bans,
                             struct esp_platform **out, struct esp_err *err)
{
    struct copying c = {.p = p,
                        .node = ESPI_NEW(int, esp_platform_node_count(p) + 1),
                        .link = ESPI_NEW(int, esp_platform_link_count(p) + 1)};
    esp_status status = c.node && c.link ? ESP_OK : espi_err_nomem(err);
    if (!status)
        status = esp_builder_create(&c.b, err);
    if (!status)
        esp_builder_set_model(c.b, esp_platform_model(p));
    if (!status)
        status = copy_nodes(&c, keeps, err);
    if (!status)
        status = copy_links(&c, ban, n_bans, err);
    if (!status)
        status = copy_cables(&c, err);
    if (!status)
        status = esp_builder_build(c.b, out, err);
    esp_builder_free(c.b);
    espi_free(c.node);
    espi_free(c.link);
    return status;
}

esp_status espi_copy_uniform(const char *const *names, int n, struct esp_platform **out,
                             struct esp_err *err)
{
    struct esp_builder *b = NULL;
    esp_status status = esp_builder_create(&b, err);
    if (!status)
        esp_builder_set_model(b, ESP_MODEL_ONE_PORT);
    for (int i = 0; !status && i < n; i++) {
        struct esp_node_spec spec = {.name = names[i],
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        status = esp_builder_add_node(b, &spec, NULL, err);
    }
    for (int i = 0; !status && i < n; i++)
        for (int j = 0; !status && j < n; j++)
            if (i != j)
                status = esp_builder_add_link(b, i, j, ESPI_COPY_UNIFORM_LATENCY_S,
                                              ESPI_COPY_UNIFORM_BPS, NULL, err);
    if (!status)
        status = esp_builder_build(b, out, err);
    esp_builder_free(b);
    return status;
}

void espi_copy_reach(const struct esp_platform *p, int root, unsigned char *reached)
{
    int n = esp_platform_node_count(p), more = 1;
    memset(reached, 0, (size_t)n);
    reached[root] = 1;
    while (more) {
        more = 0;
        for (int e = 0; e < esp_platform_link_count(p); e++) {
            int from = esp_platform_link_from(p, e), to = esp_platform_link_to(p, e);
            if (reached[from] && !reached[to])
                more = reached[to] = 1;
        }
    }
}
