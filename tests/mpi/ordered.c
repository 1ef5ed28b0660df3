/* Reductions in the order of ranks: MPI_Scan and MPI_Exscan, and reductions by an
 * operation that does not commute; plain and with gaps, in place, blocking, non-blocking,
 * persistent and with large counts, from every root, among all ranks and among some in
 * another order. Every element is checked, and that nothing else is touched. */
#include "check.h"
#include "compose.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum what { REDUCE, ALLREDUCE, SCAN, EXSCAN, WHATS };
enum manner { NOW, LATER, AGAIN, LARGE, MANNERS };

/* One call. Elements are a step of struct line apart. */
struct scene {
    MPI_Comm comm;
    MPI_Op op;
    MPI_Datatype type;
    int rank, size, root, n, step, in_place, by_sum;
};

static const struct line untouched = {0x5a5a5a5a, 0xa5a5a5a5};

static struct line value(const struct scene *c, int rank, int i)
{
    unsigned x = (unsigned)rank * 2654435761u + (unsigned)i * 40503u + 7;
    return (struct line){c->by_sum ? x >> 8 : x | 1, x >> 5};
}

/* What comes of ranks up to one. */
static struct line combined(const struct scene *c, int last, int i)
{
    struct line all = value(c, 0, i);
    for (int r = 1; r <= last; r++) {
        struct line next = value(c, r, i);
        all =
            c->by_sum ? (struct line){all.p + next.p, all.q + next.q} : after(all, next);
    }
    return all;
}

/* The last rank of which this one gets what comes; -1: it gets nothing. */
static int last_of(const struct scene *c, enum what what)
{
    return what == SCAN     ? c->rank
           : what == EXSCAN ? c->rank - 1
           : what == REDUCE ? (c->rank == c->root ? c->size - 1 : -1)
                            : c->size - 1;
}

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(Name, ...) MPIX_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#elif MPI_VERSION >= 4
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)
#else
#define INIT(Name, ...) MPI_##Name(__VA_ARGS__)
#endif
#if MPI_VERSION >= 4
#define BY_LARGE(Name, ...) MPI_##Name##_c(__VA_ARGS__)
#else
#define BY_LARGE(Name, ...) MPI_##Name(__VA_ARGS__)
#endif

static void finish(enum manner manner, MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL)
        return;
    if (manner == AGAIN)
        CHECK(!MPI_Start(request));
    CHECK(!MPI_Wait(request, MPI_STATUS_IGNORE));
    if (manner == AGAIN)
        CHECK(!MPI_Request_free(request));
}

#define MAKE(manner, Name, IName, ...)                                                   \
    do {                                                                                 \
        MPI_Request request = MPI_REQUEST_NULL;                                          \
        CHECK(!(manner == NOW     ? MPI_##Name(__VA_ARGS__)                              \
                : manner == LATER ? MPI_##IName(__VA_ARGS__, &request)                   \
                : manner == LARGE ? BY_LARGE(Name, __VA_ARGS__)                          \
                                  : INIT(Name, __VA_ARGS__)));                           \
        finish(manner, &request);                                                        \
    } while (0)

static void call(const struct scene *c, enum what what, enum manner manner,
                 const struct line *from, struct line *to)
{
    const void *sent = c->in_place && (what != REDUCE || c->rank == c->root)
                           ? MPI_IN_PLACE
                           : (const void *)from;
    if (what == REDUCE)
        MAKE(manner, Reduce, Ireduce, sent, to, c->n, c->type, c->op, c->root, c->comm);
    else if (what == ALLREDUCE)
        MAKE(manner, Allreduce, Iallreduce, sent, to, c->n, c->type, c->op, c->comm);
    else if (what == SCAN)
        MAKE(manner, Scan, Iscan, sent, to, c->n, c->type, c->op, c->comm);
    else
        MAKE(manner, Exscan, Iexscan, sent, to, c->n, c->type, c->op, c->comm);
}

static void reduce(const struct scene *c, enum what what, enum manner manner)
{
    size_t room = (size_t)c->n * (size_t)c->step + 4;
    struct line *from = check_alloc(room * sizeof *from);
    struct line *to = check_alloc(room * sizeof *to);
    int last = last_of(c, what), wrong = 0;
    int here = c->in_place && (what != REDUCE || c->rank == c->root);
    for (size_t i = 0; i < room; i++)
        from[i] = to[i] = untouched;
    for (int i = 0; i < c->n; i++)
        (here ? to : from)[i * c->step] = value(c, c->rank, i);
    call(c, what, manner, from, to);
    for (size_t i = 0; last >= 0 && i < room; i++) {
        int at = (int)i / c->step;
        struct line want =
            i % (size_t)c->step || at >= c->n ? untouched : combined(c, last, at);
        wrong += memcmp(&to[i], &want, sizeof want) != 0;
    }
    CHECK(wrong == 0);
    free(from);
    free(to);
}

static void make_type(struct scene *c)
{
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_create_resized(pair, 0, c->step * (MPI_Aint)sizeof(struct line), &c->type);
    MPI_Type_commit(&c->type);
    MPI_Type_free(&pair);
}

/* Sums of numbers, two for an element. */
static void sum_all(struct scene *c, enum what what, enum manner manner)
{
    struct scene sums = *c;
    sums.by_sum = 1;
    sums.step = 1;
    sums.op = MPI_SUM;
    sums.type = MPI_UNSIGNED;
    struct line *from = check_alloc((size_t)c->n * sizeof *from);
    struct line *to = check_alloc((size_t)c->n * sizeof *to);
    int last = last_of(&sums, what), wrong = 0;
    for (int i = 0; i < c->n; i++)
        (c->in_place ? to : from)[i] = value(&sums, c->rank, i);
    sums.n = 2 * c->n;
    call(&sums, what, manner, from, to);
    for (int i = 0; last >= 0 && i < c->n; i++) {
        struct line want = combined(&sums, last, i);
        wrong += memcmp(&to[i], &want, sizeof want) != 0;
    }
    CHECK(wrong == 0);
    free(from);
    free(to);
}

/* MPICH 4.0.2 itself crashes in reductions in place to a root other than 0. */
static void all_of(MPI_Comm comm, MPI_Op op)
{
    static const int sizes[] = {0, 1, 30, 1000, 30011};
    struct scene c = {.comm = comm, .op = op};
    int turn = 0;
    MPI_Comm_rank(comm, &c.rank);
    MPI_Comm_size(comm, &c.size);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int round = 0; round < 2 * MANNERS; round++, turn++) {
            enum manner manner = (enum manner)(round % MANNERS);
            c.n = sizes[k];
            c.in_place = round / MANNERS;
            c.root = c.in_place ? 0 : turn % c.size;
            c.step = 1 + turn / 3 % 2;
            make_type(&c);
            for (int what = 0; what < WHATS; what++)
                reduce(&c, (enum what)what, manner);
            sum_all(&c, SCAN, manner);
            sum_all(&c, EXSCAN, manner);
            MPI_Type_free(&c.type);
        }
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Op op;
    check_begin(&argc, &argv);
    MPI_Op_create(compose, 0, &op);
    all_of(MPI_COMM_WORLD, op);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    all_of(half, op);
    MPI_Comm_free(&half);
    MPI_Op_free(&op);
    return check_end();
}
