/* How near plans come to the best finish that there can be, on networks as measuring
 * writes them: the makespan of `auto`'s plan in the fluid simulation over the bound of
 * the makespan, by kind of network, operation and size of the message.
 *
 *   bench_finish [--json] [--judge] [--seeds FIRST-LAST] [--hosts MOST] [--sizes
 * 1e6,64e6]
 *                [--kinds flat,chain] [--ops bcast,reduce] [--algos mtp,grow]
 *
 * Without arguments seeds 1 to 5, broadcasts of 1 MB and 64 MB, up to 64 hosts. Seeds 1
 * to 999 are for working. Those from 100000 on are for judging (--judge: 100000 to
 * 100019), and nothing may be chosen by what they show. The four presets stand beside the
 * kinds. With --algos there is one more column: the best of these by the same measure.
 * Processor seconds are those of planning by auto. */
#include <math.h>

#include "networks.h"

enum { LIST_MAX = 32, SAMPLES_MAX = 4096 };

struct list {
    char text[512];
    const char *item[LIST_MAX];
    int n;
};

struct bench_question {
    int json, judge, hosts;
    uint64_t first, last;
    struct list kinds, ops, sizes, algos;
};

struct sample {
    double ratio, best, cpu_s; /* of auto, of the list; of planning by auto */
    uint64_t seed;
    int hosts;
};

struct group {
    struct sample at[SAMPLES_MAX];
    int n;
};

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: bench_finish [--json] [--judge] [--seeds FIRST-LAST] [--hosts MOST]\n"
            "                    [--sizes BYTES,...] [--kinds KIND,...] [--ops OP,...]\n"
            "                    [--algos ALGO,...]\n"
            "Seeds 1-999 are for working, those from 100000 on for judging only.\n");
    exit(2);
}

/* ---- arguments ---- */

static void split_list(struct list *l, const char *text)
{
    l->n = 0;
    snprintf(l->text, sizeof l->text, "%s", text);
    for (char *word = strtok(l->text, ","); word && l->n < LIST_MAX;
         word = strtok(NULL, ","))
        l->item[l->n++] = word;
}

static void take_seeds(struct bench_question *a, const char *text)
{
    unsigned long long first = 0, last = 0;
    if (sscanf(text, "%llu-%llu", &first, &last) != 2 || first < 1 || last < first ||
        last - first >= SAMPLES_MAX)
        usage();
    a->first = first;
    a->last = last;
}

static void take_argument(struct bench_question *a, const char *name, const char *value)
{
    if (!value)
        usage();
    if (!strcmp(name, "--seeds"))
        take_seeds(a, value);
    else if (!strcmp(name, "--hosts"))
        a->hosts = atoi(value);
    else if (!strcmp(name, "--sizes"))
        split_list(&a->sizes, value);
    else if (!strcmp(name, "--kinds"))
        split_list(&a->kinds, value);
    else if (!strcmp(name, "--ops"))
        split_list(&a->ops, value);
    else if (!strcmp(name, "--algos"))
        split_list(&a->algos, value);
    else
        usage();
}

static void read_arguments(struct bench_question *a, int argc, char **argv)
{
    int seeds = 0;
    a->hosts = 64;
    split_list(&a->kinds, "presets,flat,racks,full,chain,ring,star");
    split_list(&a->ops, "bcast");
    split_list(&a->sizes, "1e6,64e6");
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            a->json = 1;
        else if (!strcmp(argv[i], "--judge"))
            a->judge = 1;
        else {
            seeds |= !strcmp(argv[i], "--seeds");
            take_argument(a, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
            i++;
        }
    }
    if (!seeds)
        take_seeds(a, a->judge ? "100000-100019" : "1-5");
    if (a->hosts < 4 || a->hosts > 128 || !bench_seeds_fit(a->judge, a->first, a->last))
        usage();
}

/* ---- one network ---- */

/* The fluid makespan of the algorithm's plan; NAN when there is none. */
static double finish_s(const struct esp_platform *p, struct esp_request *request,
                       const char *algo, double *cpu_s)
{
    struct esp_plan *plan = NULL;
    struct esp_sim_options o;
    struct esp_sim_result *result = NULL;
    double end_s = NAN, began_s = bench_cpu_s();
    request->algo = algo;
    esp_status st = esp_plan_make(p, request, &plan, NULL);
    *cpu_s = bench_cpu_s() - began_s;
    esp_sim_options_defaults(&o);
    o.sharing = ESP_SHARING_FLUID;
    if (!st && !esp_simulate(p, plan, &o, &result, NULL))
        end_s = result->makespan_s;
    esp_sim_result_free(result);
    esp_plan_free(plan);
    return end_s;
}

static struct sample try_network(const struct bench_question *a,
                                 const struct esp_platform *p, esp_op op, double bytes)
{
    struct sample s = {.best = NAN};
    struct esp_request request;
    struct esp_bound_options options;
    struct esp_bound *bound = NULL;
    struct esp_err err;
    double ignored_s;
    esp_request_init(&request, 0);
    esp_bound_options_defaults(&options);
    request.op = op;
    request.size_bytes = bytes;
    options.makespan = 1;
    bench_stop_if(esp_bound_compute(p, &request, &options, &bound, &err), &err);
    s.ratio = finish_s(p, &request, "auto", &s.cpu_s) / bound->makespan_s;
    for (int i = 0; i < a->algos.n; i++)
        s.best = fmin(s.best, finish_s(p, &request, a->algos.item[i], &ignored_s) /
                                  bound->makespan_s);
    esp_bound_free(bound);
    return s;
}

/* ---- tables ---- */

static int by_ratio(const void *x, const void *y)
{
    const struct sample *a = x, *b = y;
    return (a->ratio > b->ratio) - (a->ratio < b->ratio);
}

static int by_best(const void *x, const void *y)
{
    const struct sample *a = x, *b = y;
    return (a->best > b->best) - (a->best < b->best);
}

static const struct sample *at_part(const struct group *g, double part)
{
    int i = (int)ceil(part * g->n) - 1;
    return &g->at[i < 0 ? 0 : i];
}

static void print_head(const struct bench_question *a)
{
    if (a->json)
        printf("[");
    else
        printf("%-8s %-14s %9s %4s %7s %7s %7s  %-20s %8s %8s%s\n", "kind", "op", "bytes",
               "n", "median", "95th", "worst", "of", "cpu s", "most",
               a->algos.n ? "  best of list: median 95th worst" : "");
}

static void print_group(const struct bench_question *a, int first, const char *kind,
                        const char *op, double bytes, struct group *g)
{
    double cpu_s = 0, most_s = 0;
    char which[32];
    for (int i = 0; i < g->n; i++) {
        cpu_s += g->at[i].cpu_s / g->n;
        most_s = fmax(most_s, g->at[i].cpu_s);
    }
    qsort(g->at, (size_t)g->n, sizeof *g->at, by_ratio);
    double median = at_part(g, 0.5)->ratio, high = at_part(g, 0.95)->ratio;
    struct sample worst = g->at[g->n - 1];
    if (!strcmp(kind, "presets"))
        snprintf(which, sizeof which, "%s",
                 bench_generator()->presets[worst.seed - a->first].name);
    else
        snprintf(which, sizeof which, "seed %llu, %d hosts",
                 (unsigned long long)worst.seed, worst.hosts);
    printf(a->json
               ? "%s\n  {\"kind\": \"%s\", \"op\": \"%s\", \"bytes\": %.0f, \"n\": %d, "
                 "\"median\": %.4f, \"p95\": %.4f, \"worst\": %.4f, \"worst_of\": "
                 "\"%s\", \"cpu_s\": %.3f, \"most_cpu_s\": %.3f"
               : "%s%-8s %-14s %9.3g %4d %7.3f %7.3f %7.3f  %-20s %8.2f %8.2f",
           a->json && !first ? "," : "", kind, op, bytes, g->n, median, high, worst.ratio,
           which, cpu_s, most_s);
    if (a->algos.n) {
        qsort(g->at, (size_t)g->n, sizeof *g->at, by_best);
        printf(a->json
                   ? ", \"best_median\": %.4f, \"best_p95\": %.4f, \"best_worst\": %.4f"
                   : "  %22.3f %.3f %.3f",
               at_part(g, 0.5)->best, at_part(g, 0.95)->best, g->at[g->n - 1].best);
    }
    printf(a->json ? "}" : "\n");
    fflush(stdout);
}

static void run_group(const struct bench_question *a, int first, const char *kind,
                      const char *op, double bytes)
{
    static struct group g;
    esp_op what;
    g.n = 0;
    if (esp_op_parse(op, &what) || !(bytes >= 1))
        usage();
    for (uint64_t seed = a->first; seed <= a->last; seed++) {
        struct esp_platform *p = bench_network(kind, seed, a->first, 4, a->hosts);
        if (!p)
            break;
        g.at[g.n] = try_network(a, p, what, bytes);
        g.at[g.n].seed = seed;
        g.at[g.n].hosts = esp_platform_node_count(p);
        if (isnan(g.at[g.n++].ratio))
            bench_stop("auto has no plan for one of the networks");
        esp_platform_free(p);
    }
    if (g.n)
        print_group(a, first, kind, op, bytes, &g);
}

int main(int argc, char **argv)
{
    struct bench_question a = {0};
    int done = 0;
    read_arguments(&a, argc, argv);
    print_head(&a);
    for (int o = 0; o < a.ops.n; o++)
        for (int s = 0; s < a.sizes.n; s++)
            for (int k = 0; k < a.kinds.n; k++, done++) {
                run_group(&a, done == 0, a.kinds.item[k], a.ops.item[o],
                          atof(a.sizes.item[s]));
                bench_progress(done + 1, a.ops.n * a.sizes.n * a.kinds.n);
            }
    if (a.json)
        printf("\n]\n");
    return 0;
}
