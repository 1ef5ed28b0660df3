#include "support/kinds.h"

#include <stdio.h>
#include <stdlib.h>

esp_model kind_models[ESP_MODEL_COUNT] = {
    [ESP_MODEL_ONE_PORT] = ESP_MODEL_ONE_PORT,
    [ESP_MODEL_HALF_DUPLEX] = ESP_MODEL_HALF_DUPLEX,
    [ESP_MODEL_MULTI_PORT] = ESP_MODEL_MULTI_PORT,
    [ESP_MODEL_CAPACITY] = ESP_MODEL_CAPACITY,
};

struct kind_shape kind_small(int kind, int n, uint64_t seed)
{
    return (struct kind_shape){
        .nodes = kind == 2 ? n + 8 : n,
        .density = 0.2 + 0.1 * (double)(seed % 4),
        .sites = 2 + (int)(seed % 2),
        .clusters = 1 + (int)(seed % 3 == 0),
        .hosts = 2,
    };
}

esp_status kind_generate(int kind, const struct kind_shape *shape, uint64_t seed,
                         struct esp_platform **p)
{
    struct esp_random_options random;
    struct esp_hub_options hub;
    struct esp_tiers_options tiers;
    struct esp_sites_options sites;
    switch (kind) {
    case 0:
        esp_random_options_defaults(&random);
        random.nodes = shape->nodes;
        random.seed = seed;
        random.density = shape->density;
        return esp_generate_random(&random, p, NULL);
    case 1:
        esp_hub_options_defaults(&hub);
        hub.nodes = shape->nodes;
        hub.seed = seed;
        return esp_generate_hub(&hub, p, NULL);
    case 2:
        esp_tiers_options_defaults(&tiers);
        if (shape->preset)
            esp_tiers_options_preset(&tiers, shape->preset, NULL);
        else
            tiers.nodes = shape->nodes;
        tiers.seed = seed;
        return esp_generate_tiers(&tiers, p, NULL);
    default:
        esp_sites_options_defaults(&sites);
        sites.sites = shape->sites;
        sites.clusters = shape->clusters;
        sites.hosts = shape->hosts;
        sites.spread = 2;
        sites.switches = seed % 2 == 0;
        sites.seed = seed;
        return esp_generate_sites(&sites, p, NULL);
    }
}

struct esp_platform *kind_platform(int kind, int n, uint64_t seed, esp_model model)
{
    struct esp_platform *p = NULL, *q = NULL;
    struct kind_shape shape = kind_small(kind, n, seed);
    if (kind_generate(kind, &shape, seed, &p) ||
        esp_platform_with_model(p, model, &q, NULL))
        abort();
    esp_platform_free(p);
    return q;
}

esp_status kind_plan_make(const struct esp_platform *p, const struct kind_case *c,
                          double slices, struct esp_plan **plan, struct esp_err *err)
{
    int targets[1000], n = 0;
    struct esp_request request;
    for (int v = 1; v < esp_platform_node_count(p) && n < 1000; v++)
        if (v % 3 != 1 && esp_platform_node_kind(p, v) == ESP_NODE_HOST)
            targets[n++] = v;
    esp_request_init(&request, 0);
    request.op = c->op;
    request.algo = c->algo;
    request.size_bytes = slices * KIND_SLICE_BYTES;
    request.slice_bytes = KIND_SLICE_BYTES;
    request.targets = c->some ? targets : NULL;
    request.n_targets = c->some ? n : 0;
    return esp_plan_make(p, &request, plan, err);
}

struct esp_plan *kind_plan(const struct esp_platform *p, const struct kind_case *c,
                           double slices)
{
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    if (!kind_plan_make(p, c, slices, &plan, &err))
        return plan;
    fprintf(stderr, "%s: %s\n", c->algo, err.text);
    abort();
}

void kind_arguments(struct kind_scope *scope, int argc, char **argv)
{
    if (argc > 1)
        scope->platforms = atoi(argv[1]);
    if (argc > 2)
        scope->only = atoi(argv[2]);
}
