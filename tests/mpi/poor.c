/* Collectives some of whose ranks may run out of memory, with data that have gaps: a call
 * that gives no error gave the right bytes, and whoever gets one goes on. */
#include "check.h"
#include "compose.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
enum { IS_MPICH = 0 };
#else
enum { IS_MPICH = 1 };
#endif

enum { COUNT = 60000, INTS = 2, STEP = 3 };

static MPI_Datatype gappy; /* of three ints the first two */
static int *in, *out;

static int value(int seed, long i)
{
    return (int)(seed * 1000003L + i);
}

static void fill(int *at, long elements, int seed)
{
    for (long i = 0; i < elements; i++)
        for (int k = 0; k < STEP; k++)
            at[i * STEP + k] = k < INTS ? value(seed, i * INTS + k) : -7;
}

/* Are the elements right, and the gaps as they were? */
static int is_right(const int *at, long elements, int seed, int gap)
{
    for (long i = 0; i < elements; i++)
        for (int k = 0; k < STEP; k++)
            if (at[i * STEP + k] != (k < INTS ? value(seed, i * INTS + k) : gap))
                return 0;
    return 1;
}

static void clear(long elements)
{
    for (long i = 0; i < elements * STEP; i++)
        out[i] = -9;
}

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define INIT(Name, ...) MPIX_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)
#elif MPI_VERSION >= 4
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request_)
#else
#define INIT(Name, ...) MPI_##Name(__VA_ARGS__)
#endif

enum manner { NOW, LATER, AGAIN };

/* Starts it, if it can be started. */
static int start(MPI_Request *request)
{
    int code = *request == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Start(request);
    if (!code)
        code = MPI_Wait(request, MPI_STATUS_IGNORE);
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
    return code;
}

/* The call, or its non-blocking or persistent kin, to its end. */
#define MAKE(manner, Name, IName, ...)                                                   \
    ({                                                                                   \
        MPI_Request request_ = MPI_REQUEST_NULL;                                         \
        int code_ = (manner) == NOW     ? MPI_##Name(__VA_ARGS__)                        \
                    : (manner) == LATER ? MPI_##IName(__VA_ARGS__, &request_)            \
                                        : INIT(Name, __VA_ARGS__);                       \
        code_               ? code_                                                      \
        : (manner) == AGAIN ? start(&request_)                                           \
                            : MPI_Wait(&request_, MPI_STATUS_IGNORE);                    \
    })

static void bcast(int root, int manner)
{
    clear(COUNT);
    if (check_rank == root)
        fill(out, COUNT, root);
    int code = MAKE(manner, Bcast, Ibcast, out, COUNT, gappy, root, MPI_COMM_WORLD);
    CHECK(code || is_right(out, COUNT, root, check_rank == root ? -7 : -9));
}

static void scatter(int root, int manner)
{
    int part = COUNT / check_size;
    clear(COUNT);
    for (int r = 0; r < check_size; r++)
        fill(in + (long)r * part * STEP, part, 10 + r);
    int code = MAKE(manner, Scatter, Iscatter, in, part, gappy, out, part, gappy, root,
                    MPI_COMM_WORLD);
    CHECK(code || is_right(out, part, 10 + check_rank, -9));
}

static void gather(int root, int all, int manner)
{
    int part = COUNT / check_size;
    clear(COUNT);
    fill(in, part, 20 + check_rank);
    int code = all ? MAKE(manner, Allgather, Iallgather, in, part, gappy, out, part,
                          gappy, MPI_COMM_WORLD)
                   : MAKE(manner, Gather, Igather, in, part, gappy, out, part, gappy,
                          root, MPI_COMM_WORLD);
    for (int r = 0; r < check_size && !code && (all || check_rank == root); r++)
        CHECK(is_right(out + (long)r * part * STEP, part, 20 + r, -9));
}

static void reduce(int root, int all, int manner)
{
    int code, n = COUNT;
    for (int i = 0; i < n; i++)
        in[i] = check_rank + i;
    code = all ? MAKE(manner, Allreduce, Iallreduce, in, out, n, MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD)
               : MAKE(manner, Reduce, Ireduce, in, out, n, MPI_INT, MPI_SUM, root,
                      MPI_COMM_WORLD);
    for (int i = 0; i < n && !code && (all || check_rank == root); i++)
        if (out[i] != check_size * (check_size - 1) / 2 + i * check_size) {
            CHECK(!"a wrong sum");
            break;
        }
}

static void reduce_scatter(int in_place, int manner)
{
    int n = COUNT / check_size, *from = in_place ? out : in;
    for (int i = 0; i < n * check_size; i++)
        from[i] = check_rank + i;
    int code =
        MAKE(manner, Reduce_scatter_block, Ireduce_scatter_block,
             in_place ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !code; i++)
        if (out[i] !=
            check_size * (check_size - 1) / 2 + (check_rank * n + i) * check_size) {
            CHECK(!"a wrong part of a sum");
            break;
        }
}

static void alltoall(int in_place, int manner)
{
    int part = COUNT / check_size;
    clear(COUNT);
    for (int r = 0; r < check_size; r++)
        fill((in_place ? out : in) + (long)r * part * STEP, part,
             30 + check_rank + 5 * r);
    int code = MAKE(manner, Alltoall, Ialltoall, in_place ? MPI_IN_PLACE : in, part,
                    gappy, out, part, gappy, MPI_COMM_WORLD);
    for (int r = 0; r < check_size && !code; r++)
        CHECK(is_right(out + (long)r * part * STEP, part, 30 + r + 5 * check_rank,
                       in_place ? -7 : -9));
}

/* Parts of unequal sizes, laid one behind the other. */
static int part_of(int r)
{
    return COUNT / check_size / (1 + r % 2);
}

static void vectors(int root, int manner)
{
    int count[16], at[16], all = 0, own = part_of(check_rank);
    for (int r = 0; r < check_size; r++) {
        count[r] = part_of(r);
        at[r] = all;
        fill(in + (long)all * STEP, count[r], 40 + r);
        all += count[r];
    }
    clear(COUNT);
    int code = MAKE(manner, Scatterv, Iscatterv, in, count, at, gappy, out, own, gappy,
                    root, MPI_COMM_WORLD);
    CHECK(code || is_right(out, own, 40 + check_rank, -9));
    clear(COUNT);
    fill(in, own, 40 + check_rank);
    code = MAKE(IS_MPICH && manner == AGAIN ? NOW : manner, Gatherv, Igatherv, in, own,
                gappy, out, count, at, gappy, root, MPI_COMM_WORLD);
    for (int r = 0; r < check_size && !code && check_rank == root; r++)
        CHECK(is_right(out + (long)at[r] * STEP, count[r], 40 + r, -9));
}

static void alltoallv(int manner)
{
    int sent[16], got[16], from[16], to[16], all_sent = 0, all_got = 0;
    clear(COUNT);
    for (int r = 0; r < check_size; r++) {
        sent[r] = part_of(r);
        got[r] = part_of(check_rank);
        from[r] = all_sent;
        to[r] = all_got;
        fill(in + (long)all_sent * STEP, sent[r], 50 + check_rank + 5 * r);
        all_sent += sent[r];
        all_got += got[r];
    }
    int code = MAKE(manner, Alltoallv, Ialltoallv, in, sent, from, gappy, out, got, to,
                    gappy, MPI_COMM_WORLD);
    for (int r = 0; r < check_size && !code; r++)
        CHECK(is_right(out + (long)to[r] * STEP, got[r], 50 + r + 5 * check_rank, -9));
}

/* In the order of ranks. */
static void scan(int root, int manner)
{
    MPI_Op op;
    int code, n = COUNT / 2;
    struct line *from = (struct line *)in, *to = (struct line *)out;
    struct line whole = {1, 0}, part = {1, 0};
    MPI_Op_create(compose, 0, &op);
    for (int r = 0; r < check_size; r++) {
        whole = after(whole, (struct line){2 * (unsigned)r + 3, (unsigned)r + 1});
        part = r == check_rank ? whole : part;
    }
    for (int i = 0; i < n; i++)
        from[i] = (struct line){2 * (unsigned)check_rank + 3, (unsigned)check_rank + 1};
    clear(COUNT);
    code = MAKE(manner, Scan, Iscan, in, out, n, MPI_2INT, op, MPI_COMM_WORLD);
    for (int i = 0; i < n && !code; i += n / 7)
        CHECK(to[i].p == part.p && to[i].q == part.q);
    code = MAKE(manner, Reduce, Ireduce, in, out, n, MPI_2INT, op, root, MPI_COMM_WORLD);
    for (int i = 0; i < n && !code && check_rank == root; i += n / 7)
        CHECK(to[i].p == whole.p && to[i].q == whole.q);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    MPI_Datatype pair;
    check_begin(&argc, &argv);
    in = check_alloc((size_t)COUNT * STEP * sizeof *in);
    out = check_alloc((size_t)COUNT * STEP * sizeof *out);
    MPI_Type_contiguous(INTS, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, STEP * sizeof(int), &gappy);
    MPI_Type_commit(&gappy);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* MPICH 4.0.2 brings wrong bytes in persistent gathers of its own */
    for (int turn = 0; turn < 6; turn++) {
        int root = turn / 3, manner = turn % 3;
        bcast(root, manner);
        scatter(root, manner);
        gather(root, 0, IS_MPICH && manner == AGAIN ? NOW : manner);
        gather(root, 1, manner);
        reduce(root, 0, manner);
        reduce(root, 1, manner);
        reduce_scatter(root, manner);
        alltoall(root, manner);
        vectors(root, manner);
        alltoallv(manner);
        scan(root, manner);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&gappy);
    free(in);
    free(out);
    return check_end();
}
