/* The allgather that finishes first, by the length of the message; the reduce-scatter,
 * which mirrors it; and the alltoall.
 *
 * Plans of all other algorithms against each other (select/contest.h), each with every
 * word of its first option: those of messages first, then trees from all hosts, where to
 * make them takes little time and some trees could win. Trees are weighed with several
 * sizes of slices, unless the request gives one, which is kept. Where nobody plays what
 * trees come to (hnow; very many sends) they are weighed by the judge of the request, or
 * by the closed form, which leaves out how trees wait for one another: then they must be
 * better by a quarter. Model: any. Guarantee: with a slice size that is given, the
 * claimed finish is no later than that of any of the others with standard options, what
 * messages cost counted (select/slices.h), but for what nobody plays and for all-roots,
 * whose work is limited. Complexity: that of all of them. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "plan/ops.h"
#include "plan/tuning.h"
#include "select/contest.h"
#include "select/slices.h"
#include "select/tuning.h"

static double parts_of(const struct espi_task *task)
{
    double n = task->view->g.n;
    return espi_op_has_pairs(task->request->op) ? n * (n - 1) : n;
}

/* No trees are through earlier: every host gets a part of every other over some link
 * (sends it, where data are collected), which takes something of some resources, of which
 * one takes no less than the mean. Nothing is said where there are switches, around which
 * trees may go. */
static esp_status trees_least_s(const struct espi_task *task, double *out,
                                struct esp_err *err)
{
    struct espi_view v;
    double sum_s = 0, used = 0;
    struct espi_arena *arena = task->arena;
    esp_status st = espi_view_init(
        &v, task->p, task->request->size_bytes / parts_of(task), arena, err);
    if (st)
        return st;
    const int *end = espi_op_collects(task->request->op) ? v.g.tail : v.g.head;
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
        least[end[e]] = fmin(least[end[e]], all_s);
    }
    for (int h = 0; h < v.g.n; h++)
        sum_s += least[h];
    *out = v.g.n < task->p->n_nodes || !(used > 0) ? 0 : (v.g.n - 1) * sum_s / used;
    return ESP_OK;
}

static int makes_trees(const struct espi_algo *algo)
{
    return (algo->flags & ESPI_ALGO_MANY_TREES) != 0;
}

static int is_tried(const struct espi_algo *algo, const struct espi_task *task)
{
    const struct espi_digraph *g = &task->view->g;
    esp_op op = espi_op_has_pairs(task->request->op) ? ESP_OP_ALLTOALL : ESP_OP_ALLGATHER;
    if (algo->op != op || algo->flags & ESPI_ALGO_CHOOSES)
        return 0;
    return !(algo->flags & ESPI_ALGO_NEEDS_LP) ||
           (double)g->n * g->m <= ESPI_ALLGATHER_TREES_WORK;
}

/* The slices to plan for: of messages as they come out when the algorithm is asked for by
 * name. */
static double slices_for(const struct espi_contest *c, const struct espi_algo *algo,
                         double parts)
{
    double part = c->judge.size_bytes / parts;
    if (!makes_trees(algo) || c->judge.only_bytes > 0)
        return c->task.request->slice_bytes;
    return fmin(part, fmax(part / 4, ESPI_SLICE_USUAL));
}

/* The algorithm with all words of its first option. */
static esp_status enter_words(struct espi_contest *c, const struct espi_algo *algo,
                              double slice_bytes, struct esp_err *err)
{
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    const char *word = algo->options[0].choices;
    esp_status st = ESP_OK;
    espi_algo_standard(algo, options);
    for (int i = 0; word && !st; i++) {
        options[0] = i;
        st = espi_contest_enter(c, algo, options, slice_bytes, err);
        word = strchr(word + 1, '|');
    }
    return st;
}

/* The algorithm with the options of each of its uses. They stand so that what is gained
 * from one to the next shrinks: after some in vain others are not tried. */
static esp_status enter_weighed(struct espi_contest *c, const struct espi_algo *algo,
                                double slice_bytes, struct esp_err *err)
{
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    int late = 0;
    esp_status st = ESP_OK;
    for (const struct espi_algo_use *u = algo->uses;
         u && u->use && late < ESPI_ALLGATHER_LATE && !st; u++) {
        double before_s = c->verdict.judged_s;
        if (!(u->use & ESPI_USE_WEIGHED))
            continue;
        espi_algo_use_options(algo, u, 0, options);
        st = espi_contest_enter(c, algo, options, slice_bytes, err);
        late = c->verdict.judged_s < before_s ? 0 : late + 1;
    }
    return st;
}

static int is_weighed(const struct espi_algo *algo)
{
    for (const struct espi_algo_use *u = algo->uses; u && u->use; u++)
        if (u->use & ESPI_USE_WEIGHED)
            return 1;
    return 0;
}

/* With the options of its uses; chunks of a given size, and where there are no uses, with
 * all words of its first option, or standard options. */
static esp_status enter_algo(struct espi_contest *c, const struct espi_algo *algo,
                             double parts, struct esp_err *err)
{
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    double slice_bytes = slices_for(c, algo, parts);
    int given = c->judge.only_bytes > 0 && !makes_trees(algo) &&
                !espi_op_has_pairs(algo->op); /* whose messages are as they are */
    espi_algo_standard(algo, options);
    if (is_weighed(algo) && !given)
        return enter_weighed(c, algo, slice_bytes, err);
    return algo->options && algo->options[0].choices
               ? enter_words(c, algo, slice_bytes, err)
               : espi_contest_enter(c, algo, options, slice_bytes, err);
}

/* All that make trees, or all that make messages. */
static esp_status enter_kind(struct espi_contest *c, const struct espi_task *task,
                             int trees, struct esp_err *err)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    esp_status st = ESP_OK;
    for (int i = 0; i < count && !st; i++)
        if (makes_trees(algos[i]) == trees && is_tried(algos[i], task))
            st = enter_algo(c, algos[i], parts_of(task), err);
    return st;
}

static esp_status hold_allgathers(struct espi_contest *c, const struct espi_task *task,
                                  struct esp_err *err)
{
    double trees_s = 0;
    esp_status st = enter_kind(c, task, 0, err);
    if (!st)
        st = trees_least_s(task, &trees_s, err);
    if (!st && trees_s < c->verdict.judged_s)
        st = enter_kind(c, task, 1, err);
    if (!st && !c->best)
        st = espi_err(err, ESP_EUNSUPPORTED, "no %s finishes on this platform",
                      esp_op_name(task->request->op));
    return st;
}

static esp_status run_auto_allgather(const struct espi_task *task, struct esp_plan *plan,
                                     struct esp_err *err)
{
    struct espi_contest c;
    espi_contest_init(&c, task->p, task->request, task->arena);
    c.judge.closer_looks = ESPI_CLOSER_LOOKS;
    c.judge.most_sends = ESPI_ALLGATHER_MOST_JUDGED;
    c.judge.guess_factor = ESPI_ALLGATHER_MARGIN;
    espi_judge_ask(&c.judge, task->request);
    esp_status st = hold_allgathers(&c, task, err);
    if (!st) {
        struct esp_plan old = *plan;
        *plan = *c.best;
        *c.best = old;
        if (task->claims && espi_plan_has_steps(plan))
            *task->claims = c.verdict.claims;
    }
    espi_contest_done(&c);
    return st;
}

const struct espi_algo espi_algo_auto_allgather = {
    .name = "auto-allgather",
    .family = "allgather",
    .op = ESP_OP_ALLGATHER,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_CHOOSES | ESPI_ALGO_STANDARD | ESPI_ALGO_BOTH_WAYS,
    .paper = "this project",
    .complexity = "that of all others",
    .summary = "of all allgathers the one that finishes first",
    .run = run_auto_allgather,
};

const struct espi_algo espi_algo_auto_alltoall = {
    .name = "auto-alltoall",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_CHOOSES | ESPI_ALGO_STANDARD,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "this project",
    .complexity = "that of all others",
    .summary = "of all alltoalls the one that finishes first",
    .run = run_auto_allgather,
};
