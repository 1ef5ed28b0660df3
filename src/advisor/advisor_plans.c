/* What the advisor says: plans held against each other on the network as it is believed
 * to be, and on some around it. */
#include <math.h>
#include <string.h>

#include "advisor/advisor_impl.h"
#include "advisor/tuning.h"
#include "algo/algo.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/portable_math.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "schedule/arrange.h"
#include "select/contest.h"
#include "select/slices.h"
#include "select/tuning.h"

/* ---- the contest ---- */

/* What goes into one piece of advice. */
struct advising {
    struct espi_advisor *a;
    struct esp_request request;
    struct esp_platform *scene[ESPI_SCENES]; /* the first is what is believed */
    int n_scenes;
    /* Of plans on the first scene: all kinds, of which the best few are kept; and those
     * that have no risks of their own, of which the best is kept in any case. */
    struct espi_contest open, plain;
    double end_s;    /* of the time there is */
    int is_thorough; /* are all plans weighed that there are? */
    struct esp_plan *best;
    double best_s; /* over all scenes */
    struct espi_arena arena;
    struct esp_err *err;
};

/* Is the time over? Runs that repeat do not look at the clock. */
static int is_late(const struct advising *x)
{
    return x->a->options.work > 0 ? 0 : espi_now_s() > x->end_s;
}

static int is_over(void *arg)
{
    const struct advising *x = arg;
    if (x->a->options.tick)
        x->a->options.tick(x->a->options.tick_arg);
    return is_late(x);
}

/* At least one plan is made even if there is no time. */
static int is_over_for_plain(void *arg)
{
    const struct advising *x = arg;
    return is_over(arg) && x->plain.best;
}

static esp_status set_first_scene(struct advising *x, double now_s)
{
    esp_status st =
        espi_belief_platform(&x->a->belief, now_s, NULL, &x->scene[0], x->err);
    x->n_scenes = !st;
    return st;
}

/* Was any forecast wrong by more than nothing? */
static int is_doubtful(const struct espi_belief *b, double now_s)
{
    double worst = 0;
    for (int r = 0; r < b->n_resources; r++) {
        double error;
        espi_belief_factor(b, r, now_s, &error);
        worst = fmax(worst, error);
    }
    return worst > ESPI_SCENES_FROM;
}

/* Networks around it, as far off as forecasts were. */
static esp_status set_scenes(struct advising *x, double now_s)
{
    const struct espi_belief *b = &x->a->belief;
    double *lots = ESPI_ARENA_NEW(&x->arena, double, b->n_resources + 1);
    if (!lots)
        return espi_err_nomem(x->err);
    int wanted = is_doubtful(b, now_s) ? ESPI_SCENES : 1;
    esp_status st = ESP_OK;
    while (x->n_scenes < wanted && !st && !is_late(x)) {
        for (int r = 0; r < b->n_resources; r++)
            lots[r] = espi_rng_range(&x->a->rng, -ESPI_SCENES_SPREAD, ESPI_SCENES_SPREAD);
        st = espi_belief_platform(b, now_s, lots, &x->scene[x->n_scenes], x->err);
        x->n_scenes += !st;
    }
    return st;
}

/* Weighs as `auto` does: by playing, or by who the advisor was told to ask where nothing
 * plays plans to their end. */
static void set_judge(const struct espi_advisor *a, struct espi_judge *judge)
{
    struct esp_request asked = {.judge = a->options.judge,
                                .judge_arg = a->options.judge_arg};
    espi_judge_ask(judge, &asked);
    judge->closer_looks = ESPI_CLOSER_LOOKS;
    judge->few_sizes = 1;
}

static void contest_on_first_scene(struct advising *x, struct espi_contest *c,
                                   int (*over)(void *arg), int others)
{
    espi_contest_init(c, x->scene[0], &x->request, &x->arena);
    set_judge(x->a, &c->judge);
    c->is_over = over;
    c->is_over_arg = x;
    c->others_wanted = others;
}

/* The plan with its own slices on one network. */
static esp_status judge_on(const struct espi_judge *as, const struct esp_platform *scene,
                           const struct esp_plan *plan, struct espi_verdict *out,
                           struct esp_err *err)
{
    struct espi_judge judge = *as;
    judge.p = scene;
    judge.message_s = espi_message_s(scene);
    judge.only_bytes = plan->slice_bytes;
    struct espi_arena_mark mark = espi_arena_mark(judge.arena);
    esp_status st = espi_judge_plan(&judge, plan, INFINITY, out, err);
    espi_arena_release(judge.arena, mark);
    return st || isfinite(out->judged_s) ? st : espi_err_nomem(err);
}

/* The mean over the scenes: what stays good within the error wins. It is the geometric
 * one, by which no scene counts more than others: else a scene in which a link hardly
 * works at all decides alone, and plans go out of their way to avoid links of which next
 * to nothing is known. first: what is known of the first scene, or NULL. */
static esp_status judge_on_all(struct advising *x, const struct esp_plan *plan,
                               const struct espi_verdict *first, double *out_s)
{
    double sum = 0;
    esp_status st = ESP_OK;
    for (int i = 0; i < x->n_scenes && !st; i++) {
        struct espi_verdict verdict = {.judged_s = 0};
        if (i == 0 && first)
            verdict = *first;
        else
            st = judge_on(&x->open.judge, x->scene[i], plan, &verdict, x->err);
        sum += espi_log(fmax(verdict.judged_s, 1e-12));
    }
    if (!st)
        *out_s = espi_exp(sum / x->n_scenes);
    return st;
}

/* The algorithm that the user named, alone. */
static esp_status enter_named(struct advising *x, const char *text)
{
    const struct espi_algo *algo;
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    esp_status st = espi_algo_parse(text, &algo, options, x->err);
    if (st) /* then there is no plan */
        return st == ESP_ENOMEM ? st : ESP_OK;
    return espi_contest_enter(&x->open, algo, options, ESP_SLICE_AUTO, x->err);
}

/* The slices that have turned out best so far. */
static double best_slices(const struct advising *x)
{
    const struct espi_verdict *open = &x->open.verdict, *plain = &x->plain.verdict;
    return plain->judged_s <= open->judged_s ? plain->slice_bytes : open->slice_bytes;
}

/* What weighs all plans there are, of one tree or of many: as who runs without an advisor
 * gets them. */
static esp_status enter_chooser(struct advising *x)
{
    int count;
    const struct espi_algo *const *algos = espi_algos(&count);
    double began_s = espi_now_s();
    esp_status st = ESP_OK;
    for (int i = 0; i < count && !st; i++) {
        double options[ESPI_ALGO_OPTIONS_MAX] = {0};
        if (!(algos[i]->flags & ESPI_ALGO_CHOOSES) ||
            !espi_algo_serves(algos[i], x->request.op, 0))
            continue;
        espi_algo_standard(algos[i], options);
        st = espi_contest_enter(&x->open, algos[i], options, ESP_SLICE_AUTO, x->err);
    }
    if (x->a->options.work <= 0)
        x->a->thorough_s = espi_now_s() - began_s;
    return st;
}

/* Trees of all kinds, each with several slices, then longer searches. All who cannot be
 * tried in the time there is are tried the next time, since each time another begins. */
static esp_status enter_kinds(struct advising *x, double budget_s)
{
    const struct espi_advisor_options *o = &x->a->options;
    int turn = o->work > 0 ? 0 : x->a->turn / ESPI_ADVISED_SIZES;
    int is_large = x->scene[0]->n_links > ESPI_ADVISOR_LARGE;
    esp_status st = espi_contest_enter_in_turn(
        &x->open, is_large ? ESPI_USE_ADVISOR_LARGE : ESPI_USE_ADVISOR, turn, x->err);
    if (st || is_large || x->is_thorough)
        return st;
    x->request.budget_s = o->work > 0 ? 0 : ESPI_SEARCH_PART * budget_s;
    return espi_contest_enter_uses(&x->open, ESPI_USE_ADVISOR_SEARCH, 0, best_slices(x),
                                   x->err);
}

/* The hierarchical tree, which is made in no time, first. What weighs all takes its time,
 * and comes where that is there; others beside it where what is believed may be wrong. */
static esp_status try_all_kinds(struct advising *x, double budget_s, double now_s)
{
    const struct espi_advisor_options *o = &x->a->options;
    if (o->algo && *o->algo) {
        x->request.budget_s = o->work > 0 ? 0 : budget_s;
        return enter_named(x, o->algo);
    }
    esp_status st =
        espi_contest_enter_in_turn(&x->plain, ESPI_USE_ADVISOR_PLAIN, 0, x->err);
    if (!st && x->is_thorough)
        st = enter_chooser(x);
    return st || (x->is_thorough && !is_doubtful(&x->a->belief, now_s))
               ? st
               : enter_kinds(x, budget_s);
}

/* Is it better over all scenes than the best so far? Takes the plan. */
static esp_status challenge(struct advising *x, struct espi_placed who)
{
    double judged_s;
    if (!who.plan)
        return ESP_OK;
    esp_status st = judge_on_all(x, who.plan, &who.verdict, &judged_s);
    if (st || !(judged_s < x->best_s)) {
        esp_plan_free(who.plan);
        return st;
    }
    esp_plan_free(x->best);
    x->best = who.plan;
    x->best_s = who.plan->makespan_s = judged_s;
    return ESP_OK;
}

/* Of the best, the one that stays good around what is believed. */
static esp_status decide(struct advising *x)
{
    esp_status st = challenge(x, espi_contest_take(&x->plain, 0));
    for (int i = 0; i < ESPI_FINALISTS && !st; i++) {
        struct espi_placed finalist = espi_contest_take(&x->open, i);
        if (finalist.plan && x->a->planner)
            espi_probe_planner_mark(x->a->planner, finalist.plan,
                                    ESPI_PROBE_PLANNER_RIVAL, x->a->turn);
        st = challenge(x, finalist);
    }
    return st;
}

/* ---- what was said ---- */

/* Why the last advice gives way to this one. */
static struct espi_advice_reason find_reason(const struct advising *x,
                                             const struct espi_told *last, double last_s,
                                             double now_s)
{
    struct espi_advice_reason why = {
        .is_first = !last, .resource = -1, .last_s = last_s, .now_s = x->best_s};
    if (last)
        why.resource = espi_told_moved(x->a, last, now_s, &why.factor, &why.before);
    return why;
}

/* The last advice stays unless something is better by what makes it worth a change. */
static esp_status settle(struct advising *x, int size_class, double now_s,
                         struct espi_advice *out)
{
    struct espi_told *t = espi_told_of(x->a, x->request.root, size_class);
    struct esp_plan *old = NULL;
    double old_s = INFINITY;
    esp_status st = ESP_OK;
    if (t && t->plan)
        st = esp_plan_copy(t->plan, &old, x->err);
    if (!st && old) {
        old->size_bytes = x->request.size_bytes;
        st = judge_on_all(x, old, NULL, &old_s);
    }
    out->is_new = 0;
    if (!st && old && !(x->best_s < ESPI_WORTH_IT * old_s)) {
        esp_plan_free(x->best);
        x->best = old;
        old = NULL;
    } else {
        out->is_new = 1;
        out->why = find_reason(x, old ? t : NULL, old_s, now_s);
    }
    esp_plan_free(old);
    if (!st && x->a->planner)
        espi_probe_planner_mark(x->a->planner, x->best, ESPI_PROBE_PLANNER_IN_FORCE,
                                x->a->turn);
    struct espi_told about = {.root = x->request.root,
                              .size_class = size_class,
                              .bytes = x->request.size_bytes,
                              .is_thorough = x->is_thorough,
                              .is_given = !out->is_new && t && t->is_given};
    return st ? st : espi_told_keep(x->a, x->best, &about, now_s, x->err);
}

/* The best plan for the first scene, and those around it. */
static esp_status advise_on(struct advising *x, double budget_s, double now_s)
{
    contest_on_first_scene(x, &x->open, is_over, ESPI_FINALISTS - 1);
    contest_on_first_scene(x, &x->plain, is_over_for_plain, 0);
    esp_status st = try_all_kinds(x, budget_s, now_s);
    if (!st)
        st = set_scenes(x, now_s);
    if (!st)
        st = decide(x);
    if (!st && !x->best)
        st =
            espi_err(x->err, ESP_EUNSUPPORTED, "no algorithm can plan for this platform");
    espi_contest_done(&x->open);
    espi_contest_done(&x->plain);
    return st;
}

/* For how long a search may last: some sizes have to be ready when the next call comes.
 */
static double find_budget_s(const struct espi_advisor *a, const struct espi_outlook *o,
                            double now_s)
{
    if (!(o->gap_s > 0))
        return a->options.budget_s;
    double left_s = (o->last_s + o->gap_s - now_s) / ESPI_ADVISED_SIZES;
    return fmin(a->options.budget_s, fmax(left_s, ESPI_BUDGET_LEAST_S));
}

/* Is there time to weigh all plans before the next call? If not, that is done when
 * something quick has been published. */
static int has_time(const struct espi_advisor *a, const struct espi_outlook *o,
                    const struct espi_told *t, double now_s)
{
    int n_ways = a->belief.fixed ? a->belief.ways.g.m : a->net->n_links;
    if (a->options.is_quick || n_ways > ESPI_THOROUGH_LINKS)
        return 0;
    return a->options.work > 0 || !o->busy || !(o->gap_s > 0) || (t && !t->is_thorough) ||
           now_s + a->thorough_s < o->last_s + o->gap_s;
}

/* As who asks gets it: for the network itself, with its order of sends. */
static esp_status hand_out(const struct espi_belief *b, const struct esp_plan *plan,
                           struct esp_plan **out, struct esp_err *err)
{
    struct esp_plan *own = NULL;
    esp_status st = espi_belief_translate(b, plan, &own, err);
    if (!st && !own->schedule && !espi_plan_has_steps(own))
        st = espi_plan_schedule(own, b->net, ESPI_EFFORT_FULL, err);
    if (st)
        esp_plan_free(own);
    else
        *out = own;
    return st;
}

static esp_status advise_anew(struct advising *x, struct espi_advice *out, double now_s)
{
    struct espi_advisor *a = x->a;
    struct espi_outlook o;
    espi_advisor_outlook(a, now_s, &o);
    double budget_s = find_budget_s(a, &o, now_s);
    x->is_thorough = has_time(a, &o, espi_told_of(a, out->root, out->size_class), now_s);
    espi_arena_init(&x->arena);
    esp_status st = set_first_scene(x, now_s);
    x->end_s = espi_now_s() + budget_s;
    if (!st)
        st = advise_on(x, budget_s, now_s);
    if (!st)
        st = settle(x, out->size_class, now_s, out);
    if (!st)
        st = hand_out(&a->belief, x->best, &out->plan, x->err);
    espi_arena_done(&x->arena);
    for (int i = 0; i < x->n_scenes; i++)
        esp_platform_free(x->scene[i]);
    esp_plan_free(x->best);
    return st;
}

esp_status espi_advisor_plan_for(struct espi_advisor *a, int root, double bytes,
                                 double now_s, struct espi_advice *out,
                                 struct esp_err *err)
{
    struct advising x = {.a = a, .best_s = INFINITY, .err = err};
    struct espi_advice advice = {.root = root,
                                 .size_class = espi_size_class((uint64_t)bytes)};
    const struct espi_told *t = espi_told_of(a, root, advice.size_class);
    espi_request_init(&x.request, root);
    x.request.size_bytes = bytes;
    esp_status st = espi_told_stands(a, t, bytes, now_s)
                        ? hand_out(&a->belief, t->plan, &advice.plan, err)
                        : advise_anew(&x, &advice, now_s);
    if (!st)
        *out = advice;
    return st;
}

esp_status espi_advisor_plan(struct espi_advisor *a, double now_s,
                             struct espi_advice *out, struct esp_err *err)
{
    /* the second look is at what there was no time for in the first */
    static const double times[ESPI_ADVISED_SIZES] = {1, 1, 0.5, 2};
    struct espi_outlook o;
    espi_advisor_outlook(a, now_s, &o);
    int turn = a->turn++;
    if (o.busy)
        return espi_advisor_plan_for(
            a, o.root, o.size_bytes * times[turn % ESPI_ADVISED_SIZES], now_s, out, err);
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
    struct espi_arena arena;
    struct espi_judge judge = {.p = a->net, .size_bytes = bytes, .arena = &arena};
    struct espi_verdict verdict = {.judged_s = INFINITY};
    struct esp_plan sized = *plan;
    struct esp_platform *believed = NULL;
    sized.size_bytes = bytes;
    sized.slice_bytes = slice_bytes;
    espi_arena_init(&arena);
    set_judge(a, &judge);
    esp_status st = espi_belief_scaled(&a->belief, now_s, &believed, err);
    if (!st)
        st = judge_on(&judge, believed, &sized, &verdict, err);
    if (!st)
        *out_s = verdict.finish_s;
    esp_platform_free(believed);
    espi_arena_done(&arena);
    return st;
}
