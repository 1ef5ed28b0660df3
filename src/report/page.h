/* The page: one HTML file with everything in it. Its frame, style and script come from
 * web/, bundled when the project is built; the drawing and the figures are put in here.
 */
#ifndef ESPI_REPORT_PAGE_H
#define ESPI_REPORT_PAGE_H

#include "report/network.h"

/* A transfer of the timeline; times are parts of the makespan in 1/ESPI_PAGE_TICKS. */
struct espi_page_transfer {
    int from, to, tree, slice, start, end;
};

enum { ESPI_PAGE_TICKS = 1000000 }; /* looks: finer than any screen */

/* What a plan does, slice by slice. */
struct espi_page_timeline {
    double size_bytes, slice_bytes, makespan_s;
    int whole; /* the whole message of the plan; else its first slices */
    size_t n_transfers;
    const struct espi_page_transfer *transfers;
};

/* One algorithm over all sizes; NAN where it has no plan. */
struct espi_page_row {
    const char *algo, *family;
    const double *makespan_s;
};

struct espi_page {
    struct espi_network net;
    const char *title;
    const struct espi_page_timeline *timelines; /* one a plan */
    int by_auto;                                /* nobody named the plan's algorithm */
    int n_sizes, n_rows;
    const double *sizes_bytes;
    const double *bound_s; /* by size: no plan is done earlier */
    const struct espi_page_row *rows;
};

/* Was the page bundled when this was built? */
int espi_page_exists(void);

/* The platform as an object of JSON. */
void espi_page_put_platform(const struct esp_platform *p, FILE *out);

/* The frame of the live page, which asks for all else by itself; only a script that
 * carries the nonce may run in it. */
esp_status espi_page_write_live(const char *nonce, FILE *out, struct esp_err *err);
/* The same of a copy. */
esp_status espi_page_write_copy(const char *nonce, FILE *out, struct esp_err *err);

/* what: a struct espi_page. For espi_write_file. */
esp_status espi_page_write(const void *what, FILE *out, struct esp_err *err);

#endif
