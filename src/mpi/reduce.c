/* MPI_Reduce and MPI_Allreduce, for operations that commute: trees do not keep ranks in
 * order. Each rank combines what comes in the same order in every run, and all ranks of
 * an allreduce get what its root combined, bit by bit. */
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
    MPI_Datatype type;
    MPI_Op op;
    struct espi_element element;
    void *own; /* to be freed */
};

static void combine(void *arg, void *into, const void *from, size_t bytes)
{
    const struct task *t = arg;
    MPI_Aint lb = t->element.lb;
    if (bytes > 0)
        PMPI_Reduce_local((const char *)from - lb, (char *)into - lb,
                          (int)(bytes / t->element.bytes), t->type, t->op);
}

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
    struct espi_run_options options = {
        .combine = combine, .arg = t, .element_bytes = t->element.bytes};
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
    char *data = t->own = espi_calloc((size_t)t->count, t->element.bytes);
    void *start = data - t->element.lb;
    int lost =
        !data ? MPI_ERR_NO_MEM
              : espi_copy(t->from, t->count, t->type, start, t->count, t->type, twin);
    int code = run_reduce(t, data, lost);
    if (!code && t->to)
        code = espi_copy(start, t->count, t->type, t->to, t->count, t->type, twin);
    return code;
}

static int our_reduce(struct task *t)
{
    int code = t->element.plain ? run_plain(t) : run_spaced(t);
    espi_free(t->own);
    return code;
}

/* The bytes that travel, 0: the library's call. */
static uint64_t measure_message(struct task *t)
{
    uint64_t bytes = 0;
    if (!t->call->known || !espi_bytes(t->count, t->type) ||
        !espi_may_combine(t->type, t->op, &t->element) ||
        __builtin_mul_overflow((uint64_t)t->count, (uint64_t)t->element.bytes, &bytes))
        return 0;
    return bytes > (uint64_t)INT64_MAX / 2 ? 0 : bytes;
}

/* The same call gives the same bits each time, as the standard recommends: sums that are
 * rounded are made in the same way each time, unless the user wants trials of them, too.
 */
static int decide_reduction(struct espi_call *call, struct task *t)
{
    uint64_t bytes = measure_message(t);
    call->is_fixed = !t->element.exact && espi_job.settings.trials != ESPI_TRIALS_ALL;
    return espi_call_decide(call, bytes, 0);
}

/* Would the library refuse it? from: the user's; wanted: this rank gets the result. */
static int is_wrong(const struct task *t, const void *from, int wanted)
{
    if (espi_is_nowhere(t->from, t->count, t->type) || (from == MPI_IN_PLACE && !wanted))
        return 1;
    return wanted && (espi_is_nowhere(t->to, t->count, t->type) ||
                      espi_is_alias(t->call, from, t->to, t->count));
}

int espi_reduce(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm comm)
{
    struct espi_call call;
    struct task t = {.call = &call, .count = count, .type = type, .op = op};
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
    struct task t = {.call = &call, .to = to, .count = count, .type = type, .op = op};
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
