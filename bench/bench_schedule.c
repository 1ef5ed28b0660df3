/* Processor time of schedules of optimal packings, how long their rounds are, and by how
 * much they miss the bound.
 *   bench_schedule [--json] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <espalier/espalier.h>

#include "support/packed_plan.h"

enum { SEEDS = 3, SLICE = 100000, SLICES = 100000 };

struct shape {
    const char *name;
    int nodes;
};

static const struct shape shapes[] = {
    {"tiers", 65},   {"tiers", 200},   {"tiers", 1000}, {"random", 65},
    {"random", 200}, {"random", 1000}, {"hub", 65},     {"hub", 200},
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static esp_status generate(const struct shape *s, uint64_t seed, struct esp_platform **p)
{
    if (!strcmp(s->name, "tiers")) {
        struct esp_tiers_options o;
        esp_tiers_options_defaults(&o);
        o.nodes = s->nodes;
        o.seed = seed;
        return esp_generate_tiers(&o, p, NULL);
    }
    if (!strcmp(s->name, "hub")) {
        struct esp_hub_options o;
        esp_hub_options_defaults(&o);
        o.nodes = s->nodes;
        o.seed = seed;
        return esp_generate_hub(&o, p, NULL);
    }
    struct esp_random_options o;
    esp_random_options_defaults(&o);
    o.nodes = s->nodes;
    o.seed = seed;
    o.density = 6.0 / s->nodes;
    return esp_generate_random(&o, p, NULL);
}

struct figures {
    double trees, slots, sends, schedule_s, check_s, excess;
};

static int measure(const struct shape *s, uint64_t seed, struct figures *f)
{
    struct esp_platform *p = NULL;
    double bound;
    if (generate(s, seed, &p))
        return -1;
    struct esp_plan *plan = packed_plan(p, SLICE, SLICES, &bound);
    double t0 = now_s();
    int failed = esp_plan_schedule(plan, p, NULL) != ESP_OK;
    double t1 = now_s();
    failed |= esp_plan_check(plan, p, NULL) != ESP_OK;
    f->schedule_s += (t1 - t0) / SEEDS;
    f->check_s += (now_s() - t1) / SEEDS;
    failed |= esp_plan_evaluate(plan, p, NULL) != ESP_OK;
    f->trees += (double)plan->n_trees / SEEDS;
    if (!failed) {
        f->slots += (double)plan->schedule->slots / SEEDS;
        f->sends += (double)plan->schedule->n_sends / SEEDS;
        f->excess += (bound * SLICE / plan->throughput_Bps - 1) / SEEDS;
    }
    esp_plan_free(plan);
    esp_platform_free(p);
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    int json = argc > 1 && !strcmp(argv[1], "--json"), n = sizeof shapes / sizeof *shapes;
    if (!json)
        printf("%-8s %6s %6s %7s %7s %12s %9s %8s\n", "shape", "nodes", "trees", "slots",
               "sends", "schedule ms", "check ms", "excess");
    for (int i = 0; i < n; i++) {
        struct figures f = {0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            if (measure(&shapes[i], seed, &f)) {
                fprintf(stderr, "bench_schedule: %s %d failed\n", shapes[i].name,
                        shapes[i].nodes);
                return 1;
            }
        printf(json ? "%s{\"shape\": \"%s\", \"nodes\": %d, \"trees\": %.1f, \"slots\": "
                      "%.1f, \"sends\": %.1f, \"schedule_ms\": %.3f, \"check_ms\": %.3f, "
                      "\"excess\": %.5f}%s"
                    : "%s%-8s %6d %6.1f %7.1f %7.1f %12.2f %9.2f %8.4f%s",
               json ? i ? "," : "[" : "", shapes[i].name, shapes[i].nodes, f.trees,
               f.slots, f.sends, 1e3 * f.schedule_s, 1e3 * f.check_s, f.excess,
               json && i == n - 1 ? "]\n" : "\n");
        fflush(stdout);
    }
    return 0;
}
