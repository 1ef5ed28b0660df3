#include "testbed/areas.h"

#include <string.h>

/* ---- ports ---- */

/* The host of which the cable is the port, out (side 0) or in (side 1); -1: of none. */
static int port_of(const struct esp_platform *p, int cable, int side)
{
    const int *end = side ? p->head : p->tail;
    int first = p->shared_links.start[cable],
        n = p->shared_links.start[cable + 1] - first;
    int host = n == p->n_nodes - 1 ? end[p->shared_links.item[first]] : -1;

    for (int k = 1; k < n && host >= 0; k++)
        if (end[p->shared_links.item[first + k]] != host)
            host = -1;
    return host;
}

static void find_ports(const struct esp_platform *p, struct espi_areas *a,
                       unsigned char *is_port)
{
    for (int host = 0; host < p->n_nodes; host++)
        a->port[0][host] = a->port[1][host] = -1;
    for (int c = 0; c < p->n_shared; c++) {
        is_port[c] = 0;
        for (int side = 0; side < 2 && !is_port[c]; side++) {
            int host = port_of(p, c, side);
            if (host < 0)
                continue;
            int *port = &a->port[side][host];
            is_port[c] = 1;
            if (*port < 0 || p->shared_Bps[c] < p->shared_Bps[*port])
                *port = c;
        }
    }
}

/* ---- areas ---- */

/* The next cable of the link at k or behind it that is no port; -1: there is none. */
static int next_cable(const struct esp_platform *p, const unsigned char *is_port,
                      int link, int *k)
{
    while (p->n_shared && *k < p->link_shared.start[link + 1]) {
        int c = p->link_shared.item[(*k)++];
        if (!is_port[c])
            return c;
    }
    return -1;
}

static int first_of(const struct esp_platform *p, int link)
{
    return p->n_shared ? p->link_shared.start[link] : 0;
}

static int has_cables(const struct esp_platform *p, const unsigned char *is_port,
                      int from, int to)
{
    int link = esp_platform_find_link(p, from, to), k = first_of(p, link);

    return next_cable(p, is_port, link, &k) >= 0;
}

static int same_cables(const struct esp_platform *p, const unsigned char *is_port,
                       int one, int other)
{
    int i = first_of(p, one), k = first_of(p, other), a, b;

    do {
        a = next_cable(p, is_port, one, &i);
        b = next_cable(p, is_port, other, &k);
    } while (a == b && a >= 0);
    return a == b;
}

static int are_together(const struct esp_platform *p, const unsigned char *is_port, int u,
                        int v)
{
    if (p->node_site[u] != p->node_site[v] || has_cables(p, is_port, u, v) ||
        has_cables(p, is_port, v, u))
        return 0;
    for (int x = 0; x < p->n_nodes; x++)
        if (x != u && x != v &&
            (!same_cables(p, is_port, esp_platform_find_link(p, u, x),
                          esp_platform_find_link(p, v, x)) ||
             !same_cables(p, is_port, esp_platform_find_link(p, x, u),
                          esp_platform_find_link(p, x, v))))
            return 0;
    return 1;
}

static void find_areas(const struct esp_platform *p, struct espi_areas *a,
                       const unsigned char *is_port)
{
    for (int host = 0; host < p->n_nodes; host++) {
        int area = 0;
        while (area < a->n_areas && !are_together(p, is_port, a->first[area], host))
            area++;
        if (area == a->n_areas)
            a->first[a->n_areas++] = host;
        a->of[host] = area;
    }
}

/* ---- cables ---- */

static int find_cables(const struct esp_platform *p, struct espi_areas *a,
                       const unsigned char *is_port, struct espi_arena *arena)
{
    size_t pairs = (size_t)a->n_areas * (size_t)a->n_areas;

    for (int c = 0; c < p->n_shared; c++) {
        if (is_port[c])
            continue;
        unsigned char *shared = ESPI_ARENA_ZNEW(arena, unsigned char, pairs);
        if (!shared)
            return -1;
        for (int k = p->shared_links.start[c]; k < p->shared_links.start[c + 1]; k++) {
            int link = p->shared_links.item[k];
            shared[a->of[p->tail[link]] * a->n_areas + a->of[p->head[link]]] = 1;
        }
        a->cable[a->n_cables] = c;
        a->pairs[a->n_cables++] = shared;
    }
    return 0;
}

/* Does the first limit nothing that the second does not? Of two that are the same the
 * second counts as the one that limits. */
static int is_implied(const struct esp_platform *p, const struct espi_areas *a, int one,
                      int other)
{
    double Bps = p->shared_Bps[a->cable[one]], by_Bps = p->shared_Bps[a->cable[other]];
    int same = memcmp(a->pairs[one], a->pairs[other],
                      (size_t)a->n_areas * (size_t)a->n_areas) == 0;

    for (int k = 0; k < a->n_areas * a->n_areas; k++)
        if (a->pairs[one][k] && !a->pairs[other][k])
            return 0;
    return by_Bps < Bps || (by_Bps <= Bps && (!same || one < other));
}

static void leave_out_implied(const struct esp_platform *p, struct espi_areas *a,
                              unsigned char *implied)
{
    int kept = 0;

    for (int i = 0; i < a->n_cables; i++) {
        implied[i] = 0;
        for (int k = 0; k < a->n_cables && !implied[i]; k++)
            implied[i] = k != i && is_implied(p, a, i, k);
    }
    for (int i = 0; i < a->n_cables; i++)
        if (!implied[i]) {
            a->cable[kept] = a->cable[i];
            a->pairs[kept++] = a->pairs[i];
        }
    a->n_cables = kept;
}

/* ---- the whole ---- */

struct espi_areas *espi_areas_find(const struct esp_platform *p, struct espi_arena *arena)
{
    size_t n = (size_t)p->n_nodes, cables = (size_t)p->n_shared + 1;
    struct espi_areas *a = ESPI_ARENA_ZNEW(arena, struct espi_areas, 1);
    unsigned char *flag = ESPI_ARENA_NEW(arena, unsigned char, cables);

    if (!a || !flag)
        return NULL;
    a->of = ESPI_ARENA_NEW(arena, int, n);
    a->first = ESPI_ARENA_NEW(arena, int, n);
    a->port[0] = ESPI_ARENA_NEW(arena, int, n);
    a->port[1] = ESPI_ARENA_NEW(arena, int, n);
    a->cable = ESPI_ARENA_NEW(arena, int, cables);
    a->pairs = ESPI_ARENA_NEW(arena, unsigned char *, cables);
    if (!a->of || !a->first || !a->port[0] || !a->port[1] || !a->cable || !a->pairs)
        return NULL;
    find_ports(p, a, flag);
    find_areas(p, a, flag);
    if (find_cables(p, a, flag, arena))
        return NULL;
    leave_out_implied(p, a, flag);
    return a;
}
