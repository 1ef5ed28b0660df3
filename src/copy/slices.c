#include "copy/slices.h"

#include <string.h>

/* Slices that are here from the start: all streams in say the same. */
int espi_slices_init(struct espi_copy_slices *s, const struct espi_copy_part *part,
                     const struct espi_copy_disk *disk, int mine,
                     struct espi_arena *arena)
{
    size_t bytes = espi_set_bytes(part->n_slices);
    *s = (struct espi_copy_slices){.part = part, .disk = *disk};
    s->landed = ESPI_ARENA_ZNEW(arena, unsigned char, bytes + 1);
    if (!s->landed)
        return -1;
    if (mine)
        memset(s->landed, 0xff, bytes);
    for (int i = 0; i < part->prog.n_streams - part->prog.n_trees; i++)
        if (!part->peer[i].is_out && part->peer[i].has)
            memcpy(s->landed, part->peer[i].has, bytes);
    s->n_landed = espi_set_count(s->landed, part->n_slices);
    return 0;
}

size_t espi_slice_bytes(const struct espi_copy_slices *s, uint32_t slice)
{
    size_t bytes;
    espi_block_at(&s->part->message, s->part->block[slice], &bytes);
    return bytes;
}

static uint64_t byte_at(const struct espi_copy_slices *s, uint32_t slice, uint64_t at)
{
    size_t bytes;
    return espi_block_at(&s->part->message, s->part->block[slice], &bytes) + at;
}

int espi_slices_move(struct espi_copy_slices *s, uint32_t slice, int keeps, uint64_t at,
                     void *data, size_t bytes)
{
    return s->err.status || s->disk.move(s->disk.self, &s->part->message, keeps,
                                         byte_at(s, slice, at), data, bytes, &s->err)
               ? -1
               : 0;
}

int espi_slices_find(struct espi_copy_slices *s, uint32_t slice, int keeps, uint64_t at,
                     struct espi_copy_place *place)
{
    *place = (struct espi_copy_place){.fd = -1};
    if (s->err.status)
        return -1;
    return s->disk.find && s->disk.find(s->disk.self, &s->part->message, keeps,
                                        byte_at(s, slice, at), place, &s->err)
               ? -1
               : 0;
}

void espi_slices_land(struct espi_copy_slices *s, uint32_t slice)
{
    if (espi_set_has(s->landed, slice))
        return;
    espi_set_add(s->landed, slice);
    s->n_landed++;
}
