/* MPI_Scatter, MPI_Gather and their non-blocking kin. Each rank but the root has a part
 * of the message; only the root has all of them. Which of the arguments mean something
 * depends on who asks: on the root those of the whole, elsewhere those of the part. All
 * parts have the same bytes, whatever counts and types the ranks describe them with. */
#include <limits.h>

#include "base/alloc.h"
#include "mpi/work.h"

struct side {
    void *at;
    MPI_Count count;
    MPI_Datatype type;
};

/* One call as this rank sees it. */
struct task {
    struct espi_work work;
    uint64_t part;             /* bytes */
    struct side whole;         /* on the root */
    struct side own;           /* at MPI_IN_PLACE: the root's part stays where it is */
    char *packed;              /* ours: of the parts that are not plain in memory */
    struct espi_slicer slicer; /* or they are reached by this */
    int sliced;
    MPI_Count step; /* from part to part in the user's memory */
    struct espi_block *blocks;
};

static int native_scatter(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    const struct side *from = &t->whole, *to = &t->own;
    int root = w->call.root;
    MPI_Comm comm = w->call.comm;
#if MPI_VERSION >= 4
    if (from->count > INT_MAX || to->count > INT_MAX)
        return ESPI_NATIVE(how, Scatter_c, Iscatter_c, Scatter_init_c, from->at,
                           from->count, from->type, to->at, to->count, to->type, root,
                           comm);
#endif
    return ESPI_NATIVE(how, Scatter, Iscatter, Scatter_init, from->at, (int)from->count,
                       from->type, to->at, (int)to->count, to->type, root, comm);
}

static int native_gather(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    const struct side *from = &t->own, *to = &t->whole;
    int root = w->call.root;
    MPI_Comm comm = w->call.comm;
#if MPI_VERSION >= 4
    if (from->count > INT_MAX || to->count > INT_MAX)
        return ESPI_NATIVE(how, Gather_c, Igather_c, Gather_init_c, from->at, from->count,
                           from->type, to->at, to->count, to->type, root, comm);
#endif
    return ESPI_NATIVE(how, Gather, Igather, Gather_init, from->at, (int)from->count,
                       from->type, to->at, (int)to->count, to->type, root, comm);
}

/* The user's memory of a rank's part, on the root. */
static void *user_part(const struct task *t, int rank)
{
    return (char *)t->whole.at + rank * t->step;
}

static int is_plain(const struct side *side)
{
    MPI_Count size;
    return !PMPI_Type_size_x(side->type, &size) && espi_is_flat(side->type, size) &&
           side->at != MPI_BOTTOM;
}

/* Parts that are not plain in memory: how they are reached. MPI_SUCCESS, or a code. */
static int reach_parts(struct task *t, const struct side *side, size_t bytes)
{
    int may_slice = side->at != MPI_BOTTOM;
    if (!may_slice || bytes < ESPI_SLICED_BYTES)
        t->packed = espi_malloc(bytes);
    if (!t->packed && may_slice)
        t->sliced = espi_slicer_init(&t->slicer, side->type, t->work.call.c->twin) == 0;
    if (!t->packed && !t->sliced)
        t->packed = espi_malloc(bytes);
    return t->packed || t->sliced ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* On the root: parts where they lie, or in memory of ours. */
static int lay_whole(struct task *t)
{
    MPI_Count lb, extent;
    int n = t->work.call.size, root = t->work.call.root, plain = is_plain(&t->whole);
    size_t part = (size_t)t->part;
    int code = PMPI_Type_get_extent_x(t->whole.type, &lb, &extent);
    if (!code && !plain)
        code = reach_parts(t, &t->whole, (size_t)n * part);
    if (code)
        return code;
    t->step = t->whole.count * extent;
    for (int r = 0; r < n; r++)
        if (r != root)
            t->blocks[r - (r > root)].at = plain       ? user_part(t, r)
                                           : t->packed ? t->packed + (size_t)r * part
                                                       : NULL;
    return MPI_SUCCESS;
}

/* Elsewhere: the own part. */
static int lay_own(struct task *t)
{
    int rank = t->work.call.rank, plain = is_plain(&t->own);
    int code = plain ? MPI_SUCCESS : reach_parts(t, &t->own, (size_t)t->part);
    t->blocks[rank - (rank > t->work.call.root)].at = plain ? t->own.at : t->packed;
    return code;
}

static int lay_blocks(struct task *t)
{
    int parts = t->work.call.size - 1;
    t->blocks = espi_calloc((size_t)parts, sizeof *t->blocks);
    if (!t->blocks)
        espi_end_job(esp_op_name(t->work.call.op), "is out of memory");
    for (int k = 0; k < parts; k++)
        t->blocks[k].bytes = t->part;
    return t->work.call.rank == t->work.call.root ? lay_whole(t) : lay_own(t);
}

/* The user's memory of a part that is reached some bytes at a time. */
static void *sliced_part(const struct task *t, int part)
{
    return t->work.call.rank == t->work.call.root
               ? user_part(t, part + (part >= t->work.call.root))
               : t->own.at;
}

static void load_part(void *arg, int part, uint64_t at, void *to, size_t bytes)
{
    struct task *t = arg;
    espi_slicer_load(&t->slicer, sliced_part(t, part), at, to, bytes);
}

static void keep_part(void *arg, int part, uint64_t at, const void *from, size_t bytes)
{
    struct task *t = arg;
    espi_slicer_keep(&t->slicer, sliced_part(t, part), at, from, bytes);
}

static int is_on_root(const struct task *t)
{
    return t->work.call.rank == t->work.call.root;
}

static void tell_run(struct task *t, struct espi_run_options *options)
{
    options->blocks = t->blocks;
    options->arg = t;
    if (t->sliced) {
        options->load = load_part;
        options->keep = keep_part;
    }
}

static void clear_parts(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    espi_free(t->packed);
    espi_free(t->blocks);
    espi_slicer_done(&t->slicer);
    t->packed = NULL;
    t->sliced = 0;
}

static void parts_needs(struct espi_work *w, struct espi_needs *needs)
{
    struct task *t = (struct task *)w;
    if (is_on_root(t))
        needs->types[needs->n_types++] = &t->whole.type;
    if (t->own.at != MPI_IN_PLACE)
        needs->types[needs->n_types++] = &t->own.type;
}

/* Would the library refuse it? Where it looks for the root's part, gaps do not count. */
static int is_wrong(const struct task *t)
{
    const struct side *own = &t->own, *whole = &t->whole;
    int root = t->work.call.root;
    if (t->work.call.rank != root)
        return espi_is_nowhere(own->at, own->count, own->type);
    if (espi_is_nowhere(whole->at, whole->count, whole->type))
        return 1;
    if (own->at == MPI_IN_PLACE)
        return 0;
    return espi_is_nowhere(own->at, own->count, own->type) ||
           (own->type == whole->type && own->count == whole->count &&
            espi_is_alias(&t->work.call, own->at,
                          (char *)whole->at + (uint64_t)root * t->part, own->count));
}

/* ---- scatter ---- */

static int pack_whole(const struct task *t)
{
    if (!t->packed)
        return MPI_SUCCESS;
    return espi_pack(t->whole.at, t->whole.count * t->work.call.size, t->whole.type,
                     t->packed, t->work.call.c->twin);
}

/* The root's own part moves within the rank. */
static int scatter_own(const struct task *t)
{
    if (t->own.at == MPI_IN_PLACE)
        return MPI_SUCCESS;
    return espi_copy(user_part(t, t->work.call.root), t->whole.count, t->whole.type,
                     t->own.at, t->own.count, t->own.type, t->work.call.c->twin);
}

static int begin_scatter(struct espi_work *w, struct espi_run_options *options,
                         void **data)
{
    struct task *t = (struct task *)w;
    int lost = lay_blocks(t);
    (void)data; /* in blocks */
    tell_run(t, options);
    return lost || !is_on_root(t) ? lost : pack_whole(t);
}

static int end_scatter(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    int code = t->slicer.error;
    if (!code && is_on_root(t))
        code = scatter_own(t);
    else if (!code && t->packed)
        code =
            espi_unpack(t->packed, t->own.at, t->own.count, t->own.type, w->call.c->twin);
    return code;
}

static const struct espi_work_kind scatter_kind = {
    sizeof(struct task), ESPI_CALL_SCATTER, "iscatter",  "scatter-init", begin_scatter,
    end_scatter,         clear_parts,       parts_needs, native_scatter};

/* ---- gather ---- */

static int unpack_whole(const struct task *t)
{
    int code = MPI_SUCCESS;
    for (int r = 0; t->packed && r < t->work.call.size && !code; r++)
        if (r != t->work.call.root)
            code = espi_unpack(t->packed + (size_t)r * (size_t)t->part, user_part(t, r),
                               t->whole.count, t->whole.type, t->work.call.c->twin);
    return code;
}

static int gather_own(const struct task *t)
{
    if (t->own.at == MPI_IN_PLACE)
        return MPI_SUCCESS;
    return espi_copy(t->own.at, t->own.count, t->own.type,
                     user_part(t, t->work.call.root), t->whole.count, t->whole.type,
                     t->work.call.c->twin);
}

static int begin_gather(struct espi_work *w, struct espi_run_options *options,
                        void **data)
{
    struct task *t = (struct task *)w;
    int lost = lay_blocks(t);
    (void)data; /* in blocks */
    tell_run(t, options);
    if (!lost && !is_on_root(t) && t->packed)
        lost =
            espi_pack(t->own.at, t->own.count, t->own.type, t->packed, w->call.c->twin);
    return lost;
}

static int end_gather(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    int code = t->slicer.error;
    if (!code && is_on_root(t))
        code = unpack_whole(t);
    if (!code && is_on_root(t))
        code = gather_own(t);
    return code;
}

static const struct espi_work_kind gather_kind = {
    sizeof(struct task), ESPI_CALL_GATHER, "igather",   "gather-init", begin_gather,
    end_gather,          clear_parts,      parts_needs, native_gather};

/* ---- both ---- */

static int move_parts(const struct espi_work_kind *kind, const struct side *whole,
                      const struct side *own, int root, MPI_Comm comm,
                      const struct espi_manner *how)
{
    struct task t = {.work = {.kind = kind}, .whole = *whole, .own = *own};
    struct espi_call *call = &t.work.call;
    espi_work_open(&t.work, kind == &scatter_kind ? ESP_OP_SCATTER : ESP_OP_GATHER, root,
                   comm, how);
    if (call->known) {
        const struct side *here = is_on_root(&t) ? whole : own;
        t.part = espi_bytes(here->count, here->type);
    }
    if (call->c && t.part && is_wrong(&t))
        call->c = NULL;
    espi_call_decide(call, espi_parts(call, t.part), t.part);
    return espi_work_do(&t.work, how);
}

int espi_scatter(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                 MPI_Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm,
                 const struct espi_manner *how)
{
    struct side whole = {(void *)from, from_count, from_type};
    struct side own = {to, to_count, to_type};
    return move_parts(&scatter_kind, &whole, &own, root, comm, how);
}

int espi_gather(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                MPI_Count to_count, MPI_Datatype to_type, int root, MPI_Comm comm,
                const struct espi_manner *how)
{
    struct side own = {(void *)from, from_count, from_type};
    struct side whole = {to, to_count, to_type};
    return move_parts(&gather_kind, &whole, &own, root, comm, how);
}
