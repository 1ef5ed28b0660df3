/* MPI_Reduce, MPI_Allreduce and their non-blocking kin, for operations that commute:
 * trees do not keep ranks in order. Each rank combines what comes in the same order in
 * every run, and all ranks of an allreduce get what its root combined, bit by bit; or,
 * where they gather it all, what they have combined in the order of the ranks. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/operations.h"
#include "mpi/work.h"

struct task {
    struct espi_work work;
    const void *from; /* never MPI_IN_PLACE */
    void *to;         /* NULL where nothing is wanted */
    const void *user_from;
    void *user_to;
    MPI_Count count;
    struct espi_reduction reduction;
    void *own; /* to be freed */
    struct espi_block *blocks;
};

static int native_reduce(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    MPI_Datatype type = t->reduction.type;
    MPI_Op op = t->reduction.op;
    int root = w->call.root;
    MPI_Comm comm = w->call.comm;
#if MPI_VERSION >= 4
    if (t->count > INT_MAX)
        return ESPI_NATIVE(how, Reduce_c, Ireduce_c, Reduce_init_c, t->user_from,
                           t->user_to, t->count, type, op, root, comm);
#endif
    return ESPI_NATIVE(how, Reduce, Ireduce, Reduce_init, t->user_from, t->user_to,
                       (int)t->count, type, op, root, comm);
}

static int native_allreduce(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    MPI_Datatype type = t->reduction.type;
    MPI_Op op = t->reduction.op;
    MPI_Comm comm = w->call.comm;
#if MPI_VERSION >= 4
    if (t->count > INT_MAX)
        return ESPI_NATIVE(how, Allreduce_c, Iallreduce_c, Allreduce_init_c, t->user_from,
                           t->user_to, t->count, type, op, comm);
#endif
    return ESPI_NATIVE(how, Allreduce, Iallreduce, Allreduce_init, t->user_from,
                       t->user_to, (int)t->count, type, op, comm);
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

/* Elements without gaps: combined in the user's memory where there is some for the
 * result. */
static int begin_plain(struct task *t, void **data)
{
    size_t bytes = (size_t)t->work.call.bytes;
    *data = t->to;
    if (!*data && combines(&t->work.call)) {
        *data = t->own = espi_malloc(bytes);
        if (!t->own)
            return MPI_ERR_NO_MEM;
    }
    if (*data && *data != t->from)
        memcpy(*data, t->from, bytes);
    if (!*data)
        *data = (void *)t->from;
    return MPI_SUCCESS;
}

/* Others: combined in memory of ours in which they lie as in the user's. */
static int begin_spaced(struct task *t, void **data)
{
    MPI_Datatype type = t->reduction.type;
    const struct espi_element *element = &t->reduction.element;
    char *own = t->own = espi_calloc((size_t)t->count, element->bytes);
    *data = own;
    return !own ? MPI_ERR_NO_MEM
                : espi_copy(t->from, t->count, type, own - element->lb, t->count, type,
                            t->work.call.c->twin);
}

static int end_spaced(const struct task *t)
{
    MPI_Datatype type = t->reduction.type;
    if (!t->to)
        return MPI_SUCCESS;
    return espi_copy((char *)t->own - t->reduction.element.lb, t->count, type, t->to,
                     t->count, type, t->work.call.c->twin);
}

/* From the user's elements to ours, which lie as the user's; and back. */
static int copy_elements(const struct task *t, const void *from, int from_user, void *to)
{
    const struct espi_element *element = &t->reduction.element;
    MPI_Datatype type = t->reduction.type;
    if (element->plain) {
        if (from != to)
            memcpy(to, from, (size_t)t->work.call.bytes);
        return MPI_SUCCESS;
    }
    return espi_copy((const char *)from - (from_user ? 0 : element->lb), t->count, type,
                     (char *)to - (from_user ? element->lb : 0), t->count, type,
                     t->work.call.c->twin);
}

/* All that is combined, in the order of the ranks, into the last. */
static char *combine_all(struct task *t, char *data)
{
    size_t bytes = (size_t)t->work.call.bytes;
    char *last = data + (size_t)(t->work.call.size - 1) * bytes;
    for (int r = t->work.call.size - 2; r >= 0; r--)
        espi_reduction_combine(&t->reduction, last, data + (size_t)r * bytes, bytes);
    return last;
}

static int begin_gathered(struct task *t, struct espi_run_options *options)
{
    size_t bytes = (size_t)t->work.call.bytes, n = (size_t)t->work.call.size;
    struct espi_block *blocks = t->blocks = espi_calloc(n, sizeof *blocks);
    char *data = t->own = espi_calloc(n, bytes);
    if (!blocks)
        espi_end_job("allreduce", "is out of memory");
    for (size_t r = 0; r < n; r++)
        blocks[r] = (struct espi_block){data ? data + r * bytes : NULL, bytes};
    *options = (struct espi_run_options){.blocks = blocks};
    return data ? copy_elements(t, t->from, 1, blocks[t->work.call.rank].at)
                : MPI_ERR_NO_MEM;
}

static int gathers(const struct task *t)
{
    return t->work.call.entry->choice.gathers;
}

static int begin_reduce(struct espi_work *w, struct espi_run_options *options,
                        void **data)
{
    struct task *t = (struct task *)w;
    if (gathers(t))
        return begin_gathered(t, options);
    options->combine = espi_reduction_combine;
    options->arg = &t->reduction;
    options->element_bytes = t->reduction.element.bytes;
    return t->reduction.element.plain ? begin_plain(t, data) : begin_spaced(t, data);
}

static int end_reduce(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    if (gathers(t)) {
        const void *all = combine_all(t, t->own);
        return copy_elements(t, all, 0, t->to);
    }
    return t->reduction.element.plain ? MPI_SUCCESS : end_spaced(t);
}

static void clear_reduce(struct espi_work *w)
{
    struct task *t = (struct task *)w;
    espi_free(t->own);
    espi_free(t->blocks);
    t->own = NULL;
    t->blocks = NULL;
}

static void reduce_needs(struct espi_work *w, struct espi_needs *needs)
{
    struct task *t = (struct task *)w;
    needs->types[needs->n_types++] = &t->reduction.type;
    needs->op = &t->reduction.op;
}

static const struct espi_work_kind reduce_kind = {
    sizeof(struct task), ESPI_CALL_REDUCE, "ireduce",    "reduce-init", begin_reduce,
    end_reduce,          clear_reduce,     reduce_needs, native_reduce, NULL};
static const struct espi_work_kind allreduce_kind = {
    sizeof(struct task), ESPI_CALL_ALLREDUCE,
    "iallreduce",        "allreduce-init",
    begin_reduce,        end_reduce,
    clear_reduce,        reduce_needs,
    native_allreduce,    NULL};

static int make_call(struct task *t, const struct espi_manner *how)
{
    struct espi_call *call = &t->work.call;
    int64_t bytes = call->known ? espi_reduction_bytes(&t->reduction, t->count) : 0;
    call->is_fixed = espi_is_fixed(&t->reduction);
    espi_call_decide(call, bytes > 0 ? (uint64_t)bytes : 0, 0);
    return espi_work_do(&t->work, how);
}

/* Would the library refuse it? wanted: this rank gets the result. */
static int is_wrong(const struct task *t, int wanted)
{
    if (espi_is_nowhere(t->from, t->count, t->reduction.type) ||
        (t->user_from == MPI_IN_PLACE && !wanted))
        return 1;
    return wanted && (espi_is_nowhere(t->to, t->count, t->reduction.type) ||
                      espi_is_alias(&t->work.call, t->user_from, t->to, t->count));
}

int espi_reduce(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.work = {&reduce_kind, {.root = root, .comm = comm}},
                     .from = from == MPI_IN_PLACE ? to : from,
                     .user_from = from,
                     .user_to = to,
                     .count = count,
                     .reduction = {.type = type, .op = op}};
    if (espi_is_short(count, type))
        return espi_work_leave(&t.work, espi_bytes(count, type), how);
    espi_work_open(&t.work, ESP_OP_REDUCE, root, comm, how);
    int wanted = t.work.call.rank == root;
    t.to = wanted ? to : NULL;
    if (t.work.call.c && is_wrong(&t, wanted))
        t.work.call.c = NULL;
    return make_call(&t, how);
}

int espi_allreduce(const void *from, void *to, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.work = {&allreduce_kind, {.comm = comm}},
                     .from = from == MPI_IN_PLACE ? to : from,
                     .to = to,
                     .user_from = from,
                     .user_to = to,
                     .count = count,
                     .reduction = {.type = type, .op = op}};
    if (espi_is_short(count, type))
        return espi_work_leave(&t.work, espi_bytes(count, type), how);
    espi_work_open(&t.work, ESP_OP_ALLREDUCE, 0, comm, how);
    if (t.work.call.c && is_wrong(&t, 1))
        t.work.call.c = NULL;
    return make_call(&t, how);
}
