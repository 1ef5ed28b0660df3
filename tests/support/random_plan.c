#include "support/random_plan.h"

#include <stdlib.h>

#include "platform/platform.h"

/* The links of a random spanning tree, senders before receivers. */
static void grow(const struct esp_platform *p, struct espi_rng *rng, int *links)
{
    int n = p->n_nodes, size = 0;
    unsigned char *has = calloc((size_t)n, 1);
    if (!has)
        abort();
    has[0] = 1;
    while (size < n - 1) {
        int e = (int)espi_rng_below(rng, (uint32_t)p->n_links);
        if (!has[p->tail[e]] || has[p->head[e]])
            continue;
        has[p->head[e]] = 1;
        links[size++] = e;
    }
    free(has);
}

struct esp_plan *random_plan(const struct esp_platform *p, struct espi_rng *rng,
                             int n_trees, int equal)
{
    struct esp_plan *plan = NULL;
    int *links = calloc((size_t)p->n_nodes, sizeof *links);
    double *weight = calloc((size_t)n_trees, sizeof *weight), sum = 0;
    if (!links || !weight || esp_plan_create(ESP_OP_BCAST, 0, "random", &plan, NULL))
        abort();
    for (int t = 0; t < n_trees; t++)
        sum += weight[t] = equal ? 1 : 0.1 + espi_rng_uniform(rng);
    for (int t = 0; t < n_trees; t++) {
        grow(p, rng, links);
        if (esp_plan_add_simple_tree(plan, p, weight[t] / sum, p->n_nodes - 1, links,
                                     NULL))
            abort();
    }
    free(links);
    free(weight);
    return plan;
}
