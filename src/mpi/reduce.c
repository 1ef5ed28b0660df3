/* MPI_Reduce, MPI_Allreduce, MPI_Scan, MPI_Exscan and their non-blocking and persistent
 * kin. Each rank combines what comes in the same order in every run, and all ranks of an
 * allreduce get what its root combined, bit by bit. Trees do not keep ranks in order:
 * where an operation does not commute, and in scans, ranks gather all that is to be
 * combined, and combine it in the order of the ranks. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "mpi/operations.h"
#include "mpi/work.h"

/* What a rank gets: what comes of all, of those up to it, of those before it. */
enum prefix { NO_PREFIX, UP_TO, BEFORE };

struct task {
    struct espi_work work;
    enum prefix which_prefix;
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

/* Those of which all ranks get something take the same arguments. */
#define CALL_FOR_ALL(how, t, Name, IName, Init, count)                                   \
    ESPI_NATIVE(how, Name, IName, Init, (t)->user_from, (t)->user_to, count,             \
                (t)->reduction.type, (t)->reduction.op, (t)->work.call.comm)
#if MPI_VERSION >= 4
#define NATIVE_FOR_ALL(how, t, Name, IName)                                              \
    ((t)->count > INT_MAX                                                                \
         ? CALL_FOR_ALL(how, t, Name##_c, IName##_c, Name##_init_c, (t)->count)          \
         : CALL_FOR_ALL(how, t, Name, IName, Name##_init, (int)(t)->count))
#else
#define NATIVE_FOR_ALL(how, t, Name, IName)                                              \
    CALL_FOR_ALL(how, t, Name, IName, Name##_init, (int)(t)->count)
#endif

static int native_for_all(const struct espi_work *w, const struct espi_manner *how)
{
    const struct task *t = (const struct task *)w;
    return t->which_prefix == UP_TO    ? NATIVE_FOR_ALL(how, t, Scan, Iscan)
           : t->which_prefix == BEFORE ? NATIVE_FOR_ALL(how, t, Exscan, Iexscan)
                                       : NATIVE_FOR_ALL(how, t, Allreduce, Iallreduce);
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

/* ---- where the ranks get all that is to be combined ---- */

static int gathers(const struct task *t)
{
    return t->work.call.entry->choice.gathers;
}

/* Does this rank combine it? */
static int has_all(const struct task *t)
{
    const struct espi_call *call = &t->work.call;
    return call->op != ESP_OP_REDUCE || call->rank == call->root;
}

/* Where a rank's data are in ours; NULL: nowhere. */
static char *gathered(const struct task *t, int rank)
{
    if (!t->own || (!has_all(t) && rank != t->work.call.rank))
        return NULL;
    return (char *)t->own + (has_all(t) ? (size_t)rank : 0) * (size_t)t->work.call.bytes;
}

/* Parts of the message are all ranks' data, of a reduce all but the root's. */
static int begin_gathered(struct task *t, struct espi_run_options *options)
{
    const struct espi_call *call = &t->work.call;
    size_t bytes = (size_t)call->bytes, n = (size_t)call->size;
    int left_out = call->op == ESP_OP_REDUCE ? call->root : call->size;
    t->blocks = espi_calloc(n, sizeof *t->blocks);
    t->own = espi_calloc(has_all(t) ? n : 1, bytes);
    if (!t->blocks)
        espi_end_job(espi_collective_name(call->which), "is out of memory");
    for (int r = 0; r < call->size; r++)
        if (r != left_out)
            t->blocks[r - (r > left_out)] =
                (struct espi_block){gathered(t, r), call->bytes};
    *options = (struct espi_run_options){.blocks = t->blocks};
    return t->own ? copy_elements(t, t->from, 1, gathered(t, call->rank))
                  : MPI_ERR_NO_MEM;
}

/* What this rank wants of it is combined in the order of the ranks, into the last. */
static int end_gathered(struct task *t)
{
    const struct espi_call *call = &t->work.call;
    int last = t->which_prefix == NO_PREFIX ? call->size - 1
                                            : call->rank - (t->which_prefix == BEFORE);
    if (!has_all(t) || last < 0)
        return MPI_SUCCESS;
    for (int r = last - 1; r >= 0; r--)
        espi_reduction_combine(&t->reduction, gathered(t, last), gathered(t, r),
                               (size_t)call->bytes);
    return copy_elements(t, gathered(t, last), 0, t->to);
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
    if (gathers(t))
        return end_gathered(t);
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

static const struct espi_work_kind reduce_kind = {sizeof(struct task),
                                                  ESPI_CALL_REDUCE,
                                                  "ireduce",
                                                  "reduce-init",
                                                  begin_reduce,
                                                  end_reduce,
                                                  clear_reduce,
                                                  reduce_needs,
                                                  native_reduce,
                                                  NULL,
                                                  NULL};
static const struct espi_work_kind allreduce_kind = {sizeof(struct task),
                                                     ESPI_CALL_ALLREDUCE,
                                                     "iallreduce",
                                                     "allreduce-init",
                                                     begin_reduce,
                                                     end_reduce,
                                                     clear_reduce,
                                                     reduce_needs,
                                                     native_for_all,
                                                     NULL,
                                                     NULL};

static const struct espi_work_kind scan_kind = {
    sizeof(struct task), ESPI_CALL_SCAN, "iscan",      "scan-init",
    begin_reduce,        end_reduce,     clear_reduce, reduce_needs,
    native_for_all,      NULL,           NULL};
static const struct espi_work_kind exscan_kind = {sizeof(struct task),
                                                  ESPI_CALL_EXSCAN,
                                                  "iexscan",
                                                  "exscan-init",
                                                  begin_reduce,
                                                  end_reduce,
                                                  clear_reduce,
                                                  reduce_needs,
                                                  native_for_all,
                                                  NULL,
                                                  NULL};

static int make_call(struct task *t, const struct espi_manner *how)
{
    struct espi_call *call = &t->work.call;
    int64_t bytes = call->known ? espi_reduction_bytes(&t->reduction, t->count) : 0;
    call->is_fixed = espi_is_fixed(&t->reduction);
    call->order = t->which_prefix                 ? ESPI_PREFIXES
                  : t->reduction.element.in_order ? ESPI_IN_ORDER
                                                  : ESPI_ANY_ORDER;
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
    struct task t = {.work = {.kind = &reduce_kind, .call = {.root = root, .comm = comm}},
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

/* All ranks get something. */
static int reduce_for_all(const struct espi_work_kind *kind, enum prefix which_prefix,
                          const void *from, void *to, MPI_Count count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, const struct espi_manner *how)
{
    struct task t = {.work = {.kind = kind, .call.comm = comm},
                     .which_prefix = which_prefix,
                     .from = from == MPI_IN_PLACE ? to : from,
                     .to = to,
                     .user_from = from,
                     .user_to = to,
                     .count = count,
                     .reduction = {.type = type, .op = op}};
    if (espi_is_short(count, type))
        return espi_work_leave(&t.work, espi_bytes(count, type), how);
    espi_work_open(&t.work, ESP_OP_ALLREDUCE, 0, comm, how);
    int wanted = which_prefix != BEFORE || t.work.call.rank > 0;
    if (t.work.call.c && is_wrong(&t, wanted || from == MPI_IN_PLACE))
        t.work.call.c = NULL;
    return make_call(&t, how);
}

int espi_allreduce(const void *from, void *to, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, const struct espi_manner *how)
{
    return reduce_for_all(&allreduce_kind, NO_PREFIX, from, to, count, type, op, comm,
                          how);
}

int espi_scan(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm, const struct espi_manner *how)
{
    return reduce_for_all(&scan_kind, UP_TO, from, to, count, type, op, comm, how);
}

int espi_exscan(const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm, const struct espi_manner *how)
{
    return reduce_for_all(&exscan_kind, BEFORE, from, to, count, type, op, comm, how);
}
