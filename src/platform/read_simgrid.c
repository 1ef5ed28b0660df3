#include "platform/readers.h"
#include "base/err.h"
esp_status espi_read_simgrid(const char *path, const char *where, esp_model model,
                             struct esp_platform **out, struct esp_err *err)
{
    (void)path;
    (void)model;
    (void)out;
    return espi_err(err, ESP_EUNSUPPORTED,
                    "%s: this build does not read SimGrid platforms", where);
}
