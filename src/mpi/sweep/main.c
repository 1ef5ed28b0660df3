/* The program of `espalier sweep`: each collective at each size by the MPI library alone
 * (PMPI) and as programs call it (MPI, which the shim takes over), in turn, in one job.
 * Every byte that comes is looked at.
 *
 * usage: espalier-sweep-MPI OPS SIZES REPEATS, with commas in the lists. The size is that
 * of the whole message: what a broadcast sends and an allreduce combines, all parts of a
 * scatter, gather, allgather, reduce-scatter or alltoall together. Rank 0 prints lines
 * that begin with '@':
 *
 *     @ranks N
 *     @row OP BYTES NATIVE_S PLAN_S WRONG
 *     @end
 *
 * A time is the middle one of the calls, of each the longest of any rank. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/native_call.h"

enum { SIZES_MAX = 64, REPEATS_MAX = 1000 }; /* limit: of an order */
enum { WORD = 4 };                           /* derived: bytes of an int */

struct sweep {
    int rank, n;
    unsigned char *in, *out; /* of the longest message, rounded up to n parts */
    size_t room;
    uint32_t call; /* makes the bytes of each call others */
};

typedef int (*run_fn)(struct sweep *s, int native, int words);

/* What word i of the part of a rank is in this call. Small, so that sums stay exact. */
static int32_t word_of(const struct sweep *s, int rank, int i)
{
    uint32_t x = s->call * 2654435761u + (uint32_t)rank * 40503u + (uint32_t)i;
    x ^= x >> 13;
    x *= 2246822519u;
    x ^= x >> 16;
    return (int32_t)(x & 0xffff);
}

static void fill_words(const struct sweep *s, unsigned char *at, int rank, int words)
{
    for (int i = 0; i < words; i++) {
        int32_t word = word_of(s, rank, i);
        memcpy(at + (size_t)i * WORD, &word, WORD);
    }
}

static int count_wrong(const struct sweep *s, const unsigned char *at, int rank,
                       int words)
{
    int wrong = 0;
    for (int i = 0; i < words; i++) {
        int32_t word, right = word_of(s, rank, i);
        memcpy(&word, at + (size_t)i * WORD, WORD);
        wrong += word != right;
    }
    return wrong;
}

/* Sums of all ranks' words from the first one on. */
static int count_wrong_sums(const struct sweep *s, const unsigned char *at, int first,
                            int words)
{
    int wrong = 0;
    for (int i = 0; i < words; i++) {
        int32_t word, right = 0;
        for (int r = 0; r < s->n; r++)
            right += word_of(s, r, first + i);
        memcpy(&word, at + (size_t)i * WORD, WORD);
        wrong += word != right;
    }
    return wrong;
}

/* ---- the collectives: what goes in, and the call ---- */

static int run_bcast(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Bcast) : MPI_Bcast)(s->out, words, MPI_INT, 0,
                                                MPI_COMM_WORLD);
}

static int run_scatter(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Scatter) : MPI_Scatter)(s->in, words, MPI_INT, s->out, words,
                                                    MPI_INT, 0, MPI_COMM_WORLD);
}

static int run_gather(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Gather) : MPI_Gather)(s->in, words, MPI_INT, s->out, words,
                                                  MPI_INT, 0, MPI_COMM_WORLD);
}

static int run_allgather(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Allgather) : MPI_Allgather)(s->in, words, MPI_INT, s->out,
                                                        words, MPI_INT, MPI_COMM_WORLD);
}

static int run_reduce(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Reduce) : MPI_Reduce)(s->in, s->out, words, MPI_INT, MPI_SUM,
                                                  0, MPI_COMM_WORLD);
}

static int run_allreduce(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Allreduce) : MPI_Allreduce)(s->in, s->out, words, MPI_INT,
                                                        MPI_SUM, MPI_COMM_WORLD);
}

static int run_reduce_scatter(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Reduce_scatter_block) : MPI_Reduce_scatter_block)(
        s->in, s->out, words, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int run_alltoall(struct sweep *s, int native, int words)
{
    return (native ? NATIVE(Alltoall) : MPI_Alltoall)(s->in, words, MPI_INT, s->out,
                                                      words, MPI_INT, MPI_COMM_WORLD);
}

/* code: bits of flags */
enum { TO_ALL = 1, PARTS_IN = 2, PARTS_OUT = 4, SUMS = 8, PAIRS = 16 };

static const struct collective {
    const char *name;
    run_fn run;
    int flags;
} collectives[] = {
#define ROW(name, run, flags)                                                            \
    {                                                                                    \
#name, run, flags                                                                \
    }
    /* clang-format off */
    ROW(bcast, run_bcast, TO_ALL),
    ROW(scatter, run_scatter, TO_ALL | PARTS_IN),
    ROW(gather, run_gather, PARTS_OUT),
    ROW(allgather, run_allgather, TO_ALL | PARTS_OUT),
    ROW(reduce, run_reduce, SUMS),
    ROW(allreduce, run_allreduce, TO_ALL | SUMS),
    ROW(reduce-scatter, run_reduce_scatter, TO_ALL | PARTS_IN | SUMS),
    ROW(alltoall, run_alltoall, TO_ALL | PAIRS),
/* clang-format on */
#undef ROW
};

/* Of the whole message. */
static double parts_of(const struct sweep *s, const struct collective *c)
{
    if (c->flags & PAIRS)
        return s->n > 1 ? (double)s->n * (s->n - 1) : 1;
    return c->flags & (PARTS_IN | PARTS_OUT) ? s->n : 1;
}

static size_t part_bytes(int words)
{
    return (size_t)words * WORD;
}

/* The part of a pair is as that of a rank with this number. */
static int pair_of(const struct sweep *s, int from, int to)
{
    return from * s->n + to;
}

/* Broadcasts have it in `out` at the root; all others send from `in`. */
static void fill_call(const struct sweep *s, const struct collective *c, int words)
{
    if (c->run == run_bcast && s->rank == 0)
        fill_words(s, s->out, 0, words);
    for (int r = 0; r < s->n && c->flags & PAIRS; r++)
        fill_words(s, s->in + (size_t)r * part_bytes(words), pair_of(s, s->rank, r),
                   words);
    for (int r = 0; r < s->n && c->run == run_scatter && s->rank == 0; r++)
        fill_words(s, s->in + (size_t)r * part_bytes(words), r, words);
    if (c->run != run_bcast && c->run != run_scatter && !(c->flags & PAIRS))
        fill_words(s, s->in, s->rank, c->flags & PARTS_IN ? s->n * words : words);
}

static void prepare_call(struct sweep *s, const struct collective *c, int words)
{
    s->call++;
    memset(s->out, 0xa5, s->room);
    fill_call(s, c, words);
}

static int look_at_call(const struct sweep *s, const struct collective *c, int words)
{
    int wrong = 0, in_parts = c->flags & PARTS_IN;
    if (s->rank != 0 && !(c->flags & TO_ALL))
        return 0;
    if (c->flags & SUMS)
        return count_wrong_sums(s, s->out, in_parts ? s->rank * words : 0, words);
    if (!(c->flags & (PARTS_OUT | PAIRS)))
        return count_wrong(s, s->out, in_parts ? s->rank : 0, words);
    for (int r = 0; r < s->n; r++)
        wrong += count_wrong(s, s->out + (size_t)r * part_bytes(words),
                             c->flags & PAIRS ? pair_of(s, r, s->rank) : r, words);
    return wrong;
}

/* ---- times ---- */

/* One call, from when all begin to when the last has ended. */
static double time_call(struct sweep *s, const struct collective *c, int native,
                        int words, long *wrong)
{
    double took_s, longest_s = 0;
    prepare_call(s, c, words);
    NATIVE(Barrier)(MPI_COMM_WORLD);
    double start_s = MPI_Wtime();
    int code = c->run(s, native, words);
    took_s = MPI_Wtime() - start_s;
    *wrong += code != MPI_SUCCESS;
    *wrong += look_at_call(s, c, words);
    NATIVE(Allreduce)(&took_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest_s;
}

static int compare_times(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double middle_time(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, compare_times);
    return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

static void measure_row(struct sweep *s, const struct collective *c, double bytes,
                        int repeats)
{
    static double times[2][REPEATS_MAX];
    double share = bytes / parts_of(s, c);
    int words = share > WORD ? (int)((share + WORD - 1) / WORD) : 1;
    long wrong = 0, all = 0;
    for (int way = 0; way < 2; way++)
        time_call(s, c, way, words, &wrong); /* connects the ranks, makes the plan */
    for (int i = 0; i < repeats; i++)
        for (int k = 0; k < 2; k++) {
            int way = (i + k) % 2; /* neither is always the second */
            times[way][i] = time_call(s, c, way, words, &wrong);
        }
    NATIVE(Reduce)(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (s->rank)
        return;
    double plan_s = middle_time(times[0], repeats),
           native_s = middle_time(times[1], repeats);
    printf("@row %s %.0f %.9g %.9g %ld\n", c->name, bytes, native_s, plan_s, all);
    fflush(stdout);
}

/* ---- the whole ---- */

static const struct collective *find_collective(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strlen(collectives[i].name) == length &&
            memcmp(collectives[i].name, name, length) == 0)
            return &collectives[i];
    return NULL;
}

static int read_sizes(const char *list, double *sizes)
{
    int n = 0;
    while (*list && n < SIZES_MAX) {
        char *end;
        sizes[n] = strtod(list, &end);
        if (end == list || !(sizes[n] >= 1 && sizes[n] <= 1e9))
            return 0;
        n++;
        list = end + (*end == ',');
    }
    return n;
}

static int run_sweep(struct sweep *s, const char *ops, const char *list, int repeats)
{
    double sizes[SIZES_MAX], longest = 0;
    int n = read_sizes(list, sizes);
    if (!n || repeats < 1 || repeats > REPEATS_MAX)
        return -1;
    for (int i = 0; i < n; i++)
        longest = sizes[i] > longest ? sizes[i] : longest;
    s->room = (size_t)longest + (size_t)s->n * 2 * WORD;
    s->in = calloc(s->room, 1);
    s->out = calloc(s->room, 1);
    int bad = !s->in || !s->out;
    if (s->rank == 0)
        printf("@ranks %d\n", s->n);
    while (*ops && !bad) {
        size_t length = strcspn(ops, ",");
        const struct collective *c = find_collective(ops, length);
        bad = !c;
        for (int i = 0; i < n && !bad; i++)
            measure_row(s, c, sizes[i], repeats);
        ops += length + (ops[length] == ',');
    }
    free(s->in);
    free(s->out);
    return bad ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct sweep s = {.call = 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.n);
    int bad = argc != 4 || run_sweep(&s, argv[1], argv[2], atoi(argv[3]));
    if (bad)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (s.rank == 0) {
        printf("@end\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
