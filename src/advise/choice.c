/* Ours: several algorithms and slices are tried, the earliest predicted finish wins, ties
 * go to the first. Only algorithms whose result does not depend on the clock are tried.
 *
 * Native: what MPI libraries do is a binomial tree for short messages and, in effect, a
 * pipeline in rank order for long ones (a chain, or scatter and ring allgather, which is
 * no faster). Its prediction is the best of both on the same platform with the same cost
 * model, which flatters the library: ours is taken only when it beats that, too. */
#include "advise/choice.h"

#include <espalier/algo.h>
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/err.h"
#include "cost/cost.h"

/* A little less than powers of two: with their headers they stay below the sizes from
 * which MPI libraries wait for the receiver before they send. */
static const double slices[] = {65024, 32512, 16256, 8128};
enum { N_SLICES = sizeof slices / sizeof *slices };

/* Those that take little time: a rank plans while its program waits, 10 ms for 64 hosts.
 */
static const char *const ours[] = {"grow",
                                   "prune-degree",
                                   "multiport-grow",
                                   "multiport-prune-degree",
                                   "ecef",
                                   "binomial",
                                   "refine:objective=finish,work=1000"};
static const char *const natives[] = {"binomial", "chain"};

struct search {
    const struct esp_platform *p;
    int root;
    double size_bytes;
    double only_slice; /* 0: any of the list, or the whole */
    double plan_slice; /* what algorithms plan for */
    struct espi_arena arena;
    double best_s;
    struct esp_plan *best;
    struct esp_err *err;
};

/* The slice with which the plan ends first. */
static esp_status cost_plan(struct search *s, const struct esp_plan *plan, double *best_s,
                            double *best_slice)
{
    *best_s = INFINITY;
    for (int k = -1; k < N_SLICES; k++) {
        struct espi_cost cost;
        double slice = k < 0 ? s->only_slice : slices[k];
        if (k >= 0 && (s->only_slice > 0 || slice >= s->size_bytes))
            continue;
        esp_status st =
            espi_plan_cost(s->p, plan, s->size_bytes, slice, &s->arena, &cost, s->err);
        if (st)
            return st;
        /* The closed form does not see all that meet on a cable; its load does. */
        double busy_s = espi_slices(s->size_bytes, slice).count * cost.period_s;
        double finish_s = fmax(cost.makespan_s, busy_s);
        if (finish_s < *best_s) {
            *best_s = finish_s;
            *best_slice = slice;
        }
    }
    return ESP_OK;
}

/* Takes the plan over if it is better than what there is. */
static esp_status consider(struct search *s, struct esp_plan *plan)
{
    double finish_s, slice_bytes = 0;
    esp_status st = cost_plan(s, plan, &finish_s, &slice_bytes);
    if (st || !(finish_s < s->best_s)) {
        esp_plan_free(plan);
        return st == ESP_ENOMEM ? st : ESP_OK;
    }
    esp_plan_free(s->best);
    s->best = plan;
    s->best_s = plan->makespan_s = finish_s;
    plan->size_bytes = s->size_bytes;
    plan->slice_bytes = slice_bytes;
    return ESP_OK;
}

static esp_status try_algo(struct search *s, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan;
    esp_request_init(&request, s->root);
    request.algo = algo;
    request.size_bytes = s->size_bytes;
    request.slice_bytes = s->only_slice > 0 ? s->only_slice : s->plan_slice;
    esp_status st = esp_plan_make(s->p, &request, &plan, s->err);
    if (st)
        return st == ESP_ENOMEM ? st : ESP_OK; /* then it is not for this platform */
    return consider(s, plan);
}

static esp_status try_algos(struct search *s, const char *const *names, int n)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st; i++) {
        const struct espi_algo *a = espi_algo_find(names[i], strcspn(names[i], ":"));
        if (a && espi_algo_applies(a, s->p))
            st = try_algo(s, names[i]);
    }
    return st;
}

static esp_status copy_plan(const struct esp_plan *plan, const struct esp_platform *p,
                            struct espi_arena *arena, struct esp_plan **out,
                            struct esp_err *err)
{
    struct esp_plan *copy;
    esp_status st = esp_plan_create(plan->op, plan->root, plan->algo, &copy, err);
    for (int t = 0; t < plan->n_trees && !st; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        int *start = ESPI_ARENA_ZNEW(arena, int, (size_t)tree->n_edges + 1);
        if (!start)
            st = espi_err_nomem(err);
        for (int i = 0; i < tree->n_edges && !st; i++)
            start[i + 1] = tree->edges[i].first_hop + tree->edges[i].n_hops;
        if (!st)
            st = esp_plan_add_tree(copy, p, tree->weight, tree->n_edges, start,
                                   tree->hops, err);
        if (st)
            esp_plan_free(copy);
    }
    if (!st)
        *out = copy;
    return st;
}

static esp_status try_ours(struct search *s, const struct espi_choice_options *options)
{
    if (options->algo && *options->algo && strcmp(options->algo, "auto") != 0)
        return try_algo(s, options->algo);
    return try_algos(s, ours, sizeof ours / sizeof *ours);
}

/* Trees for the usual slice first, then for the slice that turned out best. */
static esp_status find_ours(struct search *s, const struct espi_choice_options *options)
{
    if (options->given) {
        struct esp_plan *copy;
        esp_status st = copy_plan(options->given, s->p, &s->arena, &copy, s->err);
        return st ? st : consider(s, copy);
    }
    esp_status st = try_ours(s, options);
    if (st || !s->best || s->best->slice_bytes == s->plan_slice)
        return st;
    s->plan_slice = s->best->slice_bytes;
    return try_ours(s, options);
}

static esp_status predict_native(struct search *s, double *native_s)
{
    struct search native = {.p = s->p,
                            .root = s->root,
                            .size_bytes = s->size_bytes,
                            .plan_slice = slices[0],
                            .best_s = INFINITY,
                            .err = s->err};
    espi_arena_init(&native.arena);
    esp_status st = try_algos(&native, natives, sizeof natives / sizeof *natives);
    espi_arena_done(&native.arena);
    *native_s = isfinite(native.best_s) ? native.best_s : 0;
    esp_plan_free(native.best);
    return st;
}

esp_status espi_choose(const struct esp_platform *team, int root, double size_bytes,
                       const struct espi_choice_options *options, struct espi_choice *out,
                       struct esp_err *err)
{
    struct search s = {.p = team,
                       .root = root,
                       .size_bytes = size_bytes,
                       .only_slice = options->slice_bytes,
                       .plan_slice = slices[0],
                       .best_s = INFINITY,
                       .err = err};
    struct espi_choice choice = {0};
    espi_arena_init(&s.arena);
    esp_status st = find_ours(&s, options);
    if (!st && s.best)
        st = predict_native(&s, &choice.native_s);
    espi_arena_done(&s.arena);
    if (st) {
        esp_plan_free(s.best);
        return st;
    }
    choice.ours_s = s.best ? s.best_s : 0;
    if (s.best && (options->force || s.best_s < options->margin * choice.native_s))
        choice.plan = s.best;
    else
        esp_plan_free(s.best);
    *out = choice;
    return ESP_OK;
}

void espi_choice_done(struct espi_choice *choice)
{
    esp_plan_free(choice->plan);
    choice->plan = NULL;
}
