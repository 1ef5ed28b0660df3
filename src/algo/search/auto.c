/* auto: of all plans there are, the one that delivers the message earliest.
 *
 * Runs every fast algorithm that applies, computes for each plan when the message has
 * arrived everywhere with each of a row of slice sizes (powers of two from 1 KiB to the
 * message, and the whole message), and lets refine make the tree better that the best
 * slices ask for. Large slices pay latencies less often, small ones fill deep trees
 * sooner, and the best tree is another for each: so the algorithms run for the usual
 * slice, for the whole message, and again for the best slice found so far, until that no
 * longer changes. A slice size that the request gives is kept.
 *
 * Reference: none. Model: any.
 * Guarantee: with a slice size that is given, and up to 200 hosts, the predicted finish
 * is no later than that of any algorithm it runs with its options at their standard, but
 * for lp-prune and lp-grow on views of many arcs, whose guide is left early
 * (lp_shares.c). Where slices are left open, few sizes of a plan of several trees are
 * looked at closely, and the best may be missed. Complexity: that of all of them, a few
 * times. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "base/alloc.h"
#include "base/err.h"

enum { MAX_SLICES = 64, MAX_ROUNDS = 2, FEW_HOSTS = 200, MAX_SEEN = 256 };

/* So many slice sizes of a plan of several trees are timed by the best order of sends. */
enum { CLOSER_LOOKS = 3 };

enum { OPTION_WORK };

static const struct espi_algo_option options_of_auto[] = {
    {.name = "work",
     .standard = 20000,
     .min = 0,
     .max = 1e9,
     .meaning = "arcs that refine weighs for each host, where no time is given"},
    {0},
};

/* On many hosts so much work goes into a packing of trees (solve/patience.h), and the
 * best so far has to do. With 6e5, 256 hosts on switches lose the plan that is best
 * there; with 3e6, 1,000 random hosts take four times as long and gain nothing. */
static const double PACKING_WORK = 1e6;

struct contest {
    const struct espi_task *task;
    struct esp_request request; /* with the part of the time that one search may take */
    double slice_bytes[MAX_SLICES];
    int n_slices;
    struct esp_plan *best;
    double finish_s, best_bytes; /* of the best */
    /* What was judged is not judged again: algorithms often agree, and so do runs of one
     * for several slices. Kept are hashes of the trees, while there is room. */
    uint64_t seen[MAX_SEEN];
    int n_seen;
    struct espi_shares_memo shares;
};

static void list_slices(struct contest *c)
{
    const struct esp_request *request = c->task->request;
    c->slice_bytes[c->n_slices++] = espi_request_slice_bytes(request);
    if (request->slice_bytes != ESP_SLICE_AUTO)
        return;
    c->slice_bytes[c->n_slices++] = request->size_bytes;
    for (double bytes = 1024; bytes < request->size_bytes && c->n_slices < MAX_SLICES;
         bytes *= 2)
        c->slice_bytes[c->n_slices++] = bytes;
}

/* The slices, of those left, with which the message could be through first: by the
 * loads, before which it never is. */
static int most_promising(const struct contest *c, const double *least_s)
{
    int best = 0;
    for (int i = 1; i < c->n_slices; i++)
        if (least_s[i] < least_s[best])
            best = i;
    return best;
}

/* What the finish is hardly before. */
static double least_finish_s(const struct contest *c, const struct esp_plan *plan,
                             const struct espi_cost *cost, double slices)
{
    return plan->n_trees > 1 && espi_plan_is_short(c->task->p, plan, slices)
               ? slices * cost->load_s
               : cost->makespan_s;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}

static uint64_t hash_of(const struct esp_plan *plan)
{
    uint64_t hash = (uint64_t)plan->n_trees;
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        /* weights found for slices of two sizes differ in their last digits */
        hash = mix(mix(hash, (uint64_t)(tree->weight * 0x1p30 + 0.5)),
                   (uint64_t)tree->n_edges);
        for (int i = 0; i < tree->n_edges; i++)
            hash = mix(hash, (uint64_t)tree->edges[i].n_hops);
        for (int h = 0; h < tree->n_hops; h++)
            hash = mix(hash, (uint64_t)tree->hops[h]);
    }
    return hash;
}

/* Was a plan of the same trees judged before? */
static int is_known(struct contest *c, const struct esp_plan *plan)
{
    uint64_t hash = hash_of(plan);
    for (int i = 0; i < c->n_seen; i++)
        if (c->seen[i] == hash)
            return 1;
    if (c->n_seen < MAX_SEEN)
        c->seen[c->n_seen++] = hash;
    return 0;
}

/* Before when the message is hardly through, for each of the slices. */
static esp_status find_least(struct contest *c, const struct esp_plan *plan,
                             double *least_s, struct esp_err *err)
{
    double size_bytes = c->task->request->size_bytes;
    struct espi_cost cost;
    esp_status st = ESP_OK;
    for (int i = 0; i < c->n_slices && !st; i++) {
        st = espi_plan_cost(c->task->p, plan, size_bytes, c->slice_bytes[i],
                            c->task->arena, &cost, err);
        if (!st)
            least_s[i] = least_finish_s(c, plan, &cost,
                                        espi_slices(size_bytes, c->slice_bytes[i]).count);
    }
    return st;
}

/* Gives up all slices but those that look best by one order of sends each: to look for
 * the best order for all of them takes ten times as long. */
static esp_status keep_best_slices(struct contest *c, const struct esp_plan *plan,
                                   double *least_s, struct esp_err *err)
{
    double rank_s[MAX_SLICES];
    esp_status st = ESP_OK;
    for (int i = 0; i < c->n_slices && !st; i++) {
        rank_s[i] = INFINITY;
        if (least_s[i] < c->finish_s)
            st = espi_plan_rank(c->task->p, plan, c->task->request->size_bytes,
                                c->slice_bytes[i], c->task->arena, &rank_s[i], err);
    }
    for (int i = 0; i < c->n_slices && !st; i++) {
        int better = 0;
        for (int k = 0; k < c->n_slices; k++)
            better += rank_s[k] < rank_s[i] || (rank_s[k] == rank_s[i] && k < i);
        if (better >= CLOSER_LOOKS)
            least_s[i] = INFINITY;
    }
    return st;
}

/* Takes the plan if it is better than the best with slices of some size, or frees it.
 * What counts is what it will claim; timing that takes its time, so few slices are. */
static esp_status judge(struct contest *c, struct esp_plan *plan, struct esp_err *err)
{
    int wins = 0;
    double size_bytes = c->task->request->size_bytes, least_s[MAX_SLICES], finish_s;
    esp_status st = find_least(c, plan, least_s, err);
    if (!st && plan->n_trees > 1 && c->n_slices > CLOSER_LOOKS)
        st = keep_best_slices(c, plan, least_s, err);
    for (int i = 0; !st && least_s[i = most_promising(c, least_s)] < c->finish_s;
         least_s[i] = INFINITY) {
        st = espi_plan_finish(c->task->p, plan, size_bytes, c->slice_bytes[i],
                              c->task->arena, &finish_s, err);
        if (st || !(finish_s < c->finish_s))
            continue;
        c->finish_s = finish_s;
        c->best_bytes = c->slice_bytes[i];
        wins = 1;
    }
    if (wins) {
        esp_plan_free(c->best);
        c->best = plan;
    } else {
        esp_plan_free(plan);
    }
    return st;
}

/* Runs one algorithm; one that cannot be used here is passed over. */
static esp_status enter(struct contest *c, const struct espi_algo *algo,
                        const double *options, double slice_bytes, struct esp_err *err)
{
    struct espi_task own = *c->task;
    struct esp_plan *plan = NULL;
    if (!espi_algo_applies(algo, own.p))
        return ESP_OK;
    own.request = &c->request;
    own.shares = &c->shares;
    if (own.p->n_hosts > FEW_HOSTS)
        own.work_limit = PACKING_WORK;
    memcpy(own.option, options, sizeof own.option);
    esp_status st =
        esp_plan_create(own.request->op, own.request->root, algo->name, &plan, err);
    if (st)
        return st;
    struct espi_arena_mark mark = espi_arena_mark(own.arena);
    st = espi_algo_run(algo, &own, slice_bytes, plan, err);
    espi_arena_release(own.arena, mark);
    if (!st && !is_known(c, plan))
        return judge(c, plan, err);
    esp_plan_free(plan);
    return st == ESP_EUNSUPPORTED ? ESP_OK : st;
}

/* All algorithms that neither search nor send anything twice. */
static esp_status enter_all(struct contest *c, double slice_bytes, struct esp_err *err)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    esp_status st = ESP_OK;
    for (int i = 0; i < count && !st; i++) {
        double options[ESPI_ALGO_OPTIONS_MAX] = {0};
        espi_algo_standard(algos[i], options);
        if (algos[i]->op == c->task->request->op &&
            !(algos[i]->flags &
              (ESPI_ALGO_SEARCHES | ESPI_ALGO_CHOOSES | ESPI_ALGO_REDUNDANT)))
            st = enter(c, algos[i], options, slice_bytes, err);
    }
    return st;
}

static esp_status enter_refine(struct contest *c, const char *objective,
                               double slice_bytes, struct esp_err *err)
{
    const struct espi_algo *algo;
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    char text[64];
    snprintf(text, sizeof text, "refine:objective=%s,work=%.0f", objective,
             c->task->option[OPTION_WORK]);
    esp_status st = espi_algo_parse(text, &algo, options, err);
    return st ? st : enter(c, algo, options, slice_bytes, err);
}

/* Few trees, which fill sooner than all of the optimum; all of them run with the others.
 * Where the search for them would take long, the heuristics have to do. */
static esp_status enter_few(struct contest *c, double slice_bytes, struct esp_err *err)
{
    const struct espi_algo *mtp;
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    esp_status st = espi_algo_parse("mtp:shakes=2", &mtp, options, err);
    if (c->task->p->n_hosts > FEW_HOSTS || !(c->task->option[OPTION_WORK] > 0))
        return st;
    for (int k = 2; k <= 8 && !st; k *= 2) {
        options[0] = k;
        st = enter(c, mtp, options, slice_bytes, err);
    }
    return st;
}

/* Again for the best slices, as long as others turn out to be better. */
static esp_status follow_slices(struct contest *c, double ran_bytes, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < MAX_ROUNDS && c->best_bytes != ran_bytes && !st; i++) {
        ran_bytes = c->best_bytes;
        st = enter_all(c, ran_bytes, err);
        if (!st)
            st = enter_refine(c, "finish", ran_bytes, err);
    }
    return st;
}

static esp_status hold(struct contest *c, struct esp_err *err)
{
    double usual_bytes = c->slice_bytes[0], size_bytes = c->task->request->size_bytes;
    esp_status st = enter_all(c, usual_bytes, err);
    if (!st && c->n_slices > 1)
        st = enter_all(c, size_bytes, err);
    if (!st)
        st = enter_refine(c, "throughput", usual_bytes, err);
    if (!st)
        st = enter_refine(c, "finish", usual_bytes, err);
    if (!st)
        st = follow_slices(c, usual_bytes, err);
    return st ? st : enter_few(c, c->best_bytes, err);
}

static esp_status run(const struct espi_task *task, struct esp_plan *plan,
                      struct esp_err *err)
{
    struct contest c = {.task = task, .finish_s = INFINITY};
    c.request = *task->request;
    c.request.budget_s /= 2 + MAX_ROUNDS;
    list_slices(&c);
    esp_status st = hold(&c, err);
    if (!st && !c.best)
        st = espi_err(err, ESP_EUNSUPPORTED, "no algorithm can plan for this platform");
    if (!st) {
        struct esp_plan old = *plan;
        plan->slice_bytes = espi_slices(task->request->size_bytes, c.best_bytes).bytes;
        plan->n_trees = c.best->n_trees;
        plan->trees = c.best->trees;
        c.best->n_trees = old.n_trees;
        c.best->trees = old.trees;
    }
    esp_plan_free(c.best);
    espi_free(c.shares.share);
    return st;
}

const struct espi_algo espi_algo_auto = {
    .name = "auto",
    .family = "search",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_CHOOSES | ESPI_ALGO_STANDARD,
    .paper = "none",
    .complexity = "that of all others",
    .summary = "the tree and slice size by which the message arrives earliest",
    .options = options_of_auto,
    .run = run,
};
