/* How well measuring finds a network: true networks are drawn, emulated with all that
 * disturbs real ones, measured, and what was written down is held to the truth:
 * - bounds of broadcast, allgather and reduce from three roots, over the true ones,
 * - rates of random sets of simultaneous transfers,
 * - cables that were made up: with limits that the true network does not have.
 *
 *   bench_measure [--json] [--judge] [--seeds FIRST-LAST] [--hosts MOST]
 *                 [--kinds flat,chain] [--budget S] [--each] [--show] [--no-bounds]
 *
 * Without arguments seeds 1 to 5 and up to 64 hosts. Seeds 1 to 999 are for working.
 * Those from 100000 on are for judging (--judge: 100000 to 100029), and nothing may be
 * chosen by what they show. The four presets, and kinds that are made of those of the
 * generator (zoo.h), stand beside these. --each prints a line for each network, too,
 * --show what there is and what was found besides ports. --no-bounds leaves these out,
 * which take longest. */
#include <math.h>

#include "base/arena.h"
#include "support/emulated_network.h"
#include "zoo.h"

enum {
    NETWORKS_MAX = 1000,
    SETS = 20,
    SET_FLOWS = 24,
    BOUNDS = 7 /* broadcast and reduce from three roots, allgather */
};

struct bench_question {
    int json, judge, each, show, no_bounds, hosts, budget_s;
    uint64_t first, last;
    char kinds[256];
};

/* Of one network. */
struct finding {
    uint64_t seed;
    int hosts, made_up;
    double bound[BOUNDS]; /* measured over true */
    double flow[SETS * SET_FLOWS];
    int n_flows;
    double worst_bound, middle_flow, high_flow; /* how far off */
    double cpu_s, took_s; /* of planning rounds and digesting; of the network's time */
};

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: bench_measure [--json] [--judge] [--seeds FIRST-LAST] [--hosts "
            "MOST]\n"
            "                     [--kinds KIND,...] [--budget S]\n                     "
            "[--each] [--show] [--no-bounds]\n"
            "Seeds 1-999 are for working, those from 100000 on for judging only.\n");
    exit(2);
}

static void take_seeds(struct bench_question *a, const char *text)
{
    unsigned long long first = 0, last = 0;
    if (sscanf(text, "%llu-%llu", &first, &last) != 2 || first < 1 || last < first ||
        last - first >= NETWORKS_MAX)
        usage();
    a->first = first;
    a->last = last;
}

static void read_arguments(struct bench_question *a, int argc, char **argv)
{
    int seeds = 0;
    a->hosts = 64;
    a->budget_s = 50;
    snprintf(a->kinds, sizeof a->kinds,
             "presets,flat,racks,full,chain,ring,star,bus,rows,lone,cards");
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--json")) {
            a->json = 1;
        } else if (!strcmp(argv[i], "--judge")) {
            a->judge = 1;
        } else if (!strcmp(argv[i], "--each")) {
            a->each = 1;
        } else if (!strcmp(argv[i], "--show")) {
            a->each = a->show = 1;
        } else if (!strcmp(argv[i], "--no-bounds")) {
            a->no_bounds = 1;
        } else if (value && !strcmp(argv[i], "--seeds")) {
            take_seeds(a, argv[++i]);
            seeds = 1;
        } else if (value && !strcmp(argv[i], "--hosts")) {
            a->hosts = atoi(argv[++i]);
        } else if (value && !strcmp(argv[i], "--budget")) {
            a->budget_s = atoi(argv[++i]);
        } else if (value && !strcmp(argv[i], "--kinds")) {
            snprintf(a->kinds, sizeof a->kinds, "%s", argv[++i]);
        } else {
            usage();
        }
    }
    if (!seeds)
        take_seeds(a, a->judge ? "100000-100029" : "1-5");
    if (a->hosts < 8 || a->hosts > 128 || !bench_seeds_fit(a->judge, a->first, a->last))
        usage();
}

/* ---- measuring ---- */

static struct esp_platform *measure_network(struct emulated_network *net, int budget_s,
                                            struct finding *f)
{
    struct espi_samples samples = {.n = 0};
    struct espi_measured measured;
    struct espi_arena arena;
    struct esp_platform *p = NULL;
    struct esp_err err = {0};
    double began_s = bench_cpu_s();
    struct espi_probe_driver prober = emulated_prober(net, budget_s);
    espi_arena_init(&arena);
    bench_stop_if(emulated_hosts(net, &samples), &err);
    bench_stop_if(espi_probe(&prober, &samples, &err), &err);
    bench_stop_if(espi_measured_init(&measured, &samples, &arena, &err), &err);
    bench_stop_if(espi_measured_platform(&measured, "measured", 128, &p, &arena, &err),
                  &err);
    espi_measured_done(&measured);
    espi_arena_done(&arena);
    espi_samples_done(&samples);
    f->cpu_s = bench_cpu_s() - began_s;
    f->took_s = net->now_s;
    return p;
}

/* ---- held to the truth ---- */

static double bound_Bps(const struct esp_platform *p, esp_op op, int root)
{
    struct esp_request request;
    struct esp_bound_options options;
    struct esp_bound *bound = NULL;
    struct esp_err err;
    esp_request_init(&request, root);
    esp_bound_options_defaults(&options);
    options.gap = 1e-3;
    request.op = op;
    bench_stop_if(esp_bound_compute(p, &request, &options, &bound, &err), &err);
    double Bps = bound->throughput_Bps;
    esp_bound_free(bound);
    return Bps;
}

/* The bound of the network as seen over that of the true one. */
static double bound_ratio(const struct esp_platform *truth,
                          const struct esp_platform *seen, esp_op op, int root)
{
    double true_Bps = bound_Bps(truth, op, root);
    return bound_Bps(seen, op, root) / true_Bps;
}

static void compare_bounds(const struct esp_platform *truth,
                           const struct esp_platform *seen, struct finding *f)
{
    int n = f->hosts, k = 0;
    for (int i = 0; i < 3; i++) {
        int root = i * (n - 1) / 2;
        f->bound[k++] = bound_ratio(truth, seen, ESP_OP_BCAST, root);
        f->bound[k++] = bound_ratio(truth, seen, ESP_OP_REDUCE, root);
    }
    f->bound[k++] = bound_ratio(truth, seen, ESP_OP_ALLGATHER, 0);
    for (int i = 0; i < k; i++)
        f->worst_bound = fmax(f->worst_bound, fabs(f->bound[i] - 1));
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Random transfers, none twice: a true network whose single transfers are held up by a
 * wire may not have that wire as a cable (generate_measured.c). Gives how many. */
static int draw_set(struct espi_rng *r, int hosts, struct espi_trial_flow *flows)
{
    int drawn = 1 + (int)espi_rng_below(r, SET_FLOWS), n = 0;
    for (int i = 0; i < drawn; i++) {
        int from = (int)espi_rng_below(r, (uint32_t)hosts), known = 0;
        int to = (int)espi_rng_below(r, (uint32_t)hosts - 1);
        to += to >= from;
        for (int k = 0; k < n; k++)
            known |= flows[k].from == from && flows[k].to == to;
        if (!known)
            flows[n++] = (struct espi_trial_flow){from, to, 0};
    }
    return n;
}

static void compare_sets(const struct esp_platform *truth,
                         const struct esp_platform *seen, struct finding *f)
{
    struct espi_rng r;
    espi_rng_seed(&r, f->seed + 7);
    for (int set = 0; set < SETS; set++) {
        struct espi_trial_flow flows[SET_FLOWS];
        double want[SET_FLOWS], got[SET_FLOWS];
        int n = draw_set(&r, f->hosts, flows);
        emulated_rates(truth, flows, n, NULL, want);
        emulated_rates(seen, flows, n, NULL, got);
        for (int i = 0; i < n; i++)
            f->flow[f->n_flows++] = fabs(got[i] / want[i] - 1);
    }
    qsort(f->flow, (size_t)f->n_flows, sizeof *f->flow, compare_doubles);
    f->middle_flow = f->flow[f->n_flows / 2];
    f->high_flow = f->flow[(int)(0.95 * f->n_flows)];
}

/* What all transfers over the cable at once get together, in the true network. */
static double carried_Bps(const struct esp_platform *truth,
                          const struct esp_platform *seen, int cable)
{
    int n = esp_platform_cable_link_count(seen, cable);
    struct espi_trial_flow *flows = calloc((size_t)n, sizeof *flows);
    double *Bps = calloc((size_t)n, sizeof *Bps), sum = 0;
    if (!flows || !Bps)
        bench_stop("out of memory");
    for (int i = 0; i < n; i++) {
        int link = esp_platform_cable_link(seen, cable, i);
        flows[i] = (struct espi_trial_flow){esp_platform_link_from(seen, link),
                                            esp_platform_link_to(seen, link), 0};
    }
    emulated_rates(truth, flows, n, NULL, Bps);
    for (int i = 0; i < n; i++)
        sum += Bps[i];
    free(flows);
    free(Bps);
    return sum;
}

static void list_cables(const char *what, const struct esp_platform *p)
{
    printf("    %s:", what);
    for (int c = 0; c < esp_platform_cable_count(p); c++) {
        char name[128];
        snprintf(name, sizeof name, "%s", esp_platform_cable_name(p, c));
        char *end = strrchr(name, ':');
        if (end)
            *end = 0;
        if (esp_platform_find_node(p, name) < 0)
            printf(" %s %.3g (%d)", esp_platform_cable_name(p, c),
                   esp_platform_cable_bandwidth_Bps(p, c),
                   esp_platform_cable_link_count(p, c));
    }
    printf("\n");
}

static struct finding judge_network(const struct bench_question *a,
                                    const struct esp_platform *truth, uint64_t seed)
{
    struct finding f = {.seed = seed, .hosts = esp_platform_node_count(truth)};
    struct emulated_network net = emulate_network(truth, seed);
    net.log = a->show ? stdout : NULL;
    struct esp_platform *seen = measure_network(&net, a->budget_s, &f);
    if (a->show) {
        list_cables("true", truth);
        list_cables("seen", seen);
    }
    if (!a->no_bounds)
        compare_bounds(truth, seen, &f);
    compare_sets(truth, seen, &f);
    for (int c = 0; c < esp_platform_cable_count(seen); c++) {
        double Bps = esp_platform_cable_bandwidth_Bps(seen, c);
        double true_Bps = carried_Bps(truth, seen, c);
        int made_up = true_Bps > 1.2 * Bps;
        f.made_up += made_up;
        if (a->show && 1.2 * true_Bps < Bps)
            printf("    missed: %s %.3g, carries %.3g\n",
                   esp_platform_cable_name(seen, c), Bps, true_Bps);
        if (a->show && made_up)
            printf("    made up: %s %.3g, can carry %.3g\n",
                   esp_platform_cable_name(seen, c), Bps, true_Bps);
    }
    esp_platform_free(seen);
    return f;
}

/* ---- tables ---- */

static void print_each(const char *kind, const struct finding *f)
{
    printf("  %-8s seed %-6llu %3d hosts: bounds", kind, (unsigned long long)f->seed,
           f->hosts);
    for (int i = 0; i < BOUNDS; i++)
        printf(" %.3f", f->bound[i]);
    printf(", flows %.3f %.3f, made up %d, %.1f s, cpu %.2f s\n", f->middle_flow,
           f->high_flow, f->made_up, f->took_s, f->cpu_s);
    fflush(stdout);
}

static double value_of(const struct finding *f, int what)
{
    const double values[] = {f->worst_bound, f->middle_flow, f->high_flow,
                             f->made_up,     f->took_s,      f->cpu_s};
    return values[what];
}

/* The value that `part` of the findings do not exceed. */
static double at_part(const struct finding *f, int n, int what, double part)
{
    double values[NETWORKS_MAX];
    for (int i = 0; i < n; i++)
        values[i] = value_of(&f[i], what);
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    int at = (int)ceil(part * n) - 1;
    return values[at < 0 ? 0 : at];
}

static void print_kind(const struct bench_question *a, int first, const char *kind,
                       const struct finding *f, int n)
{
    int worst = 0, sound = 0;
    for (int i = 0; i < n; i++) {
        worst = f[i].worst_bound > f[worst].worst_bound ? i : worst;
        sound += f[i].made_up == 0;
    }
    printf(a->json
               ? "%s\n  {\"kind\": \"%s\", \"n\": %d, \"bound_p95\": %.4f, "
                 "\"bound_worst\": %.4f, \"flow_median\": %.4f, \"flow_p95\": %.4f, "
                 "\"nothing_made_up\": %.4f, \"took_s\": %.2f, \"cpu_s\": %.3f, "
                 "\"worst_seed\": %llu, \"worst_hosts\": %d}"
               : "%s%-8s %4d %9.3f %9.3f %9.3f %9.3f %9.2f %8.1f %8.2f  seed %llu, %d "
                 "hosts\n",
           a->json && !first ? "," : "", kind, n, at_part(f, n, 0, 0.95),
           at_part(f, n, 0, 1), at_part(f, n, 1, 0.5), at_part(f, n, 2, 0.95),
           (double)sound / n, at_part(f, n, 4, 1), at_part(f, n, 5, 1),
           (unsigned long long)f[worst].seed, f[worst].hosts);
    fflush(stdout);
}

static void run_kind(const struct bench_question *a, int first, const char *kind)
{
    static struct finding findings[NETWORKS_MAX];
    int n = 0;
    for (uint64_t seed = a->first; seed <= a->last; seed++) {
        struct esp_platform *truth =
            zoo_has(kind) ? zoo_network(kind, seed, 8, a->hosts)
                          : bench_network(kind, seed, a->first, 8, a->hosts);
        if (!truth)
            break;
        findings[n++] = judge_network(a, truth, seed);
        if (a->each && !a->json)
            print_each(kind, &findings[n - 1]);
        esp_platform_free(truth);
        bench_progress((int)(seed - a->first) + 1, (int)(a->last - a->first) + 1);
    }
    if (n)
        print_kind(a, first, kind, findings, n);
}

int main(int argc, char **argv)
{
    struct bench_question a = {0};
    char kinds[256];
    int first = 1;
    read_arguments(&a, argc, argv);
    if (a.json)
        printf("[");
    else
        printf("%-8s %4s %9s %9s %9s %9s %9s %8s %8s  %s\n", "kind", "n", "bound 95",
               "worst", "flow 50", "flow 95", "sound", "took s", "cpu s", "worst of");
    snprintf(kinds, sizeof kinds, "%s", a.kinds);
    for (char *kind = strtok(kinds, ","); kind; kind = strtok(NULL, ","), first = 0) {
        if (strcmp(kind, "presets") != 0 && bench_kind(kind) < 0 && !zoo_has(kind))
            usage();
        run_kind(&a, first, kind);
    }
    if (a.json)
        printf("\n]\n");
    return 0;
}
