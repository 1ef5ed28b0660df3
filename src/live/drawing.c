#include "live/drawing.h"

#include <stdlib.h>

#include "report/markup.h"
#include "report/page.h"

int espi_live_write_drawing(const struct espi_network *net, char **bytes, size_t *length)
{
    char *svg = NULL;
    size_t svg_length;
    FILE *out = open_memstream(&svg, &svg_length);

    if (!out)
        return -1;
    espi_network_write_element(net, out);
    if (fclose(out) || !(out = open_memstream(bytes, length))) {
        free(svg);
        return -1;
    }
    fputs("{\"platform\":", out);
    espi_page_put_platform(net->p, out);
    fputs(",\"svg\":", out);
    espi_markup_json_string(out, svg);
    fputs("}\n", out);
    free(svg);
    return fclose(out) ? -1 : 0;
}
