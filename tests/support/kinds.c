#include "support/kinds.h"

#include <stdio.h>
#include <stdlib.h>

esp_status kind_generate(int kind, int n, uint64_t seed, struct esp_platform **p)
{
    struct esp_random_options random;
    struct esp_hub_options hub;
    struct esp_tiers_options tiers;
    struct esp_sites_options sites;
    switch (kind) {
    case 0:
        esp_random_options_defaults(&random);
        random.nodes = n;
        random.seed = seed;
        random.density = 0.2 + 0.1 * (double)(seed % 4);
        return esp_generate_random(&random, p, NULL);
    case 1:
        esp_hub_options_defaults(&hub);
        hub.nodes = n;
        hub.seed = seed;
        return esp_generate_hub(&hub, p, NULL);
    case 2:
        esp_tiers_options_defaults(&tiers);
        tiers.nodes = n + 8;
        tiers.seed = seed;
        return esp_generate_tiers(&tiers, p, NULL);
    default:
        esp_sites_options_defaults(&sites);
        sites.sites = 2 + (int)(seed % 2);
        sites.clusters = 1 + (int)(seed % 3 == 0);
        sites.hosts = 2;
        sites.spread = 2;
        sites.switches = seed % 2 == 0;
        sites.seed = seed;
        return esp_generate_sites(&sites, p, NULL);
    }
}

struct esp_platform *kind_platform(int kind, int n, uint64_t seed, esp_model model)
{
    struct esp_platform *p = NULL, *q = NULL;
    if (kind_generate(kind, n, seed, &p) || esp_platform_with_model(p, model, &q, NULL))
        abort();
    esp_platform_free(p);
    return q;
}

struct esp_plan *kind_plan(const struct esp_platform *p, const struct kind_case *c,
                           double slices)
{
    int targets[64], n = 0;
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err = {.text = ""};
    for (int v = 1; v < esp_platform_node_count(p) && n < 64; v++)
        if (v % 3 != 1 && esp_platform_node_kind(p, v) == ESP_NODE_HOST)
            targets[n++] = v;
    esp_request_init(&request, 0);
    request.op = c->op;
    request.algo = c->algo;
    request.size_bytes = slices * 1e5;
    request.slice_bytes = 1e5;
    request.targets = c->some ? targets : NULL;
    request.n_targets = c->some ? n : 0;
    if (!esp_plan_make(p, &request, &plan, &err))
        return plan;
    fprintf(stderr, "%s: %s\n", c->algo, err.text);
    abort();
}
