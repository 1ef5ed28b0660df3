#include "study/alltoall.h"

#include <math.h>
#include <stdio.h>

#include <espalier/espalier.h>

#include "algo/allgather/agents.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"

enum { CLASSICAL = ESPI_ALLTOALL_CLASSICAL, ALGOS = ESPI_ALLTOALL_ALGOS };
enum { HOSTS = ESPI_ALLTOALL_HOSTS };

#define PART_BYTES 32.0
#define END_TO_END 11e6 /* copies included */
#define WIRE       12.5e6
#define FAST_BPS   80e6
#define SLOW_BPS   45e6

const char *const espi_alltoall_algos[ALGOS] = {
    "simultaneous",       "combining", "ring",
    "recursive-doubling", "bruck",     "neighbor-exchange",
    "gather-broadcast",   "two-step",  "auto"};

/* ---- workstations ---- */

esp_status espi_alltoall_halves(int n, int with_bytes, struct esp_platform **out,
                                struct esp_err *err)
{
    struct esp_hnow_options o;

    esp_hnow_options_defaults(&o);
    o.fast = o.slow = n / 2;
    if (with_bytes) {
        o.bandwidth_Bps = END_TO_END;
        o.fast_Bps = FAST_BPS;
        o.slow_Bps = SLOW_BPS;
        o.wire_Bps = WIRE;
    }
    return esp_generate_hnow(&o, out, err);
}

static esp_status add_workstation(struct esp_builder *b, int i, double slower,
                                  struct esp_err *err)
{
    struct esp_hnow_options paper;
    char name[16];
    int node;

    esp_hnow_options_defaults(&paper);
    snprintf(name, sizeof name, "w%d", i);
    struct esp_node_spec spec = {.name = name,
                                 .kind = ESP_NODE_HOST,
                                 .send_s = slower * paper.fast_send_s,
                                 .recv_s = slower * paper.fast_recv_s};
    struct esp_node_rates rates = {
        .send_Bps = FAST_BPS / slower, .recv_Bps = FAST_BPS / slower, .hold_Bps = WIRE};
    esp_status status = esp_builder_add_node(b, &spec, &node, err);
    return status ? status : esp_builder_set_rates(b, node, &rates, err);
}

/* What T_end holds besides the two processors is as in the paper between fast ones. */
static esp_status join_all(struct esp_builder *b, int n, const double *slower,
                           struct esp_err *err)
{
    struct esp_hnow_options paper;
    esp_status status = ESP_OK;

    esp_hnow_options_defaults(&paper);
    double wire_s = paper.end_fast_s - paper.fast_send_s - paper.fast_recv_s;
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n && status == ESP_OK; v++)
            if (u != v)
                status = esp_builder_add_link(b, u, v,
                                              wire_s + slower[u] * paper.fast_send_s +
                                                  slower[v] * paper.fast_recv_s,
                                              END_TO_END, NULL, err);
    return status;
}

static esp_status build_mix(struct esp_builder *b, int n, double ratio, uint64_t seed,
                            double *slower, struct esp_err *err)
{
    struct espi_rng rng;
    esp_status status = ESP_OK;

    espi_rng_seed(&rng, seed);
    esp_builder_set_model(b, ESP_MODEL_HNOW);
    for (int i = 0; i < n && status == ESP_OK; i++) {
        double drawn = espi_rng_log_range(&rng, 1, ratio);
        slower[i] = seed % 2 ? drawn : drawn * drawn < ratio ? 1 : ratio;
        status = add_workstation(b, i, slower[i], err);
    }
    return status ? status : join_all(b, n, slower, err);
}

esp_status espi_alltoall_mix(int n, double ratio, uint64_t seed,
                             struct esp_platform **out, struct esp_err *err)
{
    struct esp_builder *b = NULL;
    struct espi_arena arena;

    espi_arena_init(&arena);
    double *slower = ESPI_ARENA_NEW(&arena, double, n);
    esp_status status = slower ? esp_builder_create(&b, err) : espi_err_nomem(err);
    if (status == ESP_OK)
        status = build_mix(b, n, ratio, seed, slower, err);
    if (status == ESP_OK)
        status = esp_builder_build(b, out, err);
    esp_builder_free(b);
    espi_arena_done(&arena);
    return status;
}

/* ---- one algorithm ---- */

/* Simulated seconds, or NAN where the algorithm is not for so many hosts. */
static esp_status try_algo(const struct esp_platform *p, const char *algo, double size,
                           struct espi_alltoall_trial *trial, double *time_s,
                           struct esp_err *err)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;
    struct esp_sim_result *result = NULL;

    esp_request_init(&request, 0);
    request.op = ESP_OP_ALLGATHER;
    request.algo = algo;
    request.size_bytes = size;
    *time_s = NAN;
    double began_s = espi_cpu_s();
    esp_status status = esp_plan_make(p, &request, &plan, err);
    if (status == ESP_EUNSUPPORTED)
        return ESP_OK;
    if (status == ESP_OK && trial) {
        trial->plan_s = espi_cpu_s() - began_s;
        snprintf(trial->chosen, sizeof trial->chosen, "%s", plan->algo);
    }
    if (status == ESP_OK)
        status = esp_simulate(p, plan, NULL, &result, err);
    if (status == ESP_OK)
        *time_s = result->makespan_s;
    esp_sim_result_free(result);
    esp_plan_free(plan);
    return status;
}

esp_status espi_alltoall_try(const struct esp_platform *p, double part_bytes,
                             struct espi_alltoall_trial *trial, struct esp_err *err)
{
    double size = part_bytes * esp_platform_node_count(p);
    esp_status status = ESP_OK;

    trial->classical_s = INFINITY;
    for (int i = 0; i < ALGOS && status == ESP_OK; i++) {
        status = try_algo(p, espi_alltoall_algos[i], size, trial, &trial->time_s[i], err);
        if (i < CLASSICAL)
            trial->classical_s = fmin(trial->classical_s, trial->time_s[i]);
    }
    trial->gain = trial->classical_s / trial->time_s[ALGOS - 1];
    return status;
}

/* ---- by number of agents ---- */

static esp_status try_agents(const struct esp_platform *p, struct espi_agents *a,
                             espi_estimate *estimate, struct espi_alltoall_agents *out,
                             struct esp_err *err)
{
    esp_status status = ESP_OK;

    for (int m = 1; m <= HOSTS && status == ESP_OK; m++) {
        char algo[40];
        out->estimate_s[m - 1] = espi_agents_choose(a, m, estimate).all_s;
        snprintf(algo, sizeof algo, "%s:agents=%d", out->algo, m);
        status =
            try_algo(p, algo, HOSTS * PART_BYTES, NULL, &out->simulated_s[m - 1], err);
    }
    return status;
}

static esp_status try_both(const struct esp_platform *p, struct espi_arena *arena,
                           struct espi_alltoall_agents out[2], struct esp_err *err)
{
    struct espi_view view;
    struct espi_agents a;
    struct esp_request request;

    esp_request_init(&request, 0);
    request.size_bytes = HOSTS * PART_BYTES;
    struct espi_task task = {.p = p, .request = &request, .view = &view, .arena = arena};
    esp_status status = espi_view_init(&view, p, PART_BYTES, arena, err);
    if (status == ESP_OK && espi_agents_init(&a, &task))
        status = espi_err_nomem(err);
    out[0].algo = "gather-broadcast";
    out[1].algo = "two-step";
    if (status == ESP_OK)
        status = try_agents(p, &a, espi_gather_broadcast_estimate, &out[0], err);
    if (status == ESP_OK)
        status = try_agents(p, &a, espi_two_step_estimate, &out[1], err);
    return status;
}

esp_status espi_alltoall_agents(struct espi_alltoall_agents out[2], struct esp_err *err)
{
    struct esp_platform *p = NULL;
    struct espi_arena arena;

    espi_arena_init(&arena);
    esp_status status = espi_alltoall_halves(HOSTS, 0, &p, err);
    if (status == ESP_OK)
        status = try_both(p, &arena, out, err);
    esp_platform_free(p);
    espi_arena_done(&arena);
    return status;
}

int espi_alltoall_best(const double time_s[HOSTS])
{
    int best = 0;

    for (int i = 1; i < HOSTS; i++)
        if (time_s[i] <= time_s[best] * (1 + 1e-12))
            best = i;
    return best + 1;
}
