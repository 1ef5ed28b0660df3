/* Where the time of planning goes: processor seconds of each study of `espalier reproduce
 * --quick`, and of `espalier plan` of 64 MB for 24 to 10,000 hosts, with the share of
 * each part of the work in percent; and how many transfers a processor second the
 * simulator of fair shares plays, for 10 to 1,000 hosts. bench_speed [--json]
 * [plans|studies|simulations] [HOSTS]  (of up to so many; 1,000) Linked so that calls of
 * the parts are counted (--wrap). What one part calls of another counts for the other
 * only. */
#include <string.h>

#include "bench.h"
#include "cost/cost.h"
#include "lp/lp.h"
#include "schedule/order.h"
#include "schedule/replay_fluid.h"
#include "schedule/round.h"
#include "solve/arcs.h"
#include "solve/packing.h"
#include "study/study.h"

/* ---- parts of the work ---- */

enum part { REST, PROGRAMS, PACKING, CUTS, ROUNDS, ARRANGING, PLAYING, COSTING, PARTS };

static const char *const part_names[PARTS] = {
    "rest", "programs", "packing", "cuts", "rounds", "arranging", "playing", "costing"};

static _Thread_local double part_s[PARTS], since_s;
static _Thread_local enum part now;

/* Begins a part, and gives the one that it interrupts. */
static enum part begin(enum part part)
{
    enum part before = now;
    double at_s = espi_cpu_s();
    part_s[before] += at_s - since_s;
    since_s = at_s;
    now = part;
    return before;
}

/* Names that start with __ are the linker's. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
espi_lp_result __real_espi_lp_solve(struct espi_lp *lp, espi_lp_method method);
espi_lp_result __wrap_espi_lp_solve(struct espi_lp *lp, espi_lp_method method);
esp_status __real_espi_packing_solve(const struct espi_view *v, int root,
                                     const struct espi_packing_options *options,
                                     struct espi_arena *arena, struct espi_packing *out,
                                     struct esp_err *err);
esp_status __wrap_espi_packing_solve(const struct espi_view *v, int root,
                                     const struct espi_packing_options *options,
                                     struct espi_arena *arena, struct espi_packing *out,
                                     struct esp_err *err);
esp_status __real_espi_arcs_solve(const struct espi_arcs_task *task,
                                  struct espi_arena *arena, struct espi_arcs *out,
                                  struct esp_err *err);
esp_status __wrap_espi_arcs_solve(const struct espi_arcs_task *task,
                                  struct espi_arena *arena, struct espi_arcs *out,
                                  struct esp_err *err);
double __real_espi_rounds_pick(struct espi_rounds *rounds, int low, int high,
                               struct espi_round *best);
double __wrap_espi_rounds_pick(struct espi_rounds *rounds, int low, int high,
                               struct espi_round *best);
int __real_espi_order_init(struct espi_order *o, const struct espi_legs *legs,
                           const struct espi_arc_uses *uses,
                           const struct espi_order_options *options,
                           struct espi_arena *arena);
int __wrap_espi_order_init(struct espi_order *o, const struct espi_legs *legs,
                           const struct espi_arc_uses *uses,
                           const struct espi_order_options *options,
                           struct espi_arena *arena);
int __real_espi_order_play(struct espi_order *o, const struct espi_legs *legs,
                           const struct espi_arc_uses *uses,
                           const struct espi_order_options *options, int64_t sends,
                           struct espi_arena *arena);
int __wrap_espi_order_play(struct espi_order *o, const struct espi_legs *legs,
                           const struct espi_arc_uses *uses,
                           const struct espi_order_options *options, int64_t sends,
                           struct espi_arena *arena);
int __real_espi_order_settle(struct espi_order *o, const struct espi_legs *legs,
                             const struct espi_arc_uses *uses,
                             const struct espi_order_options *options,
                             struct espi_arena *arena);
int __wrap_espi_order_settle(struct espi_order *o, const struct espi_legs *legs,
                             const struct espi_arc_uses *uses,
                             const struct espi_order_options *options,
                             struct espi_arena *arena);
int __real_espi_fluid_time(const struct esp_platform *p, const struct espi_arrangement *a,
                           const struct espi_round_options *o, int claim,
                           struct espi_arena *arena, struct espi_played *out);
int __wrap_espi_fluid_time(const struct esp_platform *p, const struct espi_arrangement *a,
                           const struct espi_round_options *o, int claim,
                           struct espi_arena *arena, struct espi_played *out);
int __real_espi_fluid_pace(const struct esp_platform *p, const struct espi_arrangement *a,
                           const struct espi_round_options *o, struct espi_arena *arena,
                           double *pace_s);
int __wrap_espi_fluid_pace(const struct esp_platform *p, const struct espi_arrangement *a,
                           const struct espi_round_options *o, struct espi_arena *arena,
                           double *pace_s);
esp_status __real_espi_plan_cost(const struct esp_platform *p,
                                 const struct esp_plan *plan, double size_bytes,
                                 double slice_bytes, struct espi_arena *arena,
                                 struct espi_cost *out, struct esp_err *err);
esp_status __wrap_espi_plan_cost(const struct esp_platform *p,
                                 const struct esp_plan *plan, double size_bytes,
                                 double slice_bytes, struct espi_arena *arena,
                                 struct espi_cost *out, struct esp_err *err);

espi_lp_result __wrap_espi_lp_solve(struct espi_lp *lp, espi_lp_method method)
{
    enum part before = begin(PROGRAMS);
    espi_lp_result result = __real_espi_lp_solve(lp, method);
    begin(before);
    return result;
}

esp_status __wrap_espi_packing_solve(const struct espi_view *v, int root,
                                     const struct espi_packing_options *options,
                                     struct espi_arena *arena, struct espi_packing *out,
                                     struct esp_err *err)
{
    enum part before = begin(PACKING);
    esp_status st = __real_espi_packing_solve(v, root, options, arena, out, err);
    begin(before);
    return st;
}

esp_status __wrap_espi_arcs_solve(const struct espi_arcs_task *task,
                                  struct espi_arena *arena, struct espi_arcs *out,
                                  struct esp_err *err)
{
    enum part before = begin(CUTS);
    esp_status st = __real_espi_arcs_solve(task, arena, out, err);
    begin(before);
    return st;
}

double __wrap_espi_rounds_pick(struct espi_rounds *rounds, int low, int high,
                               struct espi_round *best)
{
    enum part before = begin(ROUNDS);
    double picked_s = __real_espi_rounds_pick(rounds, low, high, best);
    begin(before);
    return picked_s;
}

int __wrap_espi_order_init(struct espi_order *o, const struct espi_legs *legs,
                           const struct espi_arc_uses *uses,
                           const struct espi_order_options *options,
                           struct espi_arena *arena)
{
    enum part before = begin(ARRANGING);
    int failed = __real_espi_order_init(o, legs, uses, options, arena);
    begin(before);
    return failed;
}

int __wrap_espi_order_play(struct espi_order *o, const struct espi_legs *legs,
                           const struct espi_arc_uses *uses,
                           const struct espi_order_options *options, int64_t sends,
                           struct espi_arena *arena)
{
    enum part before = begin(PLAYING);
    int failed = __real_espi_order_play(o, legs, uses, options, sends, arena);
    begin(before);
    return failed;
}

int __wrap_espi_order_settle(struct espi_order *o, const struct espi_legs *legs,
                             const struct espi_arc_uses *uses,
                             const struct espi_order_options *options,
                             struct espi_arena *arena)
{
    enum part before = begin(PLAYING);
    int failed = __real_espi_order_settle(o, legs, uses, options, arena);
    begin(before);
    return failed;
}

int __wrap_espi_fluid_time(const struct esp_platform *p, const struct espi_arrangement *a,
                           const struct espi_round_options *o, int claim,
                           struct espi_arena *arena, struct espi_played *out)
{
    enum part before = begin(PLAYING);
    int failed = __real_espi_fluid_time(p, a, o, claim, arena, out);
    begin(before);
    return failed;
}

int __wrap_espi_fluid_pace(const struct esp_platform *p, const struct espi_arrangement *a,
                           const struct espi_round_options *o, struct espi_arena *arena,
                           double *pace_s)
{
    enum part before = begin(PLAYING);
    int failed = __real_espi_fluid_pace(p, a, o, arena, pace_s);
    begin(before);
    return failed;
}

esp_status __wrap_espi_plan_cost(const struct esp_platform *p,
                                 const struct esp_plan *plan, double size_bytes,
                                 double slice_bytes, struct espi_arena *arena,
                                 struct espi_cost *out, struct esp_err *err)
{
    enum part before = begin(COSTING);
    esp_status st =
        __real_espi_plan_cost(p, plan, size_bytes, slice_bytes, arena, out, err);
    begin(before);
    return st;
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- platforms ---- */

enum kind { SITES, SWITCHES, CAPACITY, RANDOM, TIERS, HUB, RACKS, RING, STAR, KINDS };

static const char *const kind_names[KINDS] = {
    "sites", "switches", "capacity", "random", "tiers", "hub", "racks", "ring", "star"};

/* Networks as measuring writes them are generated up to so many hosts. */
enum { MEASURED_HOSTS = 128 };

static esp_status make_sites(enum kind kind, int hosts, struct esp_platform **out,
                             struct esp_err *err)
{
    struct esp_sites_options o;
    struct esp_platform *p = NULL;
    esp_sites_options_defaults(&o);
    o.sites = hosts < 64 ? 3 : hosts < 256 ? 4 : hosts < 1000 ? 8 : 10;
    o.clusters = 2;
    o.hosts = hosts / o.sites / o.clusters;
    o.spread = 3;
    o.switches = kind == SWITCHES;
    esp_status st = esp_generate_sites(&o, &p, err);
    if (st || kind != CAPACITY) {
        *out = p;
        return st;
    }
    st = esp_platform_with_model(p, ESP_MODEL_CAPACITY, out, err);
    esp_platform_free(p);
    return st;
}

static esp_status make_platform(enum kind kind, int hosts, struct esp_platform **out,
                                struct esp_err *err)
{
    struct esp_random_options random;
    struct esp_tiers_options tiers;
    struct esp_hub_options hub;
    struct esp_measured_options measured;
    if (kind >= RACKS) {
        esp_measured_options_defaults(&measured);
        measured.kind = kind == RACKS  ? ESP_MEASURED_RACKS
                        : kind == RING ? ESP_MEASURED_RING
                                       : ESP_MEASURED_STAR;
        measured.hosts = hosts;
        return esp_generate_measured(&measured, out, err);
    }
    if (kind == RANDOM) {
        esp_random_options_defaults(&random);
        random.nodes = hosts;
        return esp_generate_random(&random, out, err);
    }
    if (kind == HUB) {
        esp_hub_options_defaults(&hub);
        hub.nodes = hosts;
        return esp_generate_hub(&hub, out, err);
    }
    if (kind == TIERS) {
        esp_tiers_options_defaults(&tiers);
        tiers.nodes = hosts;
        return esp_generate_tiers(&tiers, out, err);
    }
    return make_sites(kind, hosts, out, err);
}

/* ---- plans ---- */

static void print_plan(int json, int first, const struct esp_platform *p, enum kind kind,
                       const struct esp_plan *plan, double took_s)
{
    int hosts = esp_platform_host_count(p);
    double slices = plan->size_bytes / plan->slice_bytes;
    if (json)
        printf("%s{\"platform\": \"%s\", \"hosts\": %d, \"cpu_s\": %.3f, "
               "\"makespan_s\": %.6g, \"throughput_Bps\": %.6g, \"trees\": %d, "
               "\"slices\": %.0f",
               first ? "" : ",\n", kind_names[kind], hosts, took_s, plan->makespan_s,
               plan->throughput_Bps, plan->n_trees, slices);
    else
        printf("%-9s %5d %8.3f %9.4f %6d %7.0f ", kind_names[kind], hosts, took_s,
               plan->makespan_s, plan->n_trees, slices);
    for (int i = 0; i < PARTS; i++)
        if (json)
            printf(", \"%s\": %.3f", part_names[i], part_s[i]);
        else
            printf(" %9.0f", 100 * part_s[i] / took_s);
    printf(json ? "}" : "\n");
    fflush(stdout);
}

static void bench_plan(int json, int first, enum kind kind, int hosts)
{
    struct esp_platform *p = NULL;
    struct esp_plan *plan = NULL;
    struct esp_request request;
    struct esp_err err;
    bench_stop_if(make_platform(kind, hosts, &p, &err), &err);
    esp_request_init(&request, 0);
    while (esp_platform_node_kind(p, request.root) != ESP_NODE_HOST)
        request.root++;
    memset(part_s, 0, sizeof part_s);
    double began_s = since_s = espi_cpu_s();
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    double took_s = espi_cpu_s() - began_s;
    begin(REST);
    print_plan(json, first, p, kind, plan, took_s);
    esp_plan_free(plan);
    esp_platform_free(p);
}

/* Is there a row for it? A million links, one for each pair, are no network that anyone
 * has. */
static int is_planned(enum kind kind, int hosts)
{
    if (hosts > 1000)
        return kind == TIERS;
    return hosts <= MEASURED_HOSTS ||
           (kind < RACKS && (hosts < 1000 || (kind != SITES && kind != CAPACITY)));
}

static void bench_plans(int json, int most)
{
    static const int hosts[] = {24, 64, 128, 256, 1000, 3000, 10000};
    int first = 1;
    if (!json) {
        printf("%-9s %5s %8s %9s %6s %7s ", "platform", "hosts", "cpu s", "finish s",
               "trees", "slices");
        for (int i = 0; i < PARTS; i++)
            printf(" %9s", part_names[i]);
        printf("\n");
    }
    for (int i = 0; i < 7 && hosts[i] <= most; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (!is_planned((enum kind)kind, hosts[i]))
                continue;
            bench_plan(json, first, (enum kind)kind, hosts[i]);
            first = 0;
        }
}

/* ---- simulations ---- */

/* Sites with switches, tiers, and hosts on one switch, in a model in which transfers
 * share. */
static struct esp_platform *shared_network(const char *name, int hosts, esp_model model)
{
    struct esp_sites_options sites;
    struct esp_tiers_options tiers;
    struct esp_platform *p = NULL, *q = NULL;
    struct esp_err err;
    if (!strcmp(name, "tiers")) {
        esp_tiers_options_defaults(&tiers);
        tiers.nodes = hosts;
        bench_stop_if(esp_generate_tiers(&tiers, &p, &err), &err);
    } else {
        int flat = !strcmp(name, "flat");
        esp_sites_options_defaults(&sites);
        sites.sites = flat ? 1 : hosts < 30 ? 2 : hosts < 300 ? 4 : 10;
        sites.clusters = flat || hosts < 100 ? 1 : 2;
        sites.hosts = hosts / sites.sites / sites.clusters;
        sites.spread = 3;
        sites.switches = 1;
        bench_stop_if(esp_generate_sites(&sites, &p, &err), &err);
    }
    bench_stop_if(esp_platform_with_model(p, model, &q, &err), &err);
    esp_platform_free(p);
    return q;
}

static void bench_simulation(int json, int *first, const char *name,
                             const struct esp_platform *p, const char *algo)
{
    struct esp_plan *plan = NULL;
    struct esp_sim_options options;
    struct esp_sim_result *result = NULL;
    struct esp_request request;
    struct esp_err err;
    esp_request_init(&request, 0);
    while (esp_platform_node_kind(p, request.root) != ESP_NODE_HOST)
        request.root++;
    request.algo = algo;
    bench_stop_if(esp_plan_make(p, &request, &plan, &err), &err);
    esp_sim_options_defaults(&options);
    options.sharing = ESP_SHARING_FLUID;
    double began_s = espi_cpu_s();
    bench_stop_if(esp_simulate(p, plan, &options, &result, &err), &err);
    double took_s = espi_cpu_s() - began_s, sent = (double)result->transfers;
    const char *model = esp_model_name(esp_platform_model(p));
    if (json)
        printf("%s{\"platform\": \"%s\", \"model\": \"%s\", \"algo\": \"%s\", "
               "\"hosts\": %d, \"transfers\": %.0f, \"cpu_s\": %.4f}",
               *first ? "" : ",\n", name, model, algo, esp_platform_host_count(p), sent,
               took_s);
    else
        printf("%-9s %-10s %-9s %5d %9.0f %8.3f %12.0f\n", name, model, algo,
               esp_platform_host_count(p), sent, took_s, sent / took_s);
    fflush(stdout);
    *first = 0;
    esp_sim_result_free(result);
    esp_plan_free(plan);
}

static void bench_simulations(int json, int most)
{
    static const int hosts[] = {10, 30, 100, 300, 1000};
    static const esp_model models[] = {ESP_MODEL_ONE_PORT, ESP_MODEL_CAPACITY};
    static const char *const names[] = {"sites", "tiers", "flat"};
    static const char *const algos[] = {"binomial", "mtp", "auto"};
    int first = 1;
    if (!json)
        printf("%-9s %-10s %-9s %5s %9s %8s %12s\n", "platform", "model", "plan", "hosts",
               "transfers", "cpu s", "transfers/s");
    for (int i = 0; i < 5 && hosts[i] <= most; i++)
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 2; m++) {
                struct esp_platform *p = shared_network(names[k], hosts[i], models[m]);
                /* on one switch planning takes far longer than playing */
                for (int a = 0; a < (k == 2 && hosts[i] > 300 ? 1 : 3); a++)
                    bench_simulation(json, &first, names[k], p, algos[a]);
                esp_platform_free(p);
            }
}

/* ---- studies ---- */

static double process_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double bench_study(const struct espi_study *study)
{
    static struct espi_findings findings;
    struct espi_arena arena;
    struct esp_err err;
    espi_arena_init(&arena);
    findings = (struct espi_findings){.arena = &arena};
    struct espi_study_run run = {.quick = 1, .findings = &findings};
    double began_s = process_cpu_s();
    bench_stop_if(study->run(&run, &err), &err);
    espi_arena_done(&arena);
    return process_cpu_s() - began_s;
}

static void bench_studies(int json)
{
    int n;
    const struct espi_study *const *studies = espi_studies(&n);
    double sum_s = 0;
    if (!json)
        printf("%-14s %8s\n", "study, quick", "cpu s");
    for (int i = 0; i < n; i++) {
        double took_s = bench_study(studies[i]);
        sum_s += took_s;
        printf(json ? "{\"study\": \"%s\", \"cpu_s\": %.2f},\n" : "%-14s %8.2f\n",
               studies[i]->name, took_s);
        fflush(stdout);
    }
    printf(json ? "{\"study\": \"%s\", \"cpu_s\": %.2f}" : "%-14s %8.2f\n", "all", sum_s);
}

int main(int argc, char **argv)
{
    int json = 0, most = 1000, some = 0, wanted[3] = {0};
    static const char *const words[] = {"plans", "simulations", "studies"};
    for (int i = 1; i < argc; i++) {
        json |= !strcmp(argv[i], "--json");
        for (int k = 0; k < 3; k++)
            if (!strcmp(argv[i], words[k]))
                some = wanted[k] = 1;
        if (argv[i][0] >= '0' && argv[i][0] <= '9')
            most = atoi(argv[i]);
    }
    printf(json ? "[" : "");
    for (int k = 0, n = 0; k < 3; k++) {
        if (some && !wanted[k])
            continue;
        if (n++)
            printf(json ? ",\n" : "\n");
        if (k == 0)
            bench_plans(json, most);
        else if (k == 1)
            bench_simulations(json, most);
        else
            bench_studies(json);
    }
    printf(json ? "]\n" : "");
    return 0;
}
