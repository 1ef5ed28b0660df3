/* The two ways to wire a platform; used by espi_grid_make only. */
#ifndef ESPI_TESTBED_WIRING_H
#define ESPI_TESTBED_WIRING_H

#include "testbed/grid.h"

/* Is every host linked with every other, and is there no switch? */
int espi_wiring_is_direct(const struct esp_platform *p);

/* A wire for each link and its opposite. */
esp_status espi_wire_links(struct espi_grid *g, struct espi_arena *arena,
                           struct esp_err *err);
/* A router an area, wires for ports and for cables that areas share; and routes. */
esp_status espi_wire_sites(struct espi_grid *g, struct espi_arena *arena,
                           struct esp_err *err);

/* For both of them. */
int espi_grid_add_box(struct espi_grid *g, const char *name, int node);
struct espi_testbed_wire *espi_grid_add_wire(struct espi_grid *g, int a, int b);
void espi_wire_set(struct espi_testbed_wire *w, int dir, double rate_Bps,
                   double latency_s);
char *espi_grid_text(struct espi_arena *arena, const char *first, const char *second);

#endif
