/* Annealing: what a budget buys, beside the greedy trees, refine and a bound; and how
 * many trees are weighed in a second. bench_anneal [--json] [PLATFORMS]      (platforms a
 * kind; 10 unless told otherwise) Figures are the finish of one message in one piece over
 * the bound, which is the later of the longest shortest path and of the optimal
 * throughput: 1 cannot always be reached. Times are processor seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/anneal/anneal.h"
#include "bench.h"
#include "graph/dijkstra.h"
#include "solve/packing.h"
#include "study/adaptive.h"

static const char *const plain[] = {"hierarchical",
                                    "binomial",
                                    "fnf",
                                    "ecef",
                                    "look-ahead",
                                    "mateescu",
                                    "refine:objective=makespan"};
static const int budgets[] = {20, 100, 500, 2000, 10000};
static const char *const annealers[] = {
    "driver-sa:objective=fill", "driver-sa:objective=fill,settings=paper",
    "clustered-sa:objective=fill", "clustered-sa:objective=fill,settings=paper"};

enum {
    N_PLAIN = sizeof plain / sizeof *plain,
    N_BUDGETS = sizeof budgets / sizeof *budgets,
    N_ANNEALERS = sizeof annealers / sizeof *annealers,
};

/* ---- platforms ---- */

static struct esp_platform *make_matrix(int nodes, uint64_t seed)
{
    struct esp_platform *p = NULL;
    struct esp_err err;
    bench_stop_if(espi_adapt_matrix(nodes, seed, 0, &p, &err), &err);
    return p;
}

static struct esp_platform *make_multi_port(int nodes, uint64_t seed)
{
    struct esp_platform *p = NULL;
    struct esp_err err;
    bench_stop_if(espi_adapt_matrix(nodes, seed, 1, &p, &err), &err);
    return p;
}

static struct esp_platform *make_sites(int nodes, uint64_t seed)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_sites_options_defaults(&o);
    bench_stop_if(esp_sites_options_preset(&o, "teragrid", &err), &err);
    o.hosts = nodes / (o.sites * o.clusters);
    o.spread = 2;
    o.seed = seed;
    bench_stop_if(esp_generate_sites(&o, &p, &err), &err);
    return p;
}

static const struct kind {
    const char *name;
    int nodes;
    struct esp_platform *(*make)(int nodes, uint64_t seed);
} kinds[] = {
    {"matrix 32, multi-port (the paper's)", 32, make_multi_port},
    {"matrix 64, multi-port", 64, make_multi_port},
    {"matrix 64, one-port", 64, make_matrix},
    {"sites 64, shared cables", 64, make_sites},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* ---- measuring ---- */

struct mean {
    double ratio, cpu_s;
};

struct result {
    int platforms;
    struct mean plain[N_PLAIN], annealed[N_ANNEALERS][N_BUDGETS];
    double weighed_per_s[3];
};

#define SIZE_BYTES 1e6

static double bound_s(const struct esp_platform *p)
{
    static const struct espi_packing_options any;
    struct espi_arena arena;
    struct espi_view v;
    struct espi_packing packing;
    struct espi_dijkstra work;
    struct esp_err err;
    double longest_s = 0;
    int root = 0;
    espi_arena_init(&arena);
    bench_stop_if(espi_view_init(&v, p, SIZE_BYTES, &arena, &err), &err);
    bench_stop_if(espi_packing_solve(&v, 0, &any, &arena, &packing, &err), &err);
    double *distance_s = ESPI_ARENA_NEW(&arena, double, v.g.n);
    int *last = ESPI_ARENA_NEW(&arena, int, v.g.n);
    struct espi_dijkstra_query query = {v.lag_s, &root, 1, NULL};
    if (!distance_s || !last || espi_dijkstra_init(&work, v.g.n, &arena))
        exit(1);
    espi_dijkstra(&work, &v.g, &query, distance_s, last);
    for (int h = 0; h < v.g.n; h++)
        longest_s = fmax(longest_s, distance_s[h]);
    double throughput_s = 1 / packing.bound;
    espi_arena_done(&arena);
    return fmax(longest_s, throughput_s);
}

static struct mean plan_with(const struct esp_platform *p, const char *algo,
                             double least_s)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.algo = algo;
    request.size_bytes = SIZE_BYTES;
    request.slice_bytes = 0;
    double began_s = espi_cpu_s();
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    struct mean m = {plan->makespan_s / least_s, espi_cpu_s() - began_s};
    esp_plan_free(plan);
    return m;
}

static void add(struct mean *sum, struct mean m, int count)
{
    sum->ratio += m.ratio / count;
    sum->cpu_s += m.cpu_s / count;
}

/* Trees weighed in a second of annealing, without the good list and the start. */
static double speed(const struct esp_platform *p, enum espi_anneal_objective objective)
{
    struct espi_arena arena;
    struct espi_view v;
    struct espi_anneal_net net;
    struct espi_annealer a;
    struct espi_anneal_budget budget;
    struct esp_err err;
    int hosts[1024];
    espi_arena_init(&arena);
    bench_stop_if(espi_view_init(&v, p, SIZE_BYTES / 16, &arena, &err), &err);
    for (int h = 0; h < v.g.n; h++)
        hosts[h] = h;
    espi_anneal_budget_start(&budget, 1e6, 0);
    if (espi_anneal_net_init(&net, &v, v.g.n, hosts, 0, &arena))
        exit(1);
    net.objective = objective;
    net.count = 16;
    if (espi_annealer_init(&a, &net, &espi_cooling_own, 1, &budget, &arena))
        exit(1);
    double began_s = espi_cpu_s();
    while (budget.evaluations < budget.limit)
        if (espi_anneal_tree_draw(&a.tree, 0, &a.rng) || espi_anneal_basic(&a, NULL))
            exit(1);
    double rate = budget.evaluations / (espi_cpu_s() - began_s);
    espi_arena_done(&arena);
    return rate;
}

static void measure_one(const struct esp_platform *p, struct result *r)
{
    double least_s = bound_s(p);
    for (int i = 0; i < N_PLAIN; i++)
        add(&r->plain[i], plan_with(p, plain[i], least_s), r->platforms);
    for (int i = 0; i < N_ANNEALERS; i++)
        for (int k = 0; k < N_BUDGETS; k++) {
            char algo[96];
            snprintf(algo, sizeof algo, "%s%cevaluations=%d", annealers[i],
                     strchr(annealers[i], ':') ? ',' : ':', budgets[k]);
            add(&r->annealed[i][k], plan_with(p, algo, least_s), r->platforms);
        }
}

static struct result measure(const struct kind *kind, int platforms)
{
    struct result r = {.platforms = platforms};
    for (int i = 0; i < platforms; i++) {
        struct esp_platform *p = kind->make(kind->nodes, (uint64_t)i + 1);
        measure_one(p, &r);
        for (int k = 0; k < 3 && i == 0; k++)
            r.weighed_per_s[k] = speed(p, (enum espi_anneal_objective)k);
        esp_platform_free(p);
    }
    return r;
}

/* ---- printing ---- */

static void print_text(const struct kind *kind, const struct result *r)
{
    printf("%s, %d platforms: finish over the bound, and time\n", kind->name,
           r->platforms);
    for (int i = 0; i < N_PLAIN; i++)
        printf("  %-42s %8.4f %9.2f ms\n", plain[i], r->plain[i].ratio,
               1e3 * r->plain[i].cpu_s);
    printf("  %-42s", "evaluations a host");
    for (int k = 0; k < N_BUDGETS; k++)
        printf(" %20d", budgets[k]);
    putchar('\n');
    for (int i = 0; i < N_ANNEALERS; i++) {
        printf("  %-42s", annealers[i]);
        for (int k = 0; k < N_BUDGETS; k++)
            printf(" %8.4f %8.2f ms", r->annealed[i][k].ratio,
                   1e3 * r->annealed[i][k].cpu_s);
        putchar('\n');
    }
    printf("  trees a second, in millions: %.2f finish, %.2f fill, %.2f throughput\n\n",
           1e-6 * r->weighed_per_s[0], 1e-6 * r->weighed_per_s[1],
           1e-6 * r->weighed_per_s[2]);
}

static void print_json(const struct kind *kind, const struct result *r, int last)
{
    printf("  {\"platforms\": \"%s\", \"count\": %d, \"plain\": [", kind->name,
           r->platforms);
    for (int i = 0; i < N_PLAIN; i++)
        printf("%s{\"algo\": \"%s\", \"ratio\": %.4f, \"cpu_s\": %.5f}", i ? ", " : "",
               plain[i], r->plain[i].ratio, r->plain[i].cpu_s);
    printf("], \"annealed\": [");
    for (int i = 0; i < N_ANNEALERS; i++)
        for (int k = 0; k < N_BUDGETS; k++)
            printf("%s{\"algo\": \"%s\", \"evaluations\": %d, \"ratio\": %.4f, "
                   "\"cpu_s\": %.5f}",
                   i || k ? ", " : "", annealers[i], budgets[k], r->annealed[i][k].ratio,
                   r->annealed[i][k].cpu_s);
    printf("], \"finish_per_s\": %.0f, \"fill_per_s\": %.0f, \"throughput_per_s\": "
           "%.0f}%s\n",
           r->weighed_per_s[0], r->weighed_per_s[1], r->weighed_per_s[2],
           last ? "" : ",");
}

int main(int argc, char **argv)
{
    int json, platforms = bench_platforms(argc, argv, 10, &json);
    if (json)
        puts("[");
    for (int i = 0; i < N_KINDS; i++) {
        struct result r = measure(&kinds[i], platforms);
        if (json)
            print_json(&kinds[i], &r, i == N_KINDS - 1);
        else
            print_text(&kinds[i], &r);
        fflush(stdout);
    }
    if (json)
        puts("]");
    return 0;
}
