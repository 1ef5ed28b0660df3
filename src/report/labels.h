/* Where names stand in a picture: beside their nodes and above their sites, so that none
 * covers another, or a node; names for which there is no room are left out. */
#ifndef ESPI_REPORT_LABELS_H
#define ESPI_REPORT_LABELS_H

#include "report/layout.h"

typedef enum {
    ESPI_LABEL_LEFT_OUT,
    ESPI_LABEL_STARTS, /* at the point, to the right */
    ESPI_LABEL_ENDS,   /* there */
    ESPI_LABEL_MIDDLE, /* above or below it */
} espi_label_anchor;

struct espi_label {
    espi_label_anchor anchor;
    int x, y; /* of its base line, from the node, or from the centre of the site */
};

struct espi_labels {
    int site_px;              /* how high letters of sites are: more in large pictures */
    struct espi_label *node;  /* by node */
    struct espi_label *group; /* by group of the layout */
};

/* most: of more nodes the root alone has its name. root: -1: none. Memory from the arena;
 * -1 when out of memory. */
int espi_labels_place(struct espi_labels *out, const struct esp_platform *p,
                      const struct espi_picture_layout *layout, int root, int most,
                      struct espi_arena *arena);

/* How many letters a name in UTF-8 has. */
int espi_letters(const char *name) __attribute__((pure));

#endif
