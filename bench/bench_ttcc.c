/* Trees that survive wrong measurements: the experiment of K. Cha, D. Han, C. Yu, O.
 * Byeon, Two-tree collective communication in distributed heterogeneous systems (2002),
 * beside what they published, and beside `patient`.
 *   bench_ttcc [--json] [--runs N] [--threads N]
 *
 * A message of 1 MB on complete networks, latencies uniform in 10 us .. 1 ms, bandwidths
 * uniform in 10 kB/s .. 200 MB/s; trees are planned from times with errors and raced with
 * the true ones. Degradation is the mean time over the mean time of ECEF with no errors,
 * minus 1.
 *
 * What the paper leaves open, and what is chosen here: the error multiplies the time of
 * each link by |1 + sigma N(0,1)| (fold), each direction for itself; the pause alpha is a
 * fraction f of the mean real time of the links of the first tree; a new sender starts
 * from the beginning; receivers prefer the one that is done first. The second table shows
 * what other readings give. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "algo/fault/feeders.h"
#include "base/rng.h"
#include "sim/race.h"

enum { MAX_NODES = 100, MAX_TREES = 4, BLOCK = 10, N_SIGMAS = 7, THREADS_MAX = 64 };

static const double sigmas[N_SIGMAS] = {0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5};

/* ---- what competes ---- */

static const struct method {
    const char *name;
    int trees;
    double alpha;    /* part of the mean real time of the first tree's links */
    double patience; /* 0: none */
} methods[] = {
    {"ecef", 1, 0, 0},          {"ttcc f=0", 2, 0, 0},    {"ttcc f=.1", 2, 0.1, 0},
    {"ttcc f=.25", 2, 0.25, 0}, {"ttcc f=.5", 2, 0.5, 0}, {"ttcc f=1", 2, 1, 0},
    {"3 trees f=0", 3, 0, 0},   {"4 trees f=0", 4, 0, 0}, {"4 trees f=.25", 4, 0.25, 0},
    {"patient", 4, 0, 1.2},
};

enum {
    ECEF,
    TTCC_0,
    TTCC_25 = 3,
    TTCC_1 = 5,
    PATIENT = 9,
    N_METHODS = sizeof methods / sizeof *methods
};

/* ---- readings of the paper ---- */

enum error { FOLD, CLIP_01, CLIP_1, ON_BANDWIDTH };

static const struct reading {
    const char *name;
    enum error error;
    int log_bandwidth, symmetric;
} readings[] = {
    {"fold", FOLD, 0, 0},
    {"fold, symmetric", FOLD, 0, 1},
    {"clip at .01", CLIP_01, 0, 0},
    {"clip at .1", CLIP_1, 0, 0},
    {"clip at .1, symmetric", CLIP_1, 0, 1},
    {"error on bandwidth", ON_BANDWIDTH, 0, 0},
    {"bandwidths log-uniform", FOLD, 1, 0},
};

enum { N_READINGS = sizeof readings / sizeof *readings };

/* ---- one network ---- */

struct lab {
    struct espi_arena arena;
    int n;
    int *tail, *head;
    struct espi_digraph g;
    struct espi_feeders feeders;
    struct espi_race race;
    double *latency_s, *transfer_s, *real_s, *believed_s;
    int *chosen;
    struct espi_send *sends;
};

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "bench_ttcc: out of memory\n");
        exit(1);
    }
    return p;
}

static void lab_init(struct lab *l, int n)
{
    int m = n * (n - 1);
    struct espi_arena *a = &l->arena;
    espi_arena_init(a);
    l->n = n;
    l->tail = need(ESPI_ARENA_NEW(a, int, m));
    l->head = need(ESPI_ARENA_NEW(a, int, m));
    double **arrays[] = {&l->latency_s, &l->transfer_s, &l->real_s, &l->believed_s};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = need(ESPI_ARENA_NEW(a, double, m));
    l->chosen = need(ESPI_ARENA_NEW(a, int, n));
    l->sends = need(ESPI_ARENA_NEW(a, struct espi_send, MAX_TREES * n));
    for (int e = 0; e < m; e++) {
        l->tail[e] = e / (n - 1);
        l->head[e] = e % (n - 1) + (e % (n - 1) >= l->tail[e]);
    }
    if (espi_digraph_init(&l->g, n, m, l->tail, l->head, a) ||
        espi_feeders_init(&l->feeders, &l->g, a) ||
        espi_race_init(&l->race, n, MAX_TREES * n, a))
        need(NULL);
}

/* The arc in the other direction. */
static int back(const struct lab *l, int e)
{
    int u = l->tail[e], v = l->head[e];
    return v * (l->n - 1) + u - (u > v);
}

static void draw_network(struct lab *l, const struct reading *reading, struct espi_rng *r)
{
    for (int e = 0; e < l->g.m; e++) {
        if (reading->symmetric && l->tail[e] > l->head[e]) {
            l->latency_s[e] = l->latency_s[back(l, e)];
            l->transfer_s[e] = l->transfer_s[back(l, e)];
        } else {
            l->latency_s[e] = espi_rng_range(r, 1e-5, 1e-3);
            l->transfer_s[e] =
                1e6 / (reading->log_bandwidth ? espi_rng_log_range(r, 1e4, 2e8)
                                              : espi_rng_range(r, 1e4, 2e8));
        }
        l->real_s[e] = l->latency_s[e] + l->transfer_s[e];
    }
}

static void measure_badly(struct lab *l, const struct reading *reading, double sigma,
                          struct espi_rng *r)
{
    for (int e = 0; e < l->g.m; e++) {
        double x = 1 + sigma * espi_rng_gaussian(r, 0, 1);
        switch (reading->error) {
        case FOLD:
            l->believed_s[e] = l->real_s[e] * fmax(1e-6, fabs(x));
            break;
        case CLIP_01:
            l->believed_s[e] = l->real_s[e] * fmax(0.01, x);
            break;
        case CLIP_1:
            l->believed_s[e] = l->real_s[e] * fmax(0.1, x);
            break;
        case ON_BANDWIDTH:
            l->believed_s[e] = l->latency_s[e] + l->transfer_s[e] / fmax(1e-6, fabs(x));
            break;
        }
        if (reading->symmetric && l->tail[e] > l->head[e])
            l->believed_s[e] = l->believed_s[back(l, e)];
    }
}

/* Plans up to MAX_TREES trees; send_end[t] is where the sends of tree t end. */
static void plan_trees(struct lab *l, int *send_end)
{
    struct espi_feeders *f = &l->feeders;
    int at = 0;
    espi_feeders_start(f, 0, l->believed_s, l->believed_s);
    for (int t = 0; t < MAX_TREES; t++) {
        int count =
            t ? espi_feeders_next(f, 0, l->chosen) : espi_feeders_first(f, l->chosen);
        espi_feeders_use(f, l->chosen, count);
        for (int i = 0; i < count; i++, at++) {
            int e = l->chosen[i];
            l->sends[at] = (struct espi_send){l->tail[e], l->head[e], t, l->believed_s[e],
                                              l->real_s[e]};
        }
        send_end[t] = at;
    }
}

static double race(struct lab *l, const struct method *method, const int *send_end)
{
    double sum_s = 0;
    for (int i = 0; i < send_end[0]; i++)
        sum_s += l->sends[i].real_s;
    struct espi_race_rules rules = {.alpha_s = method->alpha * sum_s / send_end[0],
                                    .patience = method->patience,
                                    .timeout = 3};
    espi_race_run(&l->race, l->n, 0, l->sends, send_end[method->trees - 1], &rules);
    return espi_race_makespan_s(&l->race);
}

static void run_all(struct lab *l, double *time_s)
{
    int send_end[MAX_TREES];
    plan_trees(l, send_end);
    for (int k = 0; k < N_METHODS; k++)
        time_s[k] = race(l, &methods[k], send_end);
}

/* ---- the experiment: blocks of runs, dealt to threads ---- */

enum { N_SIZES = 10, N_SERIES = N_SIZES + N_READINGS - 1 };

/* Series 0..9: 10 to 100 nodes with the first reading; then the other readings. */
struct experiment {
    int runs;
    double *time_s; /* [series][run][sigma][method] */
    atomic_int next;
    int blocks; /* of a series */
};

static struct experiment x;

static int series_nodes(int series)
{
    return series < N_SIZES ? 10 * (series + 1) : MAX_NODES;
}

static const struct reading *series_reading(int series)
{
    return &readings[series < N_SIZES ? 0 : series - N_SIZES + 1];
}

static double *cell(int series, int run)
{
    return x.time_s +
           ((size_t)series * (size_t)x.runs + (size_t)run) * N_SIGMAS * N_METHODS;
}

static void run_block(struct lab *l, int series, int first)
{
    for (int run = first; run < first + BLOCK && run < x.runs; run++) {
        struct espi_rng r;
        espi_rng_seed(&r, (uint64_t)series * 1000003 + (uint64_t)run + 1);
        draw_network(l, series_reading(series), &r);
        for (int s = 0; s < N_SIGMAS; s++) {
            measure_badly(l, series_reading(series), sigmas[s], &r);
            run_all(l, cell(series, run) + s * N_METHODS);
        }
    }
}

/* Large networks first, so that the threads end together. */
static void *work(void *arg)
{
    (void)arg;
    struct lab *labs = need(calloc(N_SIZES, sizeof *labs));
    for (int i = 0; i < N_SIZES; i++)
        lab_init(&labs[i], 10 * (i + 1));
    for (;;) {
        int k = atomic_fetch_add(&x.next, 1);
        if (k >= N_SERIES * x.blocks)
            break;
        int series = N_SERIES - 1 - k / x.blocks;
        run_block(&labs[series_nodes(series) / 10 - 1], series, k % x.blocks * BLOCK);
    }
    for (int i = 0; i < N_SIZES; i++)
        espi_arena_done(&labs[i].arena);
    free(labs);
    return NULL;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_experiment(int threads)
{
    pthread_t id[THREADS_MAX];
    int all = N_SERIES * x.blocks, shown = isatty(2);
    for (int t = 0; t < threads; t++)
        if (pthread_create(&id[t], NULL, work, NULL)) {
            fprintf(stderr, "bench_ttcc: cannot start a thread\n");
            exit(1);
        }
    while (shown && atomic_load(&x.next) < all) {
        fprintf(stderr, "\r%3d%%", 100 * atomic_load(&x.next) / all);
        usleep(200000);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(id[t], NULL);
    if (shown)
        fprintf(stderr, "\r    \r");
}

/* ---- tables ---- */

static double mean_s(int series, int sigma, int method)
{
    double sum = 0;
    for (int run = 0; run < x.runs; run++)
        sum += cell(series, run)[sigma * N_METHODS + method];
    return sum / x.runs;
}

/* In percent of ECEF without errors, minus 100. */
static double degradation(int series, int sigma, int method)
{
    return 100 * (mean_s(series, sigma, method) / mean_s(series, 0, ECEF) - 1);
}

/* Published for 100 nodes; NAN: not given. The ranges of the abstract are taken for the
 * ends of the curves. */
static const double published_ecef[N_SIGMAS] = {0, NAN, NAN, NAN, 55, 226, 485};
static const double published_ttcc[N_SIGMAS] = {19, NAN, NAN, NAN, 49, 76, 104};

static double misfit(int series, int ttcc)
{
    double sum = 0;
    int n = 0;
    for (int s = 0; s < N_SIGMAS; s++)
        if (!isnan(published_ecef[s])) {
            sum += fabs(log((100 + degradation(series, s, ECEF)) /
                            (100 + published_ecef[s]))) +
                   fabs(log((100 + degradation(series, s, ttcc)) /
                            (100 + published_ttcc[s])));
            n += 2;
        }
    return 100 * (exp(sum / n) - 1);
}

static void print_head(const char *what)
{
    printf("\n%s\n%-24s", what, "sigma");
    for (int s = 0; s < N_SIGMAS; s++)
        printf("%9.2f", sigmas[s]);
    printf("\n");
}

static void print_published(const char *name, const double *value)
{
    printf("%-24s", name);
    for (int s = 0; s < N_SIGMAS; s++)
        if (isnan(value[s]))
            printf("%9s", "");
        else
            printf("%8.0f%%", value[s]);
    printf("\n");
}

static void print_degradation(int series, const char *name, int method)
{
    printf("%-24s", name);
    for (int s = 0; s < N_SIGMAS; s++)
        printf("%8.1f%%", degradation(series, s, method));
    printf("\n");
}

static void print_readings(void)
{
    print_head("Other readings of the paper, 100 nodes; misfit: mean distance from the "
               "published times");
    for (int i = 0; i < N_READINGS; i++) {
        int series = i ? N_SIZES + i - 1 : N_SIZES - 1, best = TTCC_0;
        char name[64];
        for (int k = TTCC_0; k <= TTCC_1; k++)
            if (misfit(series, k) < misfit(series, best))
                best = k;
        snprintf(name, sizeof name, "%s: ecef", readings[i].name);
        print_degradation(series, name, ECEF);
        snprintf(name, sizeof name, "  best %s", methods[best].name);
        print_degradation(series, name, best);
        snprintf(name, sizeof name, "  patient");
        print_degradation(series, name, PATIENT);
        printf("  misfit %.0f%%\n", misfit(series, best));
    }
}

static void print_sizes(void)
{
    static const int shown[] = {ECEF, TTCC_0, TTCC_25, TTCC_1, PATIENT};
    static const int at[] = {0, 4, 5};
    printf("\nMean time in ms by number of nodes (fold)\n%-8s", "nodes");
    for (size_t a = 0; a < 3; a++)
        for (size_t k = 0; k < 5; k++)
            printf("%11s", methods[shown[k]].name);
    printf("\n%-8s", "");
    for (size_t a = 0; a < 3; a++)
        for (size_t k = 0; k < 5; k++)
            printf("   sigma %.1f", sigmas[at[a]]);
    printf("\n");
    for (int series = 0; series < N_SIZES; series++) {
        printf("%-8d", series_nodes(series));
        for (size_t a = 0; a < 3; a++)
            for (size_t k = 0; k < 5; k++)
                printf("%11.2f", 1e3 * mean_s(series, at[a], shown[k]));
        printf("\n");
    }
}

static void print_figure_1(void)
{
    int series = 6, sigma = 3;
    double one = mean_s(series, sigma, ECEF);
    printf("\nFigure 1 (70 nodes, sigma 0.25, f=0): 1 tree %.2f ms", 1e3 * one);
    static const int with[] = {TTCC_0, 6, 7};
    for (int k = 0; k < 3; k++)
        printf(", %d trees -%.1f%%", k + 2,
               100 * (1 - mean_s(series, sigma, with[k]) / one));
    printf("\n");
}

static void print_tables(double took_s)
{
    print_head("Degradation, 100 nodes, fold (Figure 11)");
    print_published("published ecef", published_ecef);
    print_published("published ttcc", published_ttcc);
    for (int k = 0; k < N_METHODS; k++)
        print_degradation(N_SIZES - 1, methods[k].name, k);
    print_readings();
    print_sizes();
    print_figure_1();
    printf("\n%d runs a cell, %.1f s\n", x.runs, took_s);
}

static void print_json(double took_s)
{
    printf("{\"runs\": %d, \"seconds\": %.2f, \"series\": [", x.runs, took_s);
    for (int series = 0; series < N_SERIES; series++) {
        printf("%s\n {\"nodes\": %d, \"reading\": \"%s\", \"methods\": [",
               series ? "," : "", series_nodes(series), series_reading(series)->name);
        for (int k = 0; k < N_METHODS; k++) {
            printf("%s\n  {\"method\": \"%s\", \"times\": [", k ? "," : "",
                   methods[k].name);
            for (int s = 0; s < N_SIGMAS; s++)
                printf("%s{\"sigma\": %g, \"mean_s\": %.9g, \"degradation\": %.6g}",
                       s ? ", " : "", sigmas[s], mean_s(series, s, k),
                       degradation(series, s, k) / 100);
            printf("]}");
        }
        printf("]}");
    }
    printf("\n]}\n");
}

int main(int argc, char **argv)
{
    int json = 0, threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    x.runs = 1000;
    for (int i = 1; i < argc; i++) {
        int more = i + 1 < argc;
        if (!strcmp(argv[i], "--json"))
            json = 1;
        else if (more && !strcmp(argv[i], "--runs"))
            x.runs = atoi(argv[++i]);
        else if (more && !strcmp(argv[i], "--threads"))
            threads = atoi(argv[++i]);
        else
            x.runs = 0;
    }
    if (x.runs < 1 || x.runs > 1000000) {
        fprintf(stderr, "usage: bench_ttcc [--json] [--runs N] [--threads N]\n");
        return 2;
    }
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    x.blocks = (x.runs + BLOCK - 1) / BLOCK;
    x.time_s = need(calloc((size_t)N_SERIES * (size_t)x.runs * N_SIGMAS * N_METHODS,
                           sizeof *x.time_s));
    double start_s = now_s();
    run_experiment(threads);
    double took_s = now_s() - start_s;
    if (json)
        print_json(took_s);
    else
        print_tables(took_s);
    free(x.time_s);
    return 0;
}
