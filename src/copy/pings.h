/* How long it takes to get to others and back, by the kernel's own clock: from the first
 * packet of a connection to its answer, for which no process has to be awake. */
#ifndef ESPI_COPY_PINGS_H
#define ESPI_COPY_PINGS_H

#include <stdint.h>

#include "copy/part.h"
#include "copy/wire.h"

enum { ESPI_PINGS_MAX = 32 }; /* limit: hosts that one host asks */

struct espi_ping {
    char address[ESPI_COPY_ADDRESS];
    uint32_t port;
    uint32_t round_trip_us; /* UINT32_MAX: not known */
    int fd;                 /* for itself */
};

/* Asks all of them, side by side. */
void espi_pings(struct espi_ping *ping, int n);

/* Whom host i of n asks: the k-th, for k from 0; -1: no more. All ask as many, and up to
 * 65 hosts each pair is asked for. */
int espi_pings_whom(int i, int n, int k);

#endif
