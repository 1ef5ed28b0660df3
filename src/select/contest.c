#include "select/contest.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/watch.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "platform/platform.h"
#include "schedule/arrange.h"
#include "select/slices.h"
#include "select/tuning.h"

void espi_contest_init(struct espi_contest *c, const struct esp_platform *p,
                       const struct esp_request *request, struct espi_arena *arena)
{
    *c = (struct espi_contest){
        .task = {.p = p, .request = request, .arena = arena},
        .judge = {.p = p,
                  .size_bytes = request->size_bytes,
                  .message_s = espi_message_s(p),
                  .arena = arena},
        .verdict = {.judged_s = INFINITY},
    };
    if (request->slice_bytes != ESP_SLICE_AUTO)
        c->judge.only_bytes =
            request->slice_bytes > 0 ? request->slice_bytes : request->size_bytes;
}

void espi_contest_done(struct espi_contest *c)
{
    for (int i = 0; i <= c->n_others; i++)
        esp_plan_free(espi_contest_take(c, i).plan);
    for (int i = 0; i < c->n_held; i++)
        esp_plan_free(c->held[i].plan);
    espi_algo_memo_done(&c->memo);
    espi_algo_memo_done(&c->turned_memo);
}

struct espi_placed espi_contest_take(struct espi_contest *c, int place)
{
    struct espi_placed none = {.plan = NULL}, taken = none;
    if (place == 0) {
        taken = (struct espi_placed){c->best, c->verdict};
        c->best = NULL;
    } else if (place <= c->n_others) {
        taken = c->other[place - 1];
        c->other[place - 1] = none;
    }
    return taken;
}

double espi_contest_first_slices(const struct espi_contest *c)
{
    return c->judge.only_bytes > 0 ? c->judge.only_bytes
                                   : espi_usual_slices(c->judge.size_bytes, 1);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}

/* ordered: the order of the edges counts, too. Where every connection goes on by itself
 * and is played so it does not: a tree gives each one slice at a time. */
static uint64_t hash_of_edges(const struct esp_tree *tree, int ordered)
{
    uint64_t hash = 0;
    for (int i = 0; i < tree->n_edges; i++) {
        const struct esp_edge *edge = &tree->edges[i];
        uint64_t own = mix(ordered ? hash : 0, (uint64_t)edge->n_hops);
        for (int h = 0; h < edge->n_hops; h++)
            own = mix(own, (uint64_t)tree->hops[edge->first_hop + h]);
        hash = ordered ? own : hash + own;
    }
    return hash;
}

static uint64_t hash_of(const struct esp_plan *plan, int ordered)
{
    uint64_t hash = (uint64_t)plan->n_trees;
    for (int t = 0; t < plan->n_trees; t++) {
        const struct esp_tree *tree = &plan->trees[t];
        /* weights found for slices of two sizes differ in their last digits */
        hash = mix(mix(hash, (uint64_t)(tree->weight * 0x1p30 + 0.5)),
                   (uint64_t)tree->n_edges);
        hash = mix(hash, hash_of_edges(tree, ordered));
        for (int i = 0; tree->steps && i < tree->n_edges; i++)
            hash = mix(hash, (uint64_t)tree->steps[i]);
    }
    return hash;
}

/* Was a plan of the same trees judged before? */
static int is_known(struct espi_contest *c, const struct esp_plan *plan)
{
    int played = c->task.p->model == ESP_MODEL_CAPACITY && c->judge.closer_looks;
    uint64_t hash = hash_of(plan, !played);
    for (int i = 0; i < c->n_seen; i++)
        if (c->seen[i] == hash)
            return 1;
    if (c->n_seen < ESPI_CONTEST_SEEN)
        c->seen[c->n_seen++] = hash;
    return 0;
}

/* Who is not through before has no place. */
static double limit_s(const struct espi_contest *c)
{
    if (c->others_wanted == 0 || !c->best)
        return c->verdict.judged_s;
    return c->n_others == c->others_wanted ? c->other[c->n_others - 1].verdict.judged_s
                                           : INFINITY;
}

/* Puts it behind those that are no later; the last has to go where there is no room. */
static void place_other(struct espi_contest *c, struct espi_placed x)
{
    int at = c->n_others;
    if (at == c->others_wanted)
        esp_plan_free(c->other[--at].plan);
    else
        c->n_others++;
    for (; at > 0 && x.verdict.judged_s < c->other[at - 1].verdict.judged_s; at--)
        c->other[at] = c->other[at - 1];
    c->other[at] = x;
}

static void place_plan(struct espi_contest *c, struct espi_placed x)
{
    struct espi_placed behind = x;
    if (!c->best || x.verdict.judged_s < c->verdict.judged_s) {
        behind = (struct espi_placed){c->best, c->verdict};
        c->best = x.plan;
        c->verdict = x.verdict;
    }
    if (behind.plan && c->others_wanted > 0)
        place_other(c, behind);
    else
        esp_plan_free(behind.plan);
}

/* For an allreduce by which hosts get what all have: of so many messages. */
static struct espi_judge judge_for(const struct espi_contest *c,
                                   const struct esp_plan *plan)
{
    struct espi_judge judge = c->judge;
    if (plan->op == ESP_OP_ALLGATHER && c->task.request->op == ESP_OP_ALLREDUCE)
        judge.size_bytes *= c->task.p->n_hosts;
    return judge;
}

esp_status espi_contest_offer(struct espi_contest *c, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct espi_verdict verdict = {.judged_s = INFINITY};
    struct espi_judge judge = judge_for(c, plan);
    esp_status st = ESP_OK;
    if (!is_known(c, plan) && !(c->best && espi_watch_is_over()))
        st = espi_judge_plan(&judge, plan, limit_s(c), &verdict, err);
    if (st || !(verdict.judged_s < limit_s(c))) {
        esp_plan_free(plan);
        return st;
    }
    plan->size_bytes = judge.size_bytes;
    plan->slice_bytes = espi_slices(judge.size_bytes, verdict.slice_bytes).bytes;
    plan->makespan_s = verdict.finish_s;
    place_plan(c, (struct espi_placed){plan, verdict});
    espi_watch_found(c->verdict.finish_s);
    return ESP_OK;
}

/* Puts a plan aside, behind those that look no worse; takes it. */
static esp_status hold_plan(struct espi_contest *c, struct esp_plan *plan,
                            struct esp_err *err)
{
    struct espi_cost cost;
    esp_status st = espi_plan_cost(c->task.p, plan, c->judge.size_bytes,
                                   plan->slice_bytes, c->judge.arena, &cost, err);
    if (st) {
        esp_plan_free(plan);
        return st;
    }
    int at = c->n_held++;
    for (; at > 0 && cost.makespan_s < c->held[at - 1].closed_s; at--)
        c->held[at] = c->held[at - 1];
    c->held[at] = (struct espi_held){plan, cost.makespan_s};
    return ESP_OK;
}

static int is_held(const struct espi_contest *c, const struct esp_plan *plan)
{
    return c->holds && c->n_held < ESPI_CONTEST_HELD && c->judge.closer_looks &&
           !espi_plan_has_steps(plan) &&
           (c->task.p->model == ESP_MODEL_CAPACITY || espi_needs_order(c->task.p, plan));
}

/* Bytes take no less of resources than at the rate of the bound: of slices of any size
 * where latencies keep no resource busy, else as the message in one piece does. */
static void note_bound(struct espi_contest *c, const struct esp_plan *plan,
                       double slice_bytes)
{
    esp_model model = c->task.p->model;
    /* a cable may be taken for longer than the last slice over it travels */
    int in_ports = (model == ESP_MODEL_ONE_PORT || model == ESP_MODEL_HALF_DUPLEX) &&
                   c->task.p->n_shared == 0;
    int holds =
        model == ESP_MODEL_CAPACITY || (in_ports && slice_bytes >= c->judge.size_bytes);
    if (holds && c->task.request->op == ESP_OP_BCAST && plan->bound_Bps > 0)
        c->least_s = fmax(c->least_s, c->judge.size_bytes / plan->bound_Bps);
}

/* Can nobody be earlier by more than what does not matter? */
static int is_decided(const struct espi_contest *c)
{
    return c->best && c->others_wanted == 0 &&
           c->verdict.judged_s <= c->least_s * (1 + ESPI_CONTEST_ENOUGH);
}

/* Judges all that were put aside, as long as that may change who wins. */
static esp_status judge_held(struct espi_contest *c, struct esp_err *err)
{
    esp_status st = ESP_OK;
    int n = c->n_held;
    for (int i = 0; i < n; i++) {
        struct esp_plan *plan = c->held[i].plan;
        if (st || is_decided(c))
            esp_plan_free(plan);
        else
            st = espi_contest_offer(c, plan, err);
    }
    c->n_held = 0;
    return st;
}

/* Would who names the algorithm get a plan as this one? That must be no better, so that
 * nothing is left early. */
static int is_named(const struct espi_contest *c, const struct espi_algo *algo,
                    const double *options, double slice_bytes)
{
    double standard[ESPI_ALGO_OPTIONS_MAX] = {0};
    int same = slice_bytes == espi_contest_first_slices(c);
    espi_algo_standard(algo, standard);
    for (int i = 0; i < ESPI_ALGO_OPTIONS_MAX; i++)
        same = same && options[i] == standard[i];
    return same || c->judge.only_bytes > 0;
}

esp_status espi_contest_enter(struct espi_contest *c, const struct espi_algo *algo,
                              const double *options, double slice_bytes,
                              struct esp_err *err)
{
    struct espi_task own = c->task;
    struct esp_request request = *c->task.request;
    struct esp_plan *plan = NULL;
    char text[ESPI_CANDIDATE_TEXT];
    if (is_decided(c) || !espi_algo_applies(algo, own.p) ||
        (c->is_over && c->is_over(c->is_over_arg)) || (c->best && espi_watch_is_over()))
        return ESP_OK;
    espi_algo_format(algo, options, text, sizeof text);
    request.algo = text;
    request.slice_bytes = slice_bytes;
    own.request = &request;
    own.memo = &c->memo;
    own.turned_memo = &c->turned_memo;
    own.limit_s = is_named(c, algo, options, slice_bytes) ? 0 : limit_s(c);
    memcpy(own.option, options, sizeof own.option);
    struct espi_arena_mark mark = espi_arena_mark(own.arena);
    esp_status st = espi_plan_make_by(algo, &own, &plan, err);
    espi_arena_release(own.arena, mark);
    if (st)
        return st == ESP_ENOMEM || st == ESP_EINTERNAL ? st : ESP_OK;
    note_bound(c, plan, slice_bytes);
    return is_held(c, plan) ? hold_plan(c, plan, err) : espi_contest_offer(c, plan, err);
}

/* Would it make again what it has made? Who looks at the whole message does, whatever the
 * slices. */
static int is_made(const struct espi_contest *c, const struct espi_algo *algo)
{
    return c->all_entered && algo->whole_message;
}

esp_status espi_contest_enter_all(struct espi_contest *c, unsigned without,
                                  double slice_bytes, struct esp_err *err)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    const struct esp_request *r = c->task.request;
    esp_status st = ESP_OK;
    int many = 0;
    c->holds = 1;
    for (int i = 0; i < count && !st; i++) {
        double options[ESPI_ALGO_OPTIONS_MAX] = {0};
        espi_algo_standard(algos[i], options);
        if (!espi_algo_serves(algos[i], r->op, r->targets != NULL) ||
            algos[i]->flags & without || is_made(c, algos[i]))
            continue;
        /* many trees take longer to make than single ones to judge, which may be enough
         */
        if (algos[i]->flags & ESPI_ALGO_MANY_TREES && !many++)
            st = judge_held(c, err);
        if (!st)
            st = espi_contest_enter(c, algos[i], options, slice_bytes, err);
    }
    c->holds = 0;
    c->all_entered = 1;
    return st ? st : judge_held(c, err);
}

int espi_candidates(const struct esp_request *request, int n_hosts, unsigned uses,
                    double work, struct espi_candidate out[ESPI_CANDIDATES_MAX])
{
    int count, n = 0;
    const struct espi_algo *const *algos = espi_algos(&count);
    for (int i = 0; i < count; i++) {
        const struct espi_algo *a = algos[i];
        const struct espi_algo_use *u = a->uses;
        if (!espi_algo_serves(a, request->op, request->targets != NULL))
            continue;
        for (; u && u->use && n < ESPI_CANDIDATES_MAX; u++) {
            if (!(u->use & uses) || (u->max_hosts && n_hosts > u->max_hosts))
                continue;
            out[n] = (struct espi_candidate){
                .algo = a, .use = u->use, .max_slices = u->max_slices};
            espi_algo_use_options(a, u, work, out[n++].option);
        }
    }
    return n;
}

esp_status espi_contest_enter_uses(struct espi_contest *c, unsigned uses, double work,
                                   double slice_bytes, struct esp_err *err)
{
    struct espi_candidate candidates[ESPI_CANDIDATES_MAX];
    int n = espi_candidates(c->task.request, c->task.p->n_hosts, uses, work, candidates);
    double slices = espi_slices(c->judge.size_bytes, slice_bytes).count;
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st; i++)
        if (!candidates[i].max_slices || slices <= candidates[i].max_slices)
            st = espi_contest_enter(c, candidates[i].algo, candidates[i].option,
                                    slice_bytes, err);
    return st;
}

esp_status espi_contest_enter_in_turn(struct espi_contest *c, unsigned uses, int turn,
                                      struct esp_err *err)
{
    struct espi_candidate candidates[ESPI_CANDIDATES_MAX];
    double slices[ESPI_FEW_SLICES];
    int n = espi_candidates(c->task.request, c->task.p->n_hosts, uses, 0, candidates);
    int all = n * espi_few_slices(c->judge.size_bytes, slices);
    esp_status st = ESP_OK;
    for (int i = 0; i < all && !st; i++) {
        int k = (turn + i) % all;
        st = espi_contest_enter(c, candidates[k % n].algo, candidates[k % n].option,
                                slices[k / n], err);
    }
    return st;
}
