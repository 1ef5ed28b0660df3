/* Sites are joined by wires, and the latency between two sites is that of the wires on
 * the route between them. So where it is the sum of those to and from a third site, that
 * one lies on the route; otherwise the two have a wire of their own. Routes need not be
 * the shortest ways. Latencies that differ by less than they are known to leave a choice:
 * another `variant` takes them a little longer or shorter. Complexity: O(sites^3). */
#include "measure/routes.h"

#include <math.h>

#include "base/rng.h"

/* Latencies between sites without what is within them, which counts once on a way of
 * several wires; -1: unknown. */
static double *wire_latencies(const struct espi_measured *net, int variant,
                              struct espi_arena *arena)
{
    int s = net->n_sites;
    double *way_s = ESPI_ARENA_NEW(arena, double, (size_t)s *(size_t)s), within_s = 0;
    struct espi_rng rng;
    if (!way_s)
        return NULL;
    for (int a = 0, any = 0; a < s; a++) {
        double own_s = net->site_latency_s[a * s + a];
        within_s = own_s >= 0 && (!any || own_s < within_s) ? own_s : within_s;
        any |= own_s >= 0;
    }
    espi_rng_seed(&rng, (uint64_t)variant);
    for (int a = 0; a < s; a++)
        for (int b = a + 1; b < s; b++) {
            double latency_s = net->site_latency_s[a * s + b], part = 1;
            if (variant)
                part = espi_rng_range(&rng, 1 - ESPI_ROUTE_SLACK / 2,
                                      1 + ESPI_ROUTE_SLACK / 2);
            way_s[a * s + b] = way_s[b * s + a] =
                latency_s < 0 ? -1 : fmax(latency_s - within_s, 0) * part;
        }
    return way_s;
}

/* The third site by which the latency of the two comes out best, or -1. */
static int find_via(const double *way_s, int s, int a, int b)
{
    int via = -1;
    double whole_s = way_s[a * s + b], least_s = ESPI_ROUTE_SLACK * whole_s;
    for (int c = 0; c < s; c++) {
        if (c == a || c == b)
            continue;
        double to_s = way_s[a * s + c], from_s = way_s[c * s + b];
        double off_s = fabs(to_s + from_s - whole_s);
        if (to_s >= 0 && from_s >= 0 && to_s < whole_s && from_s < whole_s &&
            off_s < least_s) {
            least_s = off_s;
            via = c;
        }
    }
    return via;
}

int espi_site_routes_find(struct espi_site_routes *routes,
                          const struct espi_measured *net, int variant,
                          struct espi_arena *arena)
{
    int s = routes->n = net->n_sites;
    double *way_s = wire_latencies(net, variant, arena);
    routes->via = ESPI_ARENA_NEW(arena, int, (size_t)s *(size_t)s);
    if (!way_s || !routes->via)
        return -1;
    for (int a = 0; a < s; a++)
        for (int b = 0; b < s; b++)
            routes->via[a * s + b] =
                a == b || s > ESPI_ROUTE_SITES ? -1 : find_via(way_s, s, a, b);
    return 0;
}

int espi_site_routes_adjacent(const struct espi_site_routes *routes, int from, int to)
{
    return from != to && routes->via[from * routes->n + to] < 0;
}

/* Ends, for both parts of a route take less time than the whole. */
int espi_site_routes_cross(const struct espi_site_routes *routes, int a, int b, int x,
                           int y)
{
    int via = routes->via[a * routes->n + b];
    if (via < 0)
        return a == x && b == y;
    return espi_site_routes_cross(routes, a, via, x, y) ||
           espi_site_routes_cross(routes, via, b, x, y);
}
