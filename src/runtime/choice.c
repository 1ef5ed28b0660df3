/* Ours: a contest (select/contest.h) of the algorithms that are quick, whose results do
 * not depend on the clock, judged by the closed form.
 *
 * Native: what the library does by itself, simulated (native/predict.h), with its own
 * decisions. Where that cannot be told (a library or version of which nothing is known,
 * ranks between which the platform has no path) it is taken to be as good as ours. */
#include "runtime/choice.h"

#include <espalier/algo.h>
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/err.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/turn.h"
#include "schedule/arrange.h"
#include "runtime/agreement.h"
#include "runtime/tuning.h"
#include "select/contest.h"
#include "select/slices.h"
#include "select/tuning.h"

/* Our side of the choice. */
struct side {
    struct esp_request request;
    struct espi_arena arena;
    struct espi_contest contest;
    struct esp_err *err;
};

static void side_init(struct side *s, const struct esp_platform *p, esp_op op, int root,
                      double size_bytes, double slice_bytes, struct esp_err *err)
{
    espi_request_init(&s->request, root);
    s->request.op = op;
    s->request.size_bytes = size_bytes;
    s->request.slice_bytes = slice_bytes > 0 ? slice_bytes : ESP_SLICE_AUTO;
    s->err = err;
    espi_arena_init(&s->arena);
    espi_contest_init(&s->contest, p, &s->request, &s->arena);
    s->contest.judge.steps_max_bytes = ESPI_STEPS_MAX_BYTES;
}

static void side_done(struct side *s)
{
    espi_contest_done(&s->contest);
    espi_arena_done(&s->arena);
}

/* ---- ours ---- */

static int is_auto(const char *algo)
{
    const struct espi_algo *found =
        algo && *algo ? espi_algo_find(algo, strcspn(algo, ":")) : NULL;
    return found && found->flags & ESPI_ALGO_CHOOSES;
}

/* The algorithm that is named to plan this operation, with its options; or NULL. */
static const struct espi_algo *named_algo(const char *text, esp_op op, double *options)
{
    const struct espi_algo *algo;
    if (!text || !*text || is_auto(text) || espi_algo_parse(text, &algo, options, NULL))
        return NULL;
    return espi_algo_serves(algo, op, 0) ? algo : NULL;
}

static esp_status enter_ours(struct side *s, const char *text, double slice_bytes)
{
    double options[ESPI_ALGO_OPTIONS_MAX] = {0};
    const struct espi_algo *named = named_algo(text, s->request.op, options);
    return named ? espi_contest_enter(&s->contest, named, options, slice_bytes, s->err)
                 : espi_contest_enter_uses(&s->contest, ESPI_USE_QUICK, 0, slice_bytes,
                                           s->err);
}

/* Was the plan made by `auto` for this class of sizes, on these very hosts? Then it has
 * been weighed with all that is tried here, and with more. */
static int is_settled(const struct esp_plan *given, double size_bytes,
                      const struct espi_choice_options *options)
{
    return is_auto(given->algo) && given->size_bytes <= size_bytes &&
           given->size_bytes > size_bytes / 2 && !(options->slice_bytes > 0) &&
           given->makespan_s > 0;
}

static esp_status take_settled(struct side *s, struct esp_plan *plan)
{
    double messages = 0;
    s->contest.best = plan;
    if (espi_messages(plan, plan->size_bytes, plan->slice_bytes, &s->arena, &messages))
        return espi_err_nomem(s->err);
    s->contest.verdict = (struct espi_verdict){
        .slice_bytes = plan->slice_bytes,
        .judged_s = espi_with_messages_s(s->contest.judge.p, plan->makespan_s,
                                         s->contest.judge.message_s * messages),
        .finish_s = plan->makespan_s};
    return ESP_OK;
}

/* The plan from outside. */
static esp_status enter_given(struct side *s, const struct esp_plan *given, int settled)
{
    struct esp_plan *copy;
    esp_status st = esp_plan_copy(given, &copy, s->err);
    if (!st)
        st = settled ? take_settled(s, copy)
                     : espi_contest_offer(&s->contest, copy, s->err);
    return st == ESP_ENOMEM ? st : ESP_OK;
}

/* Trees for the usual slice first, then for the slice that turned out best. */
static esp_status enter_own(struct side *s, const char *algo)
{
    struct espi_contest *c = &s->contest;
    double first_bytes = espi_contest_first_slices(c);
    esp_status st = enter_ours(s, algo, first_bytes);
    if (st || !c->best || c->verdict.slice_bytes == first_bytes ||
        espi_plan_has_steps(c->best))
        return st;
    return enter_ours(s, algo, c->verdict.slice_bytes);
}

/* The plan from outside comes last: its slices must not decide for which slices trees of
 * our own are made, or these could be worse beside it than without. */
static esp_status find_ours(struct side *s, const struct espi_choice_options *options)
{
    const struct esp_plan *given = options->given;
    int settled = given && is_settled(given, s->request.size_bytes, options);
    esp_status st = ESP_OK;
    if (!given || (!settled && is_auto(options->algo)))
        st = enter_own(s, options->algo);
    return st || !given ? st : enter_given(s, given, settled);
}

/* ---- the choice ---- */

static esp_status choose(const struct esp_platform *team, esp_op op, int root,
                         double size_bytes, const struct espi_choice_options *options,
                         struct espi_choice *out, struct esp_err *err)
{
    struct side s;
    struct espi_choice choice = {0};
    side_init(&s, team, op, root, size_bytes, options->slice_bytes, err);
    esp_status st = find_ours(&s, options);
    if (!st && s.contest.best) {
        choice.ours_s = s.contest.verdict.judged_s;
        choice.plan = espi_contest_take(&s.contest, 0).plan;
        /* also where one is named that makes such plans */
        choice.gathers = op == ESP_OP_ALLREDUCE && choice.plan->op == ESP_OP_ALLGATHER;
    }
    side_done(&s);
    if (!st)
        *out = choice;
    return st;
}

/* What collects is looked for on the platform reversed, once for all, and turned round.
 */
static esp_status choose_turned(const struct esp_platform *team, esp_op op, int root,
                                double size_bytes,
                                const struct espi_choice_options *options,
                                struct espi_choice *out, struct esp_err *err)
{
    struct esp_platform *reversed = NULL;
    struct espi_choice choice = {0};
    struct esp_plan *turned = NULL;
    esp_op there = op == ESP_OP_REDUCE ? ESP_OP_BCAST : espi_op_mirror(op);
    esp_status st = esp_platform_reversed(team, &reversed, err);
    if (!st)
        st = choose(reversed, there, root, size_bytes, options, &choice, err);
    if (!st && choice.plan) {
        /* of a race the first tree does it all */
        struct esp_plan plain = espi_plan_plain(choice.plan);
        st = espi_plan_turn(&plain, op, team, &turned, err);
    }
    espi_choice_done(&choice);
    esp_platform_free(reversed);
    if (st)
        return st;
    choice.plan = turned;
    *out = choice;
    return ESP_OK;
}

/* Where crossings count and bytes do not: the ranks get all that is to be combined by an
 * allgather, one way instead of there and back. */
static esp_status weigh_gathered(const struct esp_platform *team, double size_bytes,
                                 const struct espi_choice_options *options,
                                 struct espi_choice *choice, struct esp_err *err)
{
    double values[ESPI_ALGO_OPTIONS_MAX] = {0}, all_bytes = size_bytes * team->n_hosts;
    struct espi_choice other = {0};
    if (options->given || all_bytes > ESPI_GATHERED_BYTES ||
        named_algo(options->algo, ESP_OP_ALLREDUCE, values))
        return ESP_OK;
    esp_status st = choose(team, ESP_OP_ALLGATHER, 0, all_bytes, options, &other, err);
    if (!st && other.plan && (!choice->plan || other.ours_s < choice->ours_s)) {
        struct espi_choice worse = *choice;
        *choice = other;
        choice->gathers = 1;
        other = worse;
    }
    espi_choice_done(&other);
    return st;
}

/* Trees do not keep ranks in order: who wants the result gets all that is to be combined.
 */
static esp_status choose_in_order(const struct esp_platform *team, esp_op op, int root,
                                  double size_bytes,
                                  const struct espi_choice_options *options,
                                  struct espi_choice *out, struct esp_err *err)
{
    struct espi_choice_options own = *options;
    int to_root = op == ESP_OP_REDUCE;
    double all_bytes = size_bytes * (team->n_hosts - to_root);
    own.given = NULL; /* that is a plan of trees */
    if (team->n_hosts < 2 || all_bytes > ESPI_ORDERED_BYTES)
        return ESP_OK;
    esp_status st =
        to_root ? choose_turned(team, ESP_OP_GATHER, root, all_bytes, &own, out, err)
                : choose(team, ESP_OP_ALLGATHER, 0, all_bytes, &own, out, err);
    out->gathers = !st && out->plan;
    return st;
}

/* A plan from outside keeps its schedule, if the message is at least a round of it. */
static esp_status schedule_choice(struct esp_plan *plan, const struct esp_platform *team,
                                  struct esp_err *err)
{
    double count = espi_slices(plan->size_bytes, plan->slice_bytes).count;
    return plan->schedule && count >= plan->schedule->slots
               ? ESP_OK
               : espi_plan_schedule(plan, team, ESPI_EFFORT_QUICK, err);
}

static esp_status predict_library(const struct espi_choice_options *options,
                                  const struct esp_platform *team, esp_op op, int root,
                                  double size_bytes, struct espi_choice *choice,
                                  struct esp_err *err)
{
    const struct espi_native_library *library = options->library;
    esp_status st =
        options->barrier ? espi_predict_barrier(team, &choice->native_s, err)
        : !library
            ? ESP_OK
            : (options->unequal ? espi_native_predict_unequal : espi_native_predict)(
                  library, team, op, root, size_bytes, &choice->native_s, err);
    if (!(choice->native_s > 0))
        choice->native_s = choice->ours_s;
    return st;
}

/* Does the library do it, by what is predicted? */
static int is_left(const struct espi_choice *choice, esp_op op, double size_bytes,
                   const struct espi_choice_options *options)
{
    double margin = options->margin;
    if (op == ESP_OP_BCAST && size_bytes <= ESPI_SHORT_BYTES && !options->wide)
        margin *= ESPI_SHORT_MARGIN;
    return !options->force && choice->ours_s >= margin * choice->native_s;
}

esp_status espi_choose(const struct esp_platform *team, esp_op op, int root,
                       double size_bytes, const struct espi_choice_options *options,
                       struct espi_choice *out, struct esp_err *err)
{
    struct espi_choice choice = {0};
    int turned = espi_op_collects(op) && !options->given;
    esp_status st =
        (options->order ? choose_in_order
         : turned       ? choose_turned
                        : choose)(team, op, root, size_bytes, options, &choice, err);
    if (!st && op == ESP_OP_ALLREDUCE && !options->order)
        st = weigh_gathered(team, size_bytes, options, &choice, err);
    if (!st && choice.plan)
        st = predict_library(options, team, op, root, size_bytes, &choice, err);
    if (choice.plan)
        choice.ours_s += options->before_s;
    choice.is_native = choice.plan && is_left(&choice, op, size_bytes, options);
    if (choice.is_native && !options->keep)
        espi_choice_done(&choice);
    if (!st && choice.plan && !choice.is_native)
        st = schedule_choice(choice.plan, team, err);
    if (st)
        espi_choice_done(&choice);
    if (st == ESP_ENOMEM)
        return st;
    *out = choice; /* with no plan where its slices are too fine: on all ranks alike */
    return ESP_OK;
}

esp_status espi_choice_schedule(struct espi_choice *choice,
                                const struct esp_platform *team, struct esp_err *err)
{
    return schedule_choice(choice->plan, team, err);
}

void espi_choice_done(struct espi_choice *choice)
{
    esp_plan_free(choice->plan);
    choice->plan = NULL;
}
