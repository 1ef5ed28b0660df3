/* A code by which who knows a key sees that a short message comes from others who do, and
 * is unchanged: SipHash-2-4 of J.-P. Aumasson and D. J. Bernstein, 64 bits. */
#ifndef ESPI_BASE_MAC_H
#define ESPI_BASE_MAC_H

#include <stddef.h>
#include <stdint.h>

enum { ESPI_KEY_BYTES = 16 }; /* published: SipHash */

uint64_t espi_mac(const unsigned char key[ESPI_KEY_BYTES], const void *data,
                  size_t length);

#endif
