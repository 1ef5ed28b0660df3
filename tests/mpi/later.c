/* Collectives of all kinds, blocking and non-blocking, mixed at random on several
 * communicators: many under way, completed by each rank in an order and by a way of its
 * own, some in place, of types with gaps that are freed at once, and on communicators
 * that are freed meanwhile. Each byte is looked at, also those that nobody should have
 * touched. LATER_ROUNDS rounds, from the seed LATER_SEED. */
#include <stdint.h>

#include "check.h"

enum { COMMS = 4, MOST = 14, BARRIER_ROOM = 64 };

static uint64_t lots, own; /* equal on all ranks; of this rank alone */

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static long below(uint64_t *state, long n)
{
    return (long)(draw(state) % (uint64_t)n);
}

enum kind {
    BCAST,
    SCATTER,
    GATHER,
    ALLGATHER,
    ALLGATHERV,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BARRIER,
    KINDS
};

/* One call. Elements are ints; of some ranks each has a gap behind it. */
struct op {
    enum kind kind;
    MPI_Comm comm;
    int rank, size, root, later, in_place;
    int n; /* elements of a part */
    unsigned seed;
    int *count, *at; /* of unequal parts */
    int all;         /* elements of these */
    int stride;      /* of this rank: ints from element to element */
    int *from, *to, *expected;
    long room; /* elements of `to` */
    MPI_Request request;
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
        put(o, o->from, r * (long)o->n, r, 0, o->n);
    if (!o->in_place)
        put(o, o->expected, 0, o->rank, 0, o->n);
}

static void fill_gather(struct op *o)
{
    int wanted = o->kind != GATHER || o->rank == o->root;
    if (o->in_place)
        put(o, o->to, place_of(o, o->rank), o->rank, 0, count_of(o, o->rank));
    else
        put(o, o->from, 0, o->rank, 0, count_of(o, o->rank));
    for (int r = 0; wanted && r < o->size; r++)
        put(o, o->expected, place_of(o, r), r, 0, count_of(o, r));
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
        fill_bcast,  fill_scatter, fill_gather,         fill_gather,        fill_gather,
        fill_reduce, fill_reduce,  fill_reduce_scatter, fill_reduce_scatter};
    if (fills[o->kind])
        fills[o->kind](o);
}

/* ---- the calls ---- */

#define CALL(Name, IName, ...)                                                           \
    (o->later ? MPI_##IName(__VA_ARGS__, &o->request) : MPI_##Name(__VA_ARGS__))

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
    return CALL(Allgatherv, Iallgatherv, own_from, o->count[o->rank], t, to, o->count,
                o->at, t, o->comm);
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
    MPI_Type_free(&type);
    return code;
}

/* ---- one ---- */

static int draw_count(void)
{
    static const int least[] = {0, 1, 30, 700, 3000, 20000};
    long k = below(&lots, sizeof least / sizeof *least);
    return least[k] + (int)below(&lots, least[k] + 2);
}

static void draw_parts(struct op *o)
{
    o->count = check_alloc((size_t)o->size * sizeof *o->count);
    o->at = check_alloc((size_t)o->size * sizeof *o->at);
    for (int r = o->size - 1; r >= 0; r--) {
        o->count[r] = below(&lots, 4) ? draw_count() / o->size : 0;
        o->at[r] = o->all;
        o->all += o->count[r] + (o->kind == ALLGATHERV ? r % 2 : 0);
    }
}

#ifdef MPICH_VERSION
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

/* What may be in place, and whether this rank says so. MPICH 4.0.2 itself crashes in
 * reductions in place to a root other than 0, and in non-blocking reduce-scatters of
 * unequal parts in place (soak.c). */
static int draw_place(const struct op *o)
{
    int all = (int)below(&lots, 3) == 0, here = (int)below(&own, 2);
    if (o->kind == SCATTER || o->kind == GATHER)
        return o->rank == o->root && here;
    if (o->kind == REDUCE)
        return all && o->rank == o->root && (o->root == 0 || !IS_MPICH);
    if (o->kind == REDUCE_SCATTER)
        return all && !(IS_MPICH && o->later);
    return o->kind != BCAST && o->kind != BARRIER && all;
}

static void draw_op(struct op *o, MPI_Comm comm)
{
    *o = (struct op){.kind = (enum kind)below(&lots, KINDS), .comm = comm};
    MPI_Comm_rank(comm, &o->rank);
    MPI_Comm_size(comm, &o->size);
    o->later = below(&lots, 3) > 0;
    o->root = (int)(below(&lots, 1000) % o->size);
    o->seed = (unsigned)draw(&lots);
    o->n = draw_count();
    if (o->kind == ALLGATHERV || o->kind == REDUCE_SCATTER)
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
    for (size_t i = 0; i < ints; i++)
        o->to[i] = o->expected[i] = UNTOUCHED;
    fill(o);
    o->request = MPI_REQUEST_NULL;
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

static void end_op(struct op *o)
{
    int right = is_right(o);
    CHECK(o->request == MPI_REQUEST_NULL);
    if (!right)
        fprintf(stderr, "kind %d, %d of each, root %d of %d, %s%s, seed %u\n", o->kind,
                o->n, o->root, o->size, o->later ? "later" : "now",
                o->in_place ? ", in place" : "", o->seed);
    CHECK(right);
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
        int done, i = (int)below(&own, n);
        left -= ops[i].request == MPI_REQUEST_NULL;
        CHECK(!MPI_Test(&ops[i].request, &done, MPI_STATUS_IGNORE));
    }
    one_by_one(ops, n);
}

static void at_once(struct op *ops, int n, int how)
{
    MPI_Request all[MOST];
    MPI_Status statuses[MOST];
    int which[MOST], count = 0, done = 0;
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

static void complete(struct op *ops, int n)
{
    int how = (int)below(&own, 7);
    if (how == 5)
        one_by_one(ops, n);
    else if (how == 6)
        by_tests(ops, n);
    else
        at_once(ops, n, how);
}

/* Now and then some are tested, or the rank does nothing that others would wait for. */
static void mingle(struct op *ops, int n)
{
    int done, i = (int)below(&own, n);
    if (below(&own, 2))
        CHECK(!MPI_Test(&ops[i].request, &done, MPI_STATUS_IGNORE));
}

static void mix(MPI_Comm *comms, int n_comms)
{
    struct op ops[MOST];
    int n = 1 + (int)below(&lots, MOST);
    for (int i = 0; i < n; i++) {
        draw_op(&ops[i], comms[below(&lots, n_comms)]);
        mingle(ops, i + 1);
    }
    complete(ops, n);
    for (int i = 0; i < n; i++)
        end_op(&ops[i]);
}

/* Communicators go while calls on them are under way. Open MPI 4.1 itself crashes then,
 * in those of the calls that are its own. */
#ifdef OPEN_MPI
enum { MAY_FREE = 0 };
#else
enum { MAY_FREE = 1 };
#endif

static void mix_and_free(void)
{
    struct op ops[MOST];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MOST; i++)
        draw_op(&ops[i], comm);
    if (MAY_FREE)
        MPI_Comm_free(&comm);
    complete(ops, MOST);
    for (int i = 0; i < MOST; i++)
        end_op(&ops[i]);
    if (!MAY_FREE)
        MPI_Comm_free(&comm);
}

/* ---- barriers ---- */

/* Who has not come holds up the others: rank `late` sends what a rank waits for after its
 * barrier only when that rank has told that its barrier is not over. */
static void barrier_holds(int late)
{
    MPI_Request request;
    int done = 0, token = 0;
    if (check_rank == late) {
        for (int i = 0; i < check_size - 1; i++)
            MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(!MPI_Ibarrier(MPI_COMM_WORLD, &request));
    } else {
        CHECK(!MPI_Ibarrier(MPI_COMM_WORLD, &request));
        for (int i = 0; i < BARRIER_ROOM; i++) {
            CHECK(!MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            CHECK(!done);
        }
        MPI_Send(&token, 1, MPI_INT, late, 3, MPI_COMM_WORLD);
    }
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* ---- operations of the user's own, freed at once ---- */

static void largest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}

static void own_operation(void)
{
    enum { N = 9000 };
    static int from[N], to[N];
    MPI_Op op;
    MPI_Request request;
    for (int i = 0; i < N; i++)
        from[i] = (i * 7 + check_rank * 13) % 101;
    MPI_Op_create(largest, 1, &op);
    CHECK(!MPI_Iallreduce(from, to, N, MPI_INT, op, MPI_COMM_WORLD, &request));
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++) {
        int most = 0;
        for (int r = 0; r < check_size; r++)
            most = (i * 7 + r * 13) % 101 > most ? (i * 7 + r * 13) % 101 : most;
        CHECK(to[i] == most);
    }
}

static long setting(const char *name, long standard)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : standard;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    check_begin(&argc, &argv);
    long rounds = setting("LATER_ROUNDS", 60);
    lots = (uint64_t)setting("LATER_SEED", 1) * 1000;
    own = lots * 77 + (uint64_t)check_rank;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    /* halves of different sizes would draw different lots */
    MPI_Comm_split(MPI_COMM_WORLD, 0, (check_rank * 5) % 3, &comms[3]);
    for (long round = 0; round < rounds; round++) {
        mix(comms, COMMS);
        if (round % 10 == 0)
            mix_and_free();
        if (round % 10 == 5)
            barrier_holds((int)(round / 10) % check_size);
        if (round % 20 == 7)
            own_operation();
    }
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    return check_end();
}
