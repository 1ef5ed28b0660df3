/* A mix of Steiner trees by column generation: close to the bound, and optimal where
 * targets are few.
 *
 * Trees are packed, and as long as the prices of resources ask for trees that would help,
 * these are found and packed too (solve/multicast.h). It starts from the quick ones of
 * the paper's heuristics; what that leaves above the lower bound is tried to be closed
 * with the trees of all the others. Model: any, by its resources. Guarantee: without `k`
 * never slower than any of the heuristics, either being at the bound or having their
 * trees; optimal when the cheapest trees are found exactly, which is done for up to about
 * 8 targets. Complexity: some hundred shortest-path trees and small linear programs. */
#include <math.h>

#include "algo/multicast/multicast.h"
#include "algo/tuning.h"
#include "base/watch.h"
#include "base/err.h"
#include "solve/multicast.h"
#include "solve/tuning.h"

extern const struct espi_algo espi_algo_reduced_broadcast, espi_algo_augmented_multicast,
    espi_algo_multisource, espi_algo_mcph, espi_algo_mc_broadcast;

static const struct espi_algo *const starters[] = {
    &espi_algo_mcph, &espi_algo_mc_broadcast, &espi_algo_reduced_broadcast,
    &espi_algo_augmented_multicast, &espi_algo_multisource};

enum { STARTERS = sizeof starters / sizeof *starters };

struct work {
    const struct espi_task *task;
    struct espi_flow_net net;
    struct espi_multicast mix;
    struct espi_multicast_options options;
    int n_seeds;
    struct esp_plan *seeds[STARTERS + 1];
};

/* The plan of a heuristic; one that does not apply adds nothing. */
static esp_status add_heuristic(struct work *w, const struct espi_algo *algo,
                                struct esp_err *err)
{
    struct espi_task own = *w->task;
    struct esp_plan *plan;
    espi_algo_standard(algo, own.option);
    esp_status st =
        esp_plan_create(ESP_OP_MULTICAST, own.request->root, algo->name, &plan, err);
    if (st)
        return st;
    w->seeds[w->n_seeds++] = plan;
    st = algo->run(&own, plan, err);
    return st == ESP_EUNSUPPORTED ? ESP_OK : st;
}

static esp_status add_mix(const struct work *w, struct esp_plan *plan,
                          struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < w->mix.n_trees && !st; i++)
        st = espi_add_steiner(w->task, w->mix.weight[i], &w->mix.tree[i], plan, err);
    return st;
}

static esp_status solve_mix(struct work *w, struct esp_err *err)
{
    w->options.seeds = (const struct esp_plan *const *)w->seeds;
    w->options.n_seeds = w->n_seeds;
    return espi_multicast_solve(&w->net, &w->options, w->task->arena, &w->mix, err);
}

static int is_closed(const struct work *w)
{
    return w->mix.any_s <=
           fmax(w->options.bound_s, w->mix.bound_s) * (1 + ESPI_PERIOD_SAME);
}

/* Once more, with what there is and what all heuristics find. */
static esp_status solve_all(struct work *w, struct esp_err *err)
{
    struct esp_plan *found;
    esp_status st =
        esp_plan_create(ESP_OP_MULTICAST, w->net.root, "steiner-cg", &found, err);
    if (st)
        return st;
    w->seeds[w->n_seeds++] = found;
    st = add_mix(w, found, err);
    for (int i = ESPI_STEINER_STARTERS; i < STARTERS && !st; i++)
        st = add_heuristic(w, starters[i], err);
    return st ? st : solve_mix(w, err);
}

static esp_status make_trees(struct work *w, struct esp_err *err)
{
    int few = (int)w->task->option[0];
    esp_status st = espi_task_net(w->task, &w->net, err);
    if (!st)
        st = espi_multicast_bound(&w->net, w->task->arena, &w->options.bound_s, err);
    for (int i = 0; i < ESPI_STEINER_STARTERS && !st; i++)
        st = add_heuristic(w, starters[i], err);
    w->options.max_trees = few;
    if (!st)
        st = solve_mix(w, err);
    if (!st && !is_closed(w) && !espi_watch_is_over())
        st = solve_all(w, err);
    return st;
}

static esp_status run_steiner_cg(const struct espi_task *task, struct esp_plan *plan,
                                 struct esp_err *err)
{
    struct work w = {.task = task};
    esp_status st = make_trees(&w, err);
    for (int i = 0; i < w.n_seeds; i++)
        esp_plan_free(w.seeds[i]);
    if (!st)
        st = add_mix(&w, plan, err);
    double bound_s = fmax(w.options.bound_s, w.mix.bound_s);
    if (!st && bound_s > 0) /* else who watches ended it before there was one */
        plan->bound_Bps = task->view->slice_bytes / bound_s;
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
    .flags = ESPI_ALGO_NEEDS_LP | ESPI_ALGO_STANDARD,
    .paper = "column generation over Steiner arborescences",
    .complexity = "some hundred shortest-path trees and linear programs",
    .summary = "a mix of trees by column generation, optimal where targets are few",
    .options = options,
    .run = run_steiner_cg,
};
