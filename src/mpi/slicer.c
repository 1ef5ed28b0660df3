/* Bytes of elements with gaps between them, taken and put some at a time: what is under
 * way is all the memory that it takes. MPI packs whole elements; of one that is cut the
 * rest is packed and put back with it. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"
#include "mpi/tuning.h"

int espi_slicer_init(struct espi_slicer *s, MPI_Datatype type, MPI_Comm twin)
{
    MPI_Count lb;
    *s = (struct espi_slicer){.type = type, .twin = twin, .error = MPI_SUCCESS};
    if (PMPI_Type_size_x(type, &s->size) || s->size <= 0 ||
        s->size > ESPI_SLICED_ELEMENT_BYTES ||
        PMPI_Type_get_extent_x(type, &lb, &s->extent))
        return -1;
    s->piece = espi_malloc((size_t)s->size);
    return s->piece ? 0 : -1;
}

void espi_slicer_done(struct espi_slicer *s)
{
    espi_free(s->piece);
    s->piece = NULL;
}

/* n elements, from one on. */
static int pack_elements(const struct espi_slicer *s, void *element, int n, void *to)
{
    int position = 0;
    return PMPI_Pack(element, n, s->type, to, (int)(n * s->size), &position, s->twin);
}

static int unpack_elements(const struct espi_slicer *s, const void *from, void *element,
                           int n)
{
    int position = 0;
    return PMPI_Unpack(from, (int)(n * s->size), &position, element, n, s->type, s->twin);
}

/* Some bytes of one element; the number of them. */
static size_t move_part(struct espi_slicer *s, void *element, size_t skip, char *ours,
                        size_t bytes, int out)
{
    size_t n = (size_t)s->size - skip < bytes ? (size_t)s->size - skip : bytes;
    int code = pack_elements(s, element, 1, s->piece);
    if (!code && out)
        memcpy(ours, s->piece + skip, n);
    if (!code && !out) {
        memcpy(s->piece + skip, ours, n);
        code = unpack_elements(s, s->piece, element, 1);
    }
    if (!s->error)
        s->error = code;
    return n;
}

/* Whole elements; the number of their bytes. */
static size_t move_whole(struct espi_slicer *s, void *element, char *ours, size_t bytes,
                         int out)
{
    size_t most = INT_MAX / (size_t)s->size, n = bytes / (size_t)s->size;
    n = n < most ? n : most;
    int code = out ? pack_elements(s, element, (int)n, ours)
                   : unpack_elements(s, ours, element, (int)n);
    if (!s->error)
        s->error = code;
    return n * (size_t)s->size;
}

static void move_bytes(struct espi_slicer *s, char *buffer, uint64_t at, char *ours,
                       size_t bytes, int out)
{
    while (bytes > 0) {
        uint64_t size = (uint64_t)s->size;
        char *element = buffer + (MPI_Count)(at / size) * s->extent;
        size_t skip = (size_t)(at % size);
        size_t n = skip || bytes < size ? move_part(s, element, skip, ours, bytes, out)
                                        : move_whole(s, element, ours, bytes, out);
        at += n;
        ours += n;
        bytes -= n;
    }
}

void espi_slicer_load(struct espi_slicer *s, const void *buffer, uint64_t at, void *to,
                      size_t bytes)
{
    move_bytes(s, (char *)buffer, at, to, bytes, 1);
}

void espi_slicer_keep(struct espi_slicer *s, void *buffer, uint64_t at, const void *from,
                      size_t bytes)
{
    move_bytes(s, buffer, at, (char *)from, bytes, 0);
}
