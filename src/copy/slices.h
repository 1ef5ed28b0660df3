/* The slices of a run on the disk of a host: where their bytes are, and which are here.
 */
#ifndef ESPI_COPY_SLICES_H
#define ESPI_COPY_SLICES_H

#include "copy/part.h"

/* Bytes that stand together in an open file, until something else is looked for. */
struct espi_copy_place {
    int fd; /* -1: they are in no file, and are moved by copying */
    uint64_t at, bytes;
};

/* Where the bytes of messages are; at: in the message. */
struct espi_copy_disk {
    void *self;
    esp_status (*move)(void *self, const struct espi_copy_message *m, int keeps,
                       uint64_t at, void *data, size_t bytes, struct esp_err *err);
    /* Where the byte is, or will be, and those that follow it there, for the kernel to
     * move them; NULL: they are moved by copying. */
    esp_status (*find)(void *self, const struct espi_copy_message *m, int keeps,
                       uint64_t at, struct espi_copy_place *place, struct esp_err *err);
};

struct espi_copy_slices {
    const struct espi_copy_part *part;
    struct espi_copy_disk disk;
    unsigned char *landed; /* slices that are here */
    uint32_t n_landed;
    struct esp_err err; /* of the disk: nothing is moved any more */
};

/* mine: does the host have everything (the root)? -1: no memory. */
int espi_slices_init(struct espi_copy_slices *s, const struct espi_copy_part *part,
                     const struct espi_copy_disk *disk, int mine,
                     struct espi_arena *arena);
size_t espi_slice_bytes(const struct espi_copy_slices *s, uint32_t slice);
/* at: in the slice. 0, or -1: the disk failed. */
int espi_slices_move(struct espi_copy_slices *s, uint32_t slice, int keeps, uint64_t at,
                     void *data, size_t bytes);
int espi_slices_find(struct espi_copy_slices *s, uint32_t slice, int keeps, uint64_t at,
                     struct espi_copy_place *place);
/* All of it has come. */
void espi_slices_land(struct espi_copy_slices *s, uint32_t slice);

#endif
