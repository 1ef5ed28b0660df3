/* How far broadcasts by plans of the advisor, without probes, are from those of one who
 * knows the load, on networks as measuring writes them (study/load_course.h): a cable
 * between sites, or the port of a host, loses a half to nine tenths of its rate.
 *   bench_regret [--json] [SEEDS [FIRST_SEED [HOSTS]]]     (20, from 1 on, 24)
 * Times over those of the clairvoyant: the mean of all calls under load, the mean and the
 * worst network from the third call on, how many calls of the worst took more than 1.5,
 * and the plan without load. Seeds from 100000 on are for judging. */
#include "bench.h"

#include "base/rng.h"
#include "platform/platform.h"
#include "study/load_course.h"

enum { SETTLED = 2 }; /* calls until the advisor should know */

static const char *const kind_names[ESP_MEASURED_KIND_COUNT] = {"flat",  "racks", "full",
                                                                "chain", "ring",  "star"};
static const char *const place_names[] = {"cable", "port"};

struct tally {
    int networks, slow_calls;
    double all, settled, worst, fixed;
    uint64_t worst_seed;
};

static void count_course(struct tally *t, const struct espi_load_course *c, uint64_t seed)
{
    double all = 0, settled = 0;
    int slow = 0;
    for (int i = 0; i < ESPI_LOADED_CALLS; i++) {
        double regret = c->took_s[i] / c->clairvoyant_s;
        all += regret / ESPI_LOADED_CALLS;
        settled += i < SETTLED ? 0 : regret / (ESPI_LOADED_CALLS - SETTLED);
        slow += regret > 1.5;
    }
    if (settled > t->worst) {
        t->worst = settled;
        t->worst_seed = seed;
    }
    t->slow_calls = slow > t->slow_calls ? slow : t->slow_calls;
    t->networks++;
    t->all += all;
    t->settled += settled;
    t->fixed += c->static_s / c->clairvoyant_s;
}

static void run_network(struct tally *t, int kind, enum espi_load_place place, int hosts,
                        uint64_t seed)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    struct espi_load_course course;
    struct espi_rng rng;
    struct esp_err err;
    espi_rng_seed(&rng, seed);
    double left = 1 - espi_rng_range(&rng, 0.5, 0.9);
    esp_measured_options_defaults(&o);
    o.kind = kind;
    o.hosts = hosts;
    o.seed = seed;
    o.bandwidth_max_Bps = 1e8;
    bench_stop_if(esp_generate_measured(&o, &p, &err), &err);
    bench_stop_if(espi_load_course_run(p, place, left, 1e6, &course, &err), &err);
    if (course.cable >= 0)
        count_course(t, &course, seed);
    esp_platform_free(p);
}

static void print_tally(int json, int first, int kind, int place, const struct tally *t)
{
    double n = t->networks;
    if (json)
        printf("%s{\"kind\": \"%s\", \"loaded\": \"%s\", \"networks\": %d, \"mean\": "
               "%.4f, \"settled\": %.4f, \"worst\": %.4f, \"worst_seed\": %llu, "
               "\"slow_calls\": %d, \"static\": %.4f}",
               first ? "" : ",\n", kind_names[kind], place_names[place], t->networks,
               t->all / n, t->settled / n, t->worst, (unsigned long long)t->worst_seed,
               t->slow_calls, t->fixed / n);
    else
        printf("%-6s %-6s %8d %8.3f %8.3f %8.3f %6d %8.3f  seed %llu\n", kind_names[kind],
               place_names[place], t->networks, t->all / n, t->settled / n, t->worst,
               t->slow_calls, t->fixed / n, (unsigned long long)t->worst_seed);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int json = argc > 1 && !strcmp(argv[1], "--json"), first = 1;
    int seeds = argc > 1 + json ? atoi(argv[1 + json]) : 20;
    uint64_t from = argc > 2 + json ? (uint64_t)atoi(argv[2 + json]) : 1;
    int hosts = argc > 3 + json ? atoi(argv[3 + json]) : 24;
    if (seeds < 1 || hosts < 4 || argc > 4 + json) {
        fprintf(stderr, "usage: bench_regret [--json] [SEEDS [FIRST_SEED [HOSTS]]]\n");
        return 2;
    }
    if (json)
        printf("[");
    else
        printf("%-6s %-6s %8s %8s %8s %8s %6s %8s  %s\n", "kind", "loaded", "networks",
               "mean", "from 3rd", "worst", "slow", "static", "worst of");
    for (int kind = 0; kind < ESP_MEASURED_KIND_COUNT; kind++)
        for (int place = ESPI_LOAD_BETWEEN; place <= ESPI_LOAD_PORT; place++) {
            struct tally t = {0};
            for (int i = 0; i < seeds; i++)
                run_network(&t, kind, (enum espi_load_place)place, hosts,
                            from + (uint64_t)i);
            if (t.networks == 0)
                continue;
            print_tally(json, first, kind, place, &t);
            first = 0;
        }
    if (json)
        printf("]\n");
    return 0;
}
