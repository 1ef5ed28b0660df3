/* Any format, found by its content. */
#include "fuzz/reader.h"

static esp_status read_any(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    setenv("ESPALIER_LIBEXEC", "/none",
           1); /* what is known of libsimgrid is not fuzzed */
    return esp_platform_parse(source->text, source->length, source->where, NULL, out,
                              err);
}

FUZZ_READER(read_any)
