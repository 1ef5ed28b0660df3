#include "report/load.h"

#include <math.h>

int espi_load_init(struct espi_load *load, const struct esp_platform *p,
                   const struct esp_plan *plan, double slice_bytes,
                   struct espi_arena *arena)
{
    struct espi_resources *r = &load->resources;

    load->p = p;
    if (espi_resources_init(r, p, slice_bytes, arena))
        return -1;
    load->busy_s = ESPI_ARENA_ZNEW(arena, double, r->n + 1);
    if (!load->busy_s)
        return -1;
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        for (int i = 0; i < tree->n_hops; i++)
            for (int k = r->start[tree->hops[i]]; k < r->start[tree->hops[i] + 1]; k++)
                load->busy_s[r->resource[k]] += tree->weight * r->time_s[k];
    }
    load->most_s = 0;
    for (int i = 0; i < r->n; i++)
        load->most_s = fmax(load->most_s, load->busy_s[i]);
    return 0;
}

/* Where nodes have no ports: the busiest of its links. */
static double busiest_link(const struct espi_load *load, const struct espi_rows *links,
                           int node)
{
    const struct espi_resources *r = &load->resources;
    double busy_s = 0;

    for (int i = links->start[node]; i < links->start[node + 1]; i++)
        for (int k = r->start[links->item[i]]; k < r->start[links->item[i] + 1]; k++)
            if (r->resource[k] < r->first_cable)
                busy_s = fmax(busy_s, load->busy_s[r->resource[k]]);
    return busy_s;
}

double espi_load_of_node(const struct espi_load *load, int node)
{
    const struct espi_resources *r = &load->resources;
    double busy_s = 0;

    if (!(load->most_s > 0))
        return 0;
    if (node < r->first_recv)
        busy_s = load->busy_s[node];
    if (r->first_recv + node < r->first_link)
        busy_s = fmax(busy_s, load->busy_s[r->first_recv + node]);
    if (load->p->model == ESP_MODEL_CAPACITY)
        busy_s = fmax(busiest_link(load, &load->p->out, node),
                      busiest_link(load, &load->p->in, node));
    return busy_s / load->most_s;
}
