/* How messages are cut, and into how many slices at most: sizes come from files, and what
 * counts slices must be able to. */
#ifndef ESPI_PLAN_SLICES_H
#define ESPI_PLAN_SLICES_H

#include <espalier/status.h>

#define ESPI_SIZE_MAX   9e15      /* bytes of a message: whole numbers of a double */
#define ESPI_SLICES_FEW (1 << 24) /* limit: so many may be of less than a byte */

/* Into equal slices, as few as none is larger than asked. A slice of 0, or one larger
 * than the message, means one slice. */
struct espi_slices {
    double count, bytes;
};

struct espi_slices espi_slices(double size_bytes, double slice_bytes);

/* Gives `status`, and in err the limits, where the message is too large, or its slices
 * are too many. Neither is negative or not a number. */
esp_status espi_slices_check(double size_bytes, double slice_bytes, esp_status status,
                             struct esp_err *err);

#endif
