/* MPI_Reduce_scatter, MPI_Reduce_scatter_block and their non-blocking and persistent kin,
 * for operations that commute. Every rank has all parts of a message and gets its own,
 * combined. All ranks know how large each part is.
 *
 * The parts of others that this rank only sends are sent from where they are; those that
 * it combines with what comes are copied first, its own to where the result belongs. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/operations.h"
#include "mpi/work.h"

/* One call. Parts that are alike have `count` elements. */
struct task {
    struct espi_work work;
    const void *from; /* never MPI_IN_PLACE */
    void *to;
    int in_place;
    MPI_Count count;
    int is_unequal; /* they are of so many: */
    struct espi_counts parts;
    MPI_Count all; /* elements */
    struct espi_reduction reduction;
    struct espi_block *blocks;
    unsigned char *is_combined; /* by rank: its part, here */
    char *own;                  /* memory for parts, to be freed */
};

static MPI_Count count_of(const struct task *t, int rank)
{
    if (!t->is_unequal)
        return t->count;
    return espi_part_count(&t->parts, rank);
}

static int native_blocks(const struct task *t, const struct espi_manner *how)
{
    const void *from = t->in_place ? MPI_IN_PLACE : t->from;
    MPI_Datatype type = t->reduction.type;
    MPI_Op op = t->reduction.op;
    MPI_Comm comm = t->work.call.comm;
#if MPI_VERSION >= 4
    if (t->count > INT_MAX)
        return ESPI_NATIVE(how, Reduce_scatter_block_c, Ireduce_scatter_block_c,
                           Reduce_scatter_block_init_c, from, t->to, t->count, type, op,
                           comm);
#endif
    return ESPI_NATIVE(how, Reduce_scatter_block, Ireduce_scatter_block,
                       Reduce_scatter_block_init, from, t->to, (int)t->count, type, op,
                       comm);
}

static int native_reduce_scatter(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    const void *from = t->in_place ? MPI_IN_PLACE : t->from;
    MPI_Datatype type = t->reduction.type;
    MPI_Op op = t->reduction.op;
    MPI_Comm comm = w->call.comm;
    if (!t->is_unequal)
        return native_blocks(t, how);
#if MPI_VERSION >= 4
    if (t->parts.large_count)
        return ESPI_NATIVE(how, Reduce_scatter_c, Ireduce_scatter_c,
                           Reduce_scatter_init_c, from, t->to, t->parts.large_count, type,
                           op, comm);
#endif
    return ESPI_NATIVE(how, Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, from,
                       t->to, t->parts.count, type, op, comm);
}

/* All bytes, and those of the largest part; 0: nothing to do, or the library's. */
static uint64_t measure_parts(struct task *t, uint64_t *largest)
{
    MPI_Count most = 0;
    if (!t->work.call.known ||
        (t->is_unequal && !t->parts.count && !t->parts.large_count))
        return 0;
    for (int r = 0; r < t->work.call.size; r++) {
        MPI_Count count = count_of(t, r);
        if (count < 0 || __builtin_add_overflow(t->all, count, &t->all))
            return 0;
        most = count > most ? count : most;
    }
    int64_t bytes = espi_reduction_bytes(&t->reduction, t->all);
    *largest = (uint64_t)most * t->reduction.element.bytes;
    return bytes > 0 && !t->reduction.element.in_order ? (uint64_t)bytes : 0;
}

/* ---- where the parts are ---- */

/* Which parts does this rank combine with what comes? */
static void find_combined(struct task *t)
{
    const struct espi_program *prog = &t->work.call.entry->prog;
    int rank = t->work.call.rank;
    t->is_combined[rank] = 1;
    for (int k = prog->recv_start[rank]; k < prog->recv_start[rank + 1]; k++) {
        int stream = prog->recvs[k].stream;
        if (!prog->streams[stream].combines)
            continue;
        if (prog->slot_part)
            t->is_combined[prog->slot_part[prog->recvs[k].slot]] = 1;
        for (int i = 1; i < espi_stream_pieces(prog, stream); i++)
            t->is_combined[prog->pieces[prog->piece_start[stream] + i]] = 1;
    }
}

/* The own part is combined where the result belongs, but for data that lie there. */
static int is_made_in_place(const struct task *t, int part)
{
    return part == t->work.call.rank && !t->in_place;
}

/* Elements without gaps; MPI_SUCCESS, or a code. */
static int lay_plain(struct task *t)
{
    size_t bytes = 0;
    const char *from = t->from;
    for (int r = 0; r < t->work.call.size; r++)
        if (t->is_combined[r] && !is_made_in_place(t, r))
            bytes += (size_t)t->blocks[r].bytes;
    t->own = espi_malloc(bytes > 0 ? bytes : 1);
    if (!t->own)
        return MPI_ERR_NO_MEM;
    char *next = t->own;
    for (int r = 0; r < t->work.call.size; r++) {
        struct espi_block *b = &t->blocks[r];
        b->at = (char *)from;
        if (t->is_combined[r] && b->bytes > 0) {
            b->at = is_made_in_place(t, r) ? t->to : next;
            next += is_made_in_place(t, r) ? 0 : b->bytes;
            memcpy(b->at, from, (size_t)b->bytes);
        }
        from += b->bytes;
    }
    return MPI_SUCCESS;
}

/* Others lie in memory of ours as in the user's. */
static int lay_spaced(struct task *t)
{
    const struct espi_element *element = &t->reduction.element;
    MPI_Datatype type = t->reduction.type;
    t->own = espi_calloc((size_t)t->all, element->bytes);
    if (!t->own)
        return MPI_ERR_NO_MEM;
    char *next = t->own;
    for (int r = 0; r < t->work.call.size; r++) {
        t->blocks[r].at = next;
        next += t->blocks[r].bytes;
    }
    return espi_copy(t->from, t->all, type, t->own - element->lb, t->all, type,
                     t->work.call.c->twin);
}

static int lay_blocks(struct task *t)
{
    int n = t->work.call.size;
    t->blocks = espi_calloc((size_t)n, sizeof *t->blocks + 1);
    if (!t->blocks)
        espi_end_job(esp_op_name(t->work.call.op), "is out of memory");
    t->is_combined = (unsigned char *)(t->blocks + n);
    for (int r = 0; r < n; r++)
        t->blocks[r].bytes = (uint64_t)count_of(t, r) * t->reduction.element.bytes;
    find_combined(t);
    return t->reduction.element.plain ? lay_plain(t) : lay_spaced(t);
}

static int give_result(const struct task *t)
{
    int rank = t->work.call.rank;
    const struct espi_block *b = &t->blocks[rank];
    const struct espi_element *element = &t->reduction.element;
    MPI_Datatype type = t->reduction.type;
    MPI_Count count = count_of(t, rank);
    if (count == 0)
        return MPI_SUCCESS;
    if (!element->plain)
        return espi_copy(b->at - element->lb, count, type, t->to, count, type,
                         t->work.call.c->twin);
    if (b->at != t->to)
        memcpy(t->to, b->at, (size_t)b->bytes);
    return MPI_SUCCESS;
}

static int begin_reduce_scatter(struct espi_work *w, struct espi_run_options *options,
                                void **data)
{
    struct task *t = (struct task *)w;
    int lost = lay_blocks(t);
    (void)data; /* in blocks */
    *options = (struct espi_run_options){.combine = espi_reduction_combine,
                                         .arg = &t->reduction,
                                         .element_bytes = t->reduction.element.bytes,
                                         .blocks = t->blocks};
    return lost;
}

static int end_reduce_scatter(struct espi_work *w)
{
    return give_result((const struct task *)w);
}

static void clear_reduce_scatter(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    espi_free(t->own);
    espi_free(t->blocks);
    t->own = NULL;
}

static void reduce_scatter_needs(struct espi_work *w, struct espi_needs *needs)
{
    struct task *t = (struct task *)w;
    needs->types[needs->n_types++] = &t->reduction.type;
    needs->op = &t->reduction.op;
}

/* ---- the calls ---- */

/* Would the library refuse it? */
static int is_wrong(const struct task *t)
{
    MPI_Count own = count_of(t, t->work.call.rank);
    MPI_Datatype type = t->reduction.type;
    if (t->to == MPI_IN_PLACE || espi_is_nowhere(t->from, t->all, type) ||
        espi_is_nowhere(t->to, own, type))
        return 1;
    return !t->in_place && espi_is_alias(&t->work.call, t->from, t->to, t->all);
}

static const struct espi_work_kind reduce_scatter_kind = {sizeof(struct task),
                                                          ESPI_CALL_REDUCE_SCATTER,
                                                          "ireduce-scatter",
                                                          "reduce-scatter-init",
                                                          begin_reduce_scatter,
                                                          end_reduce_scatter,
                                                          clear_reduce_scatter,
                                                          reduce_scatter_needs,
                                                          native_reduce_scatter,
                                                          NULL,
                                                          NULL};

static int reduce_scatter(struct task *t, MPI_Comm comm, const struct espi_manner *how)
{
    struct espi_call *call = &t->work.call;
    uint64_t largest = 0;
    espi_work_open(&t->work, ESP_OP_REDUCE_SCATTER, 0, comm, how);
    uint64_t bytes = measure_parts(t, &largest);
    if (call->c && bytes && is_wrong(t))
        call->c = NULL;
    call->is_fixed = bytes && espi_is_fixed(&t->reduction);
    espi_call_decide(call, bytes, largest);
    return espi_work_do(&t->work, how);
}

static struct task make_task(const void *from, void *to, MPI_Datatype type, MPI_Op op)
{
    return (struct task){.work = {.kind = &reduce_scatter_kind},
                         .from = from == MPI_IN_PLACE ? to : from,
                         .to = to,
                         .in_place = from == MPI_IN_PLACE,
                         .reduction = {.type = type, .op = op}};
}

int espi_reduce_scatter(const void *from, void *to, const struct espi_counts *parts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        const struct espi_manner *how)
{
    struct task t = make_task(from, to, type, op);
    t.is_unequal = 1;
    t.parts = *parts;
    return reduce_scatter(&t, comm, how);
}

int espi_reduce_scatter_block(const void *from, void *to, MPI_Count count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              const struct espi_manner *how)
{
    struct task t = make_task(from, to, type, op);
    t.count = count;
    return reduce_scatter(&t, comm, how);
}
