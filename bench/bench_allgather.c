/* The all-to-all broadcast paper's experiments, longer messages and larger networks.
 *
 *   bench_allgather [--json] [agents] [lengths] [mixes] [fabrics] [growth]
 *
 * agents: figure 4, the cost of both algorithms for every number of agents, estimated by
 * the paper's formulas and simulated. lengths: figure 5, all algorithms over the length
 * of a part, on its 8 workstations and on 64 and 256, simulated; the plan that auto
 * chooses and its speed-up over the best classical one. mixes: that speed-up on 8 to 256
 * workstations of mixed speeds, by the length of a part. fabrics: the best packing of
 * trees from all hosts, its gap, the cut bound and processor seconds. growth: processor
 * seconds of bound and plan on fabrics of 64 to 1,000 hosts. All unless named. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "bound/op_bound.h"
#include "solve/cut_bound.h"
#include "solve/packing.h"
#include "study/alltoall.h"

static int json, rows;

static void row(const char *text)
{
    printf(json ? "%s\n  {%s}" : "%s%s\n", json && rows++ ? "," : "", text);
}

static void agents(void)
{
    struct espi_alltoall_agents both[2];
    struct esp_err err;
    bench_stop_if(espi_alltoall_agents(both, &err), &err);
    if (!json)
        printf("figure 4: microseconds by number of agents, estimated and simulated\n");
    for (int i = 0; i < 2; i++)
        for (int m = 1; m <= ESPI_ALLTOALL_HOSTS; m++) {
            char text[200];
            snprintf(text, sizeof text,
                     json ? "\"figure\": 4, \"algo\": \"%s\", \"agents\": %d, "
                            "\"estimate_us\": %.0f, \"simulated_us\": %.0f"
                          : "%-18s %d %8.0f %8.0f",
                     both[i].algo, m, both[i].estimate_s[m - 1] * 1e6,
                     both[i].simulated_s[m - 1] * 1e6);
            row(text);
        }
}

static void length(const struct esp_platform *p, int n, double part)
{
    char text[800];
    struct espi_alltoall_trial t;
    struct esp_err err;
    int at = 0;
    bench_stop_if(espi_alltoall_try(p, part, &t, &err), &err);
    at += snprintf(text, sizeof text,
                   json ? "\"figure\": 5, \"hosts\": %d, \"part\": %.0f" : "%4d %9.0f", n,
                   part);
    for (int i = 0; i < ESPI_ALLTOALL_ALGOS; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       json ? ", \"%s_ms\": %.4g" : "%.0s %9.4g", espi_alltoall_algos[i],
                       isnan(t.time_s[i]) ? -1 : t.time_s[i] * 1e3);
    snprintf(text + at, sizeof text - (size_t)at,
             json ? ", \"chosen\": \"%s\", \"speedup\": %.3f, \"plan_s\": %.3f"
                  : "  %-18s %6.2f %6.2f s",
             t.chosen, t.gain, t.plan_s);
    row(text);
}

static void lengths(void)
{
    static const int hosts[] = {8, 64, 256};
    struct esp_err err;
    if (!json)
        printf("figure 5: milliseconds by hosts and bytes of a part: simultaneous, "
               "combining, ring, recursive doubling, Bruck, neighbour exchange,\n"
               "gather-broadcast, two-step, auto; what auto chose, its speed-up over the "
               "best of the first six, planning\n");
    for (int i = 0; i < 3; i++) {
        struct esp_platform *p = NULL;
        bench_stop_if(espi_alltoall_halves(hosts[i], 1, &p, &err), &err);
        for (double part = 32; part <= (hosts[i] > 64 ? 8192 : 131072); part *= 4)
            length(p, hosts[i], part);
        esp_platform_free(p);
    }
}

/* Random mixes of speeds, of several ratios: what auto gains over the best classical
 * algorithm, at least, on average and at most, for parts of some length. */
static void mixes_of(int n, int draws, double part)
{
    static const double ratios[] = {1.5, 2, 4, 8};
    double least = INFINITY, most = 0, sum = 0, plan_s = 0;
    int count = 0;
    char text[200];
    struct esp_err err;
    for (int k = 0; k < 4; k++)
        for (int seed = 1; seed <= draws; seed++, count++) {
            struct esp_platform *p = NULL;
            struct espi_alltoall_trial t;
            bench_stop_if(espi_alltoall_mix(n, ratios[k], (uint64_t)seed, &p, &err),
                          &err);
            bench_stop_if(espi_alltoall_try(p, part, &t, &err), &err);
            least = fmin(least, t.gain);
            most = fmax(most, t.gain);
            sum += t.gain;
            plan_s = fmax(plan_s, t.plan_s);
            esp_platform_free(p);
        }
    snprintf(text, sizeof text,
             json ? "\"hosts\": %d, \"part\": %.0f, \"trials\": %d, \"least\": %.4f, "
                    "\"mean\": %.4f, \"most\": %.4f, \"plan_s\": %.3f"
                  : "%4d hosts, parts of %-8.0f %4d trials: gain %.4f at least, %.4f "
                    "mean, %.4f at most; planning %.2f s at most",
             n, part, count, least, sum / count, most, plan_s);
    row(text);
    fflush(stdout);
}

static void mixes(void)
{
    static const int hosts[] = {8, 16, 32, 64, 128, 256};
    static const double parts[] = {1, 32, 512, 8192, 131072, 1048576};
    if (!json)
        printf("mixed speeds: auto over the best classical algorithm, simulated\n");
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            mixes_of(hosts[i], hosts[i] > 64 ? 2 : 10, parts[k]);
}

static void fabric(int clusters, int hosts, int switches, double spread, uint64_t seed)
{
    struct esp_fabric_options o;
    struct esp_platform *p = NULL;
    struct espi_arena arena;
    struct espi_view view;
    struct espi_packing packing;
    struct esp_err err;
    char text[300];
    double cut_s = 0;
    esp_fabric_options_defaults(&o);
    o.clusters = clusters;
    o.hosts = hosts;
    o.switches = switches;
    o.spread = spread;
    o.seed = seed;
    bench_stop_if(esp_generate_fabric(&o, &p, &err), &err);
    espi_arena_init(&arena);
    bench_stop_if(espi_view_init(&view, p, 1 << 20, &arena, &err), &err);
    double start_s = espi_cpu_s();
    bench_stop_if(espi_packing_solve_all(&view, NULL, &arena, &packing, &err), &err);
    double s = espi_cpu_s() - start_s;
    unsigned char *side = ESPI_ARENA_NEW(&arena, unsigned char, p->n_nodes);
    if (!side || espi_all_cut_s(&view, &arena, &cut_s, side))
        exit(1);
    snprintf(
        text, sizeof text,
        json ? "\"hosts\": %d, \"clusters\": %d, \"switches\": %d, \"spread\": %g, "
               "\"seed\": %d, \"trees\": %d, \"of_cut_bound\": %.9f, \"gap\": %.2g, "
               "\"cpu_s\": %.2f"
             : "%4d hosts in %2d clusters, %3d switches, spread %g, seed %d: %4d trees, "
               "%.9f of the cut bound, gap %.2g, %.2f s",
        clusters * hosts, clusters, p->n_nodes - p->n_hosts, spread, (int)seed,
        packing.n_trees, packing.rate * cut_s, packing.gap, s);
    row(text);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static void fabrics(void)
{
    static const struct {
        int clusters, hosts, switches;
    } shapes[] = {{8, 8, 0},  {4, 16, 0}, {16, 4, 0}, {10, 10, 0},
                  {5, 20, 0}, {20, 5, 0}, {8, 8, 1},  {4, 16, 1}};
    static const double spreads[] = {1, 1.3, 3};
    if (!json)
        printf("packings of trees from all hosts\n");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
            for (uint64_t seed = 1; seed <= (i > 1 ? 2 : 1); seed++)
                fabric(shapes[k].clusters, shapes[k].hosts, shapes[k].switches,
                       spreads[i], seed);
}

static double plan_cpu_s(const struct esp_platform *p)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    double start_s = espi_cpu_s();
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLGATHER;
    request.size_bytes = 64e6;
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    esp_plan_free(plan);
    return espi_cpu_s() - start_s;
}

/* Clusters of 8, bandwidths that differ. Plans up to a quarter of a minute. */
static void growth(void)
{
    static const int hosts[] = {64, 128, 256, 512, 1000};
    enum { PLANNED = 512 };
    if (!json)
        printf("growth: processor seconds of the bound, and of a plan for 64 MB\n");
    for (int i = 0; i < 5; i++) {
        struct esp_fabric_options o;
        struct esp_platform *p = NULL;
        struct espi_op_bound bound;
        struct esp_err err;
        char text[200];
        esp_fabric_options_defaults(&o);
        o.clusters = hosts[i] / o.hosts;
        o.spread = 1.3;
        bench_stop_if(esp_generate_fabric(&o, &p, &err), &err);
        struct espi_op_bound_task task = {
            .p = p, .op = ESP_OP_ALLGATHER, .slice_bytes = 65024};
        double start_s = espi_cpu_s();
        bench_stop_if(espi_op_bound(&task, &bound, &err), &err);
        double bound_s = espi_cpu_s() - start_s;
        double plan_s = hosts[i] <= PLANNED ? plan_cpu_s(p) : -1;
        snprintf(text, sizeof text,
                 json ? "\"hosts\": %d, \"links\": %d, \"bound_Bps\": %.9g, "
                        "\"bound_cpu_s\": %.3f, \"plan_cpu_s\": %.2f"
                      : "%5d hosts %7d links  %.9g B/s  %8.3f s  %8.2f s",
                 hosts[i], p->n_links, bound.throughput_Bps, bound_s, plan_s);
        row(text);
        fflush(stdout);
        esp_platform_free(p);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"agents", agents},
                 {"lengths", lengths},
                 {"mixes", mixes},
                 {"fabrics", fabrics},
                 {"growth", growth}};
    int named = 0;
    for (int i = 1; i < argc; i++)
        json |= !strcmp(argv[i], "--json");
    if (json)
        putchar('[');
    for (int i = 1; i < argc; i++)
        named |= strcmp(argv[i], "--json") != 0;
    for (int k = 0; k < 5; k++) {
        int asked = !named;
        for (int i = 1; i < argc; i++)
            asked |= !strcmp(argv[i], parts[k].name);
        if (asked)
            parts[k].run();
    }
    if (json)
        puts("\n]");
    return 0;
}
