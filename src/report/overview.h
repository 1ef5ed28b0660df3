/* Large networks and dense plans, site by site: each site is one circle with the number
 * of its hosts, and what goes from site to site one cable, as wide as the part of the
 * message that it carries. Pages begin so, too, and open a site on a click
 * (web/src/sites.ts). */
#ifndef ESPI_REPORT_OVERVIEW_H
#define ESPI_REPORT_OVERVIEW_H

#include <stdbool.h>

#include "report/network.h"

/* Is it drawn so? By the number of hosts, and of transfers of the first plan. */
bool espi_overview_suits(const struct espi_network *net);

/* The groups of SVG, instead of those of espi_network_write(). -1 when out of memory. */
int espi_overview_write(const struct espi_network *net, FILE *out);

#endif
