/* One host's part of a run: which blocks of a message travel, the host's own steps of the
 * program that carries them, and whom it sends to and gets from. It is made where the
 * plan is, and read by an agent, which trusts none of it. */
#ifndef ESPI_COPY_PART_H
#define ESPI_COPY_PART_H

#include <espalier/status.h>

#include "base/arena.h"
#include "copy/secure.h"
#include "copy/wire.h"
#include "program/program.h"

enum espi_message_kind {                        /* code */
                         ESPI_MESSAGE_LIST = 0, /* the manifest, kept in memory */
                         ESPI_MESSAGE_DATA,     /* the data of all files */
                         ESPI_MESSAGE_STREAM,   /* bytes of a stream, from `base` on */
};

/* limit: of blocks, and of the list of files, which is kept in memory */
enum {
    ESPI_COPY_BLOCK_MAX = 8 << 20,
    ESPI_COPY_BLOCKS_MAX = 1 << 24,
    ESPI_COPY_LIST_MAX = 128 << 20,
    ESPI_COPY_ADDRESS = 256,
};

struct espi_copy_message {
    int kind;
    uint64_t base, size; /* size > 0 */
    uint32_t block_bytes;
    uint32_t n_blocks; /* the last may be short */
};

struct espi_copy_message espi_copy_message(int kind, uint64_t base, uint64_t size,
                                           uint32_t block_bytes);
void espi_message_put(struct espi_wire_out *w, const struct espi_copy_message *m);
void espi_message_take(struct espi_wire_in *r, struct espi_copy_message *m);
/* Where a block begins in the message, and its bytes. */
static inline uint64_t espi_block_at(const struct espi_copy_message *m, uint32_t block,
                                     size_t *bytes)
{
    uint64_t at = (uint64_t)block * m->block_bytes, left = m->size - at;
    *bytes = left < m->block_bytes ? (size_t)left : m->block_bytes;
    return at;
}

/* A stream's other end. */
struct espi_copy_peer {
    uint32_t number; /* of the stream in the whole program */
    int is_out;
    char address[ESPI_COPY_ADDRESS]; /* where it goes out */
    uint32_t port;
    unsigned char key[ESPI_SECRET_BYTES];
    const unsigned char *has; /* slices that the receiver has already; NULL: none */
};

struct espi_copy_part {
    uint32_t run;
    struct espi_copy_message message;
    uint32_t n_slices;
    uint32_t *block; /* slice -> block */
    int rank;
    struct espi_program prog;    /* with the host's streams and steps alone */
    struct espi_copy_peer *peer; /* by stream */
};

/* What whoever makes the plan knows of each stream. */
struct espi_part_source {
    const struct espi_program *prog;
    uint32_t run;
    struct espi_copy_message message;
    const uint32_t *block; /* slice -> block */
    void *self;
    /* Fills in address, port, key and has. */
    esp_status (*peer)(void *self, int stream, struct espi_copy_peer *peer,
                       struct esp_err *err);
    /* Does the host only pass on? */
    int (*is_relay)(void *self, int rank);
};

esp_status espi_part_put(struct espi_wire_out *w, const struct espi_part_source *from,
                         int rank, struct esp_err *err);
/* Everything lives in the arena; the bytes must live as long. */
esp_status espi_part_read(struct espi_copy_part *part, struct espi_wire_in *r,
                          struct espi_arena *arena, struct esp_err *err);

#endif
