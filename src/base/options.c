#include "base/options.h"

#include <string.h>

enum { SIZE_MAX_BYTES = 4096 }; /* limit: no struct of options will ever be larger */

esp_status espi_options_take(void *ours, size_t our_size, const void *given, size_t least,
                             const char *name, struct esp_err *err)
{
    const unsigned char *bytes = given;
    size_t size;
    memcpy(&size, given, sizeof size);
    if (size < least || size > SIZE_MAX_BYTES)
        return espi_err(err, ESP_EUSAGE,
                        "struct %s says that it has %zu bytes: its defaults must be "
                        "filled in first",
                        name, size);
    for (size_t i = our_size; i < size; i++)
        if (bytes[i])
            return espi_err(err, ESP_EUNSUPPORTED,
                            "struct %s uses members that version %s of the library does "
                            "not have",
                            name, esp_version());
    memcpy(ours, given, size < our_size ? size : our_size);
    memcpy(ours, &our_size, sizeof our_size);
    return ESP_OK;
}

void espi_options_give(void *given, size_t size, const void *ours, size_t our_size)
{
    if (!given || size < sizeof size)
        return;
    memset(given, 0, size);
    memcpy(given, ours, size < our_size ? size : our_size);
    memcpy(given, &size, sizeof size);
}
