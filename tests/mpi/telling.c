/* The same calls of unequal parts again and again, as trials want them: sizes are told
 * before some of them, and not before others. Every rank gets the right bytes, whoever
 * makes a call; also where sizes and roots change between any two calls (TELLING_MIXED).
 * TELLING_CALLS: of each collective; TELLING_LATER: non-blocking ones. */
#include "check.h"

enum { RANKS = 16, PART = 20000 };

struct layout {
    int count[RANKS], at[RANKS], all;
};

static unsigned char *whole, *other, *part;
static int later;

#define MAKE(Name, IName, ...)                                                           \
    do {                                                                                 \
        MPI_Request request = MPI_REQUEST_NULL;                                          \
        CHECK(!(later ? MPI_##IName(__VA_ARGS__, &request) : MPI_##Name(__VA_ARGS__)));  \
        CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));                                   \
    } while (0)

/* The parts of a rank, by another, or the root. */
static struct layout lay(int size, int scale, int shift)
{
    struct layout l = {.all = 0};
    for (int r = 0; r < size; r++) {
        l.count[r] = PART / 4 * ((r + shift) % 3 + 2) / scale;
        l.at[r] = l.all;
        l.all += l.count[r];
    }
    return l;
}

static void check_scatter(int size, int rank, int root, int scale, unsigned seed)
{
    struct layout l = lay(size, scale, 0);
    for (int r = 0; r < size && rank == root; r++)
        check_fill(whole + l.at[r], (size_t)l.count[r], seed + (unsigned)r);
    memset(part, 0, PART);
    MAKE(Scatterv, Iscatterv, whole, l.count, l.at, MPI_BYTE, part, l.count[rank],
         MPI_BYTE, root, MPI_COMM_WORLD);
    CHECK(check_wrong(part, (size_t)l.count[rank], seed + (unsigned)rank) == -1);
}

static void check_gather(int size, int rank, int root, int scale, unsigned seed)
{
    struct layout l = lay(size, scale, 0);
    check_fill(part, (size_t)l.count[rank], seed + (unsigned)rank);
    memset(whole, 0, (size_t)l.all);
    MAKE(Gatherv, Igatherv, part, l.count[rank], MPI_BYTE, whole, l.count, l.at, MPI_BYTE,
         root, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == root; r++)
        CHECK(check_wrong(whole + l.at[r], (size_t)l.count[r], seed + (unsigned)r) == -1);
}

/* What two ranks have for each other is as much in both directions. */
static void check_exchange(int size, int rank, int scale, unsigned seed)
{
    struct layout l = lay(size, scale, rank);
    for (int r = 0; r < size; r++)
        check_fill(whole + l.at[r], (size_t)l.count[r], seed + (unsigned)(rank * 7 + r));
    memset(other, 0, (size_t)l.all);
    MAKE(Alltoallv, Ialltoallv, whole, l.count, l.at, MPI_BYTE, other, l.count, l.at,
         MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        CHECK(check_wrong(other + l.at[r], (size_t)l.count[r],
                          seed + (unsigned)(r * 7 + rank)) == -1);
}

static void all_kinds(int size, int rank, int root, int scale, unsigned seed)
{
    check_scatter(size, rank, root, scale, seed);
    check_gather(size, rank, root, scale, seed);
    check_exchange(size, rank, scale, seed);
}

int main(int argc, char **argv)
{
    const char *asked = getenv("TELLING_CALLS");
    int calls = asked ? atoi(asked) : 30;
    unsigned lots = 5;
    later = getenv("TELLING_LATER") != NULL;
    check_begin(&argc, &argv);
    if (check_size > RANKS)
        abort();
    whole = check_alloc((size_t)check_size * PART);
    other = check_alloc((size_t)check_size * PART);
    part = check_alloc(PART);
    for (int i = 0; i < calls; i++)
        all_kinds(check_size, check_rank, 0, 1, (unsigned)i * 13u);
    for (int i = 0; i < calls && getenv("TELLING_MIXED"); i++) {
        lots = lots * 1664525u + 1013904223u;
        all_kinds(check_size, check_rank, (int)(lots >> 28) % 2,
                  (lots >> 20) % 3 ? 1 : 10, (unsigned)i * 17u);
    }
    free(whole);
    free(other);
    free(part);
    return check_end();
}
