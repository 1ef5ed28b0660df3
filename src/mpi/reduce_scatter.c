/* MPI_Reduce_scatter and MPI_Reduce_scatter_block, for operations that commute. Every
 * rank has all parts of a message and gets its own, combined. All ranks know how large
 * each part is.
 *
 * The parts of others that this rank only sends are sent from where they are; those that
 * it combines with what comes are copied first, its own to where the result belongs. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/operations.h"
#include "mpi/shim.h"

/* One call. counts NULL: all parts have `count` elements. */
struct task {
    const struct espi_call *call;
    const void *from; /* never MPI_IN_PLACE */
    void *to;
    int in_place;
    MPI_Count count;
    const struct espi_counts *counts;
    MPI_Count all; /* elements */
    struct espi_reduction reduction;
    struct espi_block *blocks;
    unsigned char *is_combined; /* by rank: its part, here */
    char *own;                  /* memory for parts, to be freed */
};

static MPI_Count count_of(const struct task *t, int rank)
{
    if (!t->counts)
        return t->count;
    return t->counts->count ? t->counts->count[rank] : t->counts->large_count[rank];
}

static int native_reduce_scatter(const struct task *t, MPI_Comm comm)
{
    const void *from = t->in_place ? MPI_IN_PLACE : t->from;
    MPI_Datatype type = t->reduction.type;
    MPI_Op op = t->reduction.op;
#if MPI_VERSION >= 4
    if (t->counts && t->counts->large_count)
        return PMPI_Reduce_scatter_c(from, t->to, t->counts->large_count, type, op, comm);
    if (!t->counts && t->count > INT_MAX)
        return PMPI_Reduce_scatter_block_c(from, t->to, t->count, type, op, comm);
#endif
    return t->counts
               ? PMPI_Reduce_scatter(from, t->to, t->counts->count, type, op, comm)
               : PMPI_Reduce_scatter_block(from, t->to, (int)t->count, type, op, comm);
}

/* All bytes, and those of the largest part; 0: nothing to do, or the library's. */
static uint64_t measure_parts(struct task *t, uint64_t *largest)
{
    MPI_Count most = 0;
    if (!t->call->known || (t->counts && !t->counts->count && !t->counts->large_count))
        return 0;
    for (int r = 0; r < t->call->size; r++) {
        MPI_Count count = count_of(t, r);
        if (count < 0 || __builtin_add_overflow(t->all, count, &t->all))
            return 0;
        most = count > most ? count : most;
    }
    int64_t bytes = espi_reduction_bytes(&t->reduction, t->all);
    *largest = (uint64_t)most * t->reduction.element.bytes;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* ---- where the parts are ---- */

/* Which parts does this rank combine with what comes? */
static void find_combined(struct task *t)
{
    const struct espi_program *prog = &t->call->entry->prog;
    int rank = t->call->rank;
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
    return part == t->call->rank && !t->in_place;
}

/* Elements without gaps; MPI_SUCCESS, or a code. */
static int lay_plain(struct task *t)
{
    size_t bytes = 0;
    const char *from = t->from;
    for (int r = 0; r < t->call->size; r++)
        if (t->is_combined[r] && !is_made_in_place(t, r))
            bytes += (size_t)t->blocks[r].bytes;
    t->own = bytes > 0 ? espi_malloc(bytes) : NULL;
    if (bytes > 0 && !t->own)
        return MPI_ERR_NO_MEM;
    char *next = t->own;
    for (int r = 0; r < t->call->size; r++) {
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
    for (int r = 0; r < t->call->size; r++) {
        t->blocks[r].at = next;
        next += t->blocks[r].bytes;
    }
    return espi_copy(t->from, t->all, type, t->own - element->lb, t->all, type,
                     t->call->c->twin);
}

static int lay_blocks(struct task *t)
{
    int n = t->call->size;
    t->blocks = espi_calloc((size_t)n, sizeof *t->blocks + 1);
    if (!t->blocks)
        espi_end_job(esp_op_name(t->call->op), "is out of memory");
    t->is_combined = (unsigned char *)(t->blocks + n);
    for (int r = 0; r < n; r++)
        t->blocks[r].bytes = (uint64_t)count_of(t, r) * t->reduction.element.bytes;
    find_combined(t);
    return t->reduction.element.plain ? lay_plain(t) : lay_spaced(t);
}

static int give_result(const struct task *t)
{
    int rank = t->call->rank;
    const struct espi_block *b = &t->blocks[rank];
    const struct espi_element *element = &t->reduction.element;
    MPI_Datatype type = t->reduction.type;
    MPI_Count count = count_of(t, rank);
    if (count == 0)
        return MPI_SUCCESS;
    if (!element->plain)
        return espi_copy(b->at - element->lb, count, type, t->to, count, type,
                         t->call->c->twin);
    if (b->at != t->to)
        memcpy(t->to, b->at, (size_t)b->bytes);
    return MPI_SUCCESS;
}

static int our_reduce_scatter(struct task *t)
{
    int lost = lay_blocks(t);
    struct espi_run_options options = {.combine = espi_reduction_combine,
                                       .arg = &t->reduction,
                                       .element_bytes = t->reduction.element.bytes,
                                       .blocks = t->blocks};
    int code = espi_call_run(t->call, NULL, &options, lost); /* others wait for us */
    return code ? code : give_result(t);
}

/* ---- the calls ---- */

/* Would the library refuse it? */
static int is_wrong(const struct task *t)
{
    MPI_Count own = count_of(t, t->call->rank);
    MPI_Datatype type = t->reduction.type;
    if (t->to == MPI_IN_PLACE || espi_is_nowhere(t->from, t->all, type) ||
        espi_is_nowhere(t->to, own, type))
        return 1;
    return !t->in_place && espi_is_alias(t->call, t->from, t->to, t->all);
}

static int reduce_scatter(struct task *t, MPI_Comm comm)
{
    struct espi_call call;
    uint64_t largest = 0;
    t->call = &call;
    espi_call_open(&call, ESP_OP_REDUCE_SCATTER, 0, comm);
    uint64_t bytes = measure_parts(t, &largest);
    if (call.c && bytes && is_wrong(t))
        call.c = NULL;
    call.is_fixed = bytes && espi_is_fixed(&t->reduction);
    int way = espi_call_decide(&call, bytes, largest);
    int code = way ? our_reduce_scatter(t) : native_reduce_scatter(t, comm);
    espi_free(t->own);
    espi_free(t->blocks);
    t->call = NULL;
    return espi_call_close(&call, way, code);
}

static struct task make_task(const void *from, void *to, MPI_Datatype type, MPI_Op op)
{
    return (struct task){.from = from == MPI_IN_PLACE ? to : from,
                         .to = to,
                         .in_place = from == MPI_IN_PLACE,
                         .reduction = {.type = type, .op = op}};
}

int espi_reduce_scatter(const void *from, void *to, const struct espi_counts *counts,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct task t = make_task(from, to, type, op);
    t.counts = counts;
    return reduce_scatter(&t, comm);
}

int espi_reduce_scatter_block(const void *from, void *to, MPI_Count count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct task t = make_task(from, to, type, op);
    t.count = count;
    return reduce_scatter(&t, comm);
}
