/* The user's data as one piece of bytes: where it is one already, as it stands; else
 * packed, in the order of the type map, which is the same on all ranks however they
 * describe it. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/shim.h"
#include "mpi/tags.h"

/* Is an element one piece, its bytes in the order of the type map, elements without gaps
 * between them? Types that are so in fact, but made by other means, are packed. */
int espi_is_flat(MPI_Datatype type, MPI_Count size)
{
    int n_ints, n_addresses, n_types, combiner, flat = 0;
    MPI_Aint addresses[1], lb, extent;
    MPI_Datatype inner;
    if (PMPI_Type_get_envelope(type, &n_ints, &n_addresses, &n_types, &combiner))
        return 0;
    if (combiner == MPI_COMBINER_NAMED)
        return !PMPI_Type_get_extent(type, &lb, &extent) && lb == 0 && extent == size;
    if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) ||
        n_ints > 1 || n_types != 1 || n_addresses > 0)
        return 0;
    int ints[1];
    MPI_Count inner_size;
    if (PMPI_Type_get_contents(type, n_ints, 0, 1, ints, addresses, &inner))
        return 0;
    flat = !PMPI_Type_size_x(inner, &inner_size) && espi_is_flat(inner, inner_size);
    if (!PMPI_Type_get_envelope(inner, &n_ints, &n_addresses, &n_types, &combiner) &&
        combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&inner);
    return flat;
}

/* The same data as one element seen from our memory: MPICH's MPI_Pack wants no address of
 * 0, which MPI_BOTTOM is. */
static int leave_bottom(struct espi_buffer_layout *l)
{
    MPI_Datatype shifted;
    int count = (int)l->count;
    MPI_Aint to_zero = -(MPI_Aint)l->data;
    if (l->count > INT_MAX)
        return MPI_ERR_COUNT;
    int code = PMPI_Type_create_hindexed(1, &count, &to_zero, l->type, &shifted);
    if (!code)
        code = PMPI_Type_commit(&shifted);
    if (code)
        return code;
    l->buffer = l->data;
    l->type = shifted;
    l->own_type = 1;
    l->size *= l->count;
    l->count = 1;
    return MPI_SUCCESS;
}

int espi_layout_init(struct espi_buffer_layout *l, void *buffer, MPI_Count count,
                     MPI_Datatype type, MPI_Count size, MPI_Comm twin, int whole)
{
    MPI_Count lb;
    int may_slice = !whole && buffer != MPI_BOTTOM;
    *l = (struct espi_buffer_layout){
        .data = buffer, .buffer = buffer, .count = count, .size = size, .type = type};
    if (espi_is_flat(type, size))
        return buffer == MPI_BOTTOM ? MPI_ERR_BUFFER : MPI_SUCCESS;
    l->data = NULL;
    int code = PMPI_Type_get_extent_x(type, &lb, &l->extent);
    if (code)
        return code;
    if (!may_slice || size * count < ESPI_SLICED_BYTES ||
        espi_slicer_init(&l->slicer, type, twin))
        l->data = espi_array((size_t)count, (size_t)size);
    else
        l->sliced = 1;
    l->packed = l->data != NULL;
    if (!l->packed && !l->sliced && may_slice)
        l->sliced = espi_slicer_init(&l->slicer, type, twin) == 0;
    if (!l->packed && !l->sliced)
        return MPI_ERR_NO_MEM;
    return buffer == MPI_BOTTOM ? leave_bottom(l) : MPI_SUCCESS;
}

static void load_packed(void *arg, int part, uint64_t at, void *to, size_t bytes)
{
    struct espi_buffer_layout *l = arg;
    (void)part;
    espi_slicer_load(&l->slicer, l->buffer, at, to, bytes);
}

static void keep_packed(void *arg, int part, uint64_t at, const void *from, size_t bytes)
{
    struct espi_buffer_layout *l = arg;
    (void)part;
    espi_slicer_keep(&l->slicer, l->buffer, at, from, bytes);
}

void espi_layout_tell(struct espi_buffer_layout *l, struct espi_run_options *options)
{
    if (!l->sliced)
        return;
    options->load = load_packed;
    options->keep = keep_packed;
    options->arg = l;
}

void espi_layout_done(struct espi_buffer_layout *l)
{
    if (l->own_type)
        PMPI_Type_free(&l->type);
    if (l->packed)
        espi_free(l->data);
    espi_slicer_done(&l->slicer);
}

/* ---- elements of more than INT_MAX bytes, which MPI_Pack cannot count ---- */

/* A type of that many bytes; the sum of a billion bytes each, and the rest. */
static int big_type(MPI_Count bytes, MPI_Datatype *out)
{
    const int chunk = 1 << 30; /* derived: an int counts it */
    int code, lengths[2] = {(int)(bytes / chunk), (int)(bytes % chunk)};
    MPI_Aint at[2] = {0, (MPI_Aint)(bytes - bytes % chunk)};
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_PACKED};
    code = PMPI_Type_contiguous(chunk, MPI_PACKED, &types[0]);
    if (code)
        return code;
    code = PMPI_Type_create_struct(2, lengths, at, types, out);
    PMPI_Type_free(&types[0]);
    return code ? code : PMPI_Type_commit(out);
}

/* By a message to ourselves. */
static int move_big(const struct espi_buffer_layout *l, MPI_Count element, int pack,
                    MPI_Comm twin)
{
    int me;
    char *user = (char *)l->buffer + element * l->extent;
    char *ours = (char *)l->data + element * l->size;
    MPI_Datatype big;
    int code = big_type(l->size, &big);
    if (code)
        return code;
    PMPI_Comm_rank(twin, &me);
    code = pack ? PMPI_Sendrecv(user, 1, l->type, me, ESPI_TAG_SELF, ours, 1, big, me,
                                ESPI_TAG_SELF, twin, MPI_STATUS_IGNORE)
                : PMPI_Sendrecv(ours, 1, big, me, ESPI_TAG_SELF, user, 1, l->type, me,
                                ESPI_TAG_SELF, twin, MPI_STATUS_IGNORE);
    PMPI_Type_free(&big);
    return code;
}

/* Elements [first, first + n): at most INT_MAX bytes in all, or a single one. */
static int move_some(const struct espi_buffer_layout *l, MPI_Count first, int n, int pack,
                     MPI_Comm twin)
{
    char *user = (char *)l->buffer + first * l->extent;
    char *ours = (char *)l->data + first * l->size;
    int position = 0;
    if (l->size > INT_MAX)
        return move_big(l, first, pack, twin);
    int bytes = (int)(n * l->size);
    return pack ? PMPI_Pack(user, n, l->type, ours, bytes, &position, twin)
                : PMPI_Unpack(ours, bytes, &position, user, n, l->type, twin);
}

static int move_all(const struct espi_buffer_layout *l, int pack, MPI_Comm twin)
{
    MPI_Count most = l->size < INT_MAX ? INT_MAX / l->size : 1;
    int code = MPI_SUCCESS;
    for (MPI_Count at = 0; at < l->count && !code; at += most) {
        MPI_Count n = l->count - at < most ? l->count - at : most;
        code = move_some(l, at, (int)n, pack, twin);
    }
    return code;
}

static int move_packed(void *buffer, MPI_Count count, MPI_Datatype type, void *data,
                       int pack, MPI_Comm twin)
{
    MPI_Count lb;
    struct espi_buffer_layout l = {
        .data = data, .buffer = buffer, .count = count, .type = type};
    if (count == 0)
        return MPI_SUCCESS;
    int code = PMPI_Type_size_x(type, &l.size);
    if (!code)
        code = PMPI_Type_get_extent_x(type, &lb, &l.extent);
    if (!code && buffer == MPI_BOTTOM)
        code = leave_bottom(&l);
    if (!code)
        code = move_all(&l, pack, twin);
    espi_layout_done(&l);
    return code;
}

int espi_pack(const void *buffer, MPI_Count count, MPI_Datatype type, void *to,
              MPI_Comm twin)
{
    return move_packed((void *)buffer, count, type, to, 1, twin);
}

int espi_unpack(const void *from, void *buffer, MPI_Count count, MPI_Datatype type,
                MPI_Comm twin)
{
    return move_packed(buffer, count, type, (void *)from, 0, twin);
}

/* By way of packed bytes, all at once. */
static int copy_whole(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                      void *to, MPI_Count to_count, MPI_Datatype to_type, size_t bytes,
                      MPI_Comm twin)
{
    char *between = espi_malloc(bytes);
    int code =
        between ? espi_pack(from, from_count, from_type, between, twin) : MPI_ERR_NO_MEM;
    if (!code)
        code = espi_unpack(between, to, to_count, to_type, twin);
    espi_free(between);
    return code;
}

/* Some at a time; -1: it cannot be so. */
static int copy_sliced(const void *from, MPI_Datatype from_type, void *to,
                       MPI_Datatype to_type, size_t bytes, MPI_Comm twin)
{
    char some[16384];
    struct espi_slicer in = {.piece = NULL}, out = {.piece = NULL};
    int code = -1;
    if (from != MPI_BOTTOM && to != MPI_BOTTOM &&
        !espi_slicer_init(&in, from_type, twin) &&
        !espi_slicer_init(&out, to_type, twin)) {
        for (size_t at = 0, n; at < bytes; at += n) {
            n = bytes - at < sizeof some ? bytes - at : sizeof some;
            espi_slicer_load(&in, from, at, some, n);
            espi_slicer_keep(&out, to, at, some, n);
        }
        code = in.error ? in.error : out.error;
    }
    espi_slicer_done(&in);
    espi_slicer_done(&out);
    return code;
}

int espi_copy(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
              MPI_Count to_count, MPI_Datatype to_type, MPI_Comm twin)
{
    MPI_Count from_size, to_size;
    int code = PMPI_Type_size_x(from_type, &from_size);
    if (!code)
        code = PMPI_Type_size_x(to_type, &to_size);
    if (code || from_count <= 0 || from_size <= 0)
        return code;
    size_t bytes = (size_t)(from_count * from_size);
    if (espi_is_flat(from_type, from_size) && espi_is_flat(to_type, to_size)) {
        memmove(to, from, bytes);
        return MPI_SUCCESS;
    }
    code = copy_sliced(from, from_type, to, to_type, bytes, twin);
    return code >= 0 ? code
                     : copy_whole(from, from_count, from_type, to, to_count, to_type,
                                  bytes, twin);
}

int espi_layout_pack(struct espi_buffer_layout *l, MPI_Comm twin)
{
    return l->packed ? move_all(l, 1, twin) : MPI_SUCCESS;
}

int espi_layout_unpack(struct espi_buffer_layout *l, MPI_Comm twin)
{
    return l->packed ? move_all(l, 0, twin) : l->sliced ? l->slicer.error : MPI_SUCCESS;
}
