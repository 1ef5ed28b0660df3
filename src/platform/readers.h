/* The readers, one a format; esp_platform_read picks. `where` names the text in messages.
 */
#ifndef ESPI_PLATFORM_READERS_H
#define ESPI_PLATFORM_READERS_H

#include <espalier/platform.h>

esp_status espi_read_json(const char *text, size_t length, const char *where,
                          struct esp_platform **out, struct esp_err *err);

#endif
