/* How the time of every algorithm grows with the platform: sparse random platforms of 10
 * to 100,000 nodes with about 10 links a node. An algorithm stops growing once a run took
 * more than 3 s, or once its growth says that the next would take more than 30 s. One
 * that is not defined for the one-port model runs in the first model that it is defined
 * for. bench_algos [--json] [--nodes N] [--links M] [ALGORITHM...]
 * --nodes: this size only; --links: with so many links. */
#include <espalier/espalier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/algo.h"
#include "platform/platform.h"

static const int all_sizes[] = {10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000};
enum { MAX_SIZES = sizeof all_sizes / sizeof *all_sizes };

static const double run_limit_s = 3, next_limit_s = 30;

struct bench {
    int json;
    int n_sizes;
    const int *sizes;
    struct esp_platform *platforms[MAX_SIZES][ESP_MODEL_COUNT];
    int n_printed;
};

static void stop(const char *what)
{
    fprintf(stderr, "bench_algos: %s\n", what);
    exit(1);
}

/* links == 0: about 10 a node. */
static struct esp_platform *make_platform(int nodes, int links, esp_model model)
{
    struct esp_random_options o;
    struct esp_err err;
    struct esp_platform *p = NULL, *q = NULL;
    double pairs = (double)nodes * (nodes - 1) / 2, tree = nodes - 1;
    double wanted = links ? links / 2.0 : 5.0 * nodes;
    esp_random_options_defaults(&o);
    o.nodes = nodes;
    o.latency_s = 1e-4;
    o.seed = 1;
    o.density = wanted <= tree ? 0 : (wanted - tree) / (pairs - tree + 1);
    o.density = o.density > 1 ? 1 : o.density;
    if (esp_generate_random(&o, &p, &err) || esp_platform_with_model(p, model, &q, &err))
        stop(err.text);
    esp_platform_free(p);
    return q;
}

static esp_model model_of(const struct espi_algo *algo)
{
    esp_model model = ESP_MODEL_ONE_PORT;
    while (!(algo->models & ESPI_MODEL_BIT(model)))
        model++;
    return model;
}

/* The shortest of some runs, more of them when they are short; -1 when the algorithm
 * does not take the platform. */
static double time_run(const struct esp_platform *p, const char *algo)
{
    struct esp_request request;
    double best_s = -1, sum_s = 0;
    esp_request_init(&request, 0);
    request.algo = algo;
    for (int i = 0; i < 20 && sum_s < 0.05; i++) {
        struct esp_plan *plan = NULL;
        struct esp_err err;
        if (esp_plan_make(p, &request, &plan, &err)) {
            fprintf(stderr, "bench_algos: %s: %s\n", algo, err.text);
            return -1;
        }
        if (best_s < 0 || plan->plan_s < best_s)
            best_s = plan->plan_s;
        sum_s += plan->plan_s;
        esp_plan_free(plan);
    }
    return best_s;
}

static void print_time(double time_s)
{
    if (time_s < 1e-3)
        printf(" %6.0f us", 1e6 * time_s);
    else if (time_s < 1)
        printf(" %6.1f ms", 1e3 * time_s);
    else
        printf(" %7.2f s", time_s);
    fflush(stdout);
}

static void print_point(struct bench *b, const struct esp_platform *p, double time_s,
                        int first)
{
    if (b->json)
        printf("%s{\"nodes\": %d, \"links\": %d, \"plan_s\": %.9f}", first ? "" : ", ",
               p->n_nodes, p->n_links, time_s);
    else
        print_time(time_s);
}

static void run_sizes(struct bench *b, const struct espi_algo *algo, const char *text,
                      esp_model model)
{
    double before_s = 0, last_s = 0;
    for (int i = 0; i < b->n_sizes; i++) {
        struct esp_platform **p = &b->platforms[i][model];
        double next_s = before_s > 0 ? last_s * last_s / before_s : 0;
        if (last_s > run_limit_s || next_s > next_limit_s ||
            (algo->max_hosts && b->sizes[i] > algo->max_hosts))
            return;
        if (!*p)
            stop("no platform");
        before_s = last_s;
        last_s = time_run(*p, text);
        if (last_s < 0)
            return;
        print_point(b, *p, last_s, i == 0);
    }
}

static void run_algo(struct bench *b, const struct espi_algo *algo, const char *text)
{
    esp_model model = model_of(algo);
    for (int i = 0; i < b->n_sizes; i++)
        if (!b->platforms[i][model])
            b->platforms[i][model] = make_platform(b->sizes[i], 0, model);
    if (b->json)
        printf("%s\n  {\"algo\": \"%s\", \"family\": \"%s\", \"model\": \"%s\", "
               "\"points\": [",
               b->n_printed++ ? "," : "", text, algo->family, esp_model_name(model));
    else
        printf("%-24s", text);
    run_sizes(b, algo, text, model);
    fputs(b->json ? "]}" : "\n", stdout);
    fflush(stdout);
}

static void print_head(const struct bench *b)
{
    printf("%-24s", "nodes");
    for (int i = 0; i < b->n_sizes; i++)
        printf(" %9d", b->sizes[i]);
    putchar('\n');
}

/* The algorithms named, or all. */
static void run_algos(struct bench *b, char **names)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; !*names && i < count; i++)
        if (algos[i]->op == ESP_OP_BCAST)
            run_algo(b, algos[i], algos[i]->name);
    for (; *names; names++) {
        const struct espi_algo *algo;
        double values[ESPI_ALGO_OPTIONS_MAX];
        struct esp_err err;
        if (espi_algo_parse(*names, &algo, values, &err))
            stop(err.text);
        run_algo(b, algo, *names);
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.sizes = all_sizes, .n_sizes = MAX_SIZES};
    int nodes = 0, links = 0, at = 1;
    for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
        int *number = !strcmp(argv[at], "--nodes")   ? &nodes
                      : !strcmp(argv[at], "--links") ? &links
                                                     : NULL;
        if (number && at + 1 < argc && (*number = atoi(argv[at + 1])) > 1)
            at++;
        else if (!strcmp(argv[at], "--json"))
            b.json = 1;
        else {
            fprintf(stderr, "usage: bench_algos [--json] [--nodes N] [--links M] "
                            "[ALGORITHM...]\n");
            return 2;
        }
    }
    if (nodes) {
        b.sizes = &nodes;
        b.n_sizes = 1;
        for (int model = 0; model < ESP_MODEL_COUNT; model++)
            b.platforms[0][model] = make_platform(nodes, links, (esp_model)model);
    }
    if (b.json)
        putchar('[');
    else
        print_head(&b);
    run_algos(&b, argv + at);
    if (b.json)
        puts("\n]");
    for (int i = 0; i < b.n_sizes; i++)
        for (int model = 0; model < ESP_MODEL_COUNT; model++)
            esp_platform_free(b.platforms[i][model]);
    return 0;
}
