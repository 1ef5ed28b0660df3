/* How long collectives take on a testbed, each followed by the MPI library's own. Run by
 * bench/choice.
 *
 * usage: calls CALLS BUDGET_S LONGEST_S OPERATIONS SIZE... (bytes, growing)
 * For each operation (a list with commas) and size rank 0 prints a line of JSON: what
 * each call of MPI_* took, and what those of PMPI_* in between. All ranks start at an
 * agreed moment of the clock, which hosts of a testbed share; a call has ended when the
 * last rank has left it; every result is checked. There are no further calls when
 * BUDGET_S is spent, but eight, and none of a size that would take longer than LONGEST_S,
 * judged by the one before. A size is that of the whole message, of which each rank has a
 * part where the operation has parts; of an alltoall it is that of what a rank has for
 * all ranks. A barrier has one size only, whatever is asked for. Of scatterv, gatherv and
 * alltoallv the parts are equal, too, but ranks do not know that. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/native_call.h"

enum { CALLS_MAX = 64, CALLS_MIN = 8, RANKS_MAX = 256 };

static int rank, ranks;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is sent, and what comes of it ---- */

/* Words of a rank's data; their sums over all ranks are known, too. */
static int32_t word_of(int r, size_t i, int round)
{
    return (int32_t)((i * 2654435761u + (unsigned)round * 40503u) >> 8) % 100000 +
           r * (int32_t)(1 + i % 7);
}

static int32_t sum_of(size_t i, int round)
{
    return ranks * word_of(0, i, round) + ranks * (ranks - 1) / 2 * (int32_t)(1 + i % 7);
}

struct data {
    int32_t *in, *out; /* of ranks * words each */
    size_t words;      /* of a rank */
};

static void fill_words(int32_t *at, size_t words, int r, int round)
{
    for (size_t i = 0; i < words; i++)
        at[i] = word_of(r, i, round);
}

static int differs(const int32_t *at, size_t words, int r, int round)
{
    int wrong = 0;
    for (size_t i = 0; i < words; i++)
        wrong |= at[i] != word_of(r, i, round);
    return wrong;
}

static int sums_differ(const int32_t *at, size_t words, int round)
{
    int wrong = 0;
    for (size_t i = 0; i < words; i++)
        wrong |= at[i] != sum_of(i, round);
    return wrong;
}

static int gathered_differ(const struct data *d, int round)
{
    int wrong = 0;
    for (int r = 0; r < ranks; r++)
        wrong |= differs(d->out + (size_t)r * d->words, d->words, r, round);
    return wrong;
}

/* ---- operations ---- */

enum { WITHOUT = 2 };

struct operation {
    const char *name;
    int has_parts; /* WITHOUT: no data at all */
    void (*fill)(struct data *d, int round);
    void (*call)(struct data *d, int native);
    int (*is_wrong)(const struct data *d, int round);
};

static void fill_own(struct data *d, int round)
{
    fill_words(d->in, d->words, rank, round);
}

static void fill_from_root(struct data *d, int round)
{
    if (rank == 0)
        fill_words(d->out, d->words, 0, round);
}

static void fill_parts(struct data *d, int round)
{
    for (int r = 0; r < ranks && rank == 0; r++)
        fill_words(d->in + (size_t)r * d->words, d->words, r, round);
}

/* For each rank its part, and of each what this one has for it. */
static void fill_for_all(struct data *d, int round)
{
    for (int r = 0; r < ranks; r++)
        fill_words(d->in + (size_t)r * d->words, d->words, rank * ranks + r, round);
}

/* What is combined is as long as all parts. */
static void fill_all_parts(struct data *d, int round)
{
    fill_words(d->in, d->words * (size_t)ranks, rank, round);
}

static void fill_nothing(struct data *d, int round)
{
    (void)d;
    (void)round;
}

#define CALL(name, ...)                                                                  \
    (native ? NATIVE(name)(__VA_ARGS__, MPI_COMM_WORLD)                                  \
            : MPI_##name(__VA_ARGS__, MPI_COMM_WORLD))

static void call_bcast(struct data *d, int native)
{
    CALL(Bcast, d->out, (int)d->words, MPI_INT32_T, 0);
}

static void call_allgather(struct data *d, int native)
{
    int n = (int)d->words;
    CALL(Allgather, d->in, n, MPI_INT32_T, d->out, n, MPI_INT32_T);
}

static void call_allreduce(struct data *d, int native)
{
    CALL(Allreduce, d->in, d->out, (int)d->words, MPI_INT32_T, MPI_SUM);
}

static void call_reduce(struct data *d, int native)
{
    CALL(Reduce, d->in, d->out, (int)d->words, MPI_INT32_T, MPI_SUM, 0);
}

static void call_scatter(struct data *d, int native)
{
    int n = (int)d->words;
    CALL(Scatter, d->in, n, MPI_INT32_T, d->out, n, MPI_INT32_T, 0);
}

static void call_gather(struct data *d, int native)
{
    int n = (int)d->words;
    CALL(Gather, d->in, n, MPI_INT32_T, d->out, n, MPI_INT32_T, 0);
}

static void call_alltoall(struct data *d, int native)
{
    int n = (int)d->words;
    CALL(Alltoall, d->in, n, MPI_INT32_T, d->out, n, MPI_INT32_T);
}

static void call_reduce_scatter(struct data *d, int native)
{
    CALL(Reduce_scatter_block, d->in, d->out, (int)d->words, MPI_INT32_T, MPI_SUM);
}

/* Equal parts, one behind the other. */
struct parts {
    int count[RANKS_MAX], at[RANKS_MAX];
};

static struct parts equal_parts(const struct data *d)
{
    struct parts p;
    for (int r = 0; r < ranks; r++) {
        p.count[r] = (int)d->words;
        p.at[r] = r * (int)d->words;
    }
    return p;
}

static void call_scatterv(struct data *d, int native)
{
    struct parts p = equal_parts(d);
    CALL(Scatterv, d->in, p.count, p.at, MPI_INT32_T, d->out, (int)d->words, MPI_INT32_T,
         0);
}

static void call_gatherv(struct data *d, int native)
{
    struct parts p = equal_parts(d);
    CALL(Gatherv, d->in, (int)d->words, MPI_INT32_T, d->out, p.count, p.at, MPI_INT32_T,
         0);
}

static void call_alltoallv(struct data *d, int native)
{
    struct parts p = equal_parts(d);
    CALL(Alltoallv, d->in, p.count, p.at, MPI_INT32_T, d->out, p.count, p.at,
         MPI_INT32_T);
}

static void call_barrier(struct data *d, int native)
{
    (void)d;
    if (native)
        NATIVE(Barrier)(MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static int wrong_exchange(const struct data *d, int round)
{
    int wrong = 0;
    for (int r = 0; r < ranks; r++)
        wrong |=
            differs(d->out + (size_t)r * d->words, d->words, r * ranks + rank, round);
    return wrong;
}

static int wrong_own_sums(const struct data *d, int round)
{
    int wrong = 0;
    for (size_t i = 0; i < d->words; i++)
        wrong |= d->out[i] != sum_of((size_t)rank * d->words + i, round);
    return wrong;
}

/* That nobody leaves before all have come is for tests/mpi/barrier.c to see. */
static int never_wrong(const struct data *d, int round)
{
    (void)d;
    (void)round;
    return 0;
}

static int wrong_copy(const struct data *d, int round)
{
    return differs(d->out, d->words, 0, round);
}

static int wrong_part(const struct data *d, int round)
{
    return differs(d->out, d->words, rank, round);
}

static int wrong_sums(const struct data *d, int round)
{
    return sums_differ(d->out, d->words, round);
}

static int wrong_sums_at_root(const struct data *d, int round)
{
    return rank == 0 && sums_differ(d->out, d->words, round);
}

static int wrong_gathered_at_root(const struct data *d, int round)
{
    return rank == 0 && gathered_differ(d, round);
}

static const struct operation operations[] = {
    {"bcast", 0, fill_from_root, call_bcast, wrong_copy},
    {"allgather", 1, fill_own, call_allgather, gathered_differ},
    {"allreduce", 0, fill_own, call_allreduce, wrong_sums},
    {"reduce", 0, fill_own, call_reduce, wrong_sums_at_root},
    {"scatter", 1, fill_parts, call_scatter, wrong_part},
    {"gather", 1, fill_own, call_gather, wrong_gathered_at_root},
    {"alltoall", 1, fill_for_all, call_alltoall, wrong_exchange},
    {"reduce-scatter", 1, fill_all_parts, call_reduce_scatter, wrong_own_sums},
    {"scatterv", 1, fill_parts, call_scatterv, wrong_part},
    {"gatherv", 1, fill_own, call_gatherv, wrong_gathered_at_root},
    {"alltoallv", 1, fill_for_all, call_alltoallv, wrong_exchange},
    {"barrier", WITHOUT, fill_nothing, call_barrier, never_wrong},
};

/* ---- a call ---- */

static double agree_on_start_s(void)
{
    double start_s = 0;
    NATIVE(Barrier)(MPI_COMM_WORLD);
    if (rank == 0)
        start_s = now_s() + 0.03;
    NATIVE(Bcast)(&start_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    struct timespec at = {.tv_sec = (time_t)start_s,
                          .tv_nsec = (long)((start_s - (double)(time_t)start_s) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    return start_s;
}

static double call_s(const struct operation *o, struct data *d, int round, int native)
{
    double end_s, last_s;
    memset(d->out, 0, (size_t)ranks * d->words * sizeof *d->out);
    o->fill(d, round);
    double start_s = agree_on_start_s();
    o->call(d, native);
    end_s = now_s();
    NATIVE(Allreduce)(&end_s, &last_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (o->is_wrong(d, round)) {
        fprintf(stderr, "rank %d: wrong result of %s of %zu words a rank\n", rank,
                o->name, d->words);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return last_s - start_s;
}

/* ---- a size ---- */

static void print_times(const char *name, const double *times, int n)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++)
        printf("%s%.6f", i ? "," : "", times[i]);
    printf("]");
}

static double measure(const struct operation *o, struct data *d, size_t bytes, int calls,
                      double budget_s)
{
    double times[CALLS_MAX], native[CALLS_MAX], spent_s = 0, longest_s = 0;
    int n = 0;
    call_s(o, d, 99, 1); /* the way of the library is known before that of plans */
    for (; n < calls && (n < CALLS_MIN || spent_s < budget_s); n++) {
        times[n] = call_s(o, d, 2 * n, 0);
        native[n] = call_s(o, d, 2 * n + 1, 1);
        spent_s += times[n] + native[n];
        longest_s = native[n] > longest_s ? native[n] : longest_s;
    }
    if (rank == 0) {
        printf("{\"op\":\"%s\",\"bytes\":%zu,\"of_rank\":%zu", o->name, bytes,
               d->words * sizeof *d->in);
        print_times("calls", times, n);
        print_times("native", native, n);
        printf("}\n");
        fflush(stdout);
    }
    return longest_s;
}

static void measure_sizes(const struct operation *o, int argc, char **argv)
{
    double longest_s = 0, before = 0;
    for (int i = 5; i < argc; i++) {
        int without = o->has_parts == WITHOUT;
        size_t bytes = without ? 0 : strtoul(argv[i], NULL, 10);
        struct data d = {.words = (o->has_parts ? bytes / (size_t)ranks : bytes) / 4};
        if (without && i > 5)
            break;
        if (before > 0 && longest_s * (double)bytes / before > atof(argv[3]))
            break;
        d.words += d.words == 0 && !without;
        d.in = malloc((size_t)ranks * d.words * sizeof *d.in + 1);
        d.out = malloc((size_t)ranks * d.words * sizeof *d.out + 1);
        if (!d.in || !d.out)
            PMPI_Abort(MPI_COMM_WORLD, 1);
        int calls = atoi(argv[1]) < CALLS_MAX ? atoi(argv[1]) : CALLS_MAX;
        longest_s = measure(o, &d, bytes, calls, atof(argv[2]));
        before = (double)bytes;
        free(d.in);
        free(d.out);
    }
}

/* All connections, so that none is made in what is timed. */
static void connect_all(void)
{
    enum { BYTES = 4096 };
    size_t all = (size_t)ranks * BYTES;
    char *in = calloc(all, 1), *out = calloc(all, 1);
    if (!in || !out)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 2; i++)
        NATIVE(Alltoall)(in, BYTES, MPI_BYTE, out, BYTES, MPI_BYTE, MPI_COMM_WORLD);
    free(in);
    free(out);
}

static int is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > RANKS_MAX) {
        if (rank == 0)
            fprintf(stderr, "calls: at most %d ranks\n", RANKS_MAX);
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc < 6) {
        if (rank == 0)
            fprintf(stderr, "usage: calls CALLS BUDGET_S LONGEST_S OPERATIONS SIZE...\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    connect_all();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (is_listed(argv[4], operations[i].name))
            measure_sizes(&operations[i], argc, argv);
    MPI_Finalize();
    return 0;
}
