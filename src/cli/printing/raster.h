/* Pictures (SVG) as PNG and PDF, by librsvg and cairo where they are installed: they are
 * loaded when they are asked for, so that nothing else needs them. */
#ifndef ESPI_CLI_PRINTING_RASTER_H
#define ESPI_CLI_PRINTING_RASTER_H

#include <stdio.h>

#include <espalier/status.h>

struct cli_raster {
    /* writes the picture, in light colours by custom properties of :root */
    esp_status (*draw)(const void *what, FILE *out, struct esp_err *err);
    const void *what;
    int is_pdf;
};

/* what: a struct cli_raster. For espi_write_file; ESP_EUNSUPPORTED when there is no such
 * library. */
esp_status cli_raster_write(const void *what, FILE *out, struct esp_err *err);

#endif
