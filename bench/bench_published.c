/* Allgathers, and an alltoall, beside those that others have published: the same fabrics
 * and sizes.
 *
 *   bench_published [--json] [--algo NAME]... [--fluid] [FABRIC]...
 *
 * A row is a fabric and a size: what was published, what no plan can beat in the long
 * run, and for each algorithm when its plan is through in the simulation and how much
 * processor time planning took. All fabrics unless some are named; the algorithms are
 * `auto` and `time-expanded` unless some are named.
 *
 * TACOS: the tests of astra-sim/tacos, best of 20 draws there; sizes are those of the
 * result, bandwidths GiB/s. TE-CCL: output_provided of microsoft/TE-CCL, the best of its
 * three variants; of its alltoall a GPU has 1 GB to send, 31.25 MB for each of 32 as it
 * counts itself. Nothing but numbers is taken from either.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "bench.h"

enum { MAX_ALGOS = 16 };

static const char *algos[MAX_ALGOS];
static int n_algos, json, rows, fluid;

/* ---- fabrics ---- */

struct drawing {
    struct esp_builder *b;
    struct esp_err err;
};

static void add_nodes(struct drawing *d, int n, esp_node_kind kind, const char *prefix)
{
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", prefix, i);
        /* alpha and beta of a link are all that the publications count */
        struct esp_node_spec spec = {.name = name, .kind = kind};
        bench_stop_if(esp_builder_add_node(d->b, &spec, NULL, &d->err), &d->err);
    }
}

static void add_arc(struct drawing *d, int u, int v, double latency_s, double Bps)
{
    bench_stop_if(esp_builder_add_link(d->b, u, v, latency_s, Bps, NULL, &d->err),
                  &d->err);
}

static void add_pair(struct drawing *d, int u, int v, double latency_s, double Bps)
{
    add_arc(d, u, v, latency_s, Bps);
    add_arc(d, v, u, latency_s, Bps);
}

static struct drawing begin(void)
{
    struct drawing d = {0};
    bench_stop_if(esp_builder_create(&d.b, &d.err), &d.err);
    esp_builder_set_model(d.b, ESP_MODEL_CAPACITY);
    return d;
}

static struct esp_platform *end(struct drawing *d)
{
    struct esp_platform *p = NULL;
    bench_stop_if(esp_builder_build(d->b, &p, &d->err), &d->err);
    esp_builder_free(d->b);
    return p;
}

/* Hosts in a grid of up to three dimensions, each with its bandwidth, closed to rings or
 * not. */
struct grid {
    int size[3], closed;
    double GiBps[3], latency_us;
};

static struct esp_platform *draw_grid(const struct grid *g)
{
    struct drawing d = begin();
    int all = g->size[0] * g->size[1] * g->size[2];
    add_nodes(&d, all, ESP_NODE_HOST, "h");
    for (int u = 0, stride = 1; u < 3; stride *= g->size[u++])
        for (int i = 0; i < all && g->size[u] > 1; i++) {
            int at = i / stride % g->size[u], last = at == g->size[u] - 1;
            if (last && (!g->closed || g->size[u] < 3))
                continue;
            int j = last ? i - at * stride : i + stride;
            add_pair(&d, i, j, g->latency_us * 1e-6, g->GiBps[u] * 0x1p30);
        }
    return end(&d);
}

/* Chassis of eight GPUs; between two a link each way, between more a switch. */
static struct esp_platform *draw_ndv2(int chassis)
{
    static const int beta[8][8] = {
        {0, 23, 46, 46, 23, 0, 0, 0}, {23, 0, 46, 23, 0, 46, 0, 0},
        {46, 46, 0, 23, 0, 0, 23, 0}, {46, 23, 23, 0, 0, 0, 0, 46},
        {23, 0, 0, 0, 0, 23, 46, 46}, {0, 46, 0, 0, 23, 0, 46, 23},
        {0, 0, 23, 0, 46, 46, 0, 23}, {0, 0, 0, 46, 46, 23, 23, 0}};
    struct drawing d = begin();
    add_nodes(&d, 8 * chassis, ESP_NODE_HOST, "g");
    add_nodes(&d, chassis > 2, ESP_NODE_SWITCH, "ib");
    for (int c = 0; c < chassis; c++)
        for (int u = 0; u < 8; u++)
            for (int v = 0; v < 8; v++)
                if (beta[u][v])
                    add_arc(&d, 8 * c + u, 8 * c + v, 0.7e-6,
                            beta[u][v] == 23 ? 50e9 : 25e9);
    for (int c = 0; c < chassis; c++)
        if (chassis == 2) {
            add_arc(&d, 8 * c, 8 * (1 - c) + 1, 1.3e-6, 12.5e9);
        } else {
            add_arc(&d, 8 * c, 8 * chassis, 1.3e-6, 12.5e9);
            add_arc(&d, 8 * chassis, 8 * c + 1, 1.3e-6, 12.5e9);
        }
    return end(&d);
}

/* Two chassis of 16 GPUs on a switch; every other has a link to the other chassis. */
static struct esp_platform *draw_dgx2(void)
{
    struct drawing d = begin();
    add_nodes(&d, 32, ESP_NODE_HOST, "g");
    add_nodes(&d, 2, ESP_NODE_SWITCH, "nv");
    for (int u = 0; u < 32; u++)
        add_pair(&d, u, 32 + u / 16, 0.35e-6, 125e9);
    for (int c = 0; c < 2; c++)
        for (int u = 1; u < 16; u += 2)
            add_arc(&d, 16 * c + u, 16 * (1 - c) + u - 1, 2.6e-6, 12.5e9);
    return end(&d);
}

static struct esp_platform *draw_ndv2_of_2(void)
{
    return draw_ndv2(2);
}

static struct esp_platform *draw_ndv2_of_4(void)
{
    return draw_ndv2(4);
}

/* ---- what was published ---- */

struct result {
    double size_bytes, time_s;
};

enum { MAX_RESULTS = 11 };

struct fabric {
    const char *name;
    const char *by;
    struct esp_platform *(*draw)(void); /* NULL: the grid */
    struct grid grid;
    struct result result[MAX_RESULTS]; /* ends with a size of 0 */
};

static const struct fabric fabrics[] = {
    {"torus-3x3x3",
     "TACOS",
     NULL,
     {{3, 3, 3}, 1, {50, 50, 50}, 0.5},
     {{0x1p30, 3706.20e-6}}},
    {"torus-3x4x5",
     "TACOS",
     NULL,
     {{3, 4, 5}, 1, {50, 50, 50}, 0.5},
     {{0x2p30, 6676.67e-6}}},
    {"torus-4x2x3",
     "TACOS",
     NULL,
     {{4, 2, 3}, 1, {50, 50, 50}, 0.5},
     {{0x3p30, 11673.67e-6}}},
    {"grid-3x3x3",
     "TACOS",
     NULL,
     {{3, 3, 3}, 0, {50, 50, 50}, 0.5},
     {{0x1p30, 6671.17e-6}}},
    {"grid-3x4x5",
     "TACOS",
     NULL,
     {{3, 4, 5}, 0, {50, 50, 50}, 0.5},
     {{0x2p30, 13353.33e-6}}},
    {"grid-4x2x3",
     "TACOS",
     NULL,
     {{4, 2, 3}, 0, {50, 50, 50}, 0.5},
     {{0x3p30, 19178.17e-6}}},
    {"mesh-5x5", "TACOS", NULL, {{5, 5, 1}, 0, {50, 50, 50}, 0.5}, {{0x1p30, 9606.0e-6}}},
    {"mesh-10x10",
     "TACOS",
     NULL,
     {{10, 10, 1}, 0, {100, 100, 100}, 1},
     {{0x1p30, 5049.0e-6}}},
    {"mesh-7x12",
     "TACOS",
     NULL,
     {{7, 12, 1}, 0, {100, 100, 100}, 1},
     {{0x4p30, 19966.27e-6}}},
    {"unequal-5x5",
     "TACOS",
     NULL,
     {{5, 5, 1}, 0, {50, 75, 1}, 0.5},
     {{0x1p30, 8005.0e-6}}},
    {"unequal-8x5",
     "TACOS",
     NULL,
     {{8, 5, 1}, 0, {80, 35, 1}, 1},
     {{0x1p30, 8595.43e-6}}},
    {"unequal-7x10",
     "TACOS",
     NULL,
     {{7, 10, 1}, 0, {16, 73, 1}, 1.5},
     {{0x4p30, 44612.47e-6}}},
    {"ndv2-2",
     "TE-CCL",
     draw_ndv2_of_2,
     {{0}, 0, {0}, 0},
     {{1e3, 4.135e-6},
      {4e3, 4.185e-6},
      {16e3, 4.44e-6},
      {64e3, 6.08e-6},
      {256e3, 14.72e-6},
      {1e6, 48.75e-6},
      {4e6, 190e-6},
      {16e6, 700e-6},
      {64e6, 2.8e-3},
      {256e6, 11.2e-3},
      {1e9, 43.75e-3}}},
    {"ndv2-4",
     "TE-CCL",
     draw_ndv2_of_4,
     {{0}, 0, {0}, 0},
     {{1e3, 5.4495e-6},
      {4e3, 5.516e-6},
      {16e3, 5.81e-6},
      {64e3, 8.32e-6},
      {256e3, 20.96e-6},
      {1e6, 69.375e-6},
      {4e6, 280e-6},
      {16e6, 1.04e-3},
      {64e6, 4.16e-3},
      {256e6, 16.64e-3},
      {1e9, 65e-3}}},
    {"dgx2-2",
     "TE-CCL",
     draw_dgx2,
     {{0}, 0, {0}, 0},
     {{1e3, 4.006e-6},
      {4e3, 4.03e-6},
      {16e3, 4.084e-6},
      {64e3, 4.32e-6},
      {256e3, 5.376e-6},
      {1e6, 10.75e-6},
      {4e6, 33e-6},
      {16e6, 124e-6},
      {64e6, 496e-6},
      {256e6, 1.984e-3},
      {1e9, 7.75e-3}}},
};

static const struct fabric dgx2_alltoall = {"dgx2-2-alltoall",
                                            "TE-CCL",
                                            draw_dgx2,
                                            {{0}, 0, {0}, 0},
                                            {{32 * 31 * 31.25e6, 80.5e-3}}};

static esp_op op_of(const struct fabric *f)
{
    return f == &dgx2_alltoall ? ESP_OP_ALLTOALL : ESP_OP_ALLGATHER;
}

/* ---- ours ---- */

struct ours {
    double time_s, cpu_s;
    char algo[64];
};

static int serves(const char *algo, esp_op op)
{
    const struct espi_algo *found = espi_algo_find(algo, strcspn(algo, ":"));
    return !found || found->flags & ESPI_ALGO_CHOOSES || espi_algo_serves(found, op, 0);
}

static struct ours plan_by(const struct esp_platform *p, const char *algo, esp_op op,
                           double bytes)
{
    struct esp_request r;
    struct esp_sim_options o;
    struct esp_sim_result *result = NULL;
    struct esp_plan *plan = NULL;
    struct esp_err err;
    struct ours ours = {NAN, 0, ""};
    if (!serves(algo, op))
        return ours;
    esp_request_init(&r, 0);
    r.op = op;
    r.algo = algo;
    r.size_bytes = bytes;
    r.judge = esp_judge_by_simulation;
    double start_s = espi_cpu_s();
    esp_status st = esp_plan_make(p, &r, &plan, &err);
    ours.cpu_s = espi_cpu_s() - start_s;
    if (st == ESP_EUNSUPPORTED)
        return ours;
    bench_stop_if(st, &err);
    esp_sim_options_defaults(&o);
    o.sharing = fluid ? ESP_SHARING_FLUID : ESP_SHARING_EXCLUSIVE;
    bench_stop_if(esp_simulate(p, plan, &o, &result, &err), &err);
    ours.time_s = result->makespan_s;
    snprintf(ours.algo, sizeof ours.algo, "%s", plan->algo);
    esp_sim_result_free(result);
    esp_plan_free(plan);
    return ours;
}

static double bound_s(const struct esp_platform *p, esp_op op, double bytes)
{
    struct esp_request r;
    struct esp_bound *bound = NULL;
    struct esp_err err;
    esp_request_init(&r, 0);
    r.op = op;
    r.size_bytes = bytes;
    r.slice_bytes = bytes / 1024;
    if (esp_bound_compute(p, &r, NULL, &bound, &err))
        return 0;
    double s = bytes / bound->throughput_Bps;
    esp_bound_free(bound);
    return s;
}

static void show(const struct fabric *f, const struct esp_platform *p, struct result x)
{
    double least_s = bound_s(p, op_of(f), x.size_bytes);
    printf(json ? "%s\n  {\"fabric\": \"%s\", \"by\": \"%s\", \"size\": %.0f, "
                  "\"published_us\": %.6g, \"bound_us\": %.6g"
                : "%.0s%-15s %-7s %11.0f %10.6g %10.6g",
           json && rows++ ? "," : "", f->name, f->by, x.size_bytes, x.time_s * 1e6,
           least_s * 1e6);
    for (int i = 0; i < n_algos; i++) {
        struct ours ours = plan_by(p, algos[i], op_of(f), x.size_bytes);
        printf(json ? ", \"%s_us\": %.6g, \"%s_cpu_s\": %.3f"
                    : "  %.0s%10.6g %.0s(%.2f s)",
               algos[i], ours.time_s * 1e6, algos[i], ours.cpu_s);
        if (!json)
            printf(" %6.3f %s", ours.time_s / x.time_s, ours.algo);
    }
    printf(json ? "}" : "\n");
    fflush(stdout);
}

static void show_fabric(const struct fabric *f)
{
    struct esp_platform *p = f->draw ? f->draw() : draw_grid(&f->grid);
    for (int i = 0; i < MAX_RESULTS && f->result[i].size_bytes > 0; i++)
        show(f, p, f->result[i]);
    esp_platform_free(p);
}

static int is_named(int argc, char **argv, const char *name)
{
    int named = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--algo")) {
            i++;
            continue;
        }
        if (argv[i][0] == '-')
            continue;
        named = 1;
        if (!strncmp(name, argv[i], strlen(argv[i])))
            return 1;
    }
    return !named;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        json |= !strcmp(argv[i], "--json");
        fluid |= !strcmp(argv[i], "--fluid");
        if (!strcmp(argv[i], "--algo") && i + 1 < argc && n_algos < MAX_ALGOS)
            algos[n_algos++] = argv[i + 1];
    }
    if (n_algos == 0) {
        algos[n_algos++] = "auto";
        algos[n_algos++] = "time-expanded";
    }
    if (json)
        putchar('[');
    else
        printf("fabric, by whom, bytes; microseconds: published, bound of long messages; "
               "then of each algorithm: simulated, planning, of what was published\n");
    for (size_t k = 0; k < sizeof fabrics / sizeof *fabrics; k++)
        if (is_named(argc, argv, fabrics[k].name))
            show_fabric(&fabrics[k]);
    if (is_named(argc, argv, dgx2_alltoall.name))
        show_fabric(&dgx2_alltoall);
    if (json)
        puts("\n]");
    return 0;
}
