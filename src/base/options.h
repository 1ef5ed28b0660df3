/* Structs of options that grow. A public struct of options has its size as its first
 * member, set by the inline function that fills in the defaults. So a program that was
 * compiled with an older header can use a newer library, which takes the members that the
 * program does not know at their defaults; and an older library can serve a newer
 * program, as long as the members that the library does not know are left at 0. */
#ifndef ESPI_BASE_OPTIONS_H
#define ESPI_BASE_OPTIONS_H

#include <stddef.h>

#include "base/err.h"

/* Bytes up to and with a member: what a struct had in the release that it ended with it.
 */
#define ESPI_SIZE_UP_TO(type, member)                                                    \
    (offsetof(type, member) + sizeof(((type *)NULL)->member))

/* Copies what the caller has of a struct over *ours, which holds the defaults. `least` is
 * the size that it had in the first release that had it; `name` is that of the struct.
 * ESP_EUSAGE: nobody set the size. ESP_EUNSUPPORTED: there are members that we do not
 * know, and they are not 0. On failure *ours is untouched. */
esp_status espi_options_take(void *ours, size_t our_size, const void *given, size_t least,
                             const char *name, struct esp_err *err);

/* Copies our defaults to a struct of the caller's size, and notes that size in it. */
void espi_options_give(void *given, size_t size, const void *ours, size_t our_size);

#endif
