/* Geometry of the Tiers generator: how the nodes of one network, given as points of the
 * plane, are joined. Kept apart from the generator so that it can be checked against
 * brute force. */
#ifndef ESPI_PLATFORM_TIERS_NET_H
#define ESPI_PLATFORM_TIERS_NET_H

#include "base/arena.h"

struct espi_points {
    const int *x, *y;
    int count;
};

/* Distance of two points in whole grid units. */
int espi_points_distance(const struct espi_points *p, int a, int b, int unit);

/* The points in order of their distance from the anchor, which comes first; ties to the
 * lower number. Gives the `rank` nearest in near[0..rank); rank <= count. */
void espi_points_nearest(const struct espi_points *p, int anchor, int rank, int *near);

/* Most pairs that espi_points_connect can give. */
int espi_points_max_pairs(int count, int redundancy);

/* Joins the points: a minimum spanning tree by distance in whole units (Prim; of equal
 * distances the lower number first), then, for each point in turn, pairs with the nearest
 * points that it is not yet joined with, until it has min(redundancy, count - 1).
 * Returns the number of pairs, the tree's first, or -1 when out of memory.
 * O(count^2 + count * (count + pairs) * redundancy). */
int espi_points_connect(const struct espi_points *p, int redundancy, int unit,
                        struct espi_arena *arena, int (*pairs)[2]);

#endif
