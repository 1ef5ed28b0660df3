/* Ours: several algorithms and slices are tried, the earliest predicted finish wins, ties
 * go to the first. Only algorithms whose result does not depend on the clock are tried.
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
#include "cost/cost.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/turn.h"

/* A little less than powers of two: with their headers they stay below the sizes from
 * which MPI libraries wait for the receiver before they send. */
static const double slices[] = {65024, 32512, 16256, 8128};
enum { N_SLICES = sizeof slices / sizeof *slices };
/* What the closed form does not see: each slice costs a message, and slices wait for each
 * other. So there are never more than these where larger ones will do, and smaller ones
 * must gain something. */
#define MANY_SLICES  600
#define SMALLER_GAIN 0.97

/* Those that take little time: a rank plans while its program waits, 10 ms for 64 hosts.
 */
static const char *const ours[] = {"grow",
                                   "prune-degree",
                                   "multiport-grow",
                                   "multiport-prune-degree",
                                   "ecef",
                                   "binomial",
                                   "refine:objective=finish,work=1000"};
static const char *const natives[] = {"binomial", "flat"};
static const char *const natives_sliced[] = {"binomial", "chain"};
/* Predictions of the library's short broadcasts are too pessimistic: on the testbed it
 * was up to 2.6 times as fast (16 cells of 8 to 64 KB, both libraries), ours up to 1.6.
 * So ours must be predicted to win by far. */
#define SHORT_BYTES  65536
#define SHORT_MARGIN 0.5
/* From where on MPICH scatters, then gathers. */
#define SCATTERED_BYTES 12288
#define SCATTERED_RANKS 8
/* For scatters and gathers. */
static const char *const ours_of_parts[] = {"scatter-spread:rounds=1", "scatter-tree",
                                            "scatter-tree:tree=ecef"};
/* For allgathers, and up to how many hosts it stays quick. All but the first send parts
 * together in steps. */
static const char *const ours_for_all[] = {"spread:rounds=1", "combining", "bruck",
                                           "gather-broadcast", "two-step"};
enum { MANY_HOSTS = 96 };
/* What travels together is packed, in several copies: so much at most. */
static const double steps_max_bytes = 1 << 24;
static const char *const natives_of_parts[] = {"scatter-tree:tree=flat",
                                               "scatter-tree:tree=binomial"};

struct search {
    const struct esp_platform *p;
    esp_op op;
    int root;
    double size_bytes;
    double only_slice; /* 0: any of the list, or the whole */
    double plan_slice; /* what algorithms plan for */
    struct espi_arena arena;
    double best_s;
    struct esp_plan *best;
    struct esp_err *err;
};

/* Messages are as long as they are. */
static esp_status cost_steps(struct search *s, const struct esp_plan *plan,
                             double *best_s, double *best_slice)
{
    struct espi_cost cost;
    if (s->size_bytes > steps_max_bytes)
        return ESP_OK;
    esp_status st = espi_plan_cost(s->p, plan, s->size_bytes, s->size_bytes, &s->arena,
                                   &cost, s->err);
    if (st)
        return st;
    *best_s = cost.makespan_s;
    *best_slice = s->size_bytes;
    return ESP_OK;
}

/* The slice with which the plan ends first. Parts are not sent together. */
static esp_status cost_plan(struct search *s, const struct esp_plan *plan, double *best_s,
                            double *best_slice)
{
    double part = s->size_bytes / espi_plan_parts(plan, s->p->n_hosts);
    *best_s = INFINITY;
    if (espi_plan_has_steps(plan))
        return cost_steps(s, plan, best_s, best_slice);
    for (int k = -1; k < N_SLICES; k++) {
        struct espi_cost cost;
        double slice = k >= 0 ? slices[k] : s->only_slice > 0 ? s->only_slice : part;
        if (k >= 0 && (s->only_slice > 0 || slice >= part))
            continue;
        if (k > 0 && s->size_bytes > MANY_SLICES * slice)
            continue;
        esp_status st =
            espi_plan_cost(s->p, plan, s->size_bytes, slice, &s->arena, &cost, s->err);
        if (st)
            return st;
        if (cost.makespan_s < *best_s * (k > 0 ? SMALLER_GAIN : 1)) {
            *best_s = cost.makespan_s;
            *best_slice = slice;
        }
    }
    return ESP_OK;
}

/* Takes the plan over if it is better than what there is. */
static esp_status consider(struct search *s, struct esp_plan *plan)
{
    double finish_s, slice_bytes = 0;
    esp_status st = cost_plan(s, plan, &finish_s, &slice_bytes);
    if (st || !(finish_s < s->best_s)) {
        esp_plan_free(plan);
        return st == ESP_ENOMEM ? st : ESP_OK;
    }
    esp_plan_free(s->best);
    s->best = plan;
    s->best_s = plan->makespan_s = finish_s;
    plan->size_bytes = s->size_bytes;
    plan->slice_bytes = slice_bytes;
    return ESP_OK;
}

static esp_status try_algo(struct search *s, const char *algo)
{
    struct esp_request request;
    struct esp_plan *plan;
    espi_request_init(&request, s->root);
    request.op = s->op;
    request.algo = algo;
    request.size_bytes = s->size_bytes;
    request.slice_bytes = s->only_slice > 0 ? s->only_slice : s->plan_slice;
    esp_status st = espi_plan_make_uncosted(s->p, &request, &plan, s->err);
    if (st)
        return st == ESP_ENOMEM ? st : ESP_OK; /* then it is not for this platform */
    return consider(s, plan);
}

static esp_status try_algos(struct search *s, const char *const *names, int n)
{
    esp_status st = ESP_OK;
    for (int i = 0; i < n && !st; i++) {
        const struct espi_algo *a = espi_algo_find(names[i], strcspn(names[i], ":"));
        if (a && espi_algo_applies(a, s->p))
            st = try_algo(s, names[i]);
    }
    return st;
}

/* Is the algorithm named that is to plan this operation? */
static int is_named(const char *algo, esp_op op)
{
    if (!algo || !*algo || strcmp(algo, "auto") == 0)
        return 0;
    const struct espi_algo *found = espi_algo_find(algo, strcspn(algo, ":"));
    return found && espi_algo_serves(found, op, 0);
}

static esp_status try_ours(struct search *s, const struct espi_choice_options *options)
{
    if (is_named(options->algo, s->op))
        return try_algo(s, options->algo);
    if (espi_op_has_paths(s->op))
        return try_algos(s, ours_of_parts, sizeof ours_of_parts / sizeof *ours_of_parts);
    if (s->op == ESP_OP_ALLGATHER)
        return s->p->n_hosts > MANY_HOSTS
                   ? ESP_OK
                   : try_algos(s, ours_for_all,
                               sizeof ours_for_all / sizeof *ours_for_all);
    return try_algos(s, ours, sizeof ours / sizeof *ours);
}

/* Trees for the usual slice first, then for the slice that turned out best. */
static esp_status find_ours(struct search *s, const struct espi_choice_options *options)
{
    if (options->given) {
        struct esp_plan *copy;
        esp_status st = espi_plan_copy(options->given, s->p, &s->arena, &copy, s->err);
        if (!st)
            st = consider(s, copy);
        if (st || !options->algo || strcmp(options->algo, "auto") != 0)
            return st;
    }
    esp_status st = try_ours(s, options);
    if (st || !s->best || s->best->slice_bytes == s->plan_slice ||
        espi_plan_has_steps(s->best))
        return st;
    s->plan_slice = s->best->slice_bytes;
    return try_ours(s, options);
}

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
static esp_status time_ring_step(struct search *s, double *step_s)
{
    struct espi_view v;
    double most_s = 0;
    esp_status st =
        espi_view_init(&v, s->p, s->size_bytes / s->p->n_hosts, &s->arena, s->err);
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

/* A scatter along a binomial tree, then an allgather by a ring. */
static esp_status time_scattered(const struct search *s, double *total_s)
{
    struct search scatter = {.p = s->p,
                             .op = ESP_OP_SCATTER,
                             .root = s->root,
                             .size_bytes =
                                 s->size_bytes * (s->p->n_hosts - 1) / s->p->n_hosts,
                             .plan_slice = slices[0],
                             .best_s = INFINITY,
                             .err = s->err};
    double step_s;
    espi_arena_init(&scatter.arena);
    esp_status st = try_algo(&scatter, natives_of_parts[1]);
    scatter.size_bytes = s->size_bytes;
    if (!st)
        st = time_ring_step(&scatter, &step_s);
    if (!st)
        *total_s = scatter.best_s + (s->p->n_hosts - 1) * step_s;
    esp_plan_free(scatter.best);
    espi_arena_done(&scatter.arena);
    return st;
}

static esp_status try_native_bcasts(struct search *s)
{
    double scattered_s = INFINITY;
    s->only_slice = s->size_bytes; /* as a whole */
    esp_status st = try_algos(s, natives, sizeof natives / sizeof *natives);
    if (!st && s->size_bytes >= SCATTERED_BYTES && s->p->n_hosts >= SCATTERED_RANKS)
        st = time_scattered(s, &scattered_s);
    s->best_s = fmin(s->best_s, scattered_s);
    return st;
}

static esp_status try_natives(struct search *s, int unknown)
{
    double step_s = INFINITY;
    esp_status st = ESP_OK;
    if (s->op == ESP_OP_ALLREDUCE || s->op == ESP_OP_ALLGATHER)
        st = time_ring_step(s, &step_s);
    if (!st && espi_op_has_paths(s->op))
        st = try_algos(s, natives_of_parts,
                       sizeof natives_of_parts / sizeof *natives_of_parts);
    else if (!st && s->op == ESP_OP_BCAST && !unknown)
        st = try_native_bcasts(s);
    else if (!st && s->op != ESP_OP_ALLGATHER)
        st = try_algos(s, natives_sliced, sizeof natives_sliced / sizeof *natives_sliced);
    int times = s->op == ESP_OP_ALLREDUCE ? 2 : 1; /* reduce-scatter, then allgather */
    s->best_s = fmin(s->best_s, times * (s->p->n_hosts - 1) * step_s);
    return st;
}

static esp_status predict_native(const struct search *s, int unknown, double *native_s)
{
    struct search native = {.p = s->p,
                            .op = s->op,
                            .root = s->root,
                            .size_bytes = s->size_bytes,
                            .plan_slice = slices[0],
                            .best_s = INFINITY,
                            .err = s->err};
    espi_arena_init(&native.arena);
    esp_status st = try_natives(&native, unknown);
    espi_arena_done(&native.arena);
    *native_s = isfinite(native.best_s) ? native.best_s : 0;
    esp_plan_free(native.best);
    return st;
}

static esp_status choose(const struct esp_platform *team, esp_op op, int root,
                         double size_bytes, const struct espi_choice_options *options,
                         struct espi_choice *out, struct esp_err *err)
{
    struct search s = {.p = team,
                       .op = op,
                       .root = root,
                       .size_bytes = size_bytes,
                       .only_slice = options->slice_bytes,
                       .plan_slice = slices[0],
                       .best_s = INFINITY,
                       .err = err};
    struct espi_choice choice = {0};
    espi_arena_init(&s.arena);
    esp_status st = find_ours(&s, options);
    if (!st && s.best)
        st = predict_native(&s, options->unknown, &choice.native_s);
    espi_arena_done(&s.arena);
    if (st) {
        esp_plan_free(s.best);
        return st;
    }
    double margin = options->margin;
    if (op == ESP_OP_BCAST && size_bytes <= SHORT_BYTES)
        margin *= SHORT_MARGIN;
    choice.ours_s = s.best ? s.best_s : 0;
    if (s.best && (options->force || s.best_s < margin * choice.native_s))
        choice.plan = s.best;
    else
        esp_plan_free(s.best);
    *out = choice;
    return ESP_OK;
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

esp_status espi_choose(const struct esp_platform *team, esp_op op, int root,
                       double size_bytes, const struct espi_choice_options *options,
                       struct espi_choice *out, struct esp_err *err)
{
    int turned = espi_op_collects(op) && !options->given;
    return (turned ? choose_turned : choose)(team, op, root, size_bytes, options, out,
                                             err);
}

void espi_choice_done(struct espi_choice *choice)
{
    esp_plan_free(choice->plan);
    choice->plan = NULL;
}
