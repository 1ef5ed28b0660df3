/* MPI_Reduce and MPI_Allreduce, for operations that commute: trees do not keep ranks in
 * order. Each rank combines what comes in the same order in every run, and all ranks of
 * an allreduce get what its root combined, bit by bit; or, where they gather it all, what
 * they have combined in the order of the ranks. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/operations.h"
#include "mpi/shim.h"

static int native_reduce(const void *from, void *to, MPI_Count count, MPI_Datatype type,
                         MPI_Op op, int root, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Reduce_c(from, to, count, type, op, root, comm);
#endif
    return PMPI_Reduce(from, to, (int)count, type, op, root, comm);
}

static int native_allreduce(const void *from, void *to, MPI_Count count,
                            MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Allreduce_c(from, to, count, type, op, comm);
#endif
    return PMPI_Allreduce(from, to, (int)count, type, op, comm);
}

struct task {
    const struct espi_call *call;
    const void *from; /* never MPI_IN_PLACE */
    void *to;         /* NULL where nothing is wanted */
    MPI_Count count;
    struct espi_reduction reduction;
    void *own; /* to be freed */
};

/* Does the rank combine anything, or does it only send what it has? */
static int combines(const struct espi_call *call)
{
    const struct espi_program *prog = &call->entry->prog;
    for (int k = prog->recv_start[call->rank]; k < prog->recv_start[call->rank + 1]; k++)
        if (prog->streams[prog->recvs[k].stream].combines)
            return 1;
    return 0;
}

static int run_reduce(struct task *t, void *data, int lost)
{
    struct espi_run_options options = {.combine = espi_reduction_combine,
                                       .arg = &t->reduction,
                                       .element_bytes = t->reduction.element.bytes};
    return espi_call_run(t->call, data, &options, lost);
}

/* Elements without gaps: combined in the user's memory where there is some for the
 * result. */
static int run_plain(struct task *t)
{
    size_t bytes = (size_t)t->call->bytes;
    void *data = t->to;
    if (!data && combines(t->call)) {
        data = t->own = espi_malloc(bytes);
        if (!data)
            return run_reduce(t, NULL, MPI_ERR_NO_MEM);
    }
    if (data && data != t->from)
        memcpy(data, t->from, bytes);
    return run_reduce(t, data ? data : (void *)t->from, MPI_SUCCESS);
}

/* Others: combined in memory of ours in which they lie as in the user's. */
static int run_spaced(struct task *t)
{
    MPI_Comm twin = t->call->c->twin;
    MPI_Datatype type = t->reduction.type;
    const struct espi_element *element = &t->reduction.element;
    char *data = t->own = espi_calloc((size_t)t->count, element->bytes);
    void *start = data - element->lb;
    int lost = !data ? MPI_ERR_NO_MEM
                     : espi_copy(t->from, t->count, type, start, t->count, type, twin);
    int code = run_reduce(t, data, lost);
    if (!code && t->to)
        code = espi_copy(start, t->count, type, t->to, t->count, type, twin);
    return code;
}

/* From the user's elements to ours, which lie as the user's; and back. */
static int copy_elements(const struct task *t, const void *from, int from_user, void *to)
{
    const struct espi_element *element = &t->reduction.element;
    MPI_Datatype type = t->reduction.type;
    if (element->plain) {
        if (from != to)
            memcpy(to, from, (size_t)t->call->bytes);
        return MPI_SUCCESS;
    }
    return espi_copy((const char *)from - (from_user ? 0 : element->lb), t->count, type,
                     (char *)to - (from_user ? element->lb : 0), t->count, type,
                     t->call->c->twin);
}

/* All that is combined, in the order of the ranks, into the last. */
static char *combine_all(struct task *t, char *data)
{
    size_t bytes = (size_t)t->call->bytes;
    char *last = data + (size_t)(t->call->size - 1) * bytes;
    for (int r = t->call->size - 2; r >= 0; r--)
        espi_reduction_combine(&t->reduction, last, data + (size_t)r * bytes, bytes);
    return last;
}

static int run_gathered(struct task *t)
{
    size_t bytes = (size_t)t->call->bytes, n = (size_t)t->call->size;
    struct espi_block *blocks = espi_calloc(n, sizeof *blocks);
    char *data = t->own = espi_calloc(n, bytes);
    struct espi_run_options options = {.blocks = blocks};
    if (!blocks)
        espi_end_job("allreduce", "is out of memory");
    for (size_t r = 0; r < n; r++)
        blocks[r] = (struct espi_block){data ? data + r * bytes : NULL, bytes};
    int lost =
        data ? copy_elements(t, t->from, 1, blocks[t->call->rank].at) : MPI_ERR_NO_MEM;
    int code = espi_call_run(t->call, NULL, &options, lost);
    if (!code) {
        const char *result = combine_all(t, data);
        code = copy_elements(t, result, 0, t->to);
    }
    espi_free(blocks);
    return code;
}

static int our_reduce(struct task *t)
{
    int code = t->call->entry->choice.gathers ? run_gathered(t)
               : t->reduction.element.plain   ? run_plain(t)
                                              : run_spaced(t);
    espi_free(t->own);
    return code;
}

static int decide_reduction(struct espi_call *call, struct task *t)
{
    int64_t bytes = call->known ? espi_reduction_bytes(&t->reduction, t->count) : 0;
    call->is_fixed = espi_is_fixed(&t->reduction);
    return espi_call_decide(call, bytes > 0 ? (uint64_t)bytes : 0, 0);
}

/* Would the library refuse it? from: the user's; wanted: this rank gets the result. */
static int is_wrong(const struct task *t, const void *from, int wanted)
{
    if (espi_is_nowhere(t->from, t->count, t->reduction.type) ||
        (from == MPI_IN_PLACE && !wanted))
        return 1;
    return wanted && (espi_is_nowhere(t->to, t->count, t->reduction.type) ||
                      espi_is_alias(t->call, from, t->to, t->count));
}

int espi_reduce(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm comm)
{
    struct espi_call call;
    struct task t = {
        .call = &call, .count = count, .reduction = {.type = type, .op = op}};
    if (espi_is_short(count, type))
        return native_reduce(from, to, count, type, op, root, comm);
    espi_call_open(&call, ESP_OP_REDUCE, root, comm);
    int wanted = call.rank == root;
    t.from = from == MPI_IN_PLACE ? to : from;
    t.to = wanted ? to : NULL;
    if (call.c && is_wrong(&t, from, wanted))
        call.c = NULL;
    int way = decide_reduction(&call, &t);
    int code =
        way ? our_reduce(&t) : native_reduce(from, to, count, type, op, root, comm);
    return espi_call_close(&call, way, code);
}

int espi_allreduce(const void *from, void *to, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm)
{
    struct espi_call call;
    struct task t = {
        .call = &call, .to = to, .count = count, .reduction = {.type = type, .op = op}};
    if (espi_is_short(count, type))
        return native_allreduce(from, to, count, type, op, comm);
    espi_call_open(&call, ESP_OP_ALLREDUCE, 0, comm);
    t.from = from == MPI_IN_PLACE ? to : from;
    if (call.c && is_wrong(&t, from, 1))
        call.c = NULL;
    int way = decide_reduction(&call, &t);
    int code = way ? our_reduce(&t) : native_allreduce(from, to, count, type, op, comm);
    return espi_call_close(&call, way, code);
}
