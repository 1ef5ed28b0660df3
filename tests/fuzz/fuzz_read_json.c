#include "fuzz/reader.h"

static esp_status read_json(const struct espi_source *source, struct esp_platform **out,
                            struct esp_err *err)
{
    return espi_read_json(source->text, source->length, source->where, out, err);
}

FUZZ_READER(read_json)
