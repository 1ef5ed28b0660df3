/* Any format, found by its content. */
#include "fuzz/reader.h"

static esp_status read_any(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    return esp_platform_parse(source->text, source->length, source->where, NULL, out,
                              err);
}

FUZZ_READER(read_any)
