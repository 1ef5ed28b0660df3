/* Sites are joined by wires, and the latency between two sites is that of the wires on
 * the route between them. Pairs of sites are gone through by their latency, the nearest
 * first: where the shortest way over the wires so far takes as long, it is the route;
 * otherwise the two have a wire of their own. Latencies that differ by less than they are
 * known to leave a choice: another `variant` takes them a little longer or shorter.
 * Complexity: O(sites^4). */
#include "measure/routes.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

struct site_pair {
    int a, b;
    double latency_s;
};

static int by_latency(const void *x, const void *y)
{
    const struct site_pair *a = x, *b = y;
    if (a->latency_s != b->latency_s)
        return a->latency_s < b->latency_s ? -1 : 1;
    return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The middle latency of the pairs of hosts of two sites; -1: none met. */
static double middle_latency(const struct espi_measured *net, int a, int b, double *room)
{
    int n = 0;
    for (int i = 0; i < net->pairs.n; i++) {
        const struct espi_pair *p = &net->pairs.at[i];
        int low = net->site[p->low], high = net->site[p->high];
        if (p->latency_s >= 0 && ((low == a && high == b) || (low == b && high == a)))
            room[n++] = p->latency_s;
    }
    qsort(room, (size_t)n, sizeof *room, compare_doubles);
    return n ? room[n / 2] : -1;
}

/* Without what is within sites, which counts once on a way of several wires. */
static int list_pairs(const struct espi_measured *net, struct site_pair *pairs,
                      double *room)
{
    int n = 0;
    double within_s = INFINITY;
    for (int a = 0; a < net->n_sites; a++) {
        double own_s = middle_latency(net, a, a, room);
        within_s = own_s >= 0 ? fmin(within_s, own_s) : within_s;
    }
    for (int a = 0; a < net->n_sites; a++)
        for (int b = a + 1; b < net->n_sites; b++) {
            double latency_s = middle_latency(net, a, b, room);
            if (latency_s >= 0)
                pairs[n++] = (struct site_pair){
                    a, b, fmax(latency_s - (isinf(within_s) ? 0 : within_s), 0)};
        }
    return n;
}

/* A wire joins a and b: ways over it may be shorter. */
static void add_wire(struct espi_site_routes *r, double *way_s, int a, int b,
                     double latency_s)
{
    int s = r->n;
    for (int x = 0; x < s; x++)
        for (int y = 0; y < s; y++)
            for (int back = 0; back < 2; back++) {
                int from = back ? b : a, to = back ? a : b;
                double over_s = way_s[x * s + from] + latency_s + way_s[to * s + y];
                if (over_s >= way_s[x * s + y])
                    continue;
                way_s[x * s + y] = over_s;
                r->next[x * s + y] = x == from ? to : r->next[x * s + from];
            }
}

int espi_site_routes_find(struct espi_site_routes *routes,
                          const struct espi_measured *net, int variant,
                          struct espi_arena *arena)
{
    size_t cells = (size_t)net->n_sites * (size_t)net->n_sites;
    struct site_pair *pairs = ESPI_ARENA_NEW(arena, struct site_pair, cells + 1);
    double *room = ESPI_ARENA_NEW(arena, double, (size_t)net->pairs.n + 1);
    double *way_s = ESPI_ARENA_NEW(arena, double, cells);
    int s = routes->n = net->n_sites;
    struct espi_rng rng;
    routes->next = ESPI_ARENA_NEW(arena, int, cells);
    routes->wire = ESPI_ARENA_ZNEW(arena, unsigned char, cells);
    if (!pairs || !room || !way_s || !routes->next || !routes->wire)
        return -1;
    for (int k = 0; k < s * s; k++) {
        way_s[k] = k / s == k % s ? 0 : INFINITY;
        routes->next[k] = k % s;
    }
    if (s > ESPI_ROUTE_SITES) { /* as if each had a wire to every other */
        for (int k = 0; k < s * s; k++)
            routes->wire[k] = k / s != k % s;
        return 0;
    }
    espi_rng_seed(&rng, (uint64_t)variant);
    int n = list_pairs(net, pairs, room);
    for (int i = 0; i < n && variant; i++)
        pairs[i].latency_s *=
            espi_rng_range(&rng, 1 - ESPI_ROUTE_SLACK / 2, 1 + ESPI_ROUTE_SLACK / 2);
    qsort(pairs, (size_t)n, sizeof *pairs, by_latency);
    for (int i = 0; i < n; i++) {
        int a = pairs[i].a, b = pairs[i].b;
        double off_s = fabs(way_s[a * s + b] - pairs[i].latency_s);
        if (off_s <= ESPI_ROUTE_SLACK * pairs[i].latency_s)
            continue;
        routes->wire[a * s + b] = routes->wire[b * s + a] = 1;
        if (pairs[i].latency_s < way_s[a * s + b])
            add_wire(routes, way_s, a, b, pairs[i].latency_s);
    }
    return 0;
}

int espi_site_routes_adjacent(const struct espi_site_routes *routes, int from, int to)
{
    return routes->wire[from * routes->n + to];
}

int espi_site_routes_cross(const struct espi_site_routes *routes, int a, int b, int x,
                           int y)
{
    int s = routes->n;
    for (int steps = 0; a != b && steps < s; steps++) {
        int next = routes->wire[a * s + b] ? b : routes->next[a * s + b];
        if (a == x && next == y)
            return 1;
        a = next;
    }
    return 0;
}
