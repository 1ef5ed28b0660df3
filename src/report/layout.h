/* Where the nodes of a platform stand in a picture. */
#ifndef ESPI_REPORT_LAYOUT_H
#define ESPI_REPORT_LAYOUT_H

#include "base/arena.h"
#include "platform/platform.h"

struct espi_point {
    double x, y;
};

/* A site, or a node that has none: a disc with its nodes in it. */
struct espi_group {
    int site; /* -1: a node by itself */
    int n_nodes;
    struct espi_point centre;
    double radius;
};

/* Nodes are discs of radius 1; the picture reaches from (0, 0) to (width, height). */
struct espi_picture_layout {
    double width, height;
    struct espi_point *node;
    int n_groups;
    struct espi_group *groups;
    int *group_of; /* node -> group */
};

/* Memory from the arena; -1 when out of memory. The same platform, the same layout. */
int espi_layout_make(struct espi_picture_layout *l, const struct esp_platform *p,
                     struct espi_arena *arena);

#endif
