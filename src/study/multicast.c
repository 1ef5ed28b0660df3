/* The simulations of the paper on pipelined multicast: all heuristics on Tiers platforms,
 * their period in parts of the scatter's and of the lower bound, as the share of targets
 * grows. */
#include "study/multicast.h"

#include <espalier/generate.h>

#include "algo/algo.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "cost/cost.h"
#include "solve/multicast.h"
#include "study/study.h"

enum { PRESETS = 2, DRAWS = 10, QUICK_DRAWS = 3 };
enum { ALGOS = ESPI_MULTICAST_ALGOS, SHARES = ESPI_MULTICAST_SHARES };

#define SLICE_BYTES 65536.0

static const char *const presets[PRESETS] = {"30b", "65b"};

const char *const espi_multicast_algos[ALGOS] = {
    "mc-scatter",          "mc-broadcast",      "mcph",           "multisource",
    "augmented-multicast", "reduced-broadcast", "steiner-cg:k=4", "steiner-cg"};
const double espi_multicast_shares[SHARES] = {10, 25, 40, 55, 70, 85, 100};

/* ---- one trial ---- */

static esp_status draw_platform(const char *preset, uint64_t platform,
                                struct esp_platform **p, struct esp_err *err)
{
    struct esp_tiers_options o;

    esp_tiers_options_defaults(&o);
    esp_status status = esp_tiers_options_preset(&o, preset, err);
    o.seed = 1 + platform;
    return status == ESP_OK ? esp_generate_tiers(&o, p, err) : status;
}

/* The LAN nodes (l0, l1, ...) in random order; the first is the source. */
static int draw_nodes(const struct esp_platform *p, uint64_t seed, int *nodes)
{
    struct espi_rng rng;
    int n = 0;

    for (int v = 0; v < esp_platform_node_count(p); v++)
        if (esp_platform_node_name(p, v)[0] == 'l')
            nodes[n++] = v;
    espi_rng_seed(&rng, seed + 1000);
    espi_rng_shuffle(&rng, nodes, n);
    return n;
}

static esp_status find_bound(const struct esp_platform *p, const int *nodes, int n,
                             double *period_s, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_flow_net net;

    espi_arena_init(&arena);
    esp_status status = ESP_OK;
    if (espi_flow_net_init(&net, p, SLICE_BYTES, nodes[0], n, nodes + 1, &arena))
        status = espi_err(err, ESP_ENOMEM, "out of memory");
    else
        status = espi_multicast_bound(&net, &arena, period_s, err);
    espi_arena_done(&arena);
    return status;
}

/* A plan with its throughput; nobody asks for its finish, which takes as long to find. */
static esp_status make_plan(const struct esp_platform *p,
                            const struct esp_request *request, struct espi_arena *arena,
                            struct esp_plan **out, struct esp_err *err)
{
    struct espi_task task = {.p = p, .request = request};
    const struct espi_algo *algo;
    struct esp_plan *plan = NULL;

    esp_status status = espi_algo_parse(request->algo, &algo, task.option, err);
    if (status == ESP_OK)
        status = espi_plan_make_by(algo, &task, &plan, err);
    if (status != ESP_OK)
        return status;
    status = espi_plan_throughput(p, plan, arena, &plan->throughput_Bps, err);
    if (status == ESP_OK)
        *out = plan;
    else
        esp_plan_free(plan);
    return status;
}

static esp_status run_algo(const struct esp_platform *p, const int *nodes, int n,
                           int algo, double least_s, struct espi_arena *arena,
                           struct espi_multicast_trial *trial, struct esp_err *err)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;

    esp_request_init(&request, nodes[0]);
    request.op = ESP_OP_MULTICAST;
    request.algo = espi_multicast_algos[algo];
    request.slice_bytes = SLICE_BYTES;
    request.size_bytes = 1000 * SLICE_BYTES;
    request.targets = nodes + 1;
    request.n_targets = n;
    double began_s = espi_cpu_s();
    esp_status status = make_plan(p, &request, arena, &plan, err);
    if (status != ESP_OK)
        return status;
    trial->plan_s[algo] = espi_cpu_s() - began_s;
    trial->to_bound[algo] = SLICE_BYTES / plan->throughput_Bps / least_s;
    trial->to_scatter[algo] = trial->to_bound[algo] / trial->to_bound[0];
    trial->trees[algo] = plan->n_trees;
    esp_plan_free(plan);
    return ESP_OK;
}

static esp_status try_targets(const struct esp_platform *p, uint64_t platform, int share,
                              struct espi_multicast_trial *trial, struct esp_err *err)
{
    struct espi_arena arena;
    double least_s = 0;

    espi_arena_init(&arena);
    int *nodes = ESPI_ARENA_NEW(&arena, int, esp_platform_node_count(p));
    esp_status status = nodes ? ESP_OK : espi_err(err, ESP_ENOMEM, "out of memory");
    if (status == ESP_OK) {
        int lan = draw_nodes(p, platform, nodes) - 1;
        int n = (int)(lan * espi_multicast_shares[share] / 100 + 0.5);
        n = n < 1 ? 1 : n;
        status = find_bound(p, nodes, n, &least_s, err);
        for (int i = 0; status == ESP_OK && i < ALGOS; i++)
            status = run_algo(p, nodes, n, i, least_s, &arena, trial, err);
    }
    espi_arena_done(&arena);
    return status;
}

esp_status espi_multicast_try(const char *preset, uint64_t platform, int share,
                              struct espi_multicast_trial *trial, struct esp_err *err)
{
    struct esp_platform *p = NULL;
    esp_status status = draw_platform(preset, platform, &p, err);

    if (status == ESP_OK)
        status = try_targets(p, platform, share, trial, err);
    esp_platform_free(p);
    return status;
}

/* ---- the study; rows: by preset, share and draw; cells: to bound, then to scatter ----
 */

static int draws_of(const struct espi_study_table *x)
{
    return (int)x->rows / (PRESETS * SHARES);
}

static esp_status fill_row(const struct espi_study_table *x, size_t row, double *cells,
                           struct esp_err *err)
{
    int at = (int)row / draws_of(x);
    struct espi_multicast_trial trial;
    esp_status status =
        espi_multicast_try(presets[PRESETS - 1 - at / SHARES],
                           x->seed + row % (size_t)draws_of(x), at % SHARES, &trial, err);

    for (int i = 0; status == ESP_OK && i < ALGOS; i++) {
        cells[i] = trial.to_bound[i];
        cells[ALGOS + i] = trial.to_scatter[i];
    }
    return status;
}

static double mean_of_cell(const struct espi_study_table *x, int preset, int share,
                           int cell)
{
    size_t draws = (size_t)draws_of(x);
    size_t first = ((size_t)(PRESETS - 1 - preset) * SHARES + (size_t)share) * draws;
    double sum = 0;

    for (size_t row = first; row < first + draws; row++)
        sum += x->cells[row * x->width + (size_t)cell];
    return sum / (double)draws;
}

static void add_figure(const struct espi_study_table *x, struct espi_findings *f,
                       int preset, int to_scatter)
{
    static const char *const names[PRESETS][2] = {{"small-bound", "small-scatter"},
                                                  {"big-bound", "big-scatter"}};
    static const char *const titles[PRESETS][2] = {
        {"Period against the lower bound, 30 nodes", "Period against scatter, 30 nodes"},
        {"Period against the lower bound, 65 nodes", "Period against scatter, 65 nodes"}};
    struct espi_figure *figure =
        espi_findings_figure(f, names[preset][to_scatter], titles[preset][to_scatter],
                             "% of LAN nodes that "
                             "are targets",
                             to_scatter ? "period / scatter" : "period / lower bound");
    double y[SHARES];

    for (int i = 0; i < ALGOS; i++) {
        for (int s = 0; s < SHARES; s++)
            y[s] = mean_of_cell(x, preset, s, to_scatter * ALGOS + i);
        espi_findings_series(f, figure, espi_multicast_algos[i], SHARES,
                             espi_multicast_shares, y);
    }
}

static esp_status run_multicast(const struct espi_study_run *r, struct esp_err *err)
{
    struct espi_study_table x = {.rows = (size_t)PRESETS * SHARES *
                                         (r->quick ? QUICK_DRAWS : DRAWS),
                                 .width = 2 * ALGOS};
    esp_status status = espi_study_fill(r, &x, fill_row, err);

    if (status != ESP_OK)
        return status;
    for (int preset = 0; preset < PRESETS; preset++)
        for (int to_scatter = 0; to_scatter < 2; to_scatter++)
            add_figure(&x, r->findings, preset, to_scatter);
    r->findings->setting =
        espi_findings_text(r->findings, "%d platforms a point", draws_of(&x));
    return ESP_OK;
}

const struct espi_study espi_study_multicast = {
    .name = "multicast",
    .figures = "small-bound small-scatter big-bound big-scatter",
    .paper = "O. Beaumont, A. Legrand, L. Marchal, Y. Robert, Complexity results and "
             "heuristics for pipelined multicast operations on heterogeneous platforms "
             "(ICPP 2004)",
    .title = "Pipelined multicast on Tiers platforms",
    .assumed =
        (const char *const[]){
            "The paper's plots have no numbers in the text, so that only their shapes "
            "can "
            "be compared: broadcast and multicast heuristics far below scatter, nearing "
            "the bound as the share of targets grows.",
            "Platforms are the Tiers presets 30b and 65b; source and targets are LAN "
            "nodes drawn at random.",
            "steiner-cg is not in the paper.", NULL},
    .run = run_multicast,
};
