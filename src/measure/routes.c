/* Sites are joined by wires, and the latency between two sites is that of the wires on
 * the route between them. So where it is the sum of those to and from a third site, that
 * one lies on the route; otherwise the two have a wire of their own. Routes need not be
 * the shortest ways. Latencies that differ by less than they are known to leave a choice:
 * another `variant` takes them a little longer or shorter. Complexity: O(sites^3). */
#include "measure/routes.h"

#include <math.h>
#include <string.h>

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

/* The third site by which the latency of the two comes out best, or -1 where none does
 * within a part of it. */
static int find_via(const double *way_s, int s, int a, int b, double slack)
{
    int via = -1;
    double whole_s = way_s[a * s + b], least_s = slack * whole_s;
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

/* Notes that the route `key` leads over the wires from a to b; ends, for both parts of a
 * route take less time than the whole. Without a list they are only counted. */
static void note_wires(struct espi_site_routes *routes, int key, int a, int b, int *last)
{
    int wire = a * routes->n + b, via = routes->via[wire];
    if (via >= 0) {
        note_wires(routes, key, a, via, last);
        note_wires(routes, key, via, b, last);
    } else if (last[wire] != key) {
        last[wire] = key;
        if (routes->over)
            routes->over[routes->over_start[wire]] = key;
        routes->over_start[wire]++;
    }
}

static void note_all_wires(struct espi_site_routes *routes, int *last)
{
    int s = routes->n;
    for (int key = 0; key < s * s; key++)
        last[key] = -1;
    for (int key = 0; key < s * s; key++)
        if (key / s != key % s)
            note_wires(routes, key, key / s, key % s, last);
}

/* Lists which routes lead over each wire. */
static int list_wires(struct espi_site_routes *routes, struct espi_arena *arena)
{
    int s = routes->n, n = 0;
    int *last = ESPI_ARENA_NEW(arena, int, (size_t)s *(size_t)s);
    int *start = ESPI_ARENA_ZNEW(arena, int, (size_t)s *(size_t)s + 1);
    if (!last || !start)
        return -1;
    routes->over = NULL;
    routes->over_start = start;
    note_all_wires(routes, last);
    for (int key = 0; key <= s * s; key++) {
        int count = start[key];
        start[key] = n;
        n += count;
    }
    if (!(routes->over = ESPI_ARENA_NEW(arena, int, (size_t)n + 1)))
        return -1;
    note_all_wires(routes, last);
    memmove(start + 1, start, (size_t)s * (size_t)s * sizeof *start); /* they are ends */
    start[0] = 0;
    return 0;
}

/* As latencies tell, unless transfers have told the opposite. */
static int choose_via(const struct espi_measured *net, const double *way_s, int a, int b)
{
    int s = net->n_sites, via = find_via(way_s, s, a, b, ESPI_ROUTE_SLACK);
    if (!net->other_wire || !net->other_wire[a * s + b])
        return via;
    return via < 0 ? find_via(way_s, s, a, b, INFINITY) : -1;
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
                a == b || s > ESPI_ROUTE_SITES ? -1 : choose_via(net, way_s, a, b);
    return list_wires(routes, arena);
}

int espi_site_routes_adjacent(const struct espi_site_routes *routes, int from, int to)
{
    return from != to && routes->via[from * routes->n + to] < 0;
}
