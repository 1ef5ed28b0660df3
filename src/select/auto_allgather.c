/* The allgather that finishes first, by the length of the message.
 *
 * Makes the plans of all other algorithms and takes the one whose finish is earliest: by
 * the judge of the request if there is one, else as estimated (cost/post_cost.h for plans
 * of messages). No plan is through before its busiest resource is: plans are looked at in
 * the order of that, and those that cannot win any more are not. Trees are made last,
 * where that takes little time and some trees could win, with a few sizes of slices; from
 * one on that is or must be no better finer ones are not tried. Since their estimate
 * leaves out how trees wait for one another, they must be better by a quarter unless
 * there is a judge. Runs of very many transfers are not judged: what is left of the
 * finish beside the busiest resource shrinks with the slices as it did before, and finer
 * slices are taken if that is better still. Model: any. Guarantee: never later than any
 * of the others, by that measure, but for slices that were not judged. Complexity: that
 * of all of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "select/slices.h"
#include "select/tuning.h"

enum { MAX_PLANS = 64 }; /* limit: of plans that are weighed */

/* A plan of messages, and for how long its busiest resource is taken. */
struct candidate {
    struct esp_plan *plan;
    double load_s;
};

struct choice {
    const struct espi_task *task;
    struct esp_plan *best;
    double best_s;
    struct candidate candidates[MAX_PLANS]; /* by load_s */
    int n_candidates;
    double slice_bytes[ESPI_SLICE_SIZES_MAX]; /* that trees are tried with */
    int n_slices;
    double message_s;
    esp_status failed; /* out of memory on the way */
};

static void take_over(struct esp_plan *to, struct esp_plan *from)
{
    struct esp_plan old = *to;
    *to = *from;
    *from = old;
}

static double messages_s(struct choice *c, const struct esp_plan *plan)
{
    double messages = 0;
    if (espi_messages(plan, plan->size_bytes, plan->slice_bytes, c->task->arena,
                      &messages))
        c->failed = ESP_ENOMEM;
    return c->message_s * messages;
}

/* When the plan would be through, what its messages cost counted. */
static double finish_s(struct choice *c, const struct esp_plan *plan)
{
    const struct esp_request *r = c->task->request;
    struct espi_cost cost;
    if (r->judge) {
        double judged_s = r->judge(r->judge_arg, c->task->p, plan);
        return judged_s + messages_s(c, plan);
    }
    esp_status st = espi_plan_cost(c->task->p, plan, plan->size_bytes, plan->slice_bytes,
                                   c->task->arena, &cost, NULL);
    if (st == ESP_ENOMEM)
        c->failed = st;
    if (st)
        return NAN;
    return cost.makespan_s * (espi_plan_has_steps(plan) ? 1 : ESPI_ALLGATHER_MARGIN) +
           messages_s(c, plan);
}

static double load_s(struct choice *c, const struct esp_plan *plan)
{
    double s = 0;
    if (espi_plan_load_s(c->task->p, plan, plan->size_bytes, plan->slice_bytes,
                         c->task->arena, &s))
        c->failed = ESP_ENOMEM;
    return s;
}

/* ---- messages ---- */

static void judge(struct choice *c, const struct candidate *x)
{
    double s = x->load_s < c->best_s ? finish_s(c, x->plan) : INFINITY;
    if (s < c->best_s) {
        c->best_s = s;
        take_over(c->best, x->plan);
    }
}

/* Keeps the plan among the others, by its load; of equals the first is first. */
static esp_status keep_candidate(struct choice *c, struct esp_plan *plan,
                                 struct esp_err *err)
{
    struct candidate x = {plan, load_s(c, plan)};
    int at = c->n_candidates;
    if (at == MAX_PLANS) {
        esp_plan_free(plan);
        return espi_err(err, ESP_EUNSUPPORTED, "there are too many algorithms");
    }
    for (; at > 0 && c->candidates[at - 1].load_s > x.load_s; at--)
        c->candidates[at] = c->candidates[at - 1];
    c->candidates[at] = x;
    c->n_candidates++;
    return ESP_OK;
}

/* ---- trees ---- */

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

/* Do all trees get as many slices as their weights say? */
static int shares_are_exact(const struct esp_plan *plan)
{
    double count = espi_slices(plan->size_bytes, plan->slice_bytes).count;
    for (int t = 0; t < plan->n_trees; t++) {
        double share = plan->trees[t].weight * count;
        if (fabs(share - round(share)) > 1e-6)
            return 0;
    }
    return 1;
}

/* Of the list of slices those of which each is a quarter of the one before, or less. */
static void list_slices(struct choice *c)
{
    double bytes[ESPI_SLICE_SIZES_MAX];
    int n = espi_slice_sizes(c->task->request->size_bytes, c->task->view->g.n, bytes);
    for (int i = 0; i < n; i++)
        if (i == 0 || bytes[i] <= c->slice_bytes[c->n_slices - 1] / 4 * (1 + 1e-9))
            c->slice_bytes[c->n_slices++] = bytes[i];
}

/* The finish with slices of some size; `rest_s` of it is beside the busiest resource and
 * what messages cost. */
struct cut {
    double slice_bytes, finish_s, rest_s;
};

/* Looks on from the last two sizes judged: finer slices leave less of the rest. */
static void look_on(struct choice *c, struct esp_plan *plan, struct cut before,
                    struct cut *last, int next)
{
    double rest_s = last->rest_s, s = last->finish_s;
    double shrinks = isfinite(before.rest_s) ? rest_s / before.rest_s : 0.5;
    for (; next < c->n_slices; next++) {
        plan->slice_bytes = c->slice_bytes[next];
        rest_s *= fmax(shrinks, ESPI_ALLGATHER_REST);
        double busy_s = load_s(c, plan), next_s = busy_s + messages_s(c, plan) + rest_s;
        if (!(next_s < s))
            break;
        s = next_s;
        last->slice_bytes = plan->slice_bytes;
    }
}

/* Could the plan, with such slices, be through before that time? Whole slices can be
 * shared out better than by the weights, within limits. */
static int can_be_before(const struct esp_plan *plan, double load, double rest_s,
                         double most_s)
{
    return (load + ESPI_ALLGATHER_REST * rest_s) * (shares_are_exact(plan) ? 1 : 0.5) <
           most_s;
}

/* Trees are good for slices of other sizes too. */
static void consider_slices(struct choice *c, struct esp_plan *plan)
{
    double n = c->task->view->g.n, part = plan->size_bytes / n;
    double least = c->task->request->judge ? 1 : fmax(least_slice(c->task), 1);
    struct cut before = {part, INFINITY, INFINITY}, best = before;
    for (int i = 0; i < c->n_slices; i++) {
        plan->slice_bytes = c->slice_bytes[i];
        double load = load_s(c, plan);
        load += messages_s(c, plan);
        double rest_s = i > 0 ? best.rest_s : 0;
        if ((i > 0 && plan->slice_bytes < least) ||
            !can_be_before(plan, load, rest_s, fmin(c->best_s, best.finish_s)))
            break;
        if (i > 0 &&
            n * (n - 1) * (part / plan->slice_bytes) > ESPI_ALLGATHER_MOST_JUDGED) {
            /* processors that take turns do not like finer slices as ports do */
            if (c->task->p->model != ESP_MODEL_HNOW)
                look_on(c, plan, before, &best, i);
            break;
        }
        double s = finish_s(c, plan);
        if (!(s < best.finish_s))
            break;
        before = best;
        best = (struct cut){plan->slice_bytes, s, fmax(s - load, 0)};
    }
    plan->slice_bytes = best.slice_bytes;
    if (best.finish_s < c->best_s) {
        c->best_s = best.finish_s;
        take_over(c->best, plan);
    }
}

/* No trees are through earlier: every host gets every part but its own over some link
 * that takes something of some resources, of which one takes no less than the mean.
 * Nothing is said where there are switches, around which trees may go. */
static esp_status trees_least_s(const struct choice *c, double *out, struct esp_err *err)
{
    struct espi_view v;
    double sum_s = 0, used = 0;
    struct espi_arena *arena = c->task->arena;
    esp_status st = espi_view_init(
        &v, c->task->p, c->task->request->size_bytes / c->task->view->g.n, arena, err);
    if (st)
        return st;
    double *least = ESPI_ARENA_NEW(arena, double, v.g.n);
    unsigned char *is_used = ESPI_ARENA_ZNEW(arena, unsigned char, v.links.n);
    if (!least || !is_used)
        return espi_err_nomem(err);
    for (int h = 0; h < v.g.n; h++)
        least[h] = INFINITY;
    for (int e = 0; e < v.g.m; e++) {
        double all_s = 0;
        for (int k = v.use_start[e]; k < v.use_start[e + 1]; k++) {
            all_s += v.use_s[k];
            used += !is_used[v.use_resource[k]];
            is_used[v.use_resource[k]] = 1;
        }
        least[v.g.head[e]] = fmin(least[v.g.head[e]], all_s);
    }
    for (int h = 0; h < v.g.n; h++)
        sum_s += least[h];
    *out = v.g.n < c->task->p->n_nodes || !(used > 0) ? 0 : (v.g.n - 1) * sum_s / used;
    return ESP_OK;
}

/* ---- the contest ---- */

static int makes_trees(const struct espi_algo *algo)
{
    return (algo->flags & ESPI_ALGO_MANY_TREES) != 0;
}

static int is_tried(const struct espi_algo *algo, const struct espi_task *task)
{
    const struct espi_digraph *g = &task->view->g;
    if (algo->op != ESP_OP_ALLGATHER || algo->flags & ESPI_ALGO_CHOOSES ||
        !espi_algo_applies(algo, task->p))
        return 0;
    return !(algo->flags & ESPI_ALGO_NEEDS_LP) ||
           (double)g->n * g->m <= ESPI_ALLGATHER_TREES_WORK;
}

/* The algorithm with its first option as given, if it has one of words. */
static esp_status try_algo(struct choice *c, const struct espi_algo *algo,
                           const char *name, int first_option, struct esp_err *err)
{
    struct espi_task task = *c->task;
    struct esp_plan *plan = NULL;
    double part = task.request->size_bytes / task.view->g.n;
    /* messages as they come out when the algorithm is asked for by name */
    double slice = makes_trees(algo) ? fmin(part, fmax(part / 4, 65536))
                                     : espi_request_slice_bytes(task.request);
    struct espi_arena_mark mark = espi_arena_mark(task.arena);
    espi_algo_standard(algo, task.option);
    if (first_option >= 0)
        task.option[0] = first_option;
    for (const struct espi_algo_use *u = algo->uses; u && u->use; u++)
        if (u->use & ESPI_USE_WEIGHED)
            espi_algo_use_options(algo, u, 0, task.option);
    esp_status st =
        esp_plan_create(ESP_OP_ALLGATHER, task.request->root, name, &plan, err);
    if (!st)
        st = espi_algo_run(algo, &task, slice, plan, err);
    if (!st && espi_plan_has_steps(plan)) {
        st = keep_candidate(c, plan, err);
        plan = NULL;
    } else if (!st) {
        consider_slices(c, plan);
    }
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

/* All that make trees, or all that make messages. */
static esp_status try_kind(struct choice *c, int trees, struct esp_err *err)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    esp_status st = ESP_OK;
    for (int i = 0; i < count && !st; i++)
        if (makes_trees(algos[i]) == trees && is_tried(algos[i], c->task))
            st = try_all(c, algos[i], err);
    return st;
}

/* The messages that may win most easily, then trees: what they reach often spares looking
 * at the others. */
static esp_status hold_contest(struct choice *c, struct esp_err *err)
{
    double trees_s = 0;
    esp_status st = try_kind(c, 0, err);
    if (!st)
        st = trees_least_s(c, &trees_s, err);
    if (!st && c->n_candidates > 0)
        judge(c, &c->candidates[0]);
    if (!st && trees_s < c->best_s)
        st = try_kind(c, 1, err);
    for (int i = 1; i < c->n_candidates && !st; i++)
        judge(c, &c->candidates[i]);
    if (!st && c->failed)
        st = espi_err_nomem(err);
    return st;
}

static esp_status run_auto_allgather(const struct espi_task *task, struct esp_plan *plan,
                                     struct esp_err *err)
{
    struct choice c = {.task = task,
                       .best = plan,
                       .best_s = INFINITY,
                       .message_s = espi_message_s(task->p)};
    list_slices(&c);
    esp_status st = hold_contest(&c, err);
    for (int i = 0; i < c.n_candidates; i++)
        esp_plan_free(c.candidates[i].plan);
    if (!st && !isfinite(c.best_s))
        st = espi_err(err, ESP_EUNSUPPORTED, "no allgather finishes on this platform");
    return st;
}

const struct espi_algo espi_algo_auto_allgather = {
    .name = "auto-allgather",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_CHOOSES | ESPI_ALGO_STANDARD,
    .paper = "this project",
    .complexity = "that of all others",
    .summary = "of all allgathers the one that finishes first",
    .run = run_auto_allgather,
};
