/* How far simulated messages are from what plans claim: for shapes of platforms, machine
 * models and operations, the time of a slice in the midst of a long message beside the
 * claim, and what filling the trees costs, in slices.
 *   bench_claims [--json] [--each] [--hosts N] [SHAPE] [MODEL] [ALGO] [SEEDS]
 * Tiers of 30 and 65 are those of its presets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espalier/espalier.h>

#include "base/clock.h"
#include "support/kinds.h"
#include "support/pace.h"

enum { LONG = 8192 };

static int nodes = 30;

static esp_status generate(int shape, uint64_t seed, struct esp_platform **p)
{
    struct esp_matrix_options matrix;
    struct kind_shape large = {
        .nodes = nodes,
        .density = (3 + 1.5 * (double)(seed % 4)) / nodes,
        .sites = 3,
        .clusters = 2,
        .hosts = 4,
        .preset = nodes == 30   ? "30"
                  : nodes == 65 ? "65"
                                : NULL,
    };
    if (shape < KINDS)
        return kind_generate(shape, &large, seed, p);
    esp_matrix_options_defaults(&matrix);
    matrix.nodes = 10;
    matrix.seed = seed;
    return esp_generate_matrix(&matrix, p, NULL);
}

static const char *const shape_names[] = {"random", "hub", "tiers", "sites", "matrix"};

enum { SHAPES = sizeof shape_names / sizeof *shape_names };

static const struct kind_case cases[] = {
    {ESP_OP_BCAST, "mtp", 0},
    {ESP_OP_BCAST, "grow", 0},
    {ESP_OP_MULTICAST, "steiner-cg", 1},
    {ESP_OP_MULTICAST, "mc-scatter", 1},
    {ESP_OP_MULTICAST, "multisource", 1},
    {ESP_OP_MULTICAST, "reduced-broadcast", 1},
    {ESP_OP_MULTICAST, "augmented-multicast", 1},
    {ESP_OP_MULTICAST, "mcph", 1},
    {ESP_OP_SCATTER, "scatter", 0},
    {ESP_OP_GATHER, "scatter", 1},
    {ESP_OP_REDUCE, "mc-broadcast", 0},
    {ESP_OP_ALLREDUCE, "grow", 0},
};

enum { CASES = sizeof cases / sizeof *cases };

struct figures {
    int n;
    double trees, least, most, whole, timed_s, worst_finish, best_finish;
};

static int measure(const struct esp_platform *p, int i, struct figures *f, int each)
{
    double begun_s = espi_cpu_s();
    struct esp_plan *plan = NULL;
    if (kind_plan_make(p, &cases[i], LONG, &plan, NULL))
        return -1;
    double made_s = espi_cpu_s();
    if (esp_plan_evaluate(plan, p, NULL)) {
        esp_plan_free(plan);
        return -1;
    }
    double timed_s = espi_cpu_s() - made_s;
    struct pace pace = pace_of(p, plan, LONG);
    double steady = plan->throughput_Bps / pace.steady_Bps;
    double whole =
        pace.makespan_s * plan->throughput_Bps / KIND_SLICE_BYTES / pace.slices;
    double finish = plan->makespan_s / LONG * pace.slices / pace.makespan_s;
    f->least = f->n ? fmin(f->least, steady) : steady;
    f->most = fmax(f->most, steady);
    f->whole = fmax(f->whole, whole);
    f->trees += plan->n_trees;
    f->best_finish = f->n ? fmin(f->best_finish, finish) : finish;
    f->worst_finish = fmax(f->worst_finish, finish);
    f->timed_s = fmax(f->timed_s, timed_s);
    f->n++;
    if (each)
        printf("  %s %s: %d trees, steady %.4f, whole %.4f, estimate %.4f, "
               "made in %.1f ms, timed in %.1f ms\n",
               esp_op_name(plan->op), plan->algo, plan->n_trees, steady, whole, finish,
               1e3 * (made_s - begun_s), 1e3 * timed_s);
    esp_plan_free(plan);
    return 0;
}

static int run(int shape, esp_model model, int i, int seeds, int each, struct figures *f)
{
    for (int seed = 1; seed <= seeds; seed++) {
        struct esp_platform *p = NULL, *q = NULL;
        if (generate(shape, (uint64_t)seed, &p))
            return -1;
        int failed = esp_platform_with_model(p, model, &q, NULL) != ESP_OK ||
                     measure(q, i, f, each);
        esp_platform_free(p);
        esp_platform_free(q);
        if (failed)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int json = 0, each = 0, seeds = 3, first = 1, only = -1, model_only = -1;
    const char *algo_only = NULL;
    for (int i = 1; i < argc; i++) {
        json |= !strcmp(argv[i], "--json");
        each |= !strcmp(argv[i], "--each");
        if (!strcmp(argv[i], "--hosts") && i + 1 < argc) {
            nodes = atoi(argv[++i]);
            continue;
        }
        for (int k = 0; k < SHAPES; k++)
            if (!strcmp(argv[i], shape_names[k]))
                only = k;
        for (int k = 0; k < ESP_MODEL_COUNT; k++)
            if (!strcmp(argv[i], esp_model_name((esp_model)k)))
                model_only = k;
        for (int k = 0; k < CASES; k++)
            if (!strcmp(argv[i], cases[k].algo))
                algo_only = cases[k].algo;
        if (argv[i][0] >= '0' && argv[i][0] <= '9')
            seeds = atoi(argv[i]);
    }
    if (!json)
        printf("%-7s %-11s %-9s %-19s %6s %8s %8s %8s %6s %9s\n", "shape", "model", "op",
               "algorithm", "trees", "steady", "to", "whole", "ms", "estimate");
    for (int shape = only < 0 ? 0 : only; shape < (only < 0 ? SHAPES : only + 1); shape++)
        for (int model = 0; model < ESP_MODEL_COUNT; model++) {
            if (model_only >= 0 && model != model_only)
                continue;
            for (int i = 0; i < CASES; i++) {
                if (algo_only && strcmp(algo_only, cases[i].algo) != 0)
                    continue;
                struct figures f = {0};
                if (run(shape, (esp_model)model, i, seeds, each, &f)) {
                    fprintf(stderr, "bench_claims: %s, %s, %s failed\n",
                            shape_names[shape], esp_model_name((esp_model)model),
                            cases[i].algo);
                    continue;
                }
                printf(json
                           ? "%s{\"shape\": \"%s\", \"model\": \"%s\", \"op\": \"%s\", "
                             "\"algo\": \"%s\", \"trees\": %.1f, \"steady_least\": %.5f, "
                             "\"steady_most\": %.5f, \"whole_most\": %.5f, "
                             "\"timed_ms\": %.1f, \"estimate_least\": %.4f, "
                             "\"estimate_most\": %.4f}"
                           : "%s%-7s %-11s %-9s %-19s %6.1f %8.4f %8.4f %8.4f %6.0f "
                             "%.3f-%.3f\n",
                       json ? first ? "[" : ",\n" : "", shape_names[shape],
                       esp_model_name((esp_model)model), esp_op_name(cases[i].op),
                       cases[i].algo, f.trees / f.n, f.least, f.most, f.whole,
                       1e3 * f.timed_s, f.best_finish, f.worst_finish);
                fflush(stdout);
                first = 0;
            }
        }
    if (json)
        printf("]\n");
    return 0;
}
