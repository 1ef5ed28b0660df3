#include "plan/slices.h"

#include <math.h>

#include "base/err.h"

struct espi_slices espi_slices(double size_bytes, double slice_bytes)
{
    struct espi_slices s = {1, size_bytes};
    if (slice_bytes > 0 && slice_bytes < size_bytes) {
        s.count = ceil(size_bytes / slice_bytes * (1 - 1e-12));
        s.bytes = size_bytes / s.count;
    }
    return s;
}

esp_status espi_slices_check(double size_bytes, double slice_bytes, esp_status status,
                             struct esp_err *err)
{
    if (!(size_bytes <= ESPI_SIZE_MAX))
        return espi_err(err, status, "the message has %g bytes; at most it may have %g",
                        size_bytes, ESPI_SIZE_MAX);
    double most = fmax(size_bytes, ESPI_SLICES_FEW);
    if (!(espi_slices(size_bytes, slice_bytes).count <= most))
        return espi_err(
            err, status,
            "slices of %g bytes are too small for a message of %g bytes: a slice "
            "must have at least 1 byte, or the message at most %d slices",
            slice_bytes, size_bytes, ESPI_SLICES_FEW);
    return ESP_OK;
}
