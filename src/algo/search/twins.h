/* Hosts that differ in name only. */
#ifndef ESPI_ALGO_SEARCH_TWINS_H
#define ESPI_ALGO_SEARCH_TWINS_H

#include "platform/view.h"

/* A set of up to 128 hosts. */
typedef unsigned __int128 espi_hostset;

static inline espi_hostset espi_hostset_of(int host)
{
    return (espi_hostset)1 << host;
}

/* Those before the host. */
static inline espi_hostset espi_hostset_below(int host)
{
    return espi_hostset_of(host) - 1;
}

/* The lowest host of a set that is not empty. */
static inline int espi_hostset_first(espi_hostset hosts)
{
    unsigned long long low = (unsigned long long)hosts;

    return low ? __builtin_ctzll(low)
               : 64 + __builtin_ctzll((unsigned long long)(hosts >> 64));
}

/* twins[h] gets the set of hosts that could be exchanged with h without changing any
 * time, load or cable; the root has none. For at most 128 hosts. Finds none on platforms
 * with switches. O(n^3 degree). */
void espi_find_twins(const struct espi_view *v, int root, espi_hostset *twins);

#endif
