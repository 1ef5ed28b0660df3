/* The drawing of a network, as live pages ask for it. */
#ifndef ESPI_LIVE_DRAWING_H
#define ESPI_LIVE_DRAWING_H

#include "report/network.h"

/* JSON: the platform and its drawing, to be freed by free, also where -1 is given: no
 * memory. */
int espi_live_write_drawing(const struct espi_network *net, char **bytes, size_t *length);

#endif
