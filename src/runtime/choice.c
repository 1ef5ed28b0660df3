/* Ours: a contest (select/contest.h) of the algorithms that are quick, whose results do
 * not depend on the clock, judged by the closed form.
 *
 * Native: what MPI libraries do by themselves, in the order of the ranks and with all
 * that meets on a cable counted. Broadcasts and reductions: Open MPI sends the message as
 * a whole, from the root to each (8 to 15 ranks, from 32 KB on) or along a tree, and only
 * with 16 to 31 ranks scatters and gathers from 1 MB on; MPICH takes a binomial tree up
 * to 12 KB or 7 ranks, and scatters and gathers beyond. The prediction is the best of
 * these. Neither cuts messages into slices by default; where nothing is known of the
 * network we act as if they did, and so leave nearly all to them. Scatters and gathers: a
 * binomial tree for short ones, from the root to each for long ones. Allgathers and long
 * allreduces: a ring. That still flatters the library, which does not always take the
 * best: ours is taken only when it beats that, too. */
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
#include "runtime/tuning.h"
#include "select/contest.h"
#include "select/slices.h"

/* From where on MPICH scatters, then gathers. */
#define SCATTERED_BYTES 12288 /* derived: MPIR_CVAR_BCAST_SHORT_MSG_SIZE */
#define SCATTERED_RANKS 8     /* derived: MPIR_CVAR_BCAST_MIN_PROCS */

/* One side of the choice: ours, or the library's. */
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

/* ---- the library's ---- */

/* The quickest arc from a host to the next in a ring; -1: none. */
static int ring_arc(const struct espi_view *v, int from)
{
    int to = (from + 1) % v->g.n, found = -1;
    for (int k = v->g.out.start[from]; k < v->g.out.start[from + 1]; k++) {
        int arc = v->g.out.item[k];
        if (v->g.head[arc] == to && (found < 0 || v->time_s[arc] < v->time_s[found]))
            found = arc;
    }
    return found;
}

/* A ring in rank order: in each step every rank sends a part of the message to the next.
 * *step_s: how long that takes; infinity where there are no such links. */
static esp_status time_ring_step(struct side *s, double size_bytes, double *step_s)
{
    struct espi_view v;
    double most_s = 0;
    const struct esp_platform *p = s->contest.task.p;
    esp_status st = espi_view_init(&v, p, size_bytes / p->n_hosts, &s->arena, s->err);
    double *load_s = st ? NULL : ESPI_ARENA_ZNEW(&s->arena, double, v.links.n);
    if (!load_s)
        return st ? st : espi_err_nomem(s->err);
    for (int h = 0; h < v.g.n; h++) {
        int arc = ring_arc(&v, h);
        if (arc < 0) {
            most_s = INFINITY;
            break;
        }
        espi_load_arc(&v, arc, 1, load_s);
        most_s = fmax(most_s, v.lag_s[arc]);
    }
    for (int r = 0; r < v.links.n; r++)
        most_s = fmax(most_s, load_s[r]);
    *step_s = most_s;
    return ESP_OK;
}

/* All that libraries do there; *total_s: the best, if it is better. */
static esp_status enter_library(struct side *s, unsigned use, double *total_s)
{
    esp_status st = espi_contest_enter_uses(
        &s->contest, use, 0, espi_contest_first_slices(&s->contest), s->err);
    if (!st && s->contest.best)
        *total_s = fmin(*total_s, s->contest.verdict.judged_s);
    return st;
}

/* A scatter along a binomial tree, then an allgather by a ring. */
static esp_status time_scattered(const struct side *s, double *total_s)
{
    struct side scatter;
    const struct esp_platform *p = s->contest.task.p;
    double size_bytes = s->request.size_bytes, scatter_s = INFINITY, step_s;
    side_init(&scatter, p, ESP_OP_SCATTER, s->request.root,
              size_bytes * (p->n_hosts - 1) / p->n_hosts, 0, s->err);
    esp_status st = enter_library(&scatter, ESPI_USE_LIBRARY_SCATTERED, &scatter_s);
    if (!st)
        st = time_ring_step(&scatter, size_bytes, &step_s);
    if (!st)
        *total_s = fmin(*total_s, scatter_s + (p->n_hosts - 1) * step_s);
    side_done(&scatter);
    return st;
}

static esp_status time_rings(struct side *s, double *total_s)
{
    double step_s;
    int times = s->request.op == ESP_OP_ALLREDUCE ? 2 : 1; /* reduce-scatter, allgather */
    esp_status st = time_ring_step(s, s->request.size_bytes, &step_s);
    if (!st)
        *total_s = fmin(*total_s, times * (s->contest.task.p->n_hosts - 1) * step_s);
    return st;
}

static esp_status enter_libraries(struct side *s, int whole, double *total_s)
{
    esp_op op = s->request.op;
    int scattered = whole && s->request.size_bytes >= SCATTERED_BYTES &&
                    s->contest.task.p->n_hosts >= SCATTERED_RANKS;
    esp_status st = ESP_OK;
    if (op == ESP_OP_ALLREDUCE || op == ESP_OP_ALLGATHER)
        st = time_rings(s, total_s);
    if (!st && op != ESP_OP_ALLGATHER)
        st = enter_library(s, whole ? ESPI_USE_LIBRARY_WHOLE : ESPI_USE_LIBRARY_SLICED,
                           total_s);
    return st || !scattered ? st : time_scattered(s, total_s);
}

static esp_status predict_native(const struct side *ours, int unknown, double *native_s)
{
    struct side native;
    const struct esp_request *r = &ours->request;
    int whole = r->op == ESP_OP_BCAST && !unknown;
    double total_s = INFINITY;
    side_init(&native, ours->contest.task.p, r->op, r->root, r->size_bytes,
              whole ? r->size_bytes : 0, ours->err);
    esp_status st = enter_libraries(&native, whole, &total_s);
    side_done(&native);
    *native_s = isfinite(total_s) ? total_s : 0;
    return st;
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
    if (!st && s.contest.best)
        st = predict_native(&s, options->unknown, &choice.native_s);
    if (!st && s.contest.best) {
        double margin = options->margin;
        if (op == ESP_OP_BCAST && size_bytes <= ESPI_SHORT_BYTES)
            margin *= ESPI_SHORT_MARGIN;
        choice.ours_s = s.contest.verdict.judged_s;
        choice.is_native = !options->force && choice.ours_s >= margin * choice.native_s;
        if (!choice.is_native || options->keep)
            choice.plan = espi_contest_take(&s.contest, 0).plan;
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

/* A plan from outside keeps its schedule, if the message is at least a round of it. */
static esp_status schedule_choice(struct esp_plan *plan, const struct esp_platform *team,
                                  struct esp_err *err)
{
    double count = espi_slices(plan->size_bytes, plan->slice_bytes).count;
    return plan->schedule && count >= plan->schedule->slots
               ? ESP_OK
               : espi_plan_schedule(plan, team, ESPI_EFFORT_QUICK, err);
}

esp_status espi_choose(const struct esp_platform *team, esp_op op, int root,
                       double size_bytes, const struct espi_choice_options *options,
                       struct espi_choice *out, struct esp_err *err)
{
    struct espi_choice choice = {0};
    int turned = espi_op_collects(op) && !options->given;
    esp_status st = (turned ? choose_turned : choose)(team, op, root, size_bytes, options,
                                                      &choice, err);
    if (st)
        return st;
    if (choice.plan && !choice.is_native)
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
