/* Random networks as measuring writes them, for the benchmarks that judge by them. Seeds
 * 1 to 999 are for working, those from 100000 on for judging only. */
#ifndef BENCH_NETWORKS_H
#define BENCH_NETWORKS_H

#include <time.h>

#include "base/rng.h"
#include "bench.h"
#include "platform/generators.h"

enum { BENCH_JUDGE_FIRST = 100000, BENCH_WORK_LAST = 999 };
/* As many as there were kinds when the first figures were taken: a seed stays the same
 * network when kinds are added. */
enum { BENCH_SEED_STEP = 6 };

/* May these seeds be looked at for this? */
static inline int bench_seeds_fit(int judge, uint64_t first, uint64_t last)
{
    return judge ? first >= BENCH_JUDGE_FIRST : last <= BENCH_WORK_LAST;
}

static inline const struct espi_generator *bench_generator(void)
{
    return espi_generator_find("measured");
}

/* The number of a kind, or -1. */
static inline int bench_kind(const char *name)
{
    const struct espi_param *param = espi_param_find(bench_generator(), "kind");
    for (int i = 0; param->choices[i]; i++)
        if (!strcmp(param->choices[i], name))
            return i;
    return -1;
}

/* A network of the kind with `least` to `most` hosts, as many small ones as large; of the
 * kind "presets" number seed - first of these, NULL when there are no more. */
static inline struct esp_platform *bench_network(const char *kind, uint64_t seed,
                                                 uint64_t first, int least, int most)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_measured_options_defaults(&o);
    if (!strcmp(kind, "presets")) {
        if (seed - first >= (uint64_t)bench_generator()->n_presets)
            return NULL;
        bench_generator()->presets[seed - first].apply(&o);
    } else {
        struct espi_rng r;
        o.kind = bench_kind(kind);
        espi_rng_seed(&r, seed * BENCH_SEED_STEP + (uint64_t)o.kind);
        o.hosts = (int)espi_rng_log_range(&r, least, most + 1);
        o.seed = seed;
    }
    bench_stop_if(esp_generate_measured(&o, &p, &err), &err);
    return p;
}

static inline double bench_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
