/* A program beside a tool by the profiling interface, preloaded before or behind the shim
 * or linked into the program: the tool has seen each call of the program once, and none
 * that the shim makes, while plans run and each byte is right. */
#include <dlfcn.h>

#include "check.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include "tracer.h"

#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define BCAST_INIT MPIX_Bcast_init
#elif MPI_VERSION >= 4
#define BCAST_INIT MPI_Bcast_init
#endif

enum { BYTES = 40000, ROUNDS = 5 };

static unsigned char data[BYTES];

static void refill(int root, unsigned seed)
{
    if (check_rank == root)
        check_fill(data, BYTES, seed);
    else
        memset(data, 0, BYTES);
}

static void sum(const void *from, void *to, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((const int *)from)[i];
}

static void broadcast(MPI_Comm comm)
{
    for (int i = 0; i < ROUNDS; i++) {
        refill(0, (unsigned)i);
        MPI_Bcast(data, BYTES, MPI_BYTE, 0, comm);
        CHECK(check_wrong(data, BYTES, (unsigned)i) == -1);
    }
}

/* ---- the others, each once, blocking or not ---- */

enum { RANKS = 8 };

static MPI_Comm all_ranks;
static int n_later;

/* The call, and the wait for it. */
#define MAKE(later, Name, IName, ...)                                                    \
    do {                                                                                 \
        MPI_Request request;                                                             \
        CHECK(!(later ? MPI_##IName(__VA_ARGS__, &request) : MPI_##Name(__VA_ARGS__)));  \
        if (later)                                                                       \
            CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));                               \
        n_later += later;                                                                \
    } while (0)

static void reduce(MPI_Op op, int later)
{
    enum { N = RANKS };
    int n = check_size, own = check_rank + 1, whole = 0, up_to = own * (own + 1) / 2;
    int each[N], counts[N], part = 0, wanted = n * (n + 1) / 2;
    for (int r = 0; r < n; r++) {
        each[r] = own + r;
        counts[r] = 1;
    }
    MAKE(later, Allreduce, Iallreduce, &own, &whole, 1, MPI_INT, op, all_ranks);
    CHECK(whole == wanted);
    whole = 0;
    MAKE(later, Reduce, Ireduce, &own, &whole, 1, MPI_INT, op, 0, all_ranks);
    CHECK(check_rank != 0 || whole == wanted);
    MAKE(later, Reduce_scatter, Ireduce_scatter, each, &part, counts, MPI_INT, op,
         all_ranks);
    CHECK(part == wanted + n * check_rank);
    MAKE(later, Reduce_scatter_block, Ireduce_scatter_block, each, &part, 1, MPI_INT, op,
         all_ranks);
    CHECK(part == wanted + n * check_rank);
    MAKE(later, Scan, Iscan, &own, &part, 1, MPI_INT, op, all_ranks);
    CHECK(part == up_to);
    MAKE(later, Exscan, Iexscan, &own, &part, 1, MPI_INT, op, all_ranks);
    CHECK(check_rank == 0 || part == up_to - own);
}

static void move_alike(int later)
{
    int all[RANKS], from[RANKS], own = check_rank + 1, part = 0;
    for (int r = 0; r < check_size; r++)
        from[r] = 10 * r + (later ? 1 : 2);
    MAKE(later, Scatter, Iscatter, from, 1, MPI_INT, &part, 1, MPI_INT, 0, all_ranks);
    CHECK(part == from[check_rank]);
    MAKE(later, Gather, Igather, &own, 1, MPI_INT, all, 1, MPI_INT, 0, all_ranks);
    for (int r = 0; check_rank == 0 && r < check_size; r++)
        CHECK(all[r] == r + 1);
    MAKE(later, Allgather, Iallgather, &own, 1, MPI_INT, all, 1, MPI_INT, all_ranks);
    for (int r = 0; r < check_size; r++)
        CHECK(all[r] == r + 1);
    MAKE(later, Alltoall, Ialltoall, from, 1, MPI_INT, all, 1, MPI_INT, all_ranks);
    for (int r = 0; r < check_size; r++)
        CHECK(all[r] == from[check_rank]);
}

/* A rank's part is as many elements as its number, one more. */
static void move_unequal(int later)
{
    int all[RANKS * RANKS], from[RANKS * RANKS], part[RANKS], own[RANKS];
    int counts[RANKS], at[RANKS], mine[RANKS], mine_at[RANKS], n = 0;
    for (int r = 0; r < check_size; r++) {
        counts[r] = r + 1;
        at[r] = n;
        n += counts[r];
        mine[r] = check_rank + 1;
        mine_at[r] = r * (check_rank + 1);
    }
    for (int i = 0; i < n; i++)
        from[i] = i;
    for (int i = 0; i <= check_rank; i++)
        own[i] = at[check_rank] + i;
    MAKE(later, Scatterv, Iscatterv, from, counts, at, MPI_INT, part, check_rank + 1,
         MPI_INT, 0, all_ranks);
    for (int i = 0; i <= check_rank; i++)
        CHECK(part[i] == own[i]);
    MAKE(later, Gatherv, Igatherv, own, check_rank + 1, MPI_INT, all, counts, at, MPI_INT,
         0, all_ranks);
    for (int i = 0; check_rank == 0 && i < n; i++)
        CHECK(all[i] == i);
    MAKE(later, Allgatherv, Iallgatherv, own, check_rank + 1, MPI_INT, all, counts, at,
         MPI_INT, all_ranks);
    for (int i = 0; i < n; i++)
        CHECK(all[i] == i);
    MAKE(later, Alltoallv, Ialltoallv, from, counts, at, MPI_INT, all, mine, mine_at,
         MPI_INT, all_ranks);
    for (int i = 0; i < check_size * (check_rank + 1); i++)
        CHECK(all[i] == own[i % (check_rank + 1)]);
}

static void broadcast_later(void)
{
    MPI_Request requests[2];
    refill(1, 77);
    MPI_Ibcast(data, BYTES, MPI_BYTE, 1, all_ranks, &requests[0]);
    MPI_Ibarrier(all_ranks, &requests[1]);
    for (int i = 0; i < 2; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    CHECK(check_wrong(data, BYTES, 77) == -1);
    n_later += 2;
}

/* How many were made. */
static int start_again_and_again(MPI_Comm comm)
{
#ifdef BCAST_INIT
    MPI_Request request;
    BCAST_INIT(data, BYTES, MPI_BYTE, 0, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < ROUNDS; i++) {
        refill(0, 100 + (unsigned)i);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(check_wrong(data, BYTES, 100 + (unsigned)i) == -1);
    }
    MPI_Request_free(&request);
    return 1;
#else
    (void)comm;
    return 0;
#endif
}

static void look_at(long (*count)(const char *), const char *name, long wanted)
{
    if (count(name) != wanted && check_bad++ < 10)
        fprintf(stderr, "rank %d: %ld calls of %s were seen, not %ld\n", check_rank,
                count(name), name, wanted);
}

/* What the tool has seen, but for what the end of the program calls. */
static void ask_tracer(int inits)
{
    static const char *const once[] = {"Init",
                                       "Comm_rank",
                                       "Comm_size",
                                       "Comm_dup",
                                       "Op_free",
                                       "Comm_free",
                                       "Ibcast",
                                       "Ibarrier",
                                       "Scatter",
                                       "Iscatter",
                                       "Gather",
                                       "Igather",
                                       "Allgather",
                                       "Iallgather",
                                       "Allgatherv",
                                       "Iallgatherv",
                                       "Alltoall",
                                       "Ialltoall",
                                       "Scatterv",
                                       "Iscatterv",
                                       "Gatherv",
                                       "Igatherv",
                                       "Alltoallv",
                                       "Ialltoallv",
                                       "Reduce",
                                       "Ireduce",
                                       "Allreduce",
                                       "Iallreduce",
                                       "Reduce_scatter",
                                       "Ireduce_scatter",
                                       "Scan",
                                       "Iscan",
                                       "Exscan",
                                       "Iexscan",
                                       "Reduce_scatter_block",
                                       "Ireduce_scatter_block"};
    static const char *const never[] = {
        "Finalize",   "Startall",      "Send",          "Recv",
        "Isend",      "Issend",        "Irecv",         "Iprobe",
        "Test",       "Testsome",      "Waitsome",      "Comm_split",
        "Comm_group", "Comm_get_attr", "Comm_set_attr", "Type_get_extent"};
    long (*count)(const char *);
    *(void **)&count = dlsym(RTLD_DEFAULT, "tracer_count");
    CHECK(count);
    if (!count)
        return;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        look_at(count, once[i], 1);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        look_at(count, never[i], 0);
    look_at(count, "Barrier", 2);
    look_at(count, "Bcast", ROUNDS);
    look_at(count, "Bcast_init", inits);
    look_at(count, "Start", inits * ROUNDS);
    look_at(count, "Request_free", inits);
    look_at(count, "Wait", n_later + inits * ROUNDS);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Op op;
    check_begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create((MPI_User_function *)sum, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    broadcast(comm);
    all_ranks = comm;
    for (int later = 0; later < 2; later++) {
        reduce(op, later);
        move_alike(later);
        move_unequal(later);
    }
    broadcast_later();
    int inits = start_again_and_again(comm);
    MPI_Barrier(comm);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    ask_tracer(inits);
    return check_end();
}
