/* Hosts that reach one another, where not all do. */
#ifndef ESPI_PLATFORM_ISLANDS_H
#define ESPI_PLATFORM_ISLANDS_H

#include <espalier/platform.h>

#include "base/arena.h"

struct espi_island {
    int n_hosts;
    int first_host; /* the one with the lowest number */
    int n_sites;    /* that they are in; 0: in none */
    int *site;      /* rising */
};

/* The groups within which all hosts reach one another, in *out, the largest first and of
 * equals that with the lowest host. *reached: does some host reach all? ESP_ENOMEM is the
 * only failure. */
esp_status espi_find_islands(const struct esp_platform *p, struct espi_arena *arena,
                             struct espi_island **out, int *n, int *reached);

#endif
