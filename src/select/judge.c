#include "select/judge.h"

#include <math.h>

#include "base/watch.h"
#include "base/err.h"
#include "cost/cost.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "schedule/tuning.h"
#include "select/slices.h"
#include "select/tuning.h"

/* The slices of one plan that are still in question. */
struct sizes {
    int n;
    double bytes[ESPI_SLICE_SIZES_MAX];
    double closed_s[ESPI_SLICE_SIZES_MAX]; /* its finish by the closed form */
    double least_s[ESPI_SLICE_SIZES_MAX];  /* it is hardly through before */
    double messages_s[ESPI_SLICE_SIZES_MAX];
    unsigned char played[ESPI_SLICE_SIZES_MAX]; /* to its end, if it is timed */
    int n_played;
    unsigned char is_short[ESPI_SLICE_SIZES_MAX]; /* it is timed by playing it */
    unsigned char is_exact[ESPI_SLICE_SIZES_MAX]; /* its timing is what it will claim */
    unsigned char is_left[ESPI_SLICE_SIZES_MAX];  /* not timed, unless it is climbed to */
    int named;                                    /* the one that find_named() says */
    double named_least_s; /* it is not through before by that, however it is timed */
    double load_s[ESPI_SLICE_SIZES_MAX];  /* of the busiest resource, a slice */
    double rank_s[ESPI_SLICE_SIZES_MAX];  /* by one order of sends, or the closed form */
    double timed_s[ESPI_SLICE_SIZES_MAX]; /* 0: not yet */
    struct espi_played_claim
        claim[ESPI_SLICE_SIZES_MAX]; /* where it was played for one */
    int fine; /* all that are finer lie on the line of this one; 0: none do */
};

static double slices_of(const struct espi_judge *j, const struct sizes *s, int i)
{
    return espi_slices(j->size_bytes, s->bytes[i]).count;
}

/* It is hardly through before. */
static void expect_at_least(const struct espi_judge *j, struct sizes *s, int i,
                            double finish_s)
{
    s->least_s[i] =
        fmax(s->least_s[i], espi_with_messages_s(j->p, finish_s, s->messages_s[i]));
}

/* For who cannot try all of the list. */
static int list_few_sizes(const struct espi_judge *j, const struct esp_plan *plan,
                          double out_bytes[ESPI_FEW_SLICES + 1])
{
    int n = espi_few_slices(j->size_bytes, out_bytes);
    for (int i = 0; i < n; i++)
        if (out_bytes[i] == plan->slice_bytes)
            return n;
    out_bytes[n] = plan->slice_bytes;
    return n + 1;
}

static esp_status list_sizes(const struct espi_judge *j, const struct esp_plan *plan,
                             struct sizes *s, struct esp_err *err)
{
    double messages = 0;
    if (espi_plan_has_steps(plan)) {
        s->n = !(j->steps_max_bytes > 0) || j->size_bytes <= j->steps_max_bytes ? 1 : 0;
        s->bytes[0] = j->size_bytes; /* its messages are as long as they are */
    } else if (plan->schedule) {
        s->n = !(j->only_bytes > 0) || plan->slice_bytes <= j->only_bytes * (1 + 1e-9);
        s->bytes[0] = plan->slice_bytes; /* its order is for these slices */
    } else if (j->only_bytes > 0) {
        s->n = 1;
        s->bytes[0] = j->only_bytes;
    } else if (espi_watch_is_over()) {
        s->n = 1;
        s->bytes[0] = plan->slice_bytes; /* what it was made for has to do */
    } else if (j->few_sizes) {
        s->n = list_few_sizes(j, plan, s->bytes);
    } else {
        s->n = espi_slice_sizes(j->size_bytes, espi_plan_parts(plan, j->p->n_hosts),
                                s->bytes);
    }
    for (int i = 0; i < s->n; i++) {
        if (espi_messages(plan, j->size_bytes, s->bytes[i], j->arena, &messages))
            return espi_err_nomem(err);
        s->messages_s[i] = j->message_s * messages;
    }
    return ESP_OK;
}

void espi_judge_ask(struct espi_judge *judge, const struct esp_request *request)
{
    if (judge->p->model != ESP_MODEL_HNOW)
        return;
    judge->by = request->judge;
    judge->by_arg = request->judge_arg;
}

/* Does somebody else tell how long it takes? */
static int is_for_others(const struct espi_judge *j, const struct esp_plan *plan)
{
    return j->closer_looks && j->by && !espi_plan_has_steps(plan);
}

/* Messages one after the other take at least what their busiest resource does, which is
 * found in less time than when they end. */
static esp_status leave_hopeless(const struct espi_judge *j, const struct esp_plan *plan,
                                 double limit_s, struct sizes *s, struct esp_err *err)
{
    double load_s = 0;
    if (!espi_plan_has_steps(plan) || s->n < 1 || !isfinite(limit_s))
        return ESP_OK;
    if (espi_plan_load_s(j->p, plan, j->size_bytes, s->bytes[0], j->arena, &load_s))
        return espi_err_nomem(err);
    if (espi_with_messages_s(j->p, load_s * (1 - 1e-9), s->messages_s[0]) > limit_s)
        s->n = 0;
    return ESP_OK;
}

/* Do transfers share the network, as far as we tell how long the plan takes, and all
 * trees begin at once? Those of a scatter begin when what goes farther has left, and how
 * many slices that are is another question for each size of slices. */
static int is_fluid(const struct espi_judge *j, const struct esp_plan *plan)
{
    return j->closer_looks && j->p->model == ESP_MODEL_CAPACITY &&
           !espi_op_has_paths(plan->op) && !is_for_others(j, plan) &&
           !espi_plan_has_steps(plan);
}

/* Is there an order of sends to look for, of several trees or towards a root? The closed
 * form may be too late then. */
static int is_ordered(const struct esp_plan *plan)
{
    return !espi_plan_has_steps(plan) &&
           (plan->n_trees > 1 || espi_op_collects(plan->op) ||
            plan->op == ESP_OP_ALLREDUCE);
}

/* Is it held to what it will claim? Not where others tell, or guesses are told apart. */
static int claims_count(const struct espi_judge *j, const struct esp_plan *plan)
{
    return j->closer_looks && !j->by && !(j->guess_factor > 0) &&
           !espi_plan_has_steps(plan);
}

/* The slices that who names the plan's algorithm gets: those asked for, or the usual
 * ones, if the plan was made for them. -1: none of the list. */
static int find_named(const struct espi_judge *j, const struct esp_plan *plan,
                      const struct sizes *s)
{
    double usual_bytes =
        espi_usual_slices(j->size_bytes, espi_plan_parts(plan, j->p->n_hosts));
    int counts = claims_count(j, plan) || is_for_others(j, plan);
    for (int i = 0; counts && i < s->n; i++)
        if (j->only_bytes > 0 ||
            (s->bytes[i] == usual_bytes && plan->slice_bytes == usual_bytes))
            return i;
    return -1;
}

/* By the closed form; of what can be played to its end, or is told by others, by the
 * busiest resource. What shares the network may be through before the closed form says
 * so, which counts what meets on a link also while it is not yet there; but along one
 * tree not before the first slice is everywhere. */
static esp_status find_least(const struct espi_judge *j, const struct esp_plan *plan,
                             struct sizes *s, struct esp_err *err)
{
    struct espi_cost cost;
    esp_status st = ESP_OK;
    s->named = find_named(j, plan, s);
    int ordered = j->closer_looks && is_ordered(plan);
    int shares = is_fluid(j, plan) && plan->n_trees == 1;
    for (int i = 0; i < s->n && !st; i++) {
        st = espi_plan_cost(j->p, plan, j->size_bytes, s->bytes[i], j->arena, &cost, err);
        if (st)
            break;
        double count = espi_slices(j->size_bytes, s->bytes[i]).count;
        int others = is_for_others(j, plan);
        s->is_short[i] = espi_plan_is_short(j->p, plan, count, j->most_sends);
        s->is_exact[i] = espi_plan_is_exact(j->p, plan, count, j->most_sends);
        int played = ordered && s->is_short[i];
        double factor =
            ordered && !played && !others && j->guess_factor > 0 ? j->guess_factor : 1;
        s->load_s[i] = cost.load_s;
        if (espi_plan_has_steps(plan))
            s->claim[i] = espi_claim_of_steps(j->size_bytes, &cost);
        s->n_played += played;
        s->played[i] = played;
        s->rank_s[i] = s->closed_s[i] = cost.makespan_s * factor;
        if (i == s->named)
            s->named_least_s =
                espi_with_messages_s(j->p, count * cost.load_s, s->messages_s[i]);
        double least_s = played || others ? count * cost.load_s : s->closed_s[i];
        if (shares && s->is_short[i])
            least_s = fmax(count * cost.load_s, cost.fill_s);
        s->least_s[i] = espi_with_messages_s(j->p, least_s, s->messages_s[i]);
    }
    return st;
}

/* Where some slices are played, guesses about others must not win. */
static void leave_guesses(const struct espi_judge *j, struct sizes *s)
{
    for (int i = 0; i < s->n; i++)
        if (j->guess_factor > 0 && s->n_played > 0 && !s->played[i])
            s->least_s[i] = INFINITY;
}

/* Leaves out all slices but the named ones and those that look best by one order of sends
 * each or by the closed form, which may know of a better order: to look for the best
 * order for all of them, or to ask others about all, takes ten times as long. */
static esp_status keep_best(const struct espi_judge *j, const struct esp_plan *plan,
                            double limit_s, struct sizes *s, struct esp_err *err)
{
    double rank_s[ESPI_SLICE_SIZES_MAX];
    esp_status st = ESP_OK;
    for (int i = 0; i < s->n && !st; i++) {
        rank_s[i] = INFINITY;
        if (!(s->least_s[i] < limit_s))
            continue;
        /* when time is over the closed form has to do */
        if (plan->n_trees > 1 && !is_fluid(j, plan) && !espi_watch_is_over())
            st = espi_plan_rank(j->p, plan, j->size_bytes, s->bytes[i], j->most_sends,
                                j->arena, &s->rank_s[i], err);
        rank_s[i] = espi_with_messages_s(j->p, fmin(s->rank_s[i], s->closed_s[i]),
                                         s->messages_s[i]);
    }
    for (int i = 0; i < s->n && !st; i++) {
        int better = 0;
        for (int k = 0; k < s->n; k++)
            better += rank_s[k] < rank_s[i] || (rank_s[k] == rank_s[i] && k < i);
        s->is_left[i] = better >= j->closer_looks && i != s->named;
    }
    return st;
}

/* -1: none. */
static int most_promising(const struct sizes *s)
{
    int best = -1;
    for (int i = 0; i < s->n; i++)
        if (!s->is_left[i] && (best < 0 || s->least_s[i] < s->least_s[best]))
            best = i;
    return best;
}

/* What others say; what they cannot tell is never through. */
static double ask_others(const struct espi_judge *j, const struct esp_plan *plan,
                         double slice_bytes)
{
    struct esp_plan cut = *plan;
    cut.size_bytes = j->size_bytes;
    cut.slice_bytes = espi_slices(j->size_bytes, slice_bytes).bytes;
    double finish_s = j->by(j->by_arg, j->p, &cut);
    return isnan(finish_s) ? INFINITY : finish_s;
}

/* What it is through by; of closed forms, and of guesses, that is known already. */
static esp_status time_finish(const struct espi_judge *j, const struct esp_plan *plan,
                              struct sizes *s, int i, double *out_s, struct esp_err *err)
{
    struct espi_finish played;
    esp_status st = ESP_OK;
    int guessed = j->guess_factor > 0 && plan->n_trees > 1 && !s->played[i];
    *out_s = s->timed_s[i] > 0 ? s->timed_s[i] : s->closed_s[i];
    if (s->timed_s[i] > 0)
        return ESP_OK;
    if (is_for_others(j, plan))
        *out_s = ask_others(j, plan, s->bytes[i]);
    else if (j->closer_looks && !guessed && !espi_plan_has_steps(plan)) {
        st = espi_plan_finish(j->p, plan, j->size_bytes, s->bytes[i], j->most_sends,
                              j->arena, &played, err);
        if (!st) {
            *out_s = played.makespan_s;
            s->claim[i] = played.claim;
        }
    }
    return st;
}

/* ---- finer slices than are played ---- */

static double sends_of_slice(const struct esp_plan *plan)
{
    double sends = 0;
    for (int t = 0; t < plan->n_trees; t++)
        sends += plan->trees[t].weight * plan->trees[t].n_edges;
    return sends;
}

/* The finest slices with which the message has no more sends; the sizes stand in order.
 * -1: none. */
static int finest_within(const struct espi_judge *j, const struct esp_plan *plan,
                         const struct sizes *s, double most_sends)
{
    double sends = sends_of_slice(plan);
    int i = s->n - 1;
    while (i >= 0 && slices_of(j, s, i) * sends > most_sends)
        i--;
    return i;
}

/* To its end, if it has no more than ESPI_FLUID_CLAIM sends. */
static esp_status play_size(const struct espi_judge *j, const struct esp_plan *plan,
                            struct sizes *s, int i, struct esp_err *err)
{
    struct espi_finish played;
    s->is_exact[i] = 1;
    esp_status st =
        espi_plan_claim(j->p, plan, j->size_bytes, s->bytes[i], j->arena, &played, err);
    if (!st) {
        s->timed_s[i] = played.makespan_s;
        s->claim[i] = played.claim;
    }
    return st;
}

/* Two sizes that were played, and all that are finer. */
static void follow_line(const struct espi_judge *j, struct sizes *s, int coarse, int fine)
{
    double slope =
        (s->timed_s[coarse] - s->timed_s[fine]) / (s->bytes[coarse] - s->bytes[fine]);
    s->fine = fine;
    for (int i = 0; i < s->n; i++) {
        double on_line_s = s->timed_s[fine] + slope * (s->bytes[i] - s->bytes[fine]);
        if (i > fine)
            s->timed_s[i] = fmax(on_line_s, slices_of(j, s, i) * s->load_s[i]);
        /* coarser ones have too few slices to lie on it, but are near */
        expect_at_least(j, s, i,
                        s->timed_s[i] > 0 ? s->timed_s[i]
                                          : on_line_s * (1 - ESPI_RANKS_OFF));
    }
}

/* Where transfers share the network, the makespan of messages of many slices is a line
 * over their size: finer ones fill the trees sooner, and all else stays. So two sizes
 * that are played to their end tell of all that are finer, and in less time than each of
 * these takes, whose pace shows only when the trees are long full. */
static esp_status draw_line(const struct espi_judge *j, const struct esp_plan *plan,
                            struct sizes *s, struct esp_err *err)
{
    int most = finest_within(j, plan, s, ESPI_FLUID_CLAIM);
    int fine = finest_within(j, plan, s, ESPI_LINE_SENDS);
    while (fine < most &&
           (fine < 1 || slices_of(j, s, fine - 1) < ESPI_LINE_SLICES * plan->n_trees))
        fine++;
    int coarse = fine - 1;
    if (!is_fluid(j, plan) || coarse < 0 || fine == s->n - 1 ||
        slices_of(j, s, coarse) < ESPI_LINE_SLICES * plan->n_trees)
        return ESP_OK;
    esp_status st = play_size(j, plan, s, coarse, err);
    if (!st)
        st = play_size(j, plan, s, fine, err);
    if (!st)
        follow_line(j, s, coarse, fine);
    return st;
}

/* From further on, for what may win. */
static esp_status draw_further(const struct espi_judge *j, const struct esp_plan *plan,
                               struct sizes *s, struct esp_err *err)
{
    int fine = finest_within(j, plan, s, ESPI_FLUID_CLAIM), coarse = s->fine;
    esp_status st = ESP_OK;
    if (fine > coarse)
        st = play_size(j, plan, s, fine, err);
    for (int i = 0; i < s->n && !st; i++)
        s->least_s[i] = 0;
    if (!st)
        follow_line(j, s, fine > coarse ? coarse : coarse - 1, fine);
    return st;
}

/* Takes these slices if the plan will claim to be through by them before limit_s. */
static esp_status take_claim(const struct espi_judge *j, const struct esp_plan *plan,
                             struct sizes *s, int i, double limit_s,
                             struct espi_verdict *best, struct esp_err *err)
{
    struct espi_finish played = {.makespan_s = 0};
    esp_status st =
        espi_plan_claim(j->p, plan, j->size_bytes, s->bytes[i], j->arena, &played, err);
    double judged_s =
        st ? INFINITY : espi_with_messages_s(j->p, played.makespan_s, s->messages_s[i]);
    s->claim[i] = played.claim;
    if (judged_s < limit_s)
        *best = (struct espi_verdict){s->bytes[i], judged_s, played.makespan_s, {.n = 0}};
    return st;
}

/* Weighing long messages is some hundredths off: what wins by it has to win by what it
 * will claim, too. The named slices are held to their claim in any case: else who names
 * the algorithm could get a better plan than who asks for the best. */
static esp_status hold_to_claims(const struct espi_judge *j, const struct esp_plan *plan,
                                 struct sizes *s, int found, double limit_s,
                                 struct espi_verdict *best, struct esp_err *err)
{
    esp_status st = ESP_OK;
    int named = s->named;
    if (espi_watch_is_over()) {
        if (isfinite(limit_s) && found >= 0 && !s->is_exact[found])
            best->judged_s = INFINITY; /* there is something that was held to its claim */
        return ESP_OK;
    }
    if (found >= 0 && !s->is_exact[found]) {
        best->judged_s = INFINITY;
        st = take_claim(j, plan, s, found, limit_s, best, err);
    }
    limit_s = fmin(limit_s, best->judged_s);
    if (st || named < 0 || named == found || s->is_short[named] ||
        !(s->named_least_s < limit_s))
        return st;
    return take_claim(j, plan, s, named, limit_s, best, err);
}

/* The best slices so far. */
struct leader {
    struct espi_verdict verdict;
    int at; /* which; -1: none */
    double limit_s;
};

/* Where sizes are ranked, what others may gain on one that was timed is about what they
 * gain by their ranks. */
static void expect_others(const struct espi_judge *j, struct sizes *s, int timed,
                          double finish_s)
{
    for (int i = 0; i < s->n; i++) {
        double gain_s = fmax(s->rank_s[timed] - s->rank_s[i], 0);
        expect_at_least(j, s, i, finish_s * (1 - ESPI_RANKS_OFF) - gain_s);
    }
}

/* Times these slices once, if they may be better. */
static esp_status try_slices(const struct espi_judge *j, const struct esp_plan *plan,
                             struct sizes *s, int i, struct leader *best,
                             struct esp_err *err)
{
    double finish_s = 0;
    if (i < 0 || i >= s->n || !(s->least_s[i] < best->limit_s))
        return ESP_OK;
    s->least_s[i] = INFINITY;
    /* where there is something already */
    if (isfinite(best->limit_s) && espi_watch_is_over())
        return ESP_OK;
    esp_status st = time_finish(j, plan, s, i, &finish_s, err);
    double judged_s = espi_with_messages_s(j->p, finish_s, s->messages_s[i]);
    if (!st && judged_s < best->limit_s)
        *best = (struct leader){{s->bytes[i], judged_s, finish_s, {.n = 0}}, i, judged_s};
    if (!st && plan->n_trees > 1 && !s->fine && !is_for_others(j, plan))
        expect_others(j, s, i, finish_s);
    return st;
}

/* When time is over before there is anything: by the closed form. */
static void take_closed(const struct espi_judge *j, const struct sizes *s,
                        struct leader *best)
{
    for (int i = 0; i < s->n; i++) {
        double judged_s = espi_with_messages_s(j->p, s->closed_s[i], s->messages_s[i]);
        if (judged_s < best->limit_s)
            *best = (struct leader){
                {s->bytes[i], judged_s, s->closed_s[i], {.n = 0}}, i, judged_s};
    }
}

/* The slices that are through first as they are timed; of those that were left out, too,
 * where they are next to the best, until neither neighbour is better. */
static esp_status find_best(const struct espi_judge *j, const struct esp_plan *plan,
                            struct sizes *s, struct leader *best, struct esp_err *err)
{
    esp_status st = ESP_OK;
    if (!isfinite(best->limit_s) && espi_watch_is_over()) {
        take_closed(j, s, best);
        return ESP_OK;
    }
    for (int i = most_promising(s); i >= 0 && s->least_s[i] < best->limit_s && !st;
         i = most_promising(s))
        st = try_slices(j, plan, s, i, best, err);
    for (int from = -1; best->at != from && !st;) {
        from = best->at;
        st = try_slices(j, plan, s, from - 1, best, err);
        if (!st)
            st = try_slices(j, plan, s, from + 1, best, err);
    }
    return st;
}

/* Is it about as early, by the line, as what is there already? Lines of several trees are
 * some hundredths off, if drawn from slices that are large. */
static int is_near(const struct espi_judge *j, const struct esp_plan *plan,
                   const struct sizes *s, double limit_s)
{
    double least_s = INFINITY;
    for (int i = s->fine; i < s->n; i++)
        least_s =
            fmin(least_s, espi_with_messages_s(j->p, s->timed_s[i], s->messages_s[i]));
    return plan->n_trees > 1 && least_s * (1 - ESPI_RANKS_OFF) < limit_s;
}

/* The same by a line that is drawn from further. */
static esp_status find_further(const struct espi_judge *j, const struct esp_plan *plan,
                               struct sizes *s, struct leader *best, struct esp_err *err)
{
    esp_status st = draw_further(j, plan, s, err);
    return st ? st : find_best(j, plan, s, best, err);
}

static void tell_claims(const struct sizes *s, struct espi_played_claims *out)
{
    for (int i = 0; i < s->n; i++)
        espi_claims_add(out, &s->claim[i]);
}

static int is_worth_it(const struct sizes *s, double limit_s)
{
    int i = most_promising(s);
    return i >= 0 && s->least_s[i] < limit_s;
}

/* What counts is what the plan will claim; timing that takes its time, so few slices are.
 */
esp_status espi_judge_plan(const struct espi_judge *judge, const struct esp_plan *plan,
                           double limit_s, struct espi_verdict *out, struct esp_err *err)
{
    struct sizes s = {.n = 0};
    struct leader best = {{.judged_s = INFINITY}, -1, limit_s};
    esp_status st = list_sizes(judge, plan, &s, err);
    if (!st)
        st = leave_hopeless(judge, plan, limit_s, &s, err);
    if (!st)
        st = find_least(judge, plan, &s, err);
    if (!st)
        leave_guesses(judge, &s);
    int costly = plan->n_trees > 1 || is_for_others(judge, plan);
    if (!st && is_worth_it(&s, limit_s))
        st = draw_line(judge, plan, &s, err);
    if (!st && judge->closer_looks && costly && !s.fine && s.n > judge->closer_looks)
        st = keep_best(judge, plan, limit_s, &s, err);
    if (!st)
        st = find_best(judge, plan, &s, &best, err);
    if (!st && s.fine &&
        (best.at > s.fine || (best.at < 0 && is_near(judge, plan, &s, limit_s)))) {
        best = (struct leader){{.judged_s = INFINITY}, -1, limit_s};
        st = find_further(judge, plan, &s, &best, err);
    }
    if (!st && claims_count(judge, plan))
        st = hold_to_claims(judge, plan, &s, best.at, limit_s, &best.verdict, err);
    if (st)
        return st;
    *out = best.verdict;
    tell_claims(&s, &out->claims);
    return ESP_OK;
}
