/* Over which sites routes lead, as far as latencies tell. */
#ifndef ESPI_MEASURE_ROUTES_H
#define ESPI_MEASURE_ROUTES_H

#include "measure/measured.h"

enum { ESPI_ROUTE_SITES = 64 }; /* limit: routes of more sites are not looked for */

struct espi_site_routes {
    int n;
    int *via; /* from * n + to: a third site on the route; -1: they have a wire */
    /* The routes that lead over the wire from x to y, in the order of their numbers, from
     * * n + to: over[over_start[x * n + y]] .. over[over_start[x * n + y + 1] - 1]. */
    int *over_start, *over;
};

/* Variant 0 takes latencies as they are, others each a little longer or shorter. -1 when
 * out of memory. */
int espi_site_routes_find(struct espi_site_routes *routes,
                          const struct espi_measured *net, int variant,
                          struct espi_arena *arena);
/* Is there a wire from site to site? */
int espi_site_routes_adjacent(const struct espi_site_routes *routes, int from, int to);

#endif
