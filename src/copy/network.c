#include "copy/network.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/tuning.h"
#include "platform/part.h"

struct banning {
    const struct esp_platform *p;
    const struct espi_copy_ban *ban;
    int n_bans;
};

static int is_allowed(const void *self, int link)
{
    const struct banning *b = self;
    const char *from = esp_platform_node_name(b->p, esp_platform_link_from(b->p, link));
    const char *to = esp_platform_node_name(b->p, esp_platform_link_to(b->p, link));
    for (int i = 0; i < b->n_bans; i++)
        if (strcmp(b->ban[i].from, from) == 0 && strcmp(b->ban[i].to, to) == 0)
            return 0;
    return 1;
}

esp_status espi_copy_network(const struct esp_platform *p, const unsigned char *keeps,
                             const struct espi_copy_ban *ban, int n_bans,
                             struct esp_platform **out, struct esp_err *err)
{
    const struct banning b = {p, ban, n_bans};
    int n = esp_platform_node_count(p);
    unsigned char *stays = espi_calloc(1, (size_t)n + 1);
    if (!stays)
        return espi_err_nomem(err);
    for (int v = 0; v < n; v++)
        stays[v] = keeps[v] || esp_platform_node_kind(p, v) != ESP_NODE_HOST;
    esp_status status = espi_platform_without(p, stays, is_allowed, &b, out, err);
    espi_free(stays);
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
