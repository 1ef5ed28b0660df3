/* How near refine comes to the optimum of any number of trees, and in what time, for
 * budgets from none to ten times the standard; and how near few trees come.
 *   bench_refine [--json] [PLATFORMS]      (platforms a kind; 20 unless told otherwise)
 * Times are processor seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/many_trees/k_trees.h"
#include "bench.h"

static const int works[] = {0, 200, 2000, 20000, 200000};
static const int trees[] = {1, 2, 3, 4};

enum { N_WORKS = sizeof works / sizeof *works, N_TREES = sizeof trees / sizeof *trees };

/* ---- platforms ---- */

static struct esp_platform *make_random(const char *nodes, uint64_t seed)
{
    struct esp_random_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_random_options_defaults(&o);
    o.nodes = atoi(nodes);
    o.density = fmin(0.12, 8.0 / o.nodes);
    o.seed = seed;
    bench_stop_if(esp_generate_random(&o, &p, &err), &err);
    return p;
}

static struct esp_platform *make_hub(const char *nodes, uint64_t seed)
{
    struct esp_hub_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_hub_options_defaults(&o);
    o.nodes = atoi(nodes);
    o.seed = seed;
    bench_stop_if(esp_generate_hub(&o, &p, &err), &err);
    return p;
}

static const struct kind {
    const char *name, *argument;
    struct esp_platform *(*make)(const char *argument, uint64_t seed);
    int last_node; /* is the root, and not node 0 */
    int most;      /* platforms */
    int few_trees; /* are tried too */
} kinds[] = {
    {"tiers 30 from a LAN", "30", bench_tiers, 1, 1000, 1},
    {"tiers 30 from the WAN", "30", bench_tiers, 0, 1000, 1},
    {"tiers 65 from a LAN", "65", bench_tiers, 1, 1000, 1},
    {"tiers 65 from the WAN", "65", bench_tiers, 0, 1000, 1},
    {"random 50", "50", make_random, 0, 1000, 1},
    {"hub 200", "200", make_hub, 0, 5, 1},
    {"random 1000", "1000", make_random, 0, 3, 0},
};

/* ---- measuring ---- */

struct mean {
    double ratio, cpu_s;
};

struct result {
    int platforms;
    struct mean start, refined[N_WORKS], few[N_TREES];
};

static struct mean plan_with(const struct esp_platform *p, int root, const char *algo,
                             double bound_Bps)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    esp_request_init(&request, root);
    request.algo = algo;
    double began_s = espi_cpu_s();
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    struct mean m = {plan->throughput_Bps / bound_Bps, espi_cpu_s() - began_s};
    esp_plan_free(plan);
    return m;
}

static void add(struct mean *sum, struct mean m, int count)
{
    sum->ratio += m.ratio / count;
    sum->cpu_s += m.cpu_s / count;
}

static void measure_few(struct espi_task *task, const struct espi_packing *packing,
                        struct result *r)
{
    for (int i = 0; i < N_TREES; i++) {
        struct espi_k_trees found;
        struct esp_err err;
        double began_s = espi_cpu_s();
        bench_stop_if(espi_k_trees(task, trees[i], ESPI_SHAKES, packing, &found, &err),
                      &err);
        struct mean m = {1 / (found.period_s * packing->bound), espi_cpu_s() - began_s};
        add(&r->few[i], m, r->platforms);
    }
}

static void measure_one(const struct kind *kind, const struct esp_platform *p,
                        struct result *r)
{
    static const struct espi_packing_options any;
    struct espi_arena arena;
    struct espi_view view;
    struct espi_packing packing;
    struct esp_request request;
    struct esp_err err;
    int root = kind->last_node ? esp_platform_node_count(p) - 1 : 0;
    esp_request_init(&request, root);
    struct espi_slices slices = espi_slices(request.size_bytes, 65536);
    struct espi_task task = {.p = p,
                             .request = &request,
                             .view = &view,
                             .root = root,
                             .slices = slices,
                             .arena = &arena};
    espi_arena_init(&arena);
    bench_stop_if(espi_view_init(&view, p, slices.bytes, &arena, &err), &err);
    bench_stop_if(espi_packing_solve(&view, root, &any, &arena, &packing, &err), &err);
    double bound_Bps = packing.bound * slices.bytes;
    add(&r->start, plan_with(p, root, "prune-degree", bound_Bps), r->platforms);
    for (int i = 0; i < N_WORKS; i++) {
        char algo[64];
        snprintf(algo, sizeof algo, "refine:work=%d", works[i]);
        add(&r->refined[i], plan_with(p, root, algo, bound_Bps), r->platforms);
    }
    if (kind->few_trees)
        measure_few(&task, &packing, r);
    espi_arena_done(&arena);
}

static struct result measure(const struct kind *kind, int platforms)
{
    struct result r = {.platforms = platforms < kind->most ? platforms : kind->most};
    for (int i = 0; i < r.platforms; i++) {
        struct esp_platform *p = kind->make(kind->argument, (uint64_t)i + 1);
        measure_one(kind, p, &r);
        esp_platform_free(p);
    }
    return r;
}

/* ---- printing ---- */

static void print_text(const struct kind *kind, const struct result *r)
{
    printf("%s, %d platforms: fraction of the optimum of any number of trees\n",
           kind->name, r->platforms);
    printf("  %-22s %7.4f %10.2f ms\n", "prune-degree", r->start.ratio,
           1e3 * r->start.cpu_s);
    for (int i = 0; i < N_WORKS; i++)
        printf("  refine:work=%-10d %7.4f %10.2f ms\n", works[i], r->refined[i].ratio,
               1e3 * r->refined[i].cpu_s);
    for (int i = 0; i < N_TREES && kind->few_trees; i++)
        printf("  at most %d trees        %7.4f %10.2f ms\n", trees[i], r->few[i].ratio,
               1e3 * r->few[i].cpu_s);
    putchar('\n');
}

static void print_json(const struct kind *kind, const struct result *r, int last)
{
    printf("  {\"platforms\": \"%s\", \"count\": %d, \"start\": %.4f, \"refine\": [",
           kind->name, r->platforms, r->start.ratio);
    for (int i = 0; i < N_WORKS; i++)
        printf("%s{\"work\": %d, \"ratio\": %.4f, \"cpu_s\": %.5f}", i ? ", " : "",
               works[i], r->refined[i].ratio, r->refined[i].cpu_s);
    printf("], \"few\": [");
    for (int i = 0; i < N_TREES && kind->few_trees; i++)
        printf("%s{\"trees\": %d, \"ratio\": %.4f, \"cpu_s\": %.5f}", i ? ", " : "",
               trees[i], r->few[i].ratio, r->few[i].cpu_s);
    printf("]}%s\n", last ? "" : ",");
}

int main(int argc, char **argv)
{
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    int json, platforms = bench_platforms(argc, argv, 20, &json);
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
