/* MPI_Alltoall and its non-blocking and persistent kin. Every rank has a part for each
 * other, and gets one from each. By the standard all parts of all ranks have the same
 * bytes, so that ranks decide alike. In MPI_Alltoallv they do not, and no rank knows the
 * sizes of others' parts: that is the library's. */
#include <limits.h>

#include "base/alloc.h"
#include "mpi/work.h"
#include "plan/ops.h"

struct side {
    char *at;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Count size, extent; /* of the type */
};

/* One call. */
struct task {
    struct espi_work work;
    struct side from, to; /* in place: both are what is received into */
    int in_place;
    uint64_t part;    /* bytes */
    char *sent, *got; /* ours, of parts that are not plain in memory, or in place */
    char *relayed;    /* parts of others that pass through */
    struct espi_block *blocks;
};

static int native_alltoall(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    const void *from = t->in_place ? MPI_IN_PLACE : t->from.at;
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
           s->size <= 0 || PMPI_Type_get_extent_x(s->type, &lb, &s->extent);
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

static char *user_part(const struct side *s, int rank)
{
    return s->at + rank * s->count * s->extent;
}

/* Number of the part of a pair, in the order of programs. */
static int part_of(const struct task *t, int from, int to)
{
    return from * (t->work.call.size - 1) + to - (to > from);
}

/* What is sent and what comes, in the user's memory or ours. MPI_SUCCESS, or a code. */
static int lay_own(struct task *t)
{
    int n = t->work.call.size, me = t->work.call.rank, code = MPI_SUCCESS;
    size_t bytes = (size_t)t->part * (size_t)n;
    int copies = t->in_place || !is_plain(&t->from), packs = !is_plain(&t->to);
    if (copies)
        t->sent = espi_malloc(bytes);
    if (packs)
        t->got = espi_malloc(bytes);
    if ((copies && !t->sent) || (packs && !t->got))
        return MPI_ERR_NO_MEM;
    if (copies)
        code = espi_pack(t->from.at, n * t->from.count, t->from.type, t->sent,
                         t->work.call.c->twin);
    for (int r = 0; r < n; r++) {
        size_t at = (size_t)r * (size_t)t->part;
        if (r == me)
            continue;
        t->blocks[part_of(t, me, r)].at = copies ? t->sent + at : user_part(&t->from, r);
        t->blocks[part_of(t, r, me)].at = packs ? t->got + at : user_part(&t->to, r);
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
    *n += t->blocks[part].at == NULL;
}

static void place_relayed(struct task *t, int part, size_t *n)
{
    if (!t->blocks[part].at)
        t->blocks[part].at = t->relayed + (*n)++ * (size_t)t->part;
}

/* Room for what is on its way to others. */
static int lay_relayed(struct task *t)
{
    size_t most = 0, n = 0;
    each_kept(t, count_relayed, &most);
    if (most == 0)
        return MPI_SUCCESS;
    t->relayed = espi_malloc(most * (size_t)t->part);
    if (!t->relayed)
        return MPI_ERR_NO_MEM;
    each_kept(t, place_relayed, &n);
    return MPI_SUCCESS;
}

static int lay_blocks(struct task *t)
{
    int n = t->work.call.size, parts = n * (n - 1);
    t->blocks = espi_calloc((size_t)parts, sizeof *t->blocks);
    if (!t->blocks)
        espi_end_job("alltoall", "is out of memory");
    for (int k = 0; k < parts; k++)
        t->blocks[k].bytes = t->part;
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
            code = espi_unpack(t->got + (size_t)r * (size_t)t->part, user_part(&t->to, r),
                               t->to.count, t->to.type, twin);
    if (code || t->in_place)
        return code;
    return espi_copy(user_part(&t->from, me), t->from.count, t->from.type,
                     user_part(&t->to, me), t->to.count, t->to.type, twin);
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

/* Would the library refuse it? */
static int is_wrong(const struct task *t)
{
    if ((void *)t->to.at == MPI_IN_PLACE ||
        espi_is_nowhere(t->to.at, t->to.count, t->to.type))
        return 1;
    return !t->in_place &&
           (espi_is_nowhere(t->from.at, t->from.count, t->from.type) ||
            (t->from.type == t->to.type &&
             espi_is_alias(&t->work.call, t->from.at, t->to.at, t->to.count)));
}

static const struct espi_work_kind alltoall_kind = {
    sizeof(struct task), ESPI_CALL_ALLTOALL, "ialltoall",
    "alltoall-init",     begin_alltoall,     end_alltoall,
    clear_alltoall,      alltoall_needs,     native_alltoall};

int espi_alltoall(const void *from, MPI_Count from_count, MPI_Datatype from_type,
                  void *to, MPI_Count to_count, MPI_Datatype to_type, MPI_Comm comm,
                  const struct espi_manner *how)
{
    struct task t = {.work = {.kind = &alltoall_kind}, .in_place = from == MPI_IN_PLACE};
    struct espi_call *call = &t.work.call;
    t.from = (struct side){(char *)from, from_count, from_type, 0, 0};
    t.to = (struct side){to, to_count, to_type, 0, 0};
    espi_work_open(&t.work, ESP_OP_ALLTOALL, 0, comm, how);
    uint64_t all = measure_parts(&t);
    if (call->c && all && is_wrong(&t))
        call->c = NULL;
    espi_call_decide(call, all, t.part);
    return espi_work_do(&t.work, how);
}
