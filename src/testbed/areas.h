/* What the cables of a platform of host-to-host links say of how its hosts are joined.
 *
 * A cable that all links of a host share, those out of it or those into it, is its port.
 * Hosts of a site whose links share the same other cables, whatever is at the far end,
 * and none with each other, are an area: a site, a rack. So the other cables are each
 * shared by all links of some pairs of areas. Those that another one limits anyway are
 * left out. */
#ifndef ESPI_TESTBED_AREAS_H
#define ESPI_TESTBED_AREAS_H

#include "base/arena.h"
#include "platform/platform.h"

struct espi_areas {
    int n_areas;
    int *of;      /* host -> area; areas are numbered in the order of their first hosts */
    int *first;   /* area -> its first host */
    int *port[2]; /* host -> the slowest cable that is its port, out and in; -1: none */
    int n_cables;
    int *cable;            /* of the platform */
    unsigned char **pairs; /* cable -> from area * n_areas + to area: is it shared? */
};

/* Every host must have a link to every other. Memory from the arena; NULL: none left. */
struct espi_areas *espi_areas_find(const struct esp_platform *p,
                                   struct espi_arena *arena);

/* Does the cable, of the areas', carry what goes from one area to another? */
static inline int espi_areas_share(const struct espi_areas *a, int cable, int from,
                                   int to)
{
    return a->pairs[cable][from * a->n_areas + to];
}

#endif
