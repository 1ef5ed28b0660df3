#include "support/small_platform.h"

#include <stdio.h>
#include <stdlib.h>

static void must(esp_status status)
{
    if (status)
        abort();
}

static struct esp_builder *hosts(esp_model model, int n)
{
    struct esp_builder *b = NULL;
    must(esp_builder_create(&b, NULL));
    esp_builder_set_model(b, model);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        must(esp_builder_add_node(b, &spec, NULL, NULL));
    }
    return b;
}

static struct esp_platform *built(struct esp_builder *b)
{
    struct esp_platform *p = NULL;
    must(esp_builder_build(b, &p, NULL));
    esp_builder_free(b);
    return p;
}

struct esp_platform *small_platform(esp_model model, int n, const struct small_arc *arcs,
                                    int m)
{
    struct esp_builder *b = hosts(model, n);
    for (int i = 0; i < m; i++)
        must(esp_builder_add_link(b, arcs[i].from, arcs[i].to, arcs[i].time_s, 1e300,
                                  NULL, NULL));
    return built(b);
}

/* Each is shared by half of the links, drawn; a byte takes it a while. */
static void add_cables(struct esp_builder *b, struct espi_rng *rng, int n_links,
                       int cables)
{
    for (int i = 0; i < cables; i++) {
        char name[16];
        int links[256], n = 0;
        for (int e = 0; e < n_links && n < 256; e++)
            if (espi_rng_below(rng, 2))
                links[n++] = e;
        snprintf(name, sizeof name, "w%d", i);
        if (n > 1)
            must(esp_builder_add_cable(b, name, 1 / espi_rng_range(rng, 1, 6), links, n,
                                       NULL));
    }
}

struct esp_platform *small_random(struct espi_rng *rng, const struct small_options *o)
{
    struct esp_builder *b = hosts(o->model, o->n);
    int *parent = calloc((size_t)o->n, sizeof *parent), n_links = 0;
    if (!parent)
        abort();
    for (int v = 1; v < o->n; v++)
        parent[v] = (int)espi_rng_below(rng, (uint32_t)v);
    for (int u = 0; u < o->n; u++)
        for (int v = 0; v < o->n; v++) {
            int tree = v > 0 && parent[v] == u;
            if (u == v || (!tree && espi_rng_uniform(rng) >= o->density))
                continue;
            double time_s = o->whole ? 1 + espi_rng_below(rng, (uint32_t)o->whole)
                                     : espi_rng_range(rng, 1, 10);
            int real = o->model == ESP_MODEL_CAPACITY;
            must(esp_builder_add_link(b, u, v, real ? 0.5 : time_s,
                                      real ? 1 / time_s : 1e300, NULL, NULL));
            n_links++;
        }
    add_cables(b, rng, n_links, o->cables);
    free(parent);
    return built(b);
}

struct esp_platform *small_grid(void)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL, *out = NULL;
    esp_sites_options_defaults(&o);
    o.sites = 3;
    o.clusters = 1;
    o.hosts = 2;
    o.switches = 1;
    must(esp_generate_sites(&o, &p, NULL));
    must(esp_platform_with_model(p, ESP_MODEL_CAPACITY, &out, NULL));
    esp_platform_free(p);
    return out;
}
