/* What the benchmarks share: clocks, giving up, platforms, a bar of progress. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <errno.h>
#include <espalier/espalier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static inline _Noreturn void bench_stop(const char *why)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    exit(1);
}

static inline void bench_stop_if(esp_status status, const struct esp_err *err)
{
    if (status)
        bench_stop(err->text);
}

/* [--json] [PLATFORMS]: how many platforms of each kind to try. */
static inline int bench_platforms(int argc, char **argv, int standard, int *json)
{
    *json = argc > 1 && !strcmp(argv[1], "--json");
    int platforms = argc > 1 + *json ? atoi(argv[1 + *json]) : standard;
    if (platforms < 1 || argc > 2 + *json) {
        fprintf(stderr, "usage: %s [--json] [PLATFORMS]\n",
                program_invocation_short_name);
        exit(2);
    }
    return platforms;
}

static inline struct esp_platform *bench_tiers(const char *preset, uint64_t seed)
{
    struct esp_tiers_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_tiers_options_defaults(&o);
    bench_stop_if(esp_tiers_options_preset(&o, preset, &err), &err);
    o.seed = seed;
    bench_stop_if(esp_generate_tiers(&o, &p, &err), &err);
    return p;
}

/* On a terminal: "[####----] 50%", which goes away at the end. */
static inline void bench_progress(int done, int total)
{
    static const char full[] = "########################################";
    static const char open[] = "----------------------------------------";
    int n = (int)(40.0 * done / total);
    if (!isatty(2))
        return;
    fprintf(stderr, "\r[%.*s%.*s] %d of %d%s", n, full, 40 - n, open, done, total,
            done == total ? "\r\033[K" : "");
}

#endif
