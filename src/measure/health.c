#include "measure/health.h"

#include <stdlib.h>
#include <string.h>

#include "platform/platform.h"

static const double SAME = 1e-6; /* rounding: of rates in files */
enum { PEERS_LEAST = 3 }; /* derived: of two, nobody can say which is the odd one */

/* What makes peers: equal numbers. */
struct likeness {
    int a, b, c;
};

struct resource {
    struct likeness like;
    int is_cable, owner;
    double Bps;
};

enum { OF_LINKS = 0, OF_PORTS, OF_CABLES };

/* The node whose port the cable is, as measured networks call them ("NODE:out"); -1. */
static int port_owner(const struct esp_platform *p, const char *name, const char *end)
{
    for (int v = 0; v < p->n_nodes; v++) {
        const char *node = espi_node_name(p, v);
        if (strlen(node) == (size_t)(end - name) &&
            memcmp(node, name, (size_t)(end - name)) == 0)
            return v;
    }
    return -1;
}

static struct likeness cable_likeness(const struct esp_platform *p, int cable)
{
    const char *name = espi_shared_name(p, cable), *mark = strrchr(name, ':');
    int way = !mark                       ? 0
              : strcmp(mark, ":out") == 0 ? 1
              : strcmp(mark, ":in") == 0  ? 2
                                          : 0;
    int node = way ? port_owner(p, name, mark) : -1;
    if (node >= 0)
        return (struct likeness){OF_PORTS, p->node_site[node], way};
    return (struct likeness){OF_CABLES, way, 0};
}

static struct likeness link_likeness(const struct esp_platform *p, int link)
{
    int u = p->tail[link], v = p->head[link];
    int kinds = 2 * espi_is_switch(p, u) + espi_is_switch(p, v);
    return (struct likeness){OF_LINKS - 1 - kinds, p->node_site[u], p->node_site[v]};
}

static int compare_likeness(const struct likeness *x, const struct likeness *y)
{
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->c > y->c) - (x->c < y->c);
}

static int compare_resources(const void *a, const void *b)
{
    const struct resource *x = a, *y = b;
    int like = compare_likeness(&x->like, &y->like);
    if (like)
        return like;
    if (x->Bps != y->Bps)
        return x->Bps < y->Bps ? -1 : 1;
    if (x->is_cable != y->is_cable)
        return x->is_cable - y->is_cable;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static double part_of(const struct espi_ailment *x)
{
    return x->is_Bps / x->should_Bps;
}

static int compare_ailments(const void *a, const void *b)
{
    const struct espi_ailment *x = a, *y = b;
    if (part_of(x) != part_of(y))
        return part_of(x) < part_of(y) ? -1 : 1;
    if (x->is_cable != y->is_cable)
        return y->is_cable - x->is_cable;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

int espi_is_held(const struct esp_platform *p, int link, int cable)
{
    return p->bandwidth_Bps[link] >= p->shared_Bps[cable] * (1 - SAME) &&
           p->bandwidth_Bps[link] <= p->shared_Bps[cable] * (1 + SAME);
}

static int is_held_by_any(const struct esp_platform *p, int link)
{
    int held = 0;
    if (p->n_shared)
        for (int k = p->link_shared.start[link]; k < p->link_shared.start[link + 1]; k++)
            held |= espi_is_held(p, link, p->link_shared.item[k]);
    return held;
}

static int list_resources(const struct esp_platform *p, struct resource *all)
{
    int n = 0;
    for (int i = 0; i < p->n_shared; i++)
        all[n++] = (struct resource){cable_likeness(p, i), 1, i, p->shared_Bps[i]};
    for (int e = 0; e < p->n_links; e++)
        if (!is_held_by_any(p, e))
            all[n++] = (struct resource){link_likeness(p, e), 0, e, p->bandwidth_Bps[e]};
    return n;
}

/* Those of one group, slowest first, that are below the middle one. */
static int add_group(const struct resource *group, int size, double tolerance,
                     struct espi_ailment *out)
{
    double middle = group[size / 2].Bps;
    int n = 0;
    for (int i = 0; size >= PEERS_LEAST && i < size; i++)
        if (group[i].Bps < (1 - tolerance) * middle)
            out[n++] = (struct espi_ailment){group[i].is_cable, group[i].owner,
                                             group[i].Bps, middle, size};
    return n;
}

esp_status espi_health_by_peers(const struct esp_platform *p, double tolerance,
                                struct espi_arena *arena, struct espi_ailment **out,
                                int *n)
{
    int all_n = p->n_shared + p->n_links, found = 0;
    struct resource *all = ESPI_ARENA_NEW(arena, struct resource, all_n + 1);
    struct espi_ailment *ailing = ESPI_ARENA_NEW(arena, struct espi_ailment, all_n + 1);
    if (!all || !ailing)
        return ESP_ENOMEM;
    all_n = list_resources(p, all);
    qsort(all, (size_t)all_n, sizeof *all, compare_resources);
    for (int first = 0, end; first < all_n; first = end) {
        for (end = first + 1; end < all_n; end++)
            if (compare_likeness(&all[first].like, &all[end].like))
                break;
        found += add_group(all + first, end - first, tolerance, ailing + found);
    }
    qsort(ailing, (size_t)found, sizeof *ailing, compare_ailments);
    *out = ailing;
    *n = found;
    return ESP_OK;
}

/* 0: nothing is expected. */
static double expected_of_link(const struct esp_platform *p, int link,
                               const struct esp_platform *expected)
{
    int u = esp_platform_find_node(expected, espi_node_name(p, p->tail[link]));
    int v = esp_platform_find_node(expected, espi_node_name(p, p->head[link]));
    int e = u < 0 || v < 0 ? -1 : esp_platform_find_link(expected, u, v);
    return e < 0 ? 0 : expected->bandwidth_Bps[e];
}

esp_status espi_health_by_expected(const struct esp_platform *p,
                                   const struct esp_platform *expected, double tolerance,
                                   struct espi_arena *arena, struct espi_ailment **out,
                                   int *n)
{
    struct espi_ailment *ailing =
        ESPI_ARENA_NEW(arena, struct espi_ailment, p->n_shared + p->n_links + 1);
    int found = 0;
    if (!ailing)
        return ESP_ENOMEM;
    for (int i = 0; i < p->n_shared; i++) {
        int other = esp_platform_find_cable(expected, espi_shared_name(p, i));
        double should = other < 0 ? 0 : expected->shared_Bps[other];
        if (p->shared_Bps[i] < (1 - tolerance) * should)
            ailing[found++] = (struct espi_ailment){1, i, p->shared_Bps[i], should, 0};
    }
    for (int e = 0; e < p->n_links; e++) {
        double should = is_held_by_any(p, e) ? 0 : expected_of_link(p, e, expected);
        if (p->bandwidth_Bps[e] < (1 - tolerance) * should)
            ailing[found++] = (struct espi_ailment){0, e, p->bandwidth_Bps[e], should, 0};
    }
    qsort(ailing, (size_t)found, sizeof *ailing, compare_ailments);
    *out = ailing;
    *n = found;
    return ESP_OK;
}
