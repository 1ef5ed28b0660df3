/* Both matrices in one text, with "=\n" between. */
#include "fuzz/reader.h"

static esp_status read_pair(const struct espi_source *source, struct esp_platform **out,
                            struct esp_err *err)
{
    const char *cut = memmem(source->text, source->length, "=\n", 2);
    struct espi_source latency = *source, bandwidth = *source;
    if (cut) {
        latency.length = (size_t)(cut - source->text);
        bandwidth.text = cut + 2;
        bandwidth.length -= latency.length + 2;
    }
    return espi_read_matrix(&latency, &bandwidth, out, err);
}

FUZZ_READER(read_pair)
