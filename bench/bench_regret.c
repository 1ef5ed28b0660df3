/* How far broadcasts by plans of the advisor, with probes between them, are from those of
 * one who knows the load and plans each call for it (study/load_course.h): networks as
 * measuring writes them, 60 calls, of which some 40 are under load: steps, ramps and
 * bursts, on cables and on ports of hosts.
 *   bench_regret [--json] [--falling] [--no-probes] [--kind K]
 *                [SEEDS [FIRST_SEED [HOSTS]]]                     (20, from 1 on, 24)
 * --falling: messages from 1 MB to nothing by a line, instead of 1 MB each.
 * By kind, times over the clairvoyant's: the mean and the 95th of 100 of calls under
 * load, the mean of the others, the mean of the plan that stays under load, and the
 * network with the worst mean under load. Then, of whole networks, the worst time over
 * that of the plan that stays and of MPICH-G2's tree, and by how much calls under load
 * take less than by that tree, in the mean. Seeds from 100000 on are for judging. */
#include "bench.h"

#include <espalier/espalier.h>

#include "study/load_course.h"

static const char *const kind_names[ESP_MEASURED_KIND_COUNT] = {"flat",  "racks", "full",
                                                                "chain", "ring",  "star"};

struct options {
    int json, is_falling, no_probes, kind, seeds, hosts;
    uint64_t first_seed;
};

/* Of one kind. */
struct tally {
    int networks, loaded, unloaded; /* the others count calls */
    double *regret;                 /* of those under load */
    double free_sum, static_sum, gain_sum;
    double worst, over_static, over_hierarchical; /* of networks */
    uint64_t worst_seed;
};

static double max_of(double a, double b)
{
    return a > b ? a : b;
}

static void count_call(struct tally *t, const double *took_s, int is_loaded)
{
    double knows_s = took_s[ESPI_COURSE_CLAIRVOYANT];
    double regret = took_s[ESPI_COURSE_ADAPTIVE] / knows_s;

    if (!is_loaded) {
        t->unloaded++;
        t->free_sum += regret;
        return;
    }
    t->regret[t->loaded++] = regret;
    t->static_sum += took_s[ESPI_COURSE_STATIC] / knows_s;
    t->gain_sum += 1 - took_s[ESPI_COURSE_ADAPTIVE] / took_s[ESPI_COURSE_HIERARCHICAL];
}

static void count_course(struct tally *t, const struct espi_course *c, uint64_t seed)
{
    double sum_s[ESPI_COURSE_MANY] = {0}, regrets = 0;
    int before = t->loaded;

    for (int i = 0; i < c->calls; i++) {
        count_call(t, c->took_s[i], c->load[i].cable >= 0);
        for (int k = 0; k < ESPI_COURSE_MANY; k++)
            sum_s[k] += c->took_s[i][k];
    }
    for (int i = before; i < t->loaded; i++)
        regrets += t->regret[i] / (t->loaded - before);
    if (regrets > t->worst)
        t->worst_seed = seed;
    t->worst = max_of(t->worst, regrets);
    t->over_static =
        max_of(t->over_static, sum_s[ESPI_COURSE_ADAPTIVE] / sum_s[ESPI_COURSE_STATIC]);
    t->over_hierarchical =
        max_of(t->over_hierarchical,
               sum_s[ESPI_COURSE_ADAPTIVE] / sum_s[ESPI_COURSE_HIERARCHICAL]);
    t->networks++;
}

static void run_network(struct tally *t, const struct options *o, int kind, uint64_t seed)
{
    struct esp_measured_options m;
    struct esp_platform *p = NULL;
    struct espi_course course = {.calls = ESPI_COURSE_CALLS,
                                 .bytes = 1e6,
                                 .is_falling = o->is_falling,
                                 .has_probes = !o->no_probes};
    struct esp_err err;

    esp_measured_options_defaults(&m);
    m.kind = kind;
    m.hosts = o->hosts;
    m.seed = seed;
    m.bandwidth_max_Bps = 1e8;
    bench_stop_if(esp_generate_measured(&m, &p, &err), &err);
    espi_load_draw(p, seed, course.load);
    bench_stop_if(espi_load_course_run(p, &course, &err), &err);
    count_course(t, &course, seed);
    esp_platform_free(p);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_tally(const struct options *o, const char *before, int kind,
                        struct tally *t)
{
    double mean = 0;

    qsort(t->regret, (size_t)t->loaded, sizeof *t->regret, compare_doubles);
    for (int i = 0; i < t->loaded; i++)
        mean += t->regret[i] / t->loaded;
    double most = t->loaded ? t->regret[(t->loaded - 1) * 95 / 100] : 0;
    const char *form =
        o->json ? "%s{\"kind\": \"%s\", \"networks\": %d, \"under_load\": %.4f, "
                  "\"under_load_95\": %.4f, \"free\": %.4f, \"static\": %.4f, "
                  "\"worst\": %.4f, \"worst_seed\": %llu, \"over_static\": %.4f, "
                  "\"over_hierarchical\": %.4f, \"gain_hierarchical\": %.4f}"
                : "%s%-6s %8d %8.3f %8.3f %8.3f %8.3f %8.3f %9llu %8.3f %8.3f %8.3f\n";
    printf(form, before, kind_names[kind], t->networks, mean, most,
           t->unloaded ? t->free_sum / t->unloaded : 0,
           t->loaded ? t->static_sum / t->loaded : 0, t->worst,
           (unsigned long long)t->worst_seed, t->over_static, t->over_hierarchical,
           t->loaded ? t->gain_sum / t->loaded : 0);
    fflush(stdout);
}

static int find_kind(const char *name)
{
    for (int k = 0; k < ESP_MEASURED_KIND_COUNT; k++)
        if (!strcmp(name, kind_names[k]))
            return k;
    fprintf(stderr, "bench_regret: there is no kind '%s'\n", name);
    exit(2);
}

static int read_options(int argc, char **argv, struct options *o)
{
    int numbers = 0;

    *o = (struct options){.kind = -1, .seeds = 20, .first_seed = 1, .hosts = 24};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            o->json = 1;
        else if (!strcmp(argv[i], "--falling"))
            o->is_falling = 1;
        else if (!strcmp(argv[i], "--no-probes"))
            o->no_probes = 1;
        else if (!strcmp(argv[i], "--kind") && i + 1 < argc)
            o->kind = find_kind(argv[++i]);
        else if (numbers == 0 && ++numbers)
            o->seeds = atoi(argv[i]);
        else if (numbers == 1 && ++numbers)
            o->first_seed = strtoull(argv[i], NULL, 10);
        else if (numbers == 2 && ++numbers)
            o->hosts = atoi(argv[i]);
        else
            return 0;
    }
    return o->seeds > 0 && o->hosts >= 4;
}

int main(int argc, char **argv)
{
    struct options o;

    if (!read_options(argc, argv, &o)) {
        fprintf(stderr, "usage: bench_regret [--json] [--falling] [--no-probes] "
                        "[--kind K] [SEEDS [FIRST_SEED [HOSTS]]]\n");
        return 2;
    }
    const char *before = o.json ? "[" : "";
    if (!o.json)
        printf("%-6s %8s %8s %8s %8s %8s %8s %9s %8s %8s %8s\n", "kind", "networks",
               "loaded", "95", "free", "static", "worst", "seed", "/static", "/hier",
               "gain");
    for (int kind = 0; kind < ESP_MEASURED_KIND_COUNT; kind++) {
        struct tally t = {
            .regret = malloc((size_t)o.seeds * ESPI_COURSE_CALLS * sizeof *t.regret)};
        if (!t.regret)
            return 1;
        for (int i = 0; i < o.seeds && (o.kind < 0 || kind == o.kind); i++)
            run_network(&t, &o, kind, o.first_seed + (uint64_t)i);
        if (t.networks) {
            print_tally(&o, before, kind, &t);
            before = o.json ? ",\n" : "";
        }
        free(t.regret);
    }
    if (o.json)
        printf("]\n");
    return 0;
}
