/* The tags of all messages that the shim sends, in one place, so that none is taken for
 * another. MPI promises tags up to 32767. */
#ifndef ESPI_MPI_TAGS_H
#define ESPI_MPI_TAGS_H

#include "exec/backup_session.h"

/* code: below ESPI_TAG_MAX, which the standard promises. */
enum {
    /* Streams of blocking calls: channels as they are in the program. */
    ESPI_TAG_CALLS = 0,
    ESPI_CHANNELS = 8192,
    /* Non-blocking calls: a ring (later.c). */
    ESPI_TAG_LATER = ESPI_TAG_CALLS + ESPI_CHANNELS,
    ESPI_LATER_TAGS = 8192,
    /* Persistent calls: each its own (persistent.c). */
    ESPI_TAG_INIT = ESPI_TAG_LATER + ESPI_LATER_TAGS,
    ESPI_INIT_TAGS = 8192,
    /* Sums of programs (agree.c), in turn. */
    ESPI_TAG_SUMS = ESPI_TAG_INIT + ESPI_INIT_TAGS,
    ESPI_SUMS = 8000,
    /* One each. */
    ESPI_TAG_GREETING = 32763,
    ESPI_TAG_RELAY = 32764, /* advice from rank to rank */
    ESPI_TAG_BACKUP_SLICES = ESPI_CHANNEL_BACKUP_SLICES,
    ESPI_TAG_BACKUP_NOTES = ESPI_CHANNEL_BACKUP_NOTES,
    ESPI_TAG_SELF = 32767, /* of a rank to itself */
    ESPI_TAG_MAX = 32767,
};

_Static_assert((int)ESPI_TAG_SUMS + ESPI_SUMS <= ESPI_TAG_GREETING &&
                   (int)ESPI_CHANNELS <= (int)ESPI_LATER_TAGS &&
                   ESPI_TAG_GREETING < ESPI_TAG_RELAY &&
                   ESPI_TAG_RELAY < ESPI_TAG_BACKUP_SLICES &&
                   ESPI_TAG_BACKUP_SLICES < ESPI_TAG_BACKUP_NOTES &&
                   ESPI_TAG_BACKUP_NOTES < ESPI_TAG_SELF &&
                   (int)ESPI_TAG_SELF <= ESPI_TAG_MAX,
               "each kind of message has tags of its own");

#endif
