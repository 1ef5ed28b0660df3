/* The simulations of the multicast paper: all heuristics on Tiers platforms, period in
 * parts of the scatter's and of the lower bound, as the share of targets grows.
 *
 *   bench_multicast [--json] [--platforms N] [--threads N] [PRESET...]
 *   bench_multicast --growth
 *
 * Platforms are Tiers presets (30b and 65b unless named), source and targets LAN nodes
 * drawn at random, the targets of a smaller share among those of a larger one. Every
 * platform is planned for at shares of 10% to 100%. Means over the platforms; times are
 * processor seconds of one core. --growth: those of the bound, and of a plan for 64 MB,
 * to every fifth host of larger Tiers platforms. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "bound/op_bound.h"
#include "study/multicast.h"

enum {
    ALGOS = ESPI_MULTICAST_ALGOS,
    SHARES = ESPI_MULTICAST_SHARES,
    MAX_PRESETS = 8,
    MAX_THREADS = 64
};

struct bench {
    const char *presets[MAX_PRESETS];
    int n_presets, n_platforms, n_threads, json;
    struct espi_multicast_trial *results; /* preset x share x platform */
    atomic_int next, done;
};

static void run_one(struct bench *b, int item)
{
    int platform = item % b->n_platforms, share = item / b->n_platforms % SHARES;
    struct esp_err err = {.text = ""};
    bench_stop_if(espi_multicast_try(b->presets[item / b->n_platforms / SHARES], platform,
                                     share, &b->results[item], &err),
                  &err);
}

static int count_items(const struct bench *b)
{
    return b->n_presets * SHARES * b->n_platforms;
}

static void *work(void *arg)
{
    struct bench *b = arg;
    int item, count = count_items(b);
    while ((item = atomic_fetch_add(&b->next, 1)) < count) {
        run_one(b, item);
        int done = atomic_fetch_add(&b->done, 1) + 1;
        bench_progress(done, count);
    }
    return NULL;
}

static void run_all(struct bench *b)
{
    pthread_t threads[MAX_THREADS];
    int n = 0;
    while (n < b->n_threads - 1 && !pthread_create(&threads[n], NULL, work, b))
        n++;
    work(b);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

struct mean {
    double to_bound, to_scatter, plan_s, most_s, trees;
};

static struct mean mean_of(const struct bench *b, int preset, int share, int algo)
{
    struct mean m = {0};
    for (int i = 0; i < b->n_platforms; i++) {
        const struct espi_multicast_trial *r =
            &b->results[(preset * SHARES + share) * b->n_platforms + i];
        m.to_bound += r->to_bound[algo] / b->n_platforms;
        m.to_scatter += r->to_scatter[algo] / b->n_platforms;
        m.plan_s += r->plan_s[algo] / b->n_platforms;
        m.trees += (double)r->trees[algo] / b->n_platforms;
        m.most_s = r->plan_s[algo] > m.most_s ? r->plan_s[algo] : m.most_s;
    }
    return m;
}

/* On how many platforms the last of the algorithms was worse than the best of the others;
 * a millionth is rounding. */
static int count_worse(const struct bench *b)
{
    int count = 0;
    for (int item = 0; item < count_items(b); item++) {
        const struct espi_multicast_trial *r = &b->results[item];
        double best = r->to_bound[0];
        for (int i = 1; i < ALGOS - 1; i++)
            best = r->to_bound[i] < best ? r->to_bound[i] : best;
        count += r->to_bound[ALGOS - 1] > best * (1 + 1e-6);
    }
    return count;
}

static void print_table(const struct bench *b, int preset, const char *title, int what)
{
    printf("\nTiers %s, %s\n%-20s", b->presets[preset], title, "targets");
    for (int s = 0; s < SHARES; s++)
        printf(" %7.0f%%", espi_multicast_shares[s]);
    putchar('\n');
    for (int i = 0; i < ALGOS; i++) {
        printf("%-20s", espi_multicast_algos[i]);
        for (int s = 0; s < SHARES; s++) {
            struct mean m = mean_of(b, preset, s, i);
            double values[] = {m.to_bound, m.to_scatter, 1e3 * m.most_s};
            printf(what == 2 ? " %8.1f" : " %8.3f", values[what]);
        }
        putchar('\n');
    }
}

static void print_json(const struct bench *b)
{
    int first = 1;
    putchar('[');
    for (int p = 0; p < b->n_presets; p++)
        for (int s = 0; s < SHARES; s++)
            for (int i = 0; i < ALGOS; i++) {
                struct mean m = mean_of(b, p, s, i);
                printf("%s\n  {\"preset\": \"%s\", \"targets_percent\": %.0f, \"algo\": "
                       "\"%s\", \"platforms\": %d, \"period_to_bound\": %.6f, "
                       "\"period_to_scatter\": %.6f, \"plan_s\": %.6f, "
                       "\"plan_max_s\": %.6f, \"trees\": %.2f}",
                       first ? "" : ",", b->presets[p], espi_multicast_shares[s],
                       espi_multicast_algos[i], b->n_platforms, m.to_bound, m.to_scatter,
                       m.plan_s, m.most_s, m.trees);
                first = 0;
            }
    puts("\n]");
}

/* ---- larger networks ---- */

static void grow_to(int nodes)
{
    struct esp_tiers_options o;
    struct esp_platform *p = NULL;
    struct espi_op_bound bound;
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    int n = 0;
    esp_tiers_options_defaults(&o);
    o.nodes = nodes;
    bench_stop_if(esp_generate_tiers(&o, &p, &err), &err);
    int *targets = calloc((size_t)nodes + 1, sizeof *targets);
    for (int v = 5; targets && v < esp_platform_node_count(p) && n < nodes; v += 5)
        targets[n++] = v;
    esp_request_init(&request, 0);
    request.op = ESP_OP_MULTICAST;
    request.n_targets = n;
    request.targets = targets;
    request.size_bytes = 64e6;
    struct espi_op_bound_task task = {.p = p,
                                      .op = ESP_OP_MULTICAST,
                                      .n_targets = n,
                                      .targets = targets,
                                      .slice_bytes = 65024};
    double start_s = espi_cpu_s();
    bench_stop_if(espi_op_bound(&task, &bound, &err), &err);
    double bound_s = espi_cpu_s() - start_s;
    start_s = espi_cpu_s();
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    printf("%6d hosts %6d targets  %8.3f s  %8.2f s  %.4f of the bound\n",
           esp_platform_node_count(p), n, bound_s, espi_cpu_s() - start_s,
           plan->throughput_Bps / bound.throughput_Bps);
    fflush(stdout);
    esp_plan_free(plan);
    free(targets);
    esp_platform_free(p);
}

static int show_growth(void)
{
    static const int nodes[] = {100, 300, 1000, 3000};
    puts("growth: processor seconds of the bound and of a plan");
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        grow_to(nodes[i]);
    return 0;
}

static void parse(struct bench *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int *number = !strcmp(argv[i], "--platforms") ? &b->n_platforms
                      : !strcmp(argv[i], "--threads") ? &b->n_threads
                                                      : NULL;
        if (number && i + 1 < argc && (*number = atoi(argv[i + 1])) > 0)
            i++;
        else if (!strcmp(argv[i], "--json"))
            b->json = 1;
        else if (argv[i][0] != '-' && b->n_presets < MAX_PRESETS)
            b->presets[b->n_presets++] = argv[i];
        else {
            fputs("usage: bench_multicast [--json] [--platforms N] [--threads N] "
                  "[PRESET...]\n       bench_multicast --growth\n",
                  stderr);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.n_platforms = 10, .n_threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    if (argc == 2 && !strcmp(argv[1], "--growth"))
        return show_growth();
    parse(&b, argc, argv);
    if (!b.n_presets) {
        b.presets[b.n_presets++] = "30b";
        b.presets[b.n_presets++] = "65b";
    }
    b.n_threads = b.n_threads > MAX_THREADS ? MAX_THREADS : b.n_threads;
    b.results = calloc((size_t)count_items(&b), sizeof *b.results);
    if (!b.results)
        bench_stop("out of memory");
    run_all(&b);
    if (b.json)
        print_json(&b);
    for (int p = 0; p < b.n_presets && !b.json; p++) {
        print_table(&b, p, "period / lower bound, mean", 0);
        print_table(&b, p, "period / scatter, mean", 1);
        print_table(&b, p, "planning, longest (ms)", 2);
    }
    fprintf(b.json ? stderr : stdout,
            "\n%s was worse than the best other on %d of %d platforms\n",
            espi_multicast_algos[ALGOS - 1], count_worse(&b), count_items(&b));
    free(b.results);
    return 0;
}
