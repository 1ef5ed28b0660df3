/* Collectives of all kinds, drawn at random, with what each rank has to give and to get,
 * and ways to complete many. */
#ifndef TESTS_MPI_OPS_H
#define TESTS_MPI_OPS_H

#include <stdint.h>

#include "check.h"
#include "lots.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { MOST = 14 };

static uint64_t lots, own; /* equal on all ranks; of this rank alone */

enum kind {
    BCAST,
    SCATTER,
    GATHER,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    SCATTERV,
    GATHERV,
    ALLTOALLV,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BARRIER,
    KINDS
};

enum manner { NOW, LATER, INIT };

/* One call. Elements are ints; of some ranks each has a gap behind it. */
struct op {
    enum kind kind;
    MPI_Comm comm;
    int rank, size, root, in_place;
    enum manner manner;
    int n; /* elements of a part */
    unsigned seed;
    int *count, *at; /* of unequal parts */
    int all;         /* elements of these */
    int stride;      /* of this rank: ints from element to element */
    int *from, *to, *expected;
    long room; /* elements of `to` */
    MPI_Request request;
    MPI_Datatype type; /* that is not freed yet */
};

static int value(const struct op *o, int part, long i)
{
    unsigned char byte = check_byte(o->seed + 7919u * (unsigned)part, (size_t)i);
    return (int)(byte + 256 * (i % 1000) + 1);
}

static int sum(const struct op *o, long i)
{
    int all = 0;
    for (int r = 0; r < o->size; r++)
        all += value(o, r, i);
    return all;
}

/* ---- what there is, and what is to come ---- */

enum { UNTOUCHED = -77 };

static void put(const struct op *o, int *at, long first, int part, long part_first,
                long n)
{
    for (long i = 0; i < n; i++)
        at[(first + i) * o->stride] = value(o, part, part_first + i);
}

static void put_sums(const struct op *o, long first, long n)
{
    for (long i = 0; i < n; i++)
        o->expected[i * o->stride] = sum(o, first + i);
}

static int count_of(const struct op *o, int r)
{
    return o->count ? o->count[r] : o->n;
}

static int place_of(const struct op *o, int r)
{
    return o->at ? o->at[r] : r * o->n;
}

static void fill_bcast(struct op *o)
{
    if (o->rank == o->root)
        put(o, o->to, 0, 0, 0, o->n);
    put(o, o->expected, 0, 0, 0, o->n);
}

static void fill_scatter(struct op *o)
{
    for (int r = 0; r < o->size; r++)
        put(o, o->from, place_of(o, r), r, 0, count_of(o, r));
    if (!o->in_place)
        put(o, o->expected, 0, o->rank, 0, count_of(o, o->rank));
}

static void fill_gather(struct op *o)
{
    int wanted = (o->kind != GATHER && o->kind != GATHERV) || o->rank == o->root;
    if (o->in_place)
        put(o, o->to, place_of(o, o->rank), o->rank, 0, count_of(o, o->rank));
    else
        put(o, o->from, 0, o->rank, 0, count_of(o, o->rank));
    for (int r = 0; wanted && r < o->size; r++)
        put(o, o->expected, place_of(o, r), r, 0, count_of(o, r));
}

static void fill_alltoall(struct op *o)
{
    for (int r = 0; r < o->size; r++) {
        put(o, o->in_place ? o->to : o->from, place_of(o, r), o->rank * o->size + r, 0,
            count_of(o, r));
        put(o, o->expected, place_of(o, r), r * o->size + o->rank, 0, count_of(o, r));
    }
}

static void fill_reduce(struct op *o)
{
    put(o, o->in_place ? o->to : o->from, 0, o->rank, 0, o->n);
    if (o->kind == ALLREDUCE || o->rank == o->root)
        put_sums(o, 0, o->n);
}

static void fill_reduce_scatter(struct op *o)
{
    long first = 0;
    for (int r = 0; r < o->rank; r++)
        first += count_of(o, r);
    put(o, o->in_place ? o->to : o->from, 0, o->rank, 0, o->all);
    put_sums(o, first, count_of(o, o->rank));
}

static void fill(struct op *o)
{
    static void (*const fills[KINDS])(struct op *) = {
        fill_bcast,         fill_scatter,  fill_gather,  fill_gather,
        fill_gather,        fill_alltoall, fill_scatter, fill_gather,
        fill_alltoall,      fill_reduce,   fill_reduce,  fill_reduce_scatter,
        fill_reduce_scatter};
    if (fills[o->kind])
        fills[o->kind](o);
}

/* ---- the calls ---- */

/* Persistent ones: of MPI 4, or an extension of Open MPI. */
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HAS_INIT             1
#define INIT_CALL(Name, ...) MPIX_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &o->request)
#elif MPI_VERSION >= 4
#define HAS_INIT             1
#define INIT_CALL(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &o->request)
#else
#define HAS_INIT             0
#define INIT_CALL(Name, ...) MPI_ERR_OTHER
#endif

#define CALL(Name, IName, ...)                                                           \
    (o->manner == NOW     ? MPI_##Name(__VA_ARGS__)                                      \
     : o->manner == LATER ? MPI_##IName(__VA_ARGS__, &o->request)                        \
                          : INIT_CALL(Name, __VA_ARGS__))

/* What only the root has to say others leave out. */
static int call_unequal(struct op *o, const void *from, void *to, MPI_Datatype t)
{
    void *own_to = o->in_place ? MPI_IN_PLACE : to;
    const void *own_from = o->in_place ? MPI_IN_PLACE : from;
    const int *count = o->rank == o->root ? o->count : NULL;
    const int *at = o->rank == o->root ? o->at : NULL;
    int n = o->count[o->rank];
    if (o->kind == SCATTERV)
        return CALL(Scatterv, Iscatterv, from, count, at, t, own_to, n, t, o->root,
                    o->comm);
    if (o->kind == GATHERV)
        return CALL(Gatherv, Igatherv, own_from, n, t, to, count, at, t, o->root,
                    o->comm);
    if (o->kind == ALLTOALLV)
        return CALL(Alltoallv, Ialltoallv, own_from, o->count, o->at, t, to, o->count,
                    o->at, t, o->comm);
    return CALL(Allgatherv, Iallgatherv, own_from, n, t, to, o->count, o->at, t, o->comm);
}

static int call_parts(struct op *o, const void *from, void *to, MPI_Datatype t)
{
    void *own_to = o->in_place ? MPI_IN_PLACE : to;
    const void *own_from = o->in_place ? MPI_IN_PLACE : from;
    if (o->kind == SCATTER)
        return CALL(Scatter, Iscatter, from, o->n, t, own_to, o->n, t, o->root, o->comm);
    if (o->kind == GATHER)
        return CALL(Gather, Igather, own_from, o->n, t, to, o->n, t, o->root, o->comm);
    if (o->kind == ALLGATHER)
        return CALL(Allgather, Iallgather, own_from, o->n, t, to, o->n, t, o->comm);
    if (o->kind == ALLTOALL)
        return CALL(Alltoall, Ialltoall, own_from, o->n, t, to, o->n, t, o->comm);
    return call_unequal(o, from, to, t);
}

static int call_reduction(struct op *o)
{
    const void *from = o->in_place ? MPI_IN_PLACE : o->from;
    if (o->kind == REDUCE)
        return CALL(Reduce, Ireduce, from, o->to, o->n, MPI_INT, MPI_SUM, o->root,
                    o->comm);
    if (o->kind == ALLREDUCE)
        return CALL(Allreduce, Iallreduce, from, o->to, o->n, MPI_INT, MPI_SUM, o->comm);
    if (o->kind == REDUCE_SCATTER)
        return CALL(Reduce_scatter, Ireduce_scatter, from, o->to, o->count, MPI_INT,
                    MPI_SUM, o->comm);
    return CALL(Reduce_scatter_block, Ireduce_scatter_block, from, o->to, o->n, MPI_INT,
                MPI_SUM, o->comm);
}

/* Open MPI 4.1 itself crashes where the type of a persistent call has gone. */
#ifdef OPEN_MPI
enum { KEEPS_TYPES = 1 };
#else
enum { KEEPS_TYPES = 0 };
#endif

static int call(struct op *o)
{
    MPI_Datatype type;
    int code;
    if (o->kind == BARRIER)
        return CALL(Barrier, Ibarrier, o->comm);
    if (o->kind >= REDUCE)
        return call_reduction(o);
    if (o->stride == 1)
        MPI_Type_dup(MPI_INT, &type);
    else
        MPI_Type_create_resized(MPI_INT, 0, o->stride * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    code = o->kind == BCAST ? CALL(Bcast, Ibcast, o->to, o->n, type, o->root, o->comm)
                            : call_parts(o, o->from, o->to, type);
    if (o->manner == INIT && KEEPS_TYPES)
        o->type = type;
    else
        MPI_Type_free(&type);
    return code;
}

/* ---- one ---- */

/* At least so many elements in all: calls without any are left to the library. */
static int fewest;
/* Do plans run all? */
static int by_plans;

static int draw_count(void)
{
    static const int least[] = {0, 1, 30, 700, 3000, 20000};
    long k = below(&lots, sizeof least / sizeof *least);
    int n = least[k] + (int)below(&lots, least[k] + 2);
    return n > fewest ? n : fewest;
}

static int is_told(const struct op *o)
{
    return o->kind == SCATTERV || o->kind == GATHERV || o->kind == ALLTOALLV;
}

/* What a rank has for another is as much as it gets from there. */
static void turn_counts(struct op *o)
{
    int *drawn = check_alloc((size_t)o->size * sizeof *drawn);
    memcpy(drawn, o->count, (size_t)o->size * sizeof *drawn);
    for (int r = 0; r < o->size; r++)
        o->count[r] = drawn[(o->rank + r) % o->size];
    free(drawn);
}

static void draw_parts(struct op *o)
{
    o->count = check_alloc((size_t)o->size * sizeof *o->count);
    o->at = check_alloc((size_t)o->size * sizeof *o->at);
    for (int r = o->size - 1; r >= 0; r--) {
        o->count[r] = below(&lots, 4) ? draw_count() / o->size : 0;
        if ((r == 0 || is_told(o)) && o->count[r] < fewest)
            o->count[r] = fewest;
    }
    if (o->kind == ALLTOALLV)
        turn_counts(o);
    for (int r = o->size - 1; r >= 0; r--) {
        o->at[r] = o->all;
        o->all += o->count[r] + (o->kind != REDUCE_SCATTER ? r % 2 : 0);
    }
}

#ifdef MPICH_VERSION
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

/* What may be in place, and whether this rank says so. MPICH 4.0.2 itself crashes in
 * reductions in place to a root other than 0, and in non-blocking reduce-scatters of
 * unequal parts in place (soak.c); Open MPI itself may wait for ever in alltoalls of
 * unequal parts in place that do not wait. */
static int draw_place(const struct op *o)
{
    int all = (int)below(&lots, 3) == 0, here = (int)below(&own, 2);
    if (o->kind == SCATTER || o->kind == GATHER || o->kind == SCATTERV ||
        o->kind == GATHERV)
        return o->rank == o->root && here;
    if (o->kind == REDUCE)
        return all && o->rank == o->root && (o->root == 0 || !IS_MPICH);
    if (o->kind == REDUCE_SCATTER)
        return all && !(IS_MPICH && o->manner != NOW);
    if (o->kind == ALLTOALLV)
        return all && (by_plans || o->manner == NOW);
    return o->kind != BCAST && o->kind != BARRIER && all;
}

static void describe_kind(struct op *o, enum kind kind, MPI_Comm comm, enum manner manner)
{
    *o = (struct op){.kind = kind, .comm = comm};
    MPI_Comm_rank(comm, &o->rank);
    MPI_Comm_size(comm, &o->size);
    o->manner = manner;
    o->root = (int)(below(&lots, 1000) % o->size);
    o->seed = (unsigned)draw(&lots);
    o->n = draw_count();
    if (o->kind == ALLGATHERV || o->kind == REDUCE_SCATTER || is_told(o))
        draw_parts(o);
    if (o->kind == REDUCE_SCATTER_BLOCK)
        o->all = o->n * o->size;
    o->in_place = draw_place(o);
    /* where libraries choose by the type, which must be alike then */
    long gaps = o->kind == ALLGATHERV ? below(&lots, 2) : below(&own, 2);
    o->stride = o->kind < REDUCE && gaps ? 2 : 1;
    o->room = (long)o->n * o->size + o->all + 1;
    size_t ints = (size_t)o->room * (size_t)o->stride;
    o->from = check_alloc(ints * sizeof(int));
    o->to = check_alloc(ints * sizeof(int));
    o->expected = check_alloc(ints * sizeof(int));
    o->request = MPI_REQUEST_NULL;
    o->type = MPI_DATATYPE_NULL;
}

static void describe_op(struct op *o, MPI_Comm comm, enum manner manner)
{
    describe_kind(o, (enum kind)below(&lots, KINDS), comm, manner);
}

static void prepare_op(struct op *o)
{
    for (long i = 0; i < o->room * o->stride; i++)
        o->to[i] = o->expected[i] = UNTOUCHED;
    fill(o);
}

/* Makes a call that is drawn, blocking or not. */
__attribute__((unused)) static void draw_op(struct op *o, MPI_Comm comm)
{
    describe_op(o, comm, below(&lots, 3) > 0 ? LATER : NOW);
    prepare_op(o);
    CHECK(!call(o));
}

/* In place of a reduce-scatter, and on ranks that do not get it, the rest of the memory
 * may be anything. */
static int is_right(const struct op *o)
{
    long n = o->room * o->stride;
    if (o->kind == BARRIER || (o->kind == REDUCE && o->rank != o->root))
        return 1;
    if (o->kind == REDUCE_SCATTER || o->kind == REDUCE_SCATTER_BLOCK)
        n = o->in_place ? count_of(o, o->rank) : n;
    return memcmp(o->to, o->expected, (size_t)n * sizeof(int)) == 0;
}

static void check_op(const struct op *o)
{
    int right = is_right(o);
    if (!right)
        fprintf(stderr, "kind %d, manner %d, %d of each, root %d of %d%s, seed %u\n",
                o->kind, o->manner, o->n, o->root, o->size,
                o->in_place ? ", in place" : "", o->seed);
    CHECK(right);
}

static void end_op(struct op *o)
{
    CHECK(o->request == MPI_REQUEST_NULL);
    if (o->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&o->type);
    free(o->from);
    free(o->to);
    free(o->expected);
    free(o->count);
    free(o->at);
}

/* ---- many ---- */

static void collect(struct op *ops, int n, MPI_Request *all)
{
    for (int i = 0; i < n; i++)
        all[i] = ops[i].request;
}

static void one_by_one(struct op *ops, int n)
{
    for (int i = (int)below(&own, n), left = n; left > 0; left--, i = (i + 5) % n)
        for (int k = 0; k < n; k++)
            CHECK(!MPI_Wait(&ops[(i + k) % n].request, MPI_STATUS_IGNORE));
}

static void by_tests(struct op *ops, int n)
{
    for (int left = n; left > 0;) {
        int done = 0, i = (int)below(&own, n);
        CHECK(!MPI_Test(&ops[i].request, &done, MPI_STATUS_IGNORE));
        left -= done;
    }
    one_by_one(ops, n);
}

static void at_once(struct op *ops, int n, int how)
{
    MPI_Request all[MOST];
    MPI_Status statuses[MOST];
    int which[MOST] = {0}, count = 0, done = 0;
    collect(ops, n, all);
    if (how == 0)
        CHECK(!MPI_Waitall(n, all, statuses));
    while (how == 1 && !done)
        CHECK(!MPI_Testall(n, all, &done, statuses));
    while (how == 2 && count != MPI_UNDEFINED)
        CHECK(!MPI_Waitsome(n, all, &count, which, statuses));
    while (how == 3 && count != MPI_UNDEFINED)
        CHECK(!MPI_Testsome(n, all, &count, which, statuses));
    while (how == 4 && which[0] != MPI_UNDEFINED)
        CHECK(!MPI_Waitany(n, all, &which[0], statuses));
    for (int i = 0; i < n; i++)
        ops[i].request = all[i];
}

/* MPICH 4.0.2 itself errs about persistent collectives of its own, where it looks for
 * some or any or tests all: it takes those that are over for such that have just ended.
 */
static void complete(struct op *ops, int n)
{
    int how = (int)below(&own, 7);
    if (ops[0].manner == INIT && IS_MPICH && !fewest && how < 6)
        how = 5;
    if (how == 5)
        one_by_one(ops, n);
    else if (how == 6)
        by_tests(ops, n);
    else
        at_once(ops, n, how);
}

__attribute__((unused)) static long setting(const char *name, long standard)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : standard;
}

#endif
