/* Random collectives, all that the shim takes, blocking and non-blocking, with others of
 * both kinds while one is under way: communicators that come and go, roots, sizes from
 * nothing to SOAK_MAX bytes, persistent calls with SOAK_PERSISTENT, datatypes that differ
 * between ranks, SOAK_THREADS threads at once; each byte is looked at. SOAK_CALLS calls
 * in all, from the seed SOAK_SEED. All ranks draw the same lots, but for how each
 * describes its data.
 *
 * For those who let things go wrong meanwhile: rank 0 makes the file SOAK_BEGUN before
 * the first call and, if SOAK_STOP names a file, all stop soon after that is there
 * (SOAK_CALLS is then the most); now and then all pause for up to SOAK_PAUSE_MS. What is
 * wrong is told at once, since others may end the job. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "compose.h"
#include "lots.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { COMMS = 6 };

struct soaker {
    uint64_t lots; /* equal on all ranks that share its communicators */
    uint64_t own;  /* of this rank alone */
    MPI_Comm comm[COMMS];
    long calls, bad;
};

static long most_bytes, pause_ms, persistent;
static const char *stop_file; /* NULL: none */

/* Small ones are frequent: the size is below 2^k, where k is the lower of two lots, so
 * that one in 700 may reach 64 MiB and the mean stays at some 100 kB. */
static long draw_size(uint64_t *state)
{
    long size = 1, first = below(state, 27), second = below(state, 27);
    for (long k = first < second ? first : second; k > 0 && size < most_bytes; k--)
        size *= 2;
    size = below(state, size + 1);
    return size > most_bytes ? most_bytes : size;
}

/* One call as all its ranks know it. */
struct call {
    MPI_Comm comm;
    int rank, size, root;
    long n; /* bytes */
    unsigned seed;
    int manner, depth; /* how it is made; among so many others */
};

/* Persistent calls, of MPI 4 or an extension of Open MPI. */
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(Name, ...) MPIX_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)
#elif MPI_VERSION >= 4
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)
#else
#define INIT(Name, ...) MPI_ERR_OTHER
#endif

enum manner { NOW, LATER, PERSISTENT };

/* The call; with others after it before it is waited for, where it does not wait itself.
 * Gives what was wrong. */
#define MAKE(s, c, Name, IName, ...)                                                     \
    ({                                                                                   \
        MPI_Request request_ = MPI_REQUEST_NULL;                                         \
        int code_ = (c)->manner == NOW     ? MPI_##Name(__VA_ARGS__)                     \
                    : (c)->manner == LATER ? MPI_##IName(__VA_ARGS__, &request_)         \
                                           : INIT(Name, __VA_ARGS__);                    \
        (code_ != MPI_SUCCESS) + ((c)->manner == NOW ? 0 : finish(s, c, &request_));     \
    })

static long finish(struct soaker *s, const struct call *c, MPI_Request *request);

/* How this rank describes n bytes; several such parts lie a step apart. */
struct shape {
    MPI_Datatype type;
    int count;
    long n, stride, step;
};

/* As the lots say. many: by elements of a byte each, of which there may be more or fewer.
 */
static struct shape describe_by(uint64_t *lots, long n, int many)
{
    long how = below(lots, 4);
    struct shape shape = {.count = 1, .n = n, .stride = 1, .step = n};
    if (many && how > 0)
        how = 3;
    if (how == 0 || n < 8) {
        MPI_Type_dup(MPI_BYTE, &shape.type);
        shape.count = (int)n;
    } else if (how == 1) {
        MPI_Type_contiguous((int)n, MPI_CHAR, &shape.type);
    } else if (how == 2) {
        shape.stride = 3;
        shape.step = 3 * n - 2;
        MPI_Type_vector((int)n, 1, 3, MPI_BYTE, &shape.type);
    } else {
        shape.stride = 2;
        shape.step = 2 * n;
        MPI_Type_create_resized(MPI_BYTE, 0, 2, &shape.type);
        shape.count = (int)n;
    }
    MPI_Type_commit(&shape.type);
    return shape;
}

static struct shape describe(struct soaker *s, long n, int many)
{
    return describe_by(&s->own, n, many);
}

static unsigned char *room_for(const struct shape *shape, long parts)
{
    return check_alloc((size_t)(parts * shape->step) + 4);
}

static void forget(struct shape *a, struct shape *b, unsigned char *of_a,
                   unsigned char *of_b)
{
    MPI_Type_free(&a->type);
    MPI_Type_free(&b->type);
    free(of_a);
    free(of_b);
}

static void put(const struct shape *shape, unsigned char *at, unsigned seed)
{
    for (long i = 0; i < shape->n; i++)
        at[i * shape->stride] = check_byte(seed, (size_t)i);
}

/* The wrong bytes of a part, and those between its bytes that are not as they were. */
static long wrong(const struct shape *shape, const unsigned char *at, unsigned seed)
{
    long bad = 0;
    for (long i = 0; i < shape->n; i++)
        bad += at[i * shape->stride] != check_byte(seed, (size_t)i);
    for (long i = 1; i < shape->n && shape->stride > 1; i++)
        bad += at[i * shape->stride - 1] != 0;
    return bad;
}

static unsigned seed_of(const struct call *c, int part)
{
    return c->seed + 7919 * (unsigned)part;
}

/* ---- broadcasts ---- */

static long broadcast(struct soaker *s, const struct call *c)
{
    struct shape shape = describe(s, c->n, 0);
    unsigned char *data = room_for(&shape, 1);
    if (c->rank == c->root)
        put(&shape, data, c->seed);
    long bad = MAKE(s, c, Bcast, Ibcast, data, shape.count, shape.type, c->root, c->comm);
    bad += wrong(&shape, data, c->seed);
    MPI_Type_free(&shape.type);
    free(data);
    return bad;
}

/* ---- parts ---- */

static long scatter(struct soaker *s, const struct call *c)
{
    int is_root = c->rank == c->root, in_place = is_root && below(&s->own, 2);
    struct shape whole = describe(s, c->n / c->size, 0), own = describe(s, whole.n, 0);
    unsigned char *from = is_root ? room_for(&whole, c->size) : NULL;
    unsigned char *to = room_for(&own, 1);
    for (int r = 0; is_root && r < c->size; r++)
        put(&whole, from + r * whole.step, seed_of(c, r));
    long bad = MAKE(s, c, Scatter, Iscatter, from, whole.count, whole.type,
                    in_place ? MPI_IN_PLACE : to, own.count, own.type, c->root, c->comm);
    if (!in_place)
        bad += wrong(&own, to, seed_of(c, c->rank));
    forget(&whole, &own, from, to);
    return bad;
}

static long gather(struct soaker *s, const struct call *c)
{
    int is_root = c->rank == c->root, in_place = is_root && below(&s->own, 2);
    struct shape own = describe(s, c->n / c->size, 0), whole = describe(s, own.n, 0);
    unsigned char *to = is_root ? room_for(&whole, c->size) : NULL;
    unsigned char *from = room_for(&own, 1);
    put(&own, from, seed_of(c, c->rank));
    if (in_place)
        put(&whole, to + c->rank * whole.step, seed_of(c, c->rank));
    long bad = MAKE(s, c, Gather, Igather, in_place ? MPI_IN_PLACE : from, own.count,
                    own.type, to, whole.count, whole.type, c->root, c->comm);
    for (int r = 0; is_root && r < c->size; r++)
        bad += wrong(&whole, to + r * whole.step, seed_of(c, r));
    forget(&whole, &own, from, to);
    return bad;
}

static long allgather(struct soaker *s, const struct call *c)
{
    int in_place = (int)below(&s->lots, 2);
    struct shape own = describe(s, c->n / c->size, 0), whole = describe(s, own.n, 0);
    unsigned char *from = room_for(&own, 1), *to = room_for(&whole, c->size);
    put(&own, from, seed_of(c, c->rank));
    if (in_place)
        put(&whole, to + c->rank * whole.step, seed_of(c, c->rank));
    long bad = MAKE(s, c, Allgather, Iallgather, in_place ? MPI_IN_PLACE : from,
                    own.count, own.type, to, whole.count, whole.type, c->comm);
    for (int r = 0; r < c->size; r++)
        bad += wrong(&whole, to + r * whole.step, seed_of(c, r));
    forget(&whole, &own, from, to);
    return bad;
}

/* Parts of different sizes, some of none, laid out from the last rank to the first. */
struct unequal {
    int *count, *at;
    long largest, all;
};

static void forget_parts(struct unequal *u)
{
    free(u->count);
    free(u->at);
}

static struct unequal draw_parts(struct soaker *s, const struct call *c)
{
    struct unequal u = {.count = check_alloc((size_t)c->size * sizeof *u.count),
                        .at = check_alloc((size_t)c->size * sizeof *u.at)};
    for (int r = 0; r < c->size; r++) {
        long most = 2 * c->n / c->size;
        u.count[r] = (int)(below(&s->lots, 4) ? below(&s->lots, most + 1) : 0);
        u.largest = u.count[r] > u.largest ? u.count[r] : u.largest;
    }
    for (int r = c->size - 1; r >= 0; r--) {
        u.at[r] = (int)u.all;
        u.all += u.count[r] + r % 2;
    }
    return u;
}

static long check_parts(const struct call *c, const struct unequal *u,
                        const struct shape *whole, const unsigned char *to)
{
    long bad = 0;
    for (int r = 0; r < c->size; r++) {
        struct shape part = *whole;
        part.n = u->count[r];
        bad += wrong(&part, to + u->at[r] * whole->stride, seed_of(c, r));
    }
    return bad;
}

static long allgatherv(struct soaker *s, const struct call *c)
{
    struct unequal u = draw_parts(s, c);
    int in_place = (int)below(&s->lots, 2);
    /* Elements of a byte on all ranks: Open MPI itself chooses its way by the size of the
     * type that is sent, and waits for ever where ranks have different ones. So does
     * MPICH by the extent of what is received: what it pipelines it cuts by that. */
    struct shape own = describe(s, u.count[c->rank], 1);
    struct shape whole = describe_by(&s->lots, u.all, 1);
    unsigned char *from = room_for(&own, 1), *to = room_for(&whole, 1);
    struct shape mine = whole;
    mine.n = own.n;
    put(&own, from, seed_of(c, c->rank));
    if (in_place)
        put(&mine, to + u.at[c->rank] * whole.stride, seed_of(c, c->rank));
    long bad = MAKE(s, c, Allgatherv, Iallgatherv, in_place ? MPI_IN_PLACE : from,
                    own.count, own.type, to, u.count, u.at, whole.type, c->comm);
    bad += check_parts(c, &u, &whole, to);
    forget(&whole, &own, from, to);
    forget_parts(&u);
    return bad;
}

#include "soak_vectors.h"

/* ---- reductions ---- */

/* Element i of a rank, small enough for sums of doubles to be exact. */
static long value(unsigned seed, int rank, long i)
{
    return check_byte(seed + 31 * (unsigned)rank, (size_t)i);
}

/* All that is the same in every kind of reduction: MPI_INT is summed, MPI_DOUBLE too,
 * bytes are combined by exclusive or, and of MPI_LONG the largest is wanted. */
struct kind {
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes;
};

static struct kind kind_of(long which)
{
    return which == 0   ? (struct kind){MPI_INT, MPI_SUM, sizeof(int)}
           : which == 1 ? (struct kind){MPI_DOUBLE, MPI_SUM, sizeof(double)}
           : which == 2 ? (struct kind){MPI_UNSIGNED_CHAR, MPI_BXOR, 1}
                        : (struct kind){MPI_LONG, MPI_MAX, sizeof(long)};
}

static void set_element(const struct kind *k, void *at, long i, long v)
{
    if (k->type == MPI_INT)
        ((int *)at)[i] = (int)v;
    else if (k->type == MPI_DOUBLE)
        ((double *)at)[i] = (double)v;
    else if (k->type == MPI_UNSIGNED_CHAR)
        ((unsigned char *)at)[i] = (unsigned char)v;
    else
        ((long *)at)[i] = v;
}

static long combined(const struct kind *k, const struct call *c, long i)
{
    long sum = 0;
    for (int r = 0; r < c->size; r++) {
        long v = value(c->seed, r, i);
        sum = k->op == MPI_SUM    ? sum + v
              : k->op == MPI_BXOR ? sum ^ v
              : sum > v           ? sum
                                  : v;
    }
    return sum;
}

/* MPICH 4.0.2 itself crashes in MPI_Reduce (1,000 ints; not of one) on one machine where
 * a root other than rank 0 gives MPI_IN_PLACE. */
#ifdef MPICH_VERSION
enum { IS_MPICH = 1 };
#else
enum { IS_MPICH = 0 };
#endif

static long reduce(struct soaker *s, const struct call *c)
{
    struct kind k = kind_of(below(&s->lots, 4));
    int all = (int)below(&s->lots, 2), in_place = (int)below(&s->lots, 2);
    long n = c->n / (long)k.bytes, bad;
    int wanted = all || c->rank == c->root;
    unsigned char *from = check_alloc((size_t)n * k.bytes);
    unsigned char *to = check_alloc((size_t)n * k.bytes);
    unsigned char *expected = check_alloc((size_t)n * k.bytes);
    in_place = in_place && wanted && (all || !IS_MPICH || c->root == 0);
    for (long i = 0; i < n; i++)
        set_element(&k, in_place ? to : from, i, value(c->seed, c->rank, i));
    for (long i = 0; i < n && wanted; i++)
        set_element(&k, expected, i, combined(&k, c, i));
    const void *send = in_place ? MPI_IN_PLACE : from;
    bad = all ? MAKE(s, c, Allreduce, Iallreduce, send, to, (int)n, k.type, k.op, c->comm)
              : MAKE(s, c, Reduce, Ireduce, send, to, (int)n, k.type, k.op, c->root,
                     c->comm);
    bad += wanted && memcmp(to, expected, (size_t)n * k.bytes) != 0;
    free(from);
    free(to);
    free(expected);
    return bad;
}

/* Parts of different sizes, some of none, or all alike. Of the former in place
 * MPICH 4.0.2 itself stops non-blocking calls: what it copies within the memory overlaps.
 */
static long reduce_scatter(struct soaker *s, const struct call *c)
{
    struct kind k = kind_of(below(&s->lots, 4));
    struct call elements = *c;
    elements.n = c->n / (long)k.bytes;
    struct unequal u = draw_parts(s, &elements);
    int alike = (int)below(&s->lots, 2), in_place = (int)below(&s->lots, 2);
    in_place = in_place && (alike || !IS_MPICH || c->manner == NOW);
    long n = 0, first = 0;
    for (int r = 0; r < c->size; r++) {
        u.count[r] = alike ? (int)(elements.n / c->size) : u.count[r];
        first = r == c->rank ? n : first;
        n += u.count[r];
    }
    long own = u.count[c->rank];
    unsigned char *from = check_alloc((size_t)n * k.bytes);
    unsigned char *to = check_alloc((size_t)n * k.bytes);
    unsigned char *expected = check_alloc((size_t)own * k.bytes);
    for (long i = 0; i < n; i++)
        set_element(&k, in_place ? to : from, i, value(c->seed, c->rank, i));
    for (long i = 0; i < own; i++)
        set_element(&k, expected, i, combined(&k, c, first + i));
    const void *send = in_place ? MPI_IN_PLACE : from;
    long bad = alike ? MAKE(s, c, Reduce_scatter_block, Ireduce_scatter_block, send, to,
                            (int)own, k.type, k.op, c->comm)
                     : MAKE(s, c, Reduce_scatter, Ireduce_scatter, send, to, u.count,
                            k.type, k.op, c->comm);
    bad += memcmp(to, expected, (size_t)own * k.bytes) != 0;
    free(from);
    free(to);
    free(expected);
    forget_parts(&u);
    return bad;
}

#include "soak_ordered.h"

static long alltoall(struct soaker *s, const struct call *c)
{
    int in_place = (int)below(&s->lots, 2);
    struct shape from = describe(s, c->n / c->size, 0), to = describe(s, from.n, 0);
    unsigned char *sent = room_for(&from, c->size), *got = room_for(&to, c->size);
    for (int r = 0; r < c->size; r++) {
        int pair = c->rank * c->size + r;
        put(in_place ? &to : &from, in_place ? got + r * to.step : sent + r * from.step,
            seed_of(c, pair));
    }
    long bad = MAKE(s, c, Alltoall, Ialltoall, in_place ? MPI_IN_PLACE : sent, from.count,
                    from.type, got, to.count, to.type, c->comm);
    for (int r = 0; r < c->size; r++)
        bad += wrong(&to, got + r * to.step, seed_of(c, r * c->size + c->rank));
    forget(&from, &to, sent, got);
    return bad;
}

/* That nobody leaves early is looked at in barrier.c. */
static long barrier(struct soaker *s, const struct call *c)
{
    return MAKE(s, c, Barrier, Ibarrier, c->comm);
}

static long one_call(struct soaker *s, MPI_Comm comm, int depth)
{
    static long (*const ways[])(struct soaker *, const struct call *) = {
        broadcast, broadcast, scatter,        gather,   allgather, allgatherv,
        reduce,    reduce,    reduce_scatter, alltoall, barrier,   scatterv,
        gatherv,   alltoallv, in_order,       in_order};
    struct call c = {.comm = comm, .n = draw_size(&s->lots) >> depth, .depth = depth};
    c.seed = (unsigned)draw(&s->lots);
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.size);
    c.root = (int)below(&s->lots, c.size);
    c.manner = (int)below(&s->lots, persistent ? 3 : 2);
    long way = below(&s->lots, sizeof ways / sizeof *ways);
    long bad = ways[way](s, &c);
    if (bad && !s->bad)
        fprintf(stderr, "soak: rank %d: not so: way %ld.%d, %ld bytes, root %d of %d\n",
                check_rank, way, c.manner, c.n, c.root, c.size);
    s->bad += bad;
    return bad;
}

/* Up to two others on the communicator, each perhaps with others in its turn; then it is
 * waited for in one of the ways that there are. */
static long wait_late(struct soaker *s, const struct call *c, MPI_Request *request)
{
    enum { DEPTH = 3 };
    long bad = 0, others = c->depth < DEPTH ? below(&s->lots, 3) : 0;
    for (long i = 0; i < others; i++)
        bad += one_call(s, c->comm, c->depth + 1);
    for (int done = 0, tests = (int)below(&s->own, 2); tests && !done;)
        bad += MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return bad + (MPI_Wait(request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
}

static long finish(struct soaker *s, const struct call *c, MPI_Request *request)
{
    if (c->manner == LATER)
        return wait_late(s, c, request);
    long bad = MPI_Start(request) != MPI_SUCCESS;
    bad += wait_late(s, c, request);
    return bad + (MPI_Request_free(request) != MPI_SUCCESS);
}

/* Replaces a communicator by another one of the same thread. The lots of a split's halves
 * stay equal, since each rank draws for all. */
static void renew(struct soaker *s)
{
    int at = 1 + (int)below(&s->lots, COMMS - 1), rank;
    long colors = 1 + below(&s->lots, 2), turn = below(&s->lots, 1000);
    if (s->comm[at] != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm[at]);
    MPI_Comm_rank(s->comm[0], &rank);
    if (turn < 300)
        MPI_Comm_dup(s->comm[0], &s->comm[at]);
    else
        MPI_Comm_split(s->comm[0], (int)(rank % colors), (int)((rank * 13 + turn) % 7),
                       &s->comm[at]);
}

/* Rank 0 looks, so that all stop before the same call. */
static int is_over(struct soaker *s)
{
    int over = check_rank == 0 && access(stop_file, F_OK) == 0;
    s->bad += MPI_Bcast(&over, 1, MPI_INT, 0, s->comm[0]) != MPI_SUCCESS;
    return over;
}

/* A program that computes: then links are probed. */
static void rest(struct soaker *s)
{
    long ms = below(&s->lots, pause_ms + 1);
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void *soak(void *arg)
{
    struct soaker *s = arg;
    for (long i = 0; i < s->calls; i++) {
        if (stop_file && i % 8 == 7 && is_over(s))
            break;
        if (pause_ms > 0 && below(&s->lots, 30) == 0)
            rest(s);
        if (below(&s->lots, 40) == 0)
            renew(s);
        MPI_Comm comm = s->comm[below(&s->lots, COMMS)];
        uint64_t before = s->lots;
        one_call(s, comm == MPI_COMM_NULL ? s->comm[0] : comm, 0);
        s->lots = before; /* halves of different sizes draw different roots */
        draw(&s->lots);
    }
    return NULL;
}

static long setting(const char *name, long standard)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : standard;
}

static void say_begun(void)
{
    const char *path = getenv("SOAK_BEGUN");
    int fd = check_rank || !path ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 8 };
    static struct soaker soakers[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    int provided;
    long n = setting("SOAK_THREADS", 2), calls = setting("SOAK_CALLS", 400);
    MPI_Init_thread(&argc, &argv, n > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    most_bytes = setting("SOAK_MAX", 1 << 18);
    pause_ms = setting("SOAK_PAUSE_MS", 0);
    stop_file = getenv("SOAK_STOP");
    persistent = setting("SOAK_PERSISTENT", 0);
    MPI_Op_create(compose, 0, &composed);
    say_begun();
    n = provided < MPI_THREAD_MULTIPLE ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
    for (long t = 0; t < n; t++) {
        struct soaker *s = &soakers[t];
        s->lots = (uint64_t)(setting("SOAK_SEED", 1) * 1000 + t);
        s->own = s->lots * 77 + (uint64_t)check_rank;
        s->calls = calls / n;
        for (int i = 0; i < COMMS; i++)
            s->comm[i] = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm[0]);
    }
    for (long t = 1; t < n; t++)
        pthread_create(&threads[t], NULL, soak, &soakers[t]);
    soak(&soakers[0]); /* if there is but one thread it must be that of MPI_Init */
    for (long t = 0; t < n; t++) {
        if (t > 0)
            pthread_join(threads[t], NULL);
        CHECK(soakers[t].bad == 0);
        for (int i = 0; i < COMMS; i++)
            if (soakers[t].comm[i] != MPI_COMM_NULL)
                MPI_Comm_free(&soakers[t].comm[i]);
    }
    MPI_Op_free(&composed);
    return check_end();
}
