/* Price against time: the curve, and the plan of each of its points a click away. */
#ifndef ESPI_REPORT_FRONT_H
#define ESPI_REPORT_FRONT_H

#include "report/findings.h"
#include "report/network.h"

/* What a link carries, and what that costs. */
struct espi_front_line {
    const char *from, *to;
    double GB, usd;
};

struct espi_front_corner {
    double time_s, usd, usd_machines, bound_usd;
    int relays, machines;
    struct espi_network net; /* the plan's hosts, with the plan */
    int n_lines;
    const struct espi_front_line *lines;
};

struct espi_front {
    const char *title;
    int n;
    const struct espi_front_corner *corners; /* the fastest first */
};

/* The curve as a figure; memory from the arena. linked: points lead to the sections of
 * the page. -1: out of memory. */
int espi_front_figure(const struct espi_front *front, int linked,
                      struct espi_arena *arena, struct espi_figure *out);

/* A page of its own, without any script. what: a struct espi_front. For
 * espi_write_file. */
esp_status espi_front_write(const void *what, FILE *out, struct esp_err *err);

#endif
