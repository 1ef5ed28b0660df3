/* How long broadcasts take on a testbed, whoever does them. Run by bench/grid.
 *
 * usage: grid LABEL[+NATIVE] LIMIT_S SIZE... (bytes, growing)
 * Rank 0 prints a line of JSON for each size. All ranks start at an agreed moment of the
 * clock, which hosts of a testbed share; a broadcast has ended when the last rank has its
 * message, of which every byte is checked. Sizes are passed over when they would take
 * longer than LIMIT_S, judged by those before. With NATIVE each broadcast is followed by
 * one of the MPI library's own, which is reported under that label. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "mpi/native_call.h"

#define REPEATS_MAX 15
#define ENOUGH_S    4.0  /* no further repeats after so much time with a size */
#define LONG_S      30.0 /* none at all when the first took so long */
/* MPI libraries by themselves do not plan: their first broadcast is like the others. */
#define NATIVE_LONG_S 4.0

static int rank, ranks;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the machine's processors ---- */

struct load {
    double busy_s, own_s; /* of all processes, of the ranks */
};

static double machine_busy_s(void)
{
    double user, nice, kernel, idle, wait, irq, soft;
    FILE *in = fopen("/proc/stat", "r");
    int n = in ? fscanf(in, "cpu %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &kernel,
                        &idle, &wait, &irq, &soft)
               : 0;

    if (in)
        fclose(in);
    return n == 7 ? (user + nice + kernel + irq + soft) / 100 : 0;
}

static struct load load_now(void)
{
    struct rusage u;
    double own, sum = 0;

    getrusage(RUSAGE_SELF, &u);
    own = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
          1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    NATIVE(Allreduce)(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (struct load){machine_busy_s(), sum};
}

/* ---- one broadcast ---- */

/* Words that tell place and round; the bytes behind the last whole word are not looked
 * at. Cheap, for all ranks do it on the same processors. */
static uint64_t expected(size_t i, int round)
{
    return (i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)round;
}

static void fill(void *buffer, size_t bytes, int round)
{
    uint64_t *words = buffer;

    if (rank != 0)
        memset(buffer, 0, bytes);
    for (size_t i = 0; i < bytes / 8 && rank == 0; i++)
        words[i] = expected(i, round);
}

static void check(const void *buffer, size_t bytes, int round)
{
    const uint64_t *words = buffer;
    uint64_t wrong = 0;

    for (size_t i = 0; i < bytes / 8; i++)
        wrong |= words[i] ^ expected(i, round);
    if (wrong) {
        fprintf(stderr, "rank %d: %zu bytes arrived wrong\n", rank, bytes);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static double broadcast_s(void *buffer, size_t bytes, int round, int native)
{
    double start = 0, end, last;

    fill(buffer, bytes, round);
    NATIVE(Barrier)(MPI_COMM_WORLD);
    if (rank == 0)
        start = now_s() + 0.15;
    NATIVE(Bcast)(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    struct timespec at = {.tv_sec = (time_t)start,
                          .tv_nsec = (long)((start - (double)(time_t)start) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    if (native)
        NATIVE(Bcast)(buffer, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(buffer, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    end = now_s();
    NATIVE(Allreduce)(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    check(buffer, bytes, round); /* when nobody needs the processors any more */
    return last - start;
}

/* ---- one size ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The times of one contestant with one size. */
struct course {
    double times[REPEATS_MAX], first, sum;
    int n;
};

static void report(const char *label, size_t bytes, struct course *c, double busy,
                   double own)
{
    if (c->n == 0)
        c->times[c->n++] = c->first;
    qsort(c->times, (size_t)c->n, sizeof *c->times, compare);
    if (rank == 0)
        printf("{\"label\":\"%s\",\"bytes\":%zu,\"median_s\":%.6f,\"min_s\":%.6f,"
               "\"max_s\":%.6f,\"first_s\":%.6f,\"repeats\":%d,\"busy\":%.3f,"
               "\"own\":%.3f}\n",
               label, bytes, c->times[c->n / 2], c->times[0], c->times[c->n - 1],
               c->first, c->n, busy, own);
    fflush(stdout);
}

/* The median of the repeats. What comes first is told apart: connections are made, and
 * plans, for which on a cluster every rank has a processor of its own. It counts alone
 * when it took long. */
static double measure(const char *label, const char *native, void *buffer, size_t bytes)
{
    struct course course[2] = {{.n = 0}, {.n = 0}};
    int wanted = bytes <= 65536 ? REPEATS_MAX : 3, both = native != NULL;
    int plain = strncmp(label, "openmpi", 7) == 0 || strcmp(label, "mpich") == 0;
    double long_s = plain ? NATIVE_LONG_S : LONG_S;
    struct load before, after;

    before = load_now();
    double begin = now_s(), longest = 0;
    for (int i = 0; i <= both; i++) {
        course[i].first = broadcast_s(buffer, bytes, 99, i);
        longest = course[i].first > longest ? course[i].first : longest;
    }
    if (longest < long_s) {
        before = load_now();
        begin = now_s();
    }
    for (int n = 0; n < wanted && course[0].sum + course[1].sum < ENOUGH_S * (1 + both) &&
                    longest < long_s;
         n++)
        for (int i = 0; i <= both; i++) {
            double s = broadcast_s(buffer, bytes, 2 * n + i, i);
            course[i].sum += s; /* the same on all ranks */
            course[i].times[course[i].n++] = s;
        }
    double took = now_s() - begin;
    after = load_now();
    double busy = (after.busy_s - before.busy_s) / took;
    double own = (after.own_s - before.own_s) / took;
    report(label, bytes, &course[0], busy, own);
    if (both)
        report(native, bytes, &course[1], busy, own);
    return course[both].times[course[both].n / 2];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) {
        if (rank == 0)
            fprintf(stderr, "usage: grid LABEL[+NATIVE] LIMIT_S SIZE...\n");
        MPI_Finalize();
        return 2;
    }
    double limit_s = atof(argv[2]), last_s = 0;
    char *native = strchr(argv[1], '+');
    if (native)
        *native++ = '\0';
    size_t last_bytes = 1;
    for (int i = 3; i < argc; i++) {
        size_t bytes = (size_t)atoll(argv[i]);
        if (last_s * (double)bytes / (double)last_bytes > limit_s)
            break; /* the median is the same on all ranks */
        void *buffer = malloc(bytes > 65536 ? bytes : 65536);
        if (!buffer)
            PMPI_Abort(MPI_COMM_WORLD, 1);
        last_s = measure(argv[1], native, buffer, bytes);
        last_bytes = bytes;
        free(buffer);
    }
    MPI_Finalize();
    return 0;
}
