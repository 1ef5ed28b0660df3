/* MPI_Alltoall, MPI_Alltoallv and their non-blocking and persistent kin. Every rank has a
 * part for each other, and gets one from each. By the standard all parts of all ranks of
 * an MPI_Alltoall have the same bytes, so that ranks decide alike. In MPI_Alltoallv they
 * do not, and ranks first tell each other how large theirs are (sizes.h). */
#include <limits.h>

#include "base/alloc.h"
#include "mpi/sizes.h"
#include "plan/ops.h"

struct side {
    char *at;
    MPI_Count count; /* elements of each part; */
    MPI_Datatype type;
    struct espi_counts parts; /* unequal ones: of so many, in such places */
    MPI_Count size, extent;   /* of the type */
};

/* One call. */
struct task {
    struct espi_work work;
    struct side from, to; /* in place: both are what is received into */
    int in_place, is_unequal;
    uint64_t part;    /* bytes, of all alike, or as the ranks have told */
    char *sent, *got; /* ours, of parts that are not plain in memory, or in place */
    char *relayed;    /* parts of others that pass through */
    struct espi_block *blocks;
};

static int native_alltoallv(const struct task *t, const void *from,
                            const struct espi_manner *how)
{
    const struct espi_counts *sent = &t->from.parts, *got = &t->to.parts;
    MPI_Comm comm = t->work.call.comm;
#if MPI_VERSION >= 4
    if (got->is_large)
        return ESPI_NATIVE(how, Alltoallv_c, Ialltoallv_c, Alltoallv_init_c, from,
                           sent->large_count, sent->large_at, t->from.type, t->to.at,
                           got->large_count, got->large_at, t->to.type, comm);
#endif
    return ESPI_NATIVE(how, Alltoallv, Ialltoallv, Alltoallv_init, from, sent->count,
                       sent->at, t->from.type, t->to.at, got->count, got->at, t->to.type,
                       comm);
}

static int native_alltoall(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    const void *from = t->in_place ? MPI_IN_PLACE : t->from.at;
    if (t->is_unequal)
        return native_alltoallv(t, from, how);
#if MPI_VERSION >= 4
    if (t->from.count > INT_MAX || t->to.count > INT_MAX)
        return ESPI_NATIVE(how, Alltoall_c, Ialltoall_c, Alltoall_init_c, from,
                           t->from.count, t->from.type, t->to.at, t->to.count, t->to.type,
                           w->call.comm);
#endif
    return ESPI_NATIVE(how, Alltoall, Ialltoall, Alltoall_init, from, (int)t->from.count,
                       t->from.type, t->to.at, (int)t->to.count, t->to.type,
                       w->call.comm);
}

static int measure_type(struct side *s)
{
    MPI_Count lb;
    return s->type == MPI_DATATYPE_NULL || PMPI_Type_size_x(s->type, &s->size) ||
           s->size < 0 || PMPI_Type_get_extent_x(s->type, &lb, &s->extent);
}

/* The bytes of all parts; 0: nothing to do, or wrong. */
static uint64_t measure_parts(struct task *t)
{
    uint64_t n = (uint64_t)t->work.call.size, all;
    if (!t->work.call.known || n < 2 || n > ESPI_PAIRS_HOSTS || measure_type(&t->to))
        return 0;
    if (t->in_place)
        t->from = t->to;
    else if (measure_type(&t->from))
        return 0;
    t->part = espi_bytes(t->to.count, t->to.type);
    if (!t->part || espi_bytes(t->from.count, t->from.type) != t->part ||
        __builtin_mul_overflow(t->part, n * (n - 1), &all) ||
        all > (uint64_t)INT64_MAX / 2)
        return 0;
    return all;
}

static int is_plain(const struct side *s)
{
    return espi_is_flat(s->type, s->size) && s->at != MPI_BOTTOM;
}

static int has_parts(const struct side *s)
{
    return s->parts.count || s->parts.large_count;
}

static char *user_part(const struct side *s, int rank)
{
    MPI_Count at = has_parts(s) ? espi_part_place(&s->parts, rank) : rank * s->count;
    return s->at + at * s->extent;
}

static MPI_Count count_of(const struct side *s, int rank)
{
    return has_parts(s) ? espi_part_count(&s->parts, rank) : s->count;
}

/* Number of the part of a pair, in the order of programs. */
static int part_of(const struct task *t, int from, int to)
{
    return from * (t->work.call.size - 1) + to - (to > from);
}

static struct espi_block *block_of(const struct task *t, int from, int to)
{
    return &t->blocks[part_of(t, from, to)];
}

static uint64_t bytes_of(const struct task *t, int from, int to)
{
    const uint64_t *sizes = t->work.sizes;
    return sizes ? sizes[from * t->work.call.size + to] : t->part;
}

/* Elements that come from a rank, which may be fewer than there is room for; -1: more. */
static MPI_Count count_from(const struct task *t, int rank)
{
    return espi_count_told(count_of(&t->to, rank), t->to.type,
                           bytes_of(t, rank, t->work.call.rank));
}

/* All that this rank sends to others, or gets from them. */
static size_t sum_own(const struct task *t, int sent)
{
    int me = t->work.call.rank;
    size_t bytes = 0;
    for (int r = 0; r < t->work.call.size; r++)
        if (r != me)
            bytes += (size_t)(sent ? bytes_of(t, me, r) : bytes_of(t, r, me));
    return bytes;
}

/* Room for what cannot stay in the user's memory. MPI_SUCCESS, or a code. */
static int make_room(struct task *t)
{
    int copies = t->in_place || !is_plain(&t->from), packs = !is_plain(&t->to);
    if (copies)
        t->sent = espi_malloc(sum_own(t, 1) + 1);
    if (packs)
        t->got = espi_malloc(sum_own(t, 0) + 1);
    return (copies && !t->sent) || (packs && !t->got) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/* What is sent and what comes, in the user's memory or ours. MPI_SUCCESS, or a code. */
static int lay_own(struct task *t)
{
    int me = t->work.call.rank, code = make_room(t);
    char *sent = t->sent, *got = t->got;
    for (int r = 0; r < t->work.call.size && !code; r++) {
        if (count_from(t, r) < 0)
            return MPI_ERR_TRUNCATE;
        if (r == me)
            continue;
        struct espi_block *out = block_of(t, me, r), *in = block_of(t, r, me);
        if (sent && out->bytes)
            code = espi_pack(user_part(&t->from, r), count_of(&t->from, r), t->from.type,
                             sent, t->work.call.c->twin);
        if (out->bytes)
            out->at = sent ? sent : user_part(&t->from, r);
        if (in->bytes)
            in->at = got ? got : user_part(&t->to, r);
        sent += sent ? out->bytes : 0;
        got += got ? in->bytes : 0;
    }
    return code;
}

/* Calls fn for each part that comes to this rank to be kept, as often as there are pieces
 * of it. */
static void each_kept(struct task *t, void (*fn)(struct task *t, int part, size_t *n),
                      size_t *n)
{
    const struct espi_program *prog = &t->work.call.entry->prog;
    int rank = t->work.call.rank;
    for (int k = prog->recv_start[rank]; k < prog->recv_start[rank + 1]; k++) {
        int stream = prog->recvs[k].stream;
        if (!prog->streams[stream].keeps)
            continue;
        if (!prog->pieces)
            fn(t, prog->slot_part[prog->recvs[k].slot], n);
        for (int i = prog->pieces ? prog->piece_start[stream] : 0;
             prog->pieces && i < prog->piece_start[stream + 1]; i++)
            fn(t, prog->slot_part[prog->pieces[i]], n);
    }
}

static void count_relayed(struct task *t, int part, size_t *n)
{
    *n += t->blocks[part].at ? 0 : (size_t)t->blocks[part].bytes;
}

static void place_relayed(struct task *t, int part, size_t *n)
{
    if (t->blocks[part].at)
        return;
    t->blocks[part].at = t->relayed + *n;
    *n += (size_t)t->blocks[part].bytes;
}

/* Room for what is on its way to others. */
static int lay_relayed(struct task *t)
{
    size_t most = 0, n = 0;
    each_kept(t, count_relayed, &most);
    if (most == 0)
        return MPI_SUCCESS;
    t->relayed = espi_malloc(most);
    if (!t->relayed)
        return MPI_ERR_NO_MEM;
    each_kept(t, place_relayed, &n);
    return MPI_SUCCESS;
}

/* Parts of nothing are somewhere, too. */
static int lay_blocks(struct task *t)
{
    static char nothing;
    int n = t->work.call.size, parts = n * (n - 1);
    t->blocks = espi_calloc((size_t)parts, sizeof *t->blocks);
    if (!t->blocks)
        espi_end_job(espi_collective_name(t->work.call.which), "is out of memory");
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (from != to) {
                uint64_t bytes = bytes_of(t, from, to);
                *block_of(t, from, to) =
                    (struct espi_block){bytes ? NULL : &nothing, bytes};
            }
    int code = lay_own(t);
    return code ? code : lay_relayed(t);
}

/* What is for the rank itself, and what came into memory of ours. */
static int put_parts(const struct task *t)
{
    int me = t->work.call.rank, code = MPI_SUCCESS;
    MPI_Comm twin = t->work.call.c->twin;
    for (int r = 0; t->got && r < t->work.call.size && !code; r++)
        if (r != me)
            code = espi_unpack(block_of(t, r, me)->at, user_part(&t->to, r),
                               count_from(t, r), t->to.type, twin);
    if (code || t->in_place)
        return code;
    return espi_copy(user_part(&t->from, me), count_of(&t->from, me), t->from.type,
                     user_part(&t->to, me), count_from(t, me), t->to.type, twin);
}

static int begin_alltoall(struct espi_work *w, struct espi_run_options *options,
                          void **data)
{
    struct task *t = (struct task *)w;
    (void)data; /* in blocks */
    if (t->in_place)
        t->from = t->to; /* whose type may be a copy by now */
    int lost = lay_blocks(t);
    options->arg = t;
    options->blocks = t->blocks;
    return lost;
}

static int end_alltoall(struct espi_work *w)
{
    return put_parts((struct task *)w);
}

static void clear_alltoall(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    espi_free(t->sent);
    espi_free(t->got);
    espi_free(t->relayed);
    espi_free(t->blocks);
    t->sent = t->got = t->relayed = NULL;
    t->blocks = NULL;
}

static void alltoall_needs(struct espi_work *w, struct espi_needs *needs)
{
    struct task *t = (struct task *)w;
    needs->types[needs->n_types++] = &t->to.type;
    if (!t->in_place)
        needs->types[needs->n_types++] = &t->from.type;
}

/* Of types of nothing, too. */
static int knows_sizes(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    int n = w->call.size;
    if (!espi_counts_are_usable(&t->to.parts, n) || measure_type(&t->to))
        return 0;
    if (t->in_place)
        t->from = t->to;
    return t->in_place ||
           (espi_counts_are_usable(&t->from.parts, n) && !measure_type(&t->from));
}

static void tell_sizes(const struct espi_work *w, uint64_t *own)
{
    const struct task *t = (const struct task *)w;
    for (int r = 0; r < w->call.size; r++)
        own[r] = espi_bytes(count_of(&t->from, r), t->from.type);
}

static MPI_Count largest_count(const struct task *t, const struct side *s)
{
    return t->is_unequal ? espi_largest_count(&s->parts, t->work.call.size) : s->count;
}

/* Would the library refuse it? */
static int is_wrong(const struct task *t)
{
    const struct side *from = &t->from, *to = &t->to;
    MPI_Count from_count = t->in_place ? 0 : largest_count(t, from);
    MPI_Count to_count = largest_count(t, to);
    if ((void *)to->at == MPI_IN_PLACE || espi_is_nowhere(to->at, to_count, to->type))
        return 1;
    return !t->in_place &&
           (espi_is_nowhere(from->at, from_count, from->type) ||
            (from->type == to->type && from->parts.count == to->parts.count &&
             from->parts.large_count == to->parts.large_count &&
             espi_is_alias(&t->work.call, from->at, to->at, to_count)));
}

static const struct espi_work_kind alltoall_kind = {sizeof(struct task),
                                                    ESPI_CALL_ALLTOALL,
                                                    "ialltoall",
                                                    "alltoall-init",
                                                    begin_alltoall,
                                                    end_alltoall,
                                                    clear_alltoall,
                                                    alltoall_needs,
                                                    native_alltoall,
                                                    NULL,
                                                    NULL};
static const struct espi_work_kind alltoallv_kind = {
    sizeof(struct task), ESPI_CALL_ALLTOALLV, "ialltoallv",   "alltoallv-init",
    begin_alltoall,      end_alltoall,        clear_alltoall, alltoall_needs,
    native_alltoall,     knows_sizes,         tell_sizes};

int espi_alltoall(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                  void *to, MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm,
                  const struct espi_manner *how)
{
    struct task t = {.work = {.kind = &alltoall_kind}, .in_place = from == MPI_IN_PLACE};
    struct espi_call *call = &t.work.call;
    t.from = (struct side){.at = (char *)from, .count = from_count, .type = from_type};
    t.to = (struct side){.at = to, .count = to_count, .type = to_type};
    espi_work_open(&t.work, ESP_OP_ALLTOALL, 0, comm, how);
    uint64_t all = measure_parts(&t);
    if (call->c && all && is_wrong(&t))
        call->c = NULL;
    espi_call_decide(call, all, t.part);
    return espi_work_do(&t.work, how);
}

int espi_alltoallv(const void *from, const struct espi_counts *sent,
                   MPI_Datatype from_type, void *to, const struct espi_counts *got,
                   MPI_Datatype to_type, MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.work = {.kind = &alltoallv_kind},
                     .in_place = from == MPI_IN_PLACE,
                     .is_unequal = 1};
    t.from = (struct side){.at = (char *)from, .type = from_type, .parts = *sent};
    t.to = (struct side){.at = to, .type = to_type, .parts = *got};
    espi_work_open(&t.work, ESP_OP_ALLTOALL, 0, comm, how);
    if (t.work.call.c && is_wrong(&t))
        t.work.call.c = NULL;
    return espi_sizes_do(&t.work, how);
}
