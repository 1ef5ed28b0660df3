/* MPI_Scatter, MPI_Scatterv, MPI_Gather, MPI_Gatherv and their non-blocking and
 * persistent kin. Each rank but the root has a part of the message; only the root has all
 * of them. Which of the arguments mean something depends on who asks: on the root those
 * of the whole, elsewhere those of the part. Parts have the same bytes, whatever counts
 * and types the ranks describe them with, or the root tells how many each has (sizes.h).
 */
#include <limits.h>

#include "base/alloc.h"
#include "mpi/sizes.h"

struct side {
    void *at;
    MPI_Count count;
    MPI_Datatype type;
};

/* One call as this rank sees it. */
struct task {
    struct espi_work work;
    uint64_t part;  /* bytes, of all alike, or as the root has told */
    int is_unequal; /* on the root they are of so many, in such places: */
    struct espi_counts parts;
    struct side whole;         /* on the root */
    struct side own;           /* at MPI_IN_PLACE: the root's part stays where it is */
    char *packed;              /* ours: of the parts that are not plain in memory */
    struct espi_slicer slicer; /* or they are reached by this */
    int sliced;
    MPI_Count extent; /* of an element of the whole */
    struct espi_block *blocks;
};

static int native_scatterv(const struct task *t, const struct espi_manner *how)
{
    const struct side *from = &t->whole, *to = &t->own;
    const struct espi_counts *v = &t->parts;
    int root = t->work.call.root;
    MPI_Comm comm = t->work.call.comm;
#if MPI_VERSION >= 4
    if (v->is_large)
        return ESPI_NATIVE(how, Scatterv_c, Iscatterv_c, Scatterv_init_c, from->at,
                           v->large_count, v->large_at, from->type, to->at, to->count,
                           to->type, root, comm);
#endif
    return ESPI_NATIVE(how, Scatterv, Iscatterv, Scatterv_init, from->at, v->count, v->at,
                       from->type, to->at, (int)to->count, to->type, root, comm);
}

static int native_gatherv(const struct task *t, const struct espi_manner *how)
{
    const struct side *from = &t->own, *to = &t->whole;
    const struct espi_counts *v = &t->parts;
    int root = t->work.call.root;
    MPI_Comm comm = t->work.call.comm;
#if MPI_VERSION >= 4
    if (v->is_large)
        return ESPI_NATIVE(how, Gatherv_c, Igatherv_c, Gatherv_init_c, from->at,
                           from->count, from->type, to->at, v->large_count, v->large_at,
                           to->type, root, comm);
#endif
    return ESPI_NATIVE(how, Gatherv, Igatherv, Gatherv_init, from->at, (int)from->count,
                       from->type, to->at, v->count, v->at, to->type, root, comm);
}

static int native_scatter(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    const struct side *from = &t->whole, *to = &t->own;
    int root = w->call.root;
    MPI_Comm comm = w->call.comm;
    if (t->is_unequal)
        return native_scatterv(t, how);
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
    if (t->is_unequal)
        return native_gatherv(t, how);
#if MPI_VERSION >= 4
    if (from->count > INT_MAX || to->count > INT_MAX)
        return ESPI_NATIVE(how, Gather_c, Igather_c, Gather_init_c, from->at, from->count,
                           from->type, to->at, to->count, to->type, root, comm);
#endif
    return ESPI_NATIVE(how, Gather, Igather, Gather_init, from->at, (int)from->count,
                       from->type, to->at, (int)to->count, to->type, root, comm);
}

static uint64_t bytes_of(const struct task *t, int rank)
{
    return t->work.sizes ? t->work.sizes[rank] : t->part;
}

/* On the root: elements of a rank's part, and where it is in the user's memory. */
static MPI_Count count_of(const struct task *t, int rank)
{
    return t->is_unequal ? espi_part_count(&t->parts, rank) : t->whole.count;
}

static void *user_part(const struct task *t, int rank)
{
    MPI_Count at =
        t->is_unequal ? espi_part_place(&t->parts, rank) : rank * t->whole.count;
    return (char *)t->whole.at + at * t->extent;
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
    MPI_Count lb;
    int n = t->work.call.size, root = t->work.call.root, plain = is_plain(&t->whole);
    int code = PMPI_Type_get_extent_x(t->whole.type, &lb, &t->extent);
    if (!code && !plain)
        code = reach_parts(t, &t->whole, (size_t)t->work.call.bytes);
    if (code)
        return code;
    char *next = t->packed;
    for (int r = 0; r < n; r++) {
        struct espi_block *b = &t->blocks[r - (r > root)];
        if (r == root || b->bytes == 0)
            continue;
        b->at = plain ? user_part(t, r) : next;
        next += t->packed ? b->bytes : 0;
    }
    return MPI_SUCCESS;
}

/* Elsewhere: the own part. There may be room for more to come; what is sent is as much as
 * the root waits for. */
static int lay_own(struct task *t)
{
    int rank = t->work.call.rank;
    struct espi_block *b = &t->blocks[rank - (rank > t->work.call.root)];
    MPI_Count count = espi_count_told(t->own.count, t->own.type, b->bytes);
    if (count < 0 || (count < t->own.count && t->work.call.op == ESP_OP_GATHER))
        return MPI_ERR_TRUNCATE;
    t->own.count = count;
    if (b->bytes == 0)
        return MPI_SUCCESS;
    int plain = is_plain(&t->own);
    int code = plain ? MPI_SUCCESS : reach_parts(t, &t->own, (size_t)b->bytes);
    b->at = plain ? t->own.at : t->packed;
    return code;
}

/* Parts of nothing are somewhere, too. */
static int lay_blocks(struct task *t)
{
    static char nothing;
    int parts = t->work.call.size - 1;
    t->blocks = espi_calloc((size_t)parts, sizeof *t->blocks);
    if (!t->blocks)
        espi_end_job(espi_collective_name(t->work.call.which), "is out of memory");
    for (int k = 0; k < parts; k++) {
        uint64_t bytes = bytes_of(t, k + (k >= t->work.call.root));
        t->blocks[k] = (struct espi_block){bytes ? NULL : &nothing, bytes};
    }
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

static int is_whole_nowhere(const struct task *t)
{
    MPI_Count count =
        t->is_unequal ? espi_largest_count(&t->parts, t->work.call.size) : t->whole.count;
    return espi_is_nowhere(t->whole.at, count, t->whole.type);
}

/* Would the library refuse it? Where it looks for the root's part, gaps do not count. */
static int is_wrong(const struct task *t)
{
    const struct side *own = &t->own, *whole = &t->whole;
    int root = t->work.call.root;
    MPI_Count size, place;
    if (t->work.call.rank != root)
        return espi_is_nowhere(own->at, own->count, own->type);
    if (is_whole_nowhere(t))
        return 1;
    if (own->at == MPI_IN_PLACE)
        return 0;
    if (espi_is_nowhere(own->at, own->count, own->type))
        return 1;
    if (own->type != whole->type || own->type == MPI_DATATYPE_NULL ||
        (t->is_unequal && !espi_largest_count(&t->parts, t->work.call.size)) ||
        own->count != count_of(t, root) || PMPI_Type_size_x(own->type, &size))
        return 0;
    place = t->is_unequal ? espi_part_place(&t->parts, root) : root * whole->count;
    return espi_is_alias(&t->work.call, own->at, (char *)whole->at + place * size,
                         own->count);
}

/* The root does, and need not be right elsewhere. */
static int knows_sizes(struct espi_work *w)
{
    const struct task *t = (const struct task *)w;
    return !is_on_root(t) || (t->whole.type != MPI_DATATYPE_NULL &&
                              espi_counts_are_usable(&t->parts, w->call.size));
}

static void tell_sizes(const struct espi_work *w, uint64_t *own)
{
    const struct task *t = (const struct task *)w;
    for (int r = 0; r < w->call.size; r++)
        own[r] = espi_bytes(count_of(t, r), t->whole.type);
}

/* ---- scatter ---- */

/* Between the user's memory and ours, where there is some, all parts but the root's. */
static int pack_whole(const struct task *t)
{
    int code = MPI_SUCCESS, root = t->work.call.root;
    for (int r = 0; t->packed && r < t->work.call.size && !code; r++)
        if (r != root)
            code = espi_pack(user_part(t, r), count_of(t, r), t->whole.type,
                             t->blocks[r - (r > root)].at, t->work.call.c->twin);
    return code;
}

/* The root's own part moves within the rank. */
static int scatter_own(const struct task *t)
{
    if (t->own.at == MPI_IN_PLACE)
        return MPI_SUCCESS;
    int root = t->work.call.root;
    return espi_copy(user_part(t, root), count_of(t, root), t->whole.type, t->own.at,
                     t->own.count, t->own.type, t->work.call.c->twin);
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

static const struct espi_work_kind scatter_kind = {sizeof(struct task),
                                                   ESPI_CALL_SCATTER,
                                                   "iscatter",
                                                   "scatter-init",
                                                   begin_scatter,
                                                   end_scatter,
                                                   clear_parts,
                                                   parts_needs,
                                                   native_scatter,
                                                   NULL,
                                                   NULL};
static const struct espi_work_kind scatterv_kind = {
    sizeof(struct task), ESPI_CALL_SCATTERV, "iscatterv", "scatterv-init",
    begin_scatter,       end_scatter,        clear_parts, parts_needs,
    native_scatter,      knows_sizes,        tell_sizes};

/* ---- gather ---- */

static int unpack_whole(const struct task *t)
{
    int code = MPI_SUCCESS, root = t->work.call.root;
    for (int r = 0; t->packed && r < t->work.call.size && !code; r++)
        if (r != root)
            code = espi_unpack(t->blocks[r - (r > root)].at, user_part(t, r),
                               count_of(t, r), t->whole.type, t->work.call.c->twin);
    return code;
}

static int gather_own(const struct task *t)
{
    if (t->own.at == MPI_IN_PLACE)
        return MPI_SUCCESS;
    int root = t->work.call.root;
    return espi_copy(t->own.at, t->own.count, t->own.type, user_part(t, root),
                     count_of(t, root), t->whole.type, t->work.call.c->twin);
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

static const struct espi_work_kind gather_kind = {sizeof(struct task),
                                                  ESPI_CALL_GATHER,
                                                  "igather",
                                                  "gather-init",
                                                  begin_gather,
                                                  end_gather,
                                                  clear_parts,
                                                  parts_needs,
                                                  native_gather,
                                                  NULL,
                                                  NULL};
static const struct espi_work_kind gatherv_kind = {
    sizeof(struct task), ESPI_CALL_GATHERV, "igatherv",  "gatherv-init",
    begin_gather,        end_gather,        clear_parts, parts_needs,
    native_gather,       knows_sizes,       tell_sizes};

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

static int move_unequal(const struct espi_work_kind *kind, const struct side *whole,
                        const struct espi_counts *parts, const struct side *own, int root,
                        MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.work = {.kind = kind},
                     .is_unequal = 1,
                     .parts = *parts,
                     .whole = *whole,
                     .own = *own};
    espi_work_open(&t.work, kind == &scatterv_kind ? ESP_OP_SCATTER : ESP_OP_GATHER, root,
                   comm, how);
    if (t.work.call.c && is_wrong(&t))
        t.work.call.c = NULL;
    return espi_sizes_do(&t.work, how);
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

int espi_scatterv(const void *from, const struct espi_counts *parts,
                  MPI_Datatype from_type, void *to, MPI_Count to_count,
                  MPI_Datatype to_type, int root, MPI_Comm comm,
                  const struct espi_manner *how)
{
    struct side whole = {(void *)from, 0, from_type};
    struct side own = {to, to_count, to_type};
    return move_unequal(&scatterv_kind, &whole, parts, &own, root, comm, how);
}

int espi_gatherv(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                 const struct espi_counts *parts, MPI_Datatype to_type, int root,
                 MPI_Comm comm, const struct espi_manner *how)
{
    struct side own = {(void *)from, from_count, from_type};
    struct side whole = {to, 0, to_type};
    return move_unequal(&gatherv_kind, &whole, parts, &own, root, comm, how);
}
