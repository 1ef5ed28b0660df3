/* A picture by itself: an SVG file that any browser, word processor or README shows. */
#ifndef ESPI_REPORT_PICTURE_H
#define ESPI_REPORT_PICTURE_H

#include "report/network.h"

struct espi_picture {
    struct espi_network net; /* with at most one plan */
    const char *title;
};

/* what: a struct espi_picture. For espi_write_file. */
esp_status espi_picture_write(const void *what, FILE *out, struct esp_err *err);

/* "mtp: 12.5 MB/s of at most 13.1 MB/s (95.1%)"; returns out. */
const char *espi_plan_caption(const struct esp_plan *plan, char *out, size_t out_size);

#endif
