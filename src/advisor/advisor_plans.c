/* What the advisor says: plans held against each other on the network as it is believed
 * to be, and on some around it. */
#include <math.h>
#include <string.h>

#include "advisor/advisor_impl.h"
#include "advisor/tuning.h"
#include "algo/algo.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "cost/cost.h"
#include "platform/platform.h"
#include "select/contest.h"
#include "select/slices.h"

/* ---- the contest ---- */

struct contest {
    struct espi_advisor *a;
    int root;
    double bytes;
    struct esp_platform *scene[ESPI_SCENES]; /* the first is what is believed */
    int n_scenes;
    struct esp_plan
        *finalist[ESPI_FINALISTS]; /* the best on the first scene, best first */
    double finalist_s[ESPI_FINALISTS];
    int n_finalists;
    struct esp_plan *plain; /* the best hierarchical one, which has no risks of its own */
    double plain_s;
    double end_s; /* of the time there is */
    struct esp_plan *best;
    double best_s;
    struct espi_algo_memo memo; /* of algorithms on the first scene */
    struct espi_arena arena;
    struct esp_err *err;
};

/* Is the time over? Runs that repeat do not look at the clock. */
static int is_late(const struct contest *c)
{
    return c->a->options.work > 0 ? 0 : espi_now_s() > c->end_s;
}

static esp_status set_first_scene(struct contest *c, double now_s)
{
    esp_status st =
        espi_belief_platform(&c->a->belief, now_s, NULL, &c->scene[0], c->err);
    c->n_scenes = !st;
    return st;
}

/* Networks around it, as far off as forecasts were. */
static esp_status set_scenes(struct contest *c, double now_s)
{
    const struct espi_belief *b = &c->a->belief;
    double *lots = ESPI_ARENA_NEW(&c->arena, double, b->n_groups + 1), worst = 0;
    if (!lots)
        return espi_err_nomem(c->err);
    for (int g = 0; g < b->n_groups; g++) {
        double error;
        espi_belief_factor(b, g, now_s, &error);
        worst = fmax(worst, error);
    }
    int wanted = worst > ESPI_SCENES_FROM ? ESPI_SCENES : 1;
    esp_status st = ESP_OK;
    while (c->n_scenes < wanted && !st && !is_late(c)) {
        for (int g = 0; g < b->n_groups; g++)
            lots[g] = espi_rng_range(&c->a->rng, -ESPI_SCENES_SPREAD, ESPI_SCENES_SPREAD);
        st = espi_belief_platform(b, now_s, lots, &c->scene[c->n_scenes], c->err);
        c->n_scenes += !st;
    }
    return st;
}

/* When the plan's message is everywhere in one scene. */
static esp_status finish_in(struct contest *c, const struct esp_platform *scene,
                            const struct esp_plan *plan, double *out)
{
    const struct espi_advisor_options *o = &c->a->options;
    struct espi_arena_mark mark = espi_arena_mark(&c->arena);
    struct espi_cost cost;
    if (o->judge) {
        *out = o->judge(o->judge_arg, scene, plan);
        return isnan(*out) ? espi_err_nomem(c->err) : ESP_OK;
    }
    esp_status st = espi_plan_cost(scene, plan, c->bytes, plan->slice_bytes, &c->arena,
                                   &cost, c->err);
    espi_arena_release(&c->arena, mark);
    if (!st)
        *out = cost.makespan_s;
    return st;
}

/* The same with what its messages cost beside their bytes, by which plans are weighed. */
static esp_status judge_in(struct contest *c, const struct esp_platform *scene,
                           const struct esp_plan *plan, double *out)
{
    double messages = 0;
    esp_status st = finish_in(c, scene, plan, out);
    if (st)
        return st;
    if (espi_messages(plan, c->bytes, plan->slice_bytes, &c->arena, &messages))
        return espi_err_nomem(c->err);
    *out += espi_message_s(scene) * messages;
    return ESP_OK;
}

/* The mean finish over the scenes: what stays good within the error wins. It is the
 * geometric one, by which no scene counts more than others: else a scene in which a link
 * hardly works at all decides alone, and plans go out of their way to avoid links of
 * which next to nothing is known. first_s: that in the first scene, if it is known. */
static esp_status mean_finish(struct contest *c, const struct esp_plan *plan,
                              const double *first_s, double *out)
{
    double sum = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < c->n_scenes && !st; i++) {
        double finish_s = first_s ? *first_s : 0;
        if (i > 0 || !first_s)
            st = judge_in(c, c->scene[i], plan, &finish_s);
        sum += espi_log(fmax(finish_s, 1e-12));
    }
    if (!st)
        *out = espi_exp(sum / c->n_scenes);
    return st;
}

static esp_status keep_plain(struct contest *c, const struct esp_plan *plan,
                             double finish_s)
{
    struct esp_plan *copy;
    if (c->plain && finish_s >= c->plain_s)
        return ESP_OK;
    esp_status st = esp_plan_copy(plan, &copy, c->err);
    if (st)
        return st;
    esp_plan_free(c->plain);
    c->plain = copy;
    c->plain_s = finish_s;
    return ESP_OK;
}

/* Is there no place for the plan, whatever a judge says of it? So where its busiest
 * resource alone takes longer than the last of the finalists does. */
static esp_status is_hopeless(struct contest *c, const struct esp_plan *plan,
                              int is_plain, int *out)
{
    double worst_s =
        c->n_finalists == ESPI_FINALISTS ? c->finalist_s[ESPI_FINALISTS - 1] : INFINITY;
    double load_s = 0;
    esp_status st = ESP_OK;
    if (is_plain)
        worst_s = c->plain ? fmax(worst_s, c->plain_s) : INFINITY;
    if (isfinite(worst_s) && plan->n_trees == 1)
        st = espi_plan_load_s(c->scene[0], plan, c->bytes, plan->slice_bytes, &c->arena,
                              &load_s);
    *out = load_s > worst_s * (1 + 1e-9);
    return st ? espi_err_nomem(c->err) : ESP_OK;
}

/* A place among the best on the network as believed, or nothing. */
static esp_status enter(struct contest *c, struct esp_plan *plan, int is_plain)
{
    double finish_s;
    int hopeless;
    plan->size_bytes = c->bytes;
    esp_status st = is_hopeless(c, plan, is_plain, &hopeless);
    if (st || hopeless) {
        esp_plan_free(plan);
        return st;
    }
    st = judge_in(c, c->scene[0], plan, &finish_s);
    int at = c->n_finalists;
    if (!st && is_plain)
        st = keep_plain(c, plan, finish_s);
    if (st || (at == ESPI_FINALISTS && finish_s >= c->finalist_s[at - 1])) {
        esp_plan_free(plan);
        return st;
    }
    if (at == ESPI_FINALISTS)
        esp_plan_free(c->finalist[--at]);
    else
        c->n_finalists++;
    for (; at > 0 && c->finalist_s[at - 1] > finish_s; at--) {
        c->finalist[at] = c->finalist[at - 1];
        c->finalist_s[at] = c->finalist_s[at - 1];
    }
    c->finalist[at] = plan;
    c->finalist_s[at] = finish_s;
    return ESP_OK;
}

static esp_status enter_algo(struct contest *c, const struct espi_candidate *candidate,
                             double slice_bytes, double budget_s)
{
    struct esp_request request;
    struct esp_plan *plan;
    struct espi_task task = {.p = c->scene[0], .request = &request, .memo = &c->memo};
    char text[ESPI_CANDIDATE_TEXT];
    if (c->a->options.tick)
        c->a->options.tick(c->a->options.tick_arg);
    espi_algo_format(candidate->algo, candidate->option, text, sizeof text);
    espi_request_init(&request, c->root);
    request.algo = text;
    request.size_bytes = c->bytes;
    request.slice_bytes = slice_bytes;
    request.budget_s = c->a->options.work > 0 ? 0 : budget_s;
    memcpy(task.option, candidate->option, sizeof task.option);
    /* What it claims would be timed at length, and is weighed here anyway. */
    esp_status st = espi_plan_make_by(candidate->algo, &task, &plan, c->err);
    if (st)
        return st == ESP_ENOMEM ? st : ESP_OK; /* then it is not for this platform */
    return enter(c, plan, (candidate->use & ESPI_USE_ADVISOR_PLAIN) != 0);
}

/* The algorithm that the user named, alone, with the slices that it plans for itself. */
static esp_status enter_named(struct contest *c, const char *text, double budget_s)
{
    struct espi_candidate named = {.use = 0};
    esp_status st = espi_algo_parse(text, &named.algo, named.option, c->err);
    if (st) /* then there is no plan */
        return st == ESP_ENOMEM ? st : ESP_OK;
    return enter_algo(c, &named, 0, budget_s);
}

static int find_candidates(const struct contest *c, unsigned uses,
                           struct espi_candidate out[ESPI_CANDIDATES_MAX])
{
    struct esp_request request;
    espi_request_init(&request, c->root);
    return espi_candidates(&request, c->scene[0]->n_hosts, uses, 0, out);
}

/* All of some use, each with some sizes of slices, from the `first` on; in no time at
 * least one of those that are kept. */
static esp_status enter_uses(struct contest *c, unsigned uses, int first)
{
    struct espi_candidate candidates[ESPI_CANDIDATES_MAX];
    double slices[ESPI_FEW_SLICES];
    int n = find_candidates(c, uses, candidates);
    int all = n * espi_few_slices(c->bytes, slices);
    esp_status st = ESP_OK;
    for (int i = 0; i < all && !st; i++) {
        int k = (first + i) % all, keeps = uses & ESPI_USE_ADVISOR_PLAIN && !c->plain;
        if (is_late(c) && !keeps)
            break;
        st = enter_algo(c, &candidates[k % n], slices[k / n], 0);
    }
    return st;
}

static esp_status enter_searches(struct contest *c, double budget_s)
{
    struct espi_candidate candidates[ESPI_CANDIDATES_MAX];
    int n = find_candidates(c, ESPI_USE_ADVISOR_SEARCH, candidates);
    double slice = c->n_finalists ? c->finalist[0]->slice_bytes : 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st && !is_late(c); i++)
        st = enter_algo(c, &candidates[i], slice, ESPI_SEARCH_PART * budget_s);
    return st;
}

/* The hierarchical tree, which is made in no time, first; then trees of all kinds, each
 * with several slices, then longer searches. All who cannot be tried in the time there is
 * are tried the next time, since each time another begins. */
static esp_status try_all_kinds(struct contest *c, double budget_s)
{
    const char *algo = c->a->options.algo;
    int first = c->a->options.work > 0 ? 0 : c->a->turn / 3;
    int is_large = c->scene[0]->n_links > ESPI_ADVISOR_LARGE;
    if (algo && *algo)
        return enter_named(c, algo, budget_s);
    esp_status st = enter_uses(c, ESPI_USE_ADVISOR_PLAIN, 0);
    if (!st)
        st = enter_uses(c, is_large ? ESPI_USE_ADVISOR_LARGE : ESPI_USE_ADVISOR, first);
    return st || is_large ? st : enter_searches(c, budget_s);
}

/* Is it better over all scenes than the best so far? Takes the plan. */
static esp_status challenge(struct contest *c, struct esp_plan *plan, double first_s)
{
    double finish_s;
    if (!plan)
        return ESP_OK;
    esp_status st = mean_finish(c, plan, &first_s, &finish_s);
    if (st || !(finish_s < c->best_s)) {
        esp_plan_free(plan);
        return st;
    }
    esp_plan_free(c->best);
    c->best = plan;
    c->best_s = plan->makespan_s = finish_s;
    return ESP_OK;
}

/* Of the best, the one that stays good around what is believed. */
static esp_status decide(struct contest *c)
{
    for (int i = 0; i < c->n_finalists && c->a->planner; i++)
        espi_probe_planner_mark(c->a->planner, c->finalist[i], ESPI_PROBE_PLANNER_RIVAL,
                                c->a->turn);
    esp_status st = challenge(c, c->plain, c->plain_s);
    for (int i = 0; i < c->n_finalists; i++) {
        esp_status challenged = challenge(c, c->finalist[i], c->finalist_s[i]);
        st = st ? st : challenged;
    }
    return st;
}

/* ---- what was said ---- */

static struct espi_told *told_of(struct espi_advisor *a, int root, int size_class)
{
    for (int i = 0; i < a->n_told; i++)
        if (a->told[i].root == root && a->told[i].size_class == size_class)
            return &a->told[i];
    return NULL;
}

/* Keeps what is said, to compare with next time. */
static esp_status remember(struct contest *c, int size_class)
{
    struct espi_advisor *a = c->a;
    struct espi_told *t = told_of(a, c->root, size_class);
    struct esp_plan *copy;
    esp_status st = esp_plan_copy(c->best, &copy, c->err);
    if (st)
        return st;
    if (!t && a->n_told < ESPI_TOLD_MAX) {
        t = &a->told[a->n_told++];
        t->plan = NULL;
    } else if (!t) {
        t = &a->told[a->turn % ESPI_TOLD_MAX];
    }
    esp_plan_free(t->plan);
    *t = (struct espi_told){c->root, size_class, copy};
    return ESP_OK;
}

/* The last advice stays unless something is better by what makes it worth a change. */
static esp_status settle(struct contest *c, int size_class, struct espi_advice *out)
{
    struct espi_told *t = told_of(c->a, c->root, size_class);
    struct esp_plan *old = NULL;
    double old_s = INFINITY;
    esp_status st = ESP_OK;
    if (t && t->plan)
        st = esp_plan_copy(t->plan, &old, c->err);
    if (!st && old) {
        old->size_bytes = c->bytes;
        st = mean_finish(c, old, NULL, &old_s);
    }
    out->is_new = !old;
    if (!st && old && !(c->best_s < ESPI_WORTH_IT * old_s)) {
        esp_plan_free(c->best);
        c->best = old;
        old = NULL;
    } else {
        out->is_new = 1;
    }
    esp_plan_free(old);
    if (!st && c->a->planner)
        espi_probe_planner_mark(c->a->planner, c->best, ESPI_PROBE_PLANNER_IN_FORCE,
                                c->a->turn);
    return st ? st : remember(c, size_class);
}

esp_status espi_advisor_plan_for(struct espi_advisor *a, int root, double bytes,
                                 double now_s, struct espi_advice *out,
                                 struct esp_err *err)
{
    struct contest c = {
        .a = a, .root = root, .bytes = bytes, .best_s = INFINITY, .err = err};
    struct espi_advice advice = {.root = root,
                                 .size_class = espi_size_class((uint64_t)bytes)};
    struct espi_outlook o;
    espi_advisor_outlook(a, now_s, &o);
    double budget_s = a->options.budget_s;
    if (o.gap_s > 0) /* three sizes have to be ready when the next call comes */
        budget_s =
            fmin(budget_s, fmax((o.last_s + o.gap_s - now_s) / 3, ESPI_BUDGET_LEAST_S));
    espi_arena_init(&c.arena);
    esp_status st = set_first_scene(&c, now_s);
    c.end_s = espi_now_s() + budget_s;
    if (!st)
        st = try_all_kinds(&c, budget_s);
    espi_algo_memo_done(&c.memo);
    if (!st)
        st = set_scenes(&c, now_s);
    esp_status chosen = decide(&c);
    if (!st)
        st = chosen;
    if (!st && !c.best)
        st = espi_err(err, ESP_EUNSUPPORTED, "no algorithm can plan for this platform");
    if (!st)
        st = settle(&c, advice.size_class, &advice);
    if (!st)
        st = espi_belief_translate(&a->belief, c.best, &advice.plan, err);
    espi_arena_done(&c.arena);
    for (int i = 0; i < c.n_scenes; i++)
        esp_platform_free(c.scene[i]);
    esp_plan_free(c.best);
    if (st)
        return st;
    *out = advice;
    return ESP_OK;
}

esp_status espi_advisor_plan(struct espi_advisor *a, double now_s,
                             struct espi_advice *out, struct esp_err *err)
{
    static const double times[] = {1, 0.5, 2};
    struct espi_outlook o;
    espi_advisor_outlook(a, now_s, &o);
    int turn = a->turn++;
    if (o.busy)
        return espi_advisor_plan_for(a, o.root, o.size_bytes * times[turn % 3], now_s,
                                     out, err);
    int root = a->root;
    for (int i = 0; root < 0 && i < a->net->n_nodes; i++)
        if (!espi_is_switch(a->net, i))
            root = i;
    if (root < 0)
        return espi_err(err, ESP_EUNSUPPORTED, "the platform has no host");
    double bytes =
        ldexp(1, ESPI_IDLE_FIRST + turn % (ESPI_IDLE_LAST - ESPI_IDLE_FIRST + 1));
    return espi_advisor_plan_for(a, root, bytes, now_s, out, err);
}

esp_status espi_advisor_expect(struct espi_advisor *a, const struct esp_plan *plan,
                               double bytes, double slice_bytes, double now_s,
                               double *out_s, struct esp_err *err)
{
    struct contest c = {.a = a, .bytes = bytes, .err = err};
    struct esp_plan sized = *plan;
    struct esp_platform *believed = NULL;
    sized.size_bytes = bytes;
    sized.slice_bytes = slice_bytes;
    espi_arena_init(&c.arena);
    esp_status st = espi_belief_scaled(&a->belief, now_s, &believed, err);
    if (!st)
        st = finish_in(&c, believed, &sized, out_s);
    esp_platform_free(believed);
    espi_arena_done(&c.arena);
    return st;
}
