/* The allgather that finishes first, by the length of the message.
 *
 * Makes the plans of all other algorithms and takes the one whose finish is earliest: by
 * the judge of the request if there is one, else as estimated (cost/post_cost.h for plans
 * of messages). Trees from all roots are tried where that takes little time, with a few
 * sizes of slices; since their estimate leaves out how trees wait for one another, they
 * must be better by a quarter unless there is a judge.
 * Model: any. Guarantee: never later than any of the others, by that measure.
 * Complexity: that of all of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cost/cost.h"
#include "plan/ops.h"

static const double MARGIN = 1.25;      /* of trees that are pipelined */
static const double TREES_WORK = 1.5e6; /* hosts * arcs: more takes seconds */
static const double TREES_STEPS = 1e6;  /* cost/patience.h: about a second */

struct choice {
    const struct espi_task *task;
    struct esp_plan *best;
    double best_s;
    esp_status failed; /* out of memory on the way */
};

static void take(struct esp_plan *to, struct esp_plan *from)
{
    struct esp_plan old = *to;
    *to = *from;
    *from = old;
}

/* When the plan would be through. */
static double finish_s(struct choice *c, const struct esp_plan *plan)
{
    const struct esp_request *r = c->task->request;
    struct espi_cost cost;
    if (r->judge)
        return r->judge(r->judge_arg, c->task->p, plan);
    esp_status st = espi_plan_cost(c->task->p, plan, plan->size_bytes, plan->slice_bytes,
                                   c->task->arena, &cost, NULL);
    if (st == ESP_ENOMEM)
        c->failed = st;
    if (st)
        return NAN;
    return cost.makespan_s * (espi_plan_has_steps(plan) ? 1 : MARGIN);
}

static void consider(struct choice *c, struct esp_plan *plan)
{
    double s = finish_s(c, plan);
    if (s < c->best_s) {
        c->best_s = s;
        take(c->best, plan);
    }
}

/* The estimate leaves out what slices cost that are short beside the latencies: how many
 * bytes a link carries in its latency, in the mean. */
static double least_slice(const struct espi_task *task)
{
    const struct espi_view *v = task->view;
    double sum = 0;
    for (int e = 0; e < v->g.m; e++)
        sum += v->latency_s[e] * v->bandwidth_Bps[e];
    return v->g.m ? sum / v->g.m : 0;
}

/* Trees are good for slices of other sizes too. */
static void consider_slices(struct choice *c, struct esp_plan *plan)
{
    double part = plan->size_bytes / c->task->view->g.n, least_s = INFINITY, best = part;
    double least = c->task->request->judge ? 1 : fmax(least_slice(c->task), 1);
    for (int pieces = 1; pieces <= 64; pieces *= 4) {
        if (pieces > 1 && part / pieces < least)
            break;
        plan->slice_bytes = part / pieces;
        double s = finish_s(c, plan);
        if (s < least_s) {
            least_s = s;
            best = plan->slice_bytes;
        }
    }
    plan->slice_bytes = best;
    consider(c, plan);
}

/* By name: where there are no linear programs the algorithm is not there either. */
static int is_all_roots(const struct espi_algo *algo)
{
    return !strcmp(algo->name, "all-roots");
}

static int is_tried(const struct espi_algo *algo, const struct espi_task *task)
{
    const struct espi_digraph *g = &task->view->g;
    if (algo->op != ESP_OP_ALLGATHER || !strcmp(algo->name, "auto-allgather") ||
        !espi_algo_applies(algo, task->p))
        return 0;
    return !is_all_roots(algo) || (double)g->n * g->m <= TREES_WORK;
}

/* The algorithm with its first option as given, if it has one of words. */
static esp_status try_algo(struct choice *c, const struct espi_algo *algo,
                           const char *name, int first_option, struct esp_err *err)
{
    struct espi_task task = *c->task;
    struct esp_plan *plan = NULL;
    double part = task.request->size_bytes / task.view->g.n;
    struct espi_arena_mark mark = espi_arena_mark(task.arena);
    espi_algo_standard(algo, task.option);
    if (first_option >= 0)
        task.option[0] = first_option;
    if (is_all_roots(algo))
        task.option[1] = TREES_STEPS;
    esp_status st =
        esp_plan_create(ESP_OP_ALLGATHER, task.request->root, name, &plan, err);
    if (!st)
        st = espi_algo_run(algo, &task, fmin(part, fmax(part / 4, 65536)), plan, err);
    if (!st && espi_plan_has_steps(plan))
        consider(c, plan);
    else if (!st)
        consider_slices(c, plan);
    if (!st && c->failed)
        st = espi_err_nomem(err);
    esp_plan_free(plan);
    espi_arena_release(task.arena, mark);
    return st == ESP_EUNSUPPORTED ? ESP_OK : st;
}

/* All words of the first option, where it is one of words. */
static esp_status try_all(struct choice *c, const struct espi_algo *algo,
                          struct esp_err *err)
{
    const char *word = algo->options ? algo->options[0].choices : NULL;
    esp_status st = ESP_OK;
    if (!word)
        return try_algo(c, algo, algo->name, -1, err);
    for (int i = 0; *word && !st; i++) {
        int n = (int)strcspn(word, "|");
        char name[128];
        snprintf(name, sizeof name, "%s:%s=%.*s", algo->name, algo->options[0].name, n,
                 word);
        st = try_algo(c, algo, name, i, err);
        word += n + (word[n] == '|');
    }
    return st;
}

static esp_status run(const struct espi_task *task, struct esp_plan *plan,
                      struct esp_err *err)
{
    struct choice c = {.task = task, .best = plan, .best_s = INFINITY};
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    esp_status st = ESP_OK;
    for (int i = 0; i < count && !st; i++)
        if (is_tried(algos[i], task))
            st = try_all(&c, algos[i], err);
    if (!st && !isfinite(c.best_s))
        st = espi_err(err, ESP_EUNSUPPORTED, "no allgather finishes on this platform");
    return st;
}

const struct espi_algo espi_algo_auto_allgather = {
    .name = "auto-allgather",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .paper = "this project",
    .complexity = "that of all others",
    .summary = "of all allgathers the one that finishes first",
    .run = run,
};
