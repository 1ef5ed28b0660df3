/* What came last of a message, in memory, for the hosts after this one: of many small
 * files none is opened again to be passed on. What a host proves it reads from its files.
 */
#ifndef ESPI_COPY_RECENT_H
#define ESPI_COPY_RECENT_H

#include <stddef.h>
#include <stdint.h>

#include "copy/tuning.h"

enum { ESPI_RECENT_PIECES = ESPI_COPY_RECENT_BYTES / ESPI_COPY_WORK_BYTES };

/* All zero: nothing yet. */
struct espi_recent {
    struct espi_recent_piece {
        uint64_t at;
        size_t bytes; /* 0: free */
    } piece[ESPI_RECENT_PIECES];
    char *data; /* of each piece a buffer of ESPI_COPY_WORK_BYTES */
    int next;
};

/* Keeps no piece that is longer than a buffer, and none where there is no memory. What
 * was kept of these bytes before is forgotten. */
void espi_recent_keep(struct espi_recent *r, uint64_t at, const void *from, size_t bytes);
/* 1: they were there. */
int espi_recent_load(const struct espi_recent *r, uint64_t at, void *to, size_t bytes);
void espi_recent_done(struct espi_recent *r);

#endif
