/* Lists of hosts as batch systems write them: "tux[0-3,12],b7", "r[0-1]n[01-16]-ib". */
#ifndef ESPI_BASE_HOST_LIST_H
#define ESPI_BASE_HOST_LIST_H

#include "base/scan.h"

/* One name of a list; a failure ends the list. */
typedef esp_status (*espi_take_host)(void *self, const char *name, struct esp_err *err);

/* Gives the names of a list to `take`, in its order. Numbers keep their leading zeros. A
 * list that is empty, not closed, of more than max names, or of names longer than
 * ESPI_NAME_MAX or not printable is refused, by a sentence without a place. */
esp_status espi_host_list_each(struct espi_span list, size_t max, espi_take_host take,
                               void *self, struct esp_err *err);

#endif
