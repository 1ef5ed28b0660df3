/* The all-to-all broadcast paper's experiments, longer messages and larger networks.
 *
 *   bench_allgather [--json] [agents] [lengths] [fabrics]
 *
 * agents: figure 4, the cost of both algorithms for every number of agents, estimated by
 * the paper's formulas and simulated. lengths: figure 5, all algorithms over the length
 * of a part, on its 8 workstations and on 64 and 256, simulated; the plan that auto
 * chooses and its speed-up over the best classical one. fabrics: the best packing of
 * trees from all hosts, its gap, the cut bound and processor seconds. All three unless
 * named.
 *
 * Bytes cost what the paper does not say: 80 MB/s and 45 MB/s of fast and slow
 * processors, Fast Ethernet at 12.5 MB/s. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algo/allgather/agents.h"
#include "bench.h"
#include "cost/cut_bound.h"
#include "cost/packing.h"

static const char *const classical[] = {"simultaneous", "combining",
                                        "ring",         "recursive-doubling",
                                        "bruck",        "neighbor-exchange"};
static const char *const ours[] = {"gather-broadcast", "two-step", "auto"};
enum {
    N_CLASSICAL = sizeof classical / sizeof *classical,
    N_OURS = sizeof ours / sizeof *ours
};

static int json, rows;

static void row(const char *text)
{
    printf(json ? "%s\n  {%s}" : "%s%s\n", json && rows++ ? "," : "", text);
}

static struct esp_platform *workstations(int n, int with_bytes)
{
    struct esp_hnow_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    esp_hnow_options_defaults(&o);
    o.fast = o.slow = n / 2;
    if (with_bytes) {
        o.bandwidth_Bps = 11e6; /* end to end, copies included */
        o.fast_Bps = 80e6;
        o.slow_Bps = 45e6;
        o.wire_Bps = 12.5e6;
    }
    bench_stop_if(esp_generate_hnow(&o, &p, &err), &err);
    return p;
}

/* Simulated seconds; -1: not for this number of hosts. */
static double try_algo(const struct esp_platform *p, const char *algo, double size,
                       double *plan_s, char *name, size_t name_size)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_sim_result *r = NULL;
    struct esp_err err;
    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLGATHER;
    request.algo = algo;
    request.size_bytes = size;
    double start_s = bench_cpu_s();
    esp_status st = esp_plan_make(p, &request, &plan, &err);
    if (st == ESP_EUNSUPPORTED)
        return -1;
    bench_stop_if(st, &err);
    *plan_s = bench_cpu_s() - start_s;
    if (name)
        snprintf(name, name_size, "%s", plan->algo);
    bench_stop_if(esp_simulate(p, plan, NULL, &r, &err), &err);
    double s = r->makespan_s;
    esp_sim_result_free(r);
    esp_plan_free(plan);
    return s;
}

static void agents(void)
{
    static espi_estimate *const estimates[] = {espi_gather_broadcast_estimate,
                                               espi_two_step_estimate};
    struct esp_platform *p = workstations(8, 0);
    struct espi_arena arena;
    struct espi_view view;
    struct espi_agents a;
    struct esp_request request;
    espi_arena_init(&arena);
    esp_request_init(&request, 0);
    request.size_bytes = 8 * 32;
    struct espi_task task = {.p = p, .request = &request, .view = &view, .arena = &arena};
    struct esp_err err;
    bench_stop_if(espi_view_init(&view, p, 32, &arena, &err), &err);
    if (espi_agents_init(&a, &task))
        exit(1);
    if (!json)
        printf("figure 4: microseconds by number of agents, estimated and simulated\n");
    for (int i = 0; i < 2; i++)
        for (int m = 1; m <= 8; m++) {
            char algo[40], text[200];
            double plan_s, estimate_s = espi_agents_choose(&a, m, estimates[i]).all_s;
            snprintf(algo, sizeof algo, "%s:agents=%d", ours[i], m);
            double s = try_algo(p, algo, 256, &plan_s, NULL, 0);
            snprintf(text, sizeof text,
                     json ? "\"figure\": 4, \"algo\": \"%s\", \"agents\": %d, "
                            "\"estimate_us\": %.0f, \"simulated_us\": %.0f"
                          : "%-18s %d %8.0f %8.0f",
                     ours[i], m, estimate_s * 1e6, s * 1e6);
            row(text);
        }
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static void length(const struct esp_platform *p, int n, double part)
{
    char text[800], chosen[64] = "";
    double best_s = INFINITY, plan_s = 0, s[N_CLASSICAL + N_OURS];
    int at = 0;
    for (int i = 0; i < N_CLASSICAL + N_OURS; i++) {
        const char *algo = i < N_CLASSICAL ? classical[i] : ours[i - N_CLASSICAL];
        s[i] = try_algo(p, algo, part * n, &plan_s, chosen, sizeof chosen);
        if (i < N_CLASSICAL && s[i] > 0)
            best_s = fmin(best_s, s[i]);
    }
    at += snprintf(text, sizeof text,
                   json ? "\"figure\": 5, \"hosts\": %d, \"part\": %.0f" : "%4d %9.0f", n,
                   part);
    for (int i = 0; i < N_CLASSICAL + N_OURS; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       json ? ", \"%s_ms\": %.4g" : "%.0s %9.4g",
                       i < N_CLASSICAL ? classical[i] : ours[i - N_CLASSICAL],
                       s[i] < 0 ? -1 : s[i] * 1e3);
    snprintf(text + at, sizeof text - (size_t)at,
             json ? ", \"chosen\": \"%s\", \"speedup\": %.3f, \"plan_s\": %.3f"
                  : "  %-18s %6.2f %6.2f s",
             chosen, best_s / s[N_CLASSICAL + N_OURS - 1], plan_s);
    row(text);
}

static void lengths(void)
{
    static const int hosts[] = {8, 64, 256};
    if (!json)
        printf("figure 5: milliseconds by hosts and bytes of a part: simultaneous, "
               "combining, ring, recursive doubling, Bruck, neighbour exchange,\n"
               "gather-broadcast, two-step, auto; what auto chose, its speed-up over the "
               "best of the first six, planning\n");
    for (int i = 0; i < 3; i++) {
        struct esp_platform *p = workstations(hosts[i], 1);
        for (double part = 32; part <= (hosts[i] > 64 ? 8192 : 131072); part *= 4)
            length(p, hosts[i], part);
        esp_platform_free(p);
    }
}

static void fabric(int clusters, int hosts, int switches, double spread)
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
    bench_stop_if(esp_generate_fabric(&o, &p, &err), &err);
    espi_arena_init(&arena);
    bench_stop_if(espi_view_init(&view, p, 1 << 20, &arena, &err), &err);
    double start_s = bench_cpu_s();
    bench_stop_if(espi_packing_solve_all(&view, NULL, &arena, &packing, &err), &err);
    double s = bench_cpu_s() - start_s;
    if (espi_all_cut_s(&view, &arena, &cut_s))
        exit(1);
    snprintf(text, sizeof text,
             json
                 ? "\"hosts\": %d, \"clusters\": %d, \"switches\": %d, \"spread\": %g, "
                   "\"trees\": %d, \"of_cut_bound\": %.9f, \"gap\": %.2g, \"cpu_s\": %.2f"
                 : "%4d hosts in %2d clusters, %3d switches, spread %g: %4d trees, "
                   "%.9f of the cut bound, gap %.2g, %.2f s",
             clusters * hosts, clusters, p->n_nodes - p->n_hosts, spread, packing.n_trees,
             packing.rate * cut_s, packing.gap, s);
    row(text);
    espi_arena_done(&arena);
    esp_platform_free(p);
}

static void fabrics(void)
{
    if (!json)
        printf("packings of trees from all hosts\n");
    for (int i = 0; i < 2; i++) {
        fabric(8, 8, 0, 1 + i);
        fabric(10, 10, 0, 1 + i);
        fabric(8, 8, 1, 1 + i);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"agents", agents}, {"lengths", lengths}, {"fabrics", fabrics}};
    int named = 0;
    for (int i = 1; i < argc; i++)
        json |= !strcmp(argv[i], "--json");
    if (json)
        putchar('[');
    for (int i = 1; i < argc; i++)
        named |= strcmp(argv[i], "--json") != 0;
    for (int k = 0; k < 3; k++) {
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
