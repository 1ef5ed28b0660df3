/* MPI_Allgather, MPI_Allgatherv and their non-blocking kin. Every rank has a part, and
 * gets all of them. How large each part is every rank says for itself, and by the
 * standard all say the same. */
#include <limits.h>

#include "base/alloc.h"
#include "mpi/work.h"

/* One call. Parts that are alike have `count` elements, one behind the other. */
struct task {
    struct espi_work work;
    const void *from;
    MPI_Count from_count;
    MPI_Datatype from_type;
    char *to;
    MPI_Count count;
    int is_unequal; /* they are of so many, in such places: */
    struct espi_counts parts;
    MPI_Datatype type;
    MPI_Count size, extent;    /* of the type */
    char *packed;              /* ours, when parts are not plain in memory */
    struct espi_slicer slicer; /* or they are reached by this */
    int sliced;
    struct espi_block *blocks;
};

static MPI_Count count_of(const struct task *t, int rank)
{
    if (!t->is_unequal)
        return t->count;
    return espi_part_count(&t->parts, rank);
}

/* Elements in front of a rank's part. */
static MPI_Count place_of(const struct task *t, int rank)
{
    if (!t->is_unequal)
        return rank * t->count;
    return espi_part_place(&t->parts, rank);
}

static void *user_part(const struct task *t, int rank)
{
    return t->to + place_of(t, rank) * t->extent;
}

static int native_allgatherv(const struct task *t, MPI_Comm comm,
                             const struct espi_manner *how)
{
    const struct espi_counts *v = &t->parts;
#if MPI_VERSION >= 4
    if (v->large_count)
        return ESPI_NATIVE(how, Allgatherv_c, Iallgatherv_c, Allgatherv_init_c, t->from,
                           t->from_count, t->from_type, t->to, v->large_count,
                           v->large_at, t->type, comm);
#endif
    return ESPI_NATIVE(how, Allgatherv, Iallgatherv, Allgatherv_init, t->from,
                       (int)t->from_count, t->from_type, t->to, v->count, v->at, t->type,
                       comm);
}

static int native_allgather(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    MPI_Comm comm = w->call.comm;
    if (t->is_unequal)
        return native_allgatherv(t, comm, how);
#if MPI_VERSION >= 4
    if (t->from_count > INT_MAX || t->count > INT_MAX)
        return ESPI_NATIVE(how, Allgather_c, Iallgather_c, Allgather_init_c, t->from,
                           t->from_count, t->from_type, t->to, t->count, t->type, comm);
#endif
    return ESPI_NATIVE(how, Allgather, Iallgather, Allgather_init, t->from,
                       (int)t->from_count, t->from_type, t->to, (int)t->count, t->type,
                       comm);
}

/* All bytes, and those of the largest part; 0: nothing to do, or wrong. */
static uint64_t measure_parts(struct task *t, uint64_t *largest)
{
    MPI_Count lb;
    uint64_t all = 0;
    if (!t->work.call.known || t->type == MPI_DATATYPE_NULL ||
        PMPI_Type_size_x(t->type, &t->size) || t->size <= 0 ||
        PMPI_Type_get_extent_x(t->type, &lb, &t->extent) ||
        (t->is_unequal && !t->parts.count && !t->parts.large_count))
        return 0;
    if (!t->is_unequal) {
        *largest = espi_bytes(t->count, t->type);
        return __builtin_mul_overflow(*largest, (uint64_t)t->work.call.size, &all) ||
                       all > (uint64_t)INT64_MAX / 2
                   ? 0
                   : all;
    }
    for (int r = 0; r < t->work.call.size; r++) {
        uint64_t part = espi_bytes(count_of(t, r), t->type);
        if (count_of(t, r) < 0 || (!part && count_of(t, r) > 0) ||
            __builtin_add_overflow(all, part, &all))
            return 0;
        *largest = part > *largest ? part : *largest;
    }
    return all > (uint64_t)INT64_MAX / 2 ? 0 : all;
}

/* Parts that are not plain in memory: how they are reached. MPI_SUCCESS, or a code. */
static int reach_parts(struct task *t)
{
    size_t bytes = (size_t)t->work.call.bytes;
    int may_slice = t->to != MPI_BOTTOM;
    if (!may_slice || bytes < ESPI_SLICED_BYTES)
        t->packed = espi_malloc(bytes);
    if (!t->packed && may_slice)
        t->sliced = espi_slicer_init(&t->slicer, t->type, t->work.call.c->twin) == 0;
    if (!t->packed && !t->sliced)
        t->packed = espi_malloc(bytes);
    return t->packed || t->sliced ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int lay_blocks(struct task *t)
{
    int n = t->work.call.size;
    int plain = espi_is_flat(t->type, t->size) && t->to != MPI_BOTTOM;
    size_t at = 0;
    t->blocks = espi_calloc((size_t)n, sizeof *t->blocks);
    if (!t->blocks)
        espi_end_job("allgather", "is out of memory");
    int code = plain ? MPI_SUCCESS : reach_parts(t);
    for (int r = 0; r < n; r++) {
        t->blocks[r].bytes = (uint64_t)(count_of(t, r) * t->size);
        t->blocks[r].at = plain ? user_part(t, r) : t->packed ? t->packed + at : NULL;
        at += (size_t)t->blocks[r].bytes;
    }
    return code;
}

static void load_part(void *arg, int part, uint64_t at, void *to, size_t bytes)
{
    struct task *t = arg;
    espi_slicer_load(&t->slicer, user_part(t, part), at, to, bytes);
}

static void keep_part(void *arg, int part, uint64_t at, const void *from, size_t bytes)
{
    struct task *t = arg;
    espi_slicer_keep(&t->slicer, user_part(t, part), at, from, bytes);
}

/* The own part goes where the others find it. */
static int place_own(const struct task *t)
{
    int rank = t->work.call.rank;
    MPI_Count count = count_of(t, rank);
    MPI_Comm twin = t->work.call.c->twin;
    if (count == 0)
        return MPI_SUCCESS;
    if (t->from == MPI_IN_PLACE)
        return t->packed ? espi_pack(user_part(t, rank), count, t->type,
                                     t->blocks[rank].at, twin)
                         : MPI_SUCCESS;
    if (t->packed)
        return espi_pack(t->from, t->from_count, t->from_type, t->blocks[rank].at, twin);
    return espi_copy(t->from, t->from_count, t->from_type, user_part(t, rank), count,
                     t->type, twin);
}

static int unpack_parts(const struct task *t)
{
    int code = MPI_SUCCESS;
    for (int r = 0; t->packed && r < t->work.call.size && !code; r++)
        code = espi_unpack(t->blocks[r].at, user_part(t, r), count_of(t, r), t->type,
                           t->work.call.c->twin);
    return code;
}

static int begin_allgather(struct espi_work *w, struct espi_run_options *options,
                           void **data)
{
    struct task *t = (struct task *)w;
    int lost = lay_blocks(t);
    (void)data; /* in blocks */
    options->arg = t;
    options->blocks = t->blocks;
    if (t->sliced) {
        options->load = load_part;
        options->keep = keep_part;
    }
    return lost ? lost : place_own(t);
}

static int end_allgather(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    int code = unpack_parts(t);
    return code ? code : t->slicer.error;
}

static void clear_allgather(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    espi_slicer_done(&t->slicer);
    espi_free(t->packed);
    espi_free(t->blocks);
    t->packed = NULL;
    t->sliced = 0;
}

static void allgather_needs(struct espi_work *w, struct espi_needs *needs)
{
    struct task *t = (struct task *)w;
    needs->types[needs->n_types++] = &t->type;
    if (t->from != MPI_IN_PLACE)
        needs->types[needs->n_types++] = &t->from_type;
}

/* Would the library refuse it? Where it looks for the own part, gaps do not count. */
static int is_wrong(const struct task *t)
{
    MPI_Count own = count_of(t, t->work.call.rank);
    if (t->to == MPI_IN_PLACE ||
        (!t->is_unequal && espi_is_nowhere(t->to, t->count, t->type)))
        return 1;
    if (t->from == MPI_IN_PLACE)
        return 0;
    return espi_is_nowhere(t->from, t->from_count, t->from_type) ||
           (t->from_count > 0 && own > 0 && t->from_type == t->type &&
            espi_is_alias(&t->work.call, t->from,
                          t->to + place_of(t, t->work.call.rank) * t->size, own));
}

static const struct espi_work_kind allgather_kind = {sizeof(struct task),
                                                     ESPI_CALL_ALLGATHER,
                                                     "iallgather",
                                                     "allgather-init",
                                                     begin_allgather,
                                                     end_allgather,
                                                     clear_allgather,
                                                     allgather_needs,
                                                     native_allgather,
                                                     NULL,
                                                     NULL};

static int allgather(struct task *t, MPI_Comm comm, const struct espi_manner *how)
{
    struct espi_call *call = &t->work.call;
    uint64_t largest = 0;
    t->work.kind = &allgather_kind;
    espi_work_open(&t->work, ESP_OP_ALLGATHER, 0, comm, how);
    uint64_t all = measure_parts(t, &largest);
    if (call->c && all && is_wrong(t))
        call->c = NULL;
    espi_call_decide(call, all, largest);
    return espi_work_do(&t->work, how);
}

int espi_allgather(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                   void *to, MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm,
                   const struct espi_manner *how)
{
    struct task t = {.from = from,
                     .from_count = from_count,
                     .from_type = from_type,
                     .to = to,
                     .count = to_count,
                     .type = to_type};
    return allgather(&t, comm, how);
}

int espi_allgatherv(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                    void *to, const struct espi_counts *parts, MPI_Datatype to_type,
                    MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.from = from,
                     .from_count = from_count,
                     .from_type = from_type,
                     .to = to,
                     .is_unequal = 1,
                     .parts = *parts,
                     .type = to_type};
    return allgather(&t, comm, how);
}
