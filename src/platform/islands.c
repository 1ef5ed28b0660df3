#include "platform/islands.h"

#include <stdlib.h>

#include "graph/scc.h"
#include "platform/platform.h"

static int compare_islands(const void *a, const void *b)
{
    const struct espi_island *x = a, *y = b;
    if (x->n_hosts != y->n_hosts)
        return x->n_hosts > y->n_hosts ? -1 : 1;
    return (x->first_host > y->first_host) - (x->first_host < y->first_host);
}

/* component -> nodes */
static int find_components(const struct esp_platform *p, struct espi_arena *arena,
                           int *component)
{
    struct espi_digraph g;
    struct espi_scc work;
    if (espi_digraph_init(&g, p->n_nodes, p->n_links, p->tail, p->head, arena) ||
        espi_scc_init(&work, p->n_nodes, arena))
        return -1;
    return espi_scc(&work, &g, NULL, component);
}

struct member {
    int component, site;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* all[component] */
static esp_status find_sites(const struct esp_platform *p, const int *component,
                             struct espi_arena *arena, struct espi_island *all)
{
    struct member *member = ESPI_ARENA_NEW(arena, struct member, p->n_nodes + 1);
    int *site = ESPI_ARENA_NEW(arena, int, p->n_nodes + 1), n = 0, kept = 0;
    if (!member || !site)
        return ESP_ENOMEM;
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u) && p->node_site[u] >= 0)
            member[n++] = (struct member){component[u], p->node_site[u]};
    qsort(member, (size_t)n, sizeof *member, compare_members);
    for (int i = 0; i < n; i++) {
        struct espi_island *island = &all[member[i].component];
        if (i && compare_members(&member[i], &member[i - 1]) == 0)
            continue;
        if (island->n_sites++ == 0)
            island->site = site + kept;
        site[kept++] = member[i].site;
    }
    return ESP_OK;
}

/* Numbers of components fall along links: nobody reaches a host of the highest, so that
 * whoever reaches all is there. */
static esp_status find_reach(const struct esp_platform *p, const int *component,
                             int *reached)
{
    int top = -1;
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u) && (top < 0 || component[u] > component[top]))
            top = u;
    esp_status st = top < 0 ? ESP_OK : esp_platform_check_root(p, top, NULL);
    *reached = st == ESP_OK;
    return st == ESP_ENOMEM ? st : ESP_OK;
}

esp_status espi_find_islands(const struct esp_platform *p, struct espi_arena *arena,
                             struct espi_island **out, int *n, int *reached)
{
    int *component = ESPI_ARENA_NEW(arena, int, p->n_nodes + 1);
    int count = component ? find_components(p, arena, component) : -1, kept = 0;
    struct espi_island *all =
        count < 0 ? NULL : ESPI_ARENA_ZNEW(arena, struct espi_island, count + 1);
    if (!all)
        return ESP_ENOMEM;
    for (int u = 0; u < p->n_nodes; u++)
        if (!espi_is_switch(p, u))
            if (all[component[u]].n_hosts++ == 0)
                all[component[u]].first_host = u;
    if (find_sites(p, component, arena, all))
        return ESP_ENOMEM;
    for (int i = 0; i < count; i++)
        if (all[i].n_hosts)
            all[kept++] = all[i];
    qsort(all, (size_t)kept, sizeof *all, compare_islands);
    if (find_reach(p, component, reached))
        return ESP_ENOMEM;
    *out = all;
    *n = kept;
    return ESP_OK;
}
