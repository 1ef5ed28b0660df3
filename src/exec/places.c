#include "exec/places.h"

#include <string.h>

/* Slices tile parts: how many each. */
static int64_t slices_of_part(const struct espi_program *prog)
{
    return prog->slot_part ? prog->rounds * (prog->slots / prog->parts) : prog->n_slices;
}

/* The bytes of a slice in a part of that size, in whole elements. */
static uint64_t range_in_part(const struct espi_run *run, int64_t slice, uint64_t size,
                              size_t *bytes)
{
    const struct espi_program *prog = run->prog;
    uint64_t element = run->options.element_bytes > 0 ? run->options.element_bytes : 1;
    if (prog->slot_part)
        slice = slice / prog->slots * (prog->slots / prog->parts) +
                prog->slot_place[slice % prog->slots];
    int64_t n = slices_of_part(prog);
    uint64_t from = espi_slice_offset(size / element, n, slice) * element;
    uint64_t to = espi_slice_offset(size / element, n, slice + 1) * element;
    *bytes = (size_t)(to - from);
    return from;
}

/* Which part it is of, and where in it. */
static int locate(const struct espi_run *run, int64_t slice, uint64_t *from,
                  size_t *bytes)
{
    const struct espi_program *prog = run->prog;
    uint64_t length;
    int part = prog->slot_part ? prog->slot_part[slice % prog->slots] : 0;
    if (run->options.blocks) {
        *from = range_in_part(run, slice, run->options.blocks[part].bytes, bytes);
        return part;
    }
    if (run->options.element_bytes > 1) {
        *from = range_in_part(run, slice, (uint64_t)prog->size_bytes, bytes);
        return 0;
    }
    *from = espi_slice_range(prog, slice, &length);
    *bytes = (size_t)length;
    return 0;
}

char *espi_place_of(const struct espi_run *run, int64_t slice, size_t *bytes)
{
    uint64_t from;
    int part = locate(run, slice, &from, bytes);
    char *start = run->options.blocks ? run->options.blocks[part].at : run->data;
    return start ? start + from : NULL;
}

char *espi_place_of_message(const struct espi_run *run, int stream, int64_t slice,
                            size_t *bytes)
{
    const struct espi_program *prog = run->prog;
    char *from = espi_place_of(run, slice, bytes);
    for (int k = 1; k < espi_stream_pieces(prog, stream); k++) {
        size_t more;
        espi_place_of(run, prog->pieces[prog->piece_start[stream] + k], &more);
        *bytes += more;
    }
    return from;
}

int espi_is_scattered(const struct espi_run *run, int stream)
{
    const struct espi_program *prog = run->prog;
    size_t bytes;
    if (run->options.load)
        return 1;
    if (espi_stream_pieces(prog, stream) == 1)
        return 0;
    const char *at = espi_place_of(run, prog->pieces[prog->piece_start[stream]], &bytes);
    for (int k = 1; k < espi_stream_pieces(prog, stream); k++) {
        const char *end = at + bytes;
        at = espi_place_of(run, prog->pieces[prog->piece_start[stream] + k], &bytes);
        if (at != end)
            return 1;
    }
    return 0;
}

/* Places start where any type may. */
enum { ROOM_ALIGNED = 64 }; /* derived: a cache line, which any type fits */

size_t espi_room_for_slice(const struct espi_program *prog,
                           const struct espi_run_options *o)
{
    uint64_t most = (uint64_t)prog->size_bytes / (uint64_t)prog->parts + 1;
    size_t element = o->element_bytes > 0 ? o->element_bytes : 1;
    for (int i = 0; o->blocks && i < prog->parts; i++)
        if (o->blocks[i].bytes > most)
            most = o->blocks[i].bytes;
    size_t bytes =
        (size_t)(most / element / (uint64_t)slices_of_part(prog) + 1) * element;
    return (bytes + ROOM_ALIGNED - 1) / ROOM_ALIGNED * ROOM_ALIGNED;
}

/* Of parts that travel together each has its own size. */
size_t espi_room_for_message(const struct espi_run *run, int stream)
{
    const struct espi_program *prog = run->prog;
    size_t bytes;
    if (!prog->pieces || !run->options.blocks)
        return (size_t)espi_stream_pieces(prog, stream) * run->room;
    espi_place_of_message(run, stream, prog->pieces[prog->piece_start[stream]], &bytes);
    return bytes / ROOM_ALIGNED * ROOM_ALIGNED + ROOM_ALIGNED;
}

void espi_slice_load(const struct espi_run *run, int64_t slice, char *to, size_t *bytes)
{
    uint64_t from;
    int part = locate(run, slice, &from, bytes);
    if (run->options.load) {
        run->options.load(run->options.arg, part, from, to, *bytes);
    } else {
        const char *place = espi_place_of(run, slice, bytes);
        memmove(to, place, *bytes);
    }
}

void espi_slice_keep(const struct espi_run *run, int64_t slice, const char *from,
                     size_t *bytes)
{
    uint64_t at;
    int part = locate(run, slice, &at, bytes);
    if (run->options.keep) {
        run->options.keep(run->options.arg, part, at, from, *bytes);
    } else {
        char *place = espi_place_of(run, slice, bytes);
        memmove(place, from, *bytes);
    }
}

void espi_message_load(const struct espi_run *run, int stream, int64_t slice, char *to)
{
    const struct espi_program *prog = run->prog;
    for (int k = 0; k < espi_stream_pieces(prog, stream); k++) {
        size_t bytes;
        int64_t piece =
            prog->pieces ? prog->pieces[prog->piece_start[stream] + k] : slice;
        espi_slice_load(run, piece, to, &bytes);
        to += bytes;
    }
}
