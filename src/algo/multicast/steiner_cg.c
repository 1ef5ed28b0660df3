/* A mix of Steiner trees by column generation: close to the bound, and optimal where
 * targets are few.
 *
 * The trees of the paper's heuristics are packed, and as long as the prices of resources
 * ask for trees that would help, these are found and packed too (cost/multicast.h).
 * Model: any, by its resources. Guarantee: never slower than the heuristics it starts
 * from; optimal when the cheapest trees are found exactly, which is done for up to about
 * 8 targets. Complexity: some hundred shortest-path trees and small linear programs. */
#include "algo/multicast/multicast.h"
#include "base/err.h"
#include "cost/multicast.h"

extern const struct espi_algo espi_algo_reduced_broadcast, espi_algo_augmented_multicast,
    espi_algo_multisource, espi_algo_mcph, espi_algo_mc_broadcast;

static const struct espi_algo *const starters[] = {
    &espi_algo_mcph, &espi_algo_mc_broadcast, &espi_algo_reduced_broadcast,
    &espi_algo_augmented_multicast, &espi_algo_multisource};

enum { STARTERS = sizeof starters / sizeof *starters };

/* The plans of the heuristics; one that does not apply is left out. */
static esp_status start(const struct espi_task *task, struct esp_plan **seeds, int *count,
                        struct esp_err *err)
{
    for (int i = 0; i < STARTERS; i++) {
        struct espi_task own = *task;
        struct esp_plan *plan;
        espi_algo_standard(starters[i], own.option);
        esp_status st = esp_plan_create(ESP_OP_MULTICAST, task->request->root,
                                        starters[i]->name, &plan, err);
        if (st)
            return st;
        st = starters[i]->run(&own, plan, err);
        if (st && st != ESP_EUNSUPPORTED) {
            esp_plan_free(plan);
            return st;
        }
        seeds[(*count)++] = plan;
    }
    return ESP_OK;
}

static esp_status run(const struct espi_task *task, struct esp_plan *plan,
                      struct esp_err *err)
{
    struct espi_net net;
    struct espi_multicast mix = {0};
    struct esp_plan *seeds[STARTERS];
    struct espi_multicast_options o = {.max_trees = (int)task->option[0]};
    esp_status st = espi_task_net(task, &net, err);
    if (!st)
        st = start(task, seeds, &o.n_seeds, err);
    o.seeds = (const struct esp_plan *const *)seeds;
    if (!st)
        st = espi_multicast_solve(&net, &o, task->arena, &mix, err);
    for (int i = 0; i < o.n_seeds; i++)
        esp_plan_free(seeds[i]);
    for (int i = 0; i < mix.n_trees && !st; i++)
        st = espi_add_steiner(task, mix.weight[i], &mix.tree[i], plan, err);
    if (!st && mix.bound_s > 0)
        plan->bound_Bps = task->view->slice_bytes / mix.bound_s;
    return st;
}

static const struct espi_algo_option options[] = {
    {.name = "k",
     .standard = 0,
     .min = 0,
     .max = 1e6,
     .meaning = "at most so many trees; 0: any number"},
    {0},
};

const struct espi_algo espi_algo_steiner_cg = {
    .name = "steiner-cg",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .paper = "column generation over Steiner arborescences",
    .complexity = "some hundred shortest-path trees and linear programs",
    .summary = "a mix of trees by column generation, optimal where targets are few",
    .options = options,
    .run = run,
};
