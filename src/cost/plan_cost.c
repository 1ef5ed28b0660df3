/* The cost of a plan as it stands in a file: transfers over paths of links. */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "cost/cost.h"
#include "cost/post_cost.h"
#include "cost/tuning.h"
#include "plan/messages.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/turn.h"
#include "schedule/tuning.h"
#include "schedule/arrange.h"

struct evaluation {
    const struct esp_platform *p;
    const struct esp_plan *plan;
    struct espi_slices slices;
    struct espi_resources res;
    double *load;
    double *first_s, *pace_s, *next_send_s; /* by node */
};

static int evaluation_init(struct evaluation *ev, struct espi_arena *a)
{
    int n = ev->p->n_nodes;
    if (espi_resources_init(&ev->res, ev->p, ev->slices.bytes, a))
        return -1;
    ev->load = ESPI_ARENA_ZNEW(a, double, ev->res.n);
    ev->first_s = ESPI_ARENA_NEW(a, double, n);
    ev->pace_s = ESPI_ARENA_NEW(a, double, n);
    ev->next_send_s = ESPI_ARENA_NEW(a, double, n);
    return ev->load && ev->first_s && ev->pace_s && ev->next_send_s ? 0 : -1;
}

static void add_loads(struct evaluation *ev)
{
    const struct espi_resources *r = &ev->res;
    for (int t = 0; t < ev->plan->n_trees; t++) {
        const struct esp_tree *tree = &ev->plan->trees[t];
        for (int h = 0; h < tree->n_hops; h++)
            for (int k = r->start[tree->hops[h]]; k < r->start[tree->hops[h] + 1]; k++)
                ev->load[r->resource[k]] += tree->weight * r->time_s[k];
    }
}

/* The largest load of a resource that the transfer uses. */
static double edge_load_s(const struct evaluation *ev, const int *hops, int n_hops)
{
    const struct espi_resources *r = &ev->res;
    double most = 0;
    for (int h = 0; h < n_hops; h++)
        for (int k = r->start[hops[h]]; k < r->start[hops[h] + 1]; k++)
            most = fmax(most, ev->load[r->resource[k]]);
    return most;
}

/* Sends one slice along the path of an edge, from host to host; each sends in the order
 * of the plan, also what it only passes on. Gives the arrival. */
static double run_edge(struct evaluation *ev, const struct esp_edge *e, const int *hops)
{
    const struct esp_platform *p = ev->p;
    double at_s = ev->first_s[e->from];
    for (int first = 0, k = 1; k <= e->n_hops; k++) {
        if (k < e->n_hops && espi_is_switch(p, p->tail[hops[k]]))
            continue;
        double *next_s = &ev->next_send_s[p->tail[hops[first]]];
        struct espi_path_time t =
            espi_path_time(p, ev->slices.bytes, hops + first, k - first);
        double start_s = fmax(at_s, *next_s);
        at_s = start_s + t.lag_s;
        /* what shares the network goes to all at once; it is seen by its loads */
        *next_s = p->model == ESP_MODEL_CAPACITY ? 0 : start_s + t.hold_s;
        first = k;
    }
    return at_s;
}

/* Arrivals along one tree; gives the last arrival of slice 0 and of slice `count - 1`.
 * Edges before the first are not looked at. */
static void run_tree(struct evaluation *ev, const struct esp_tree *tree, int first,
                     double *fill_s, double *finish_s)
{
    int root = tree->root;
    memset(ev->next_send_s, 0, (size_t)ev->p->n_nodes * sizeof *ev->next_send_s);
    ev->first_s[root] = ev->pace_s[root] = 0;
    for (int i = first; i < tree->n_edges; i++) {
        const struct esp_edge *e = &tree->edges[i];
        const int *hops = tree->hops + e->first_hop;
        double at = run_edge(ev, e, hops);
        ev->first_s[e->to] = at;
        ev->pace_s[e->to] = fmax(ev->pace_s[e->from], edge_load_s(ev, hops, e->n_hops));
        *fill_s = fmax(*fill_s, at);
        *finish_s = fmax(*finish_s, at + (ev->slices.count - 1) * ev->pace_s[e->to]);
    }
}

/* The trees that lead from roots, or those parts of them that do. */
static void run_outward(struct evaluation *ev, struct espi_cost *cost)
{
    for (int t = 0; t < ev->plan->n_trees; t++)
        run_tree(ev, &ev->plan->trees[t],
                 espi_tree_collecting_edges(ev->plan->op, &ev->plan->trees[t]),
                 &cost->fill_s, &cost->makespan_s);
}

/* What flows to a root takes as long as the same from it, on the platform reversed. */
static esp_status run_inward(const struct evaluation *ev, struct espi_arena *arena,
                             struct espi_cost *cost, struct esp_err *err)
{
    const struct esp_platform *reversed = NULL;
    struct esp_plan *turned = NULL;
    esp_status st = espi_platform_turned(ev->p, &reversed, err);
    if (!st)
        st = espi_plan_turn(ev->plan, ESP_OP_MULTICAST, reversed, &turned, err);
    if (!st) {
        struct evaluation there = {.p = reversed, .plan = turned, .slices = ev->slices};
        if (evaluation_init(&there, arena)) {
            st = espi_err_nomem(err);
        } else {
            add_loads(&there);
            run_outward(&there, cost);
        }
    }
    esp_plan_free(turned);
    return st;
}

/* Fill and finish. An allreduce goes one way after the other, slice by slice. */
static esp_status run_trees(struct evaluation *ev, struct espi_arena *arena,
                            struct espi_cost *cost, struct esp_err *err)
{
    int both = ev->plan->op == ESP_OP_ALLREDUCE;
    struct espi_cost in = {0};
    esp_status st = ESP_OK;
    if (!espi_op_collects(ev->plan->op))
        run_outward(ev, cost);
    if (both || espi_op_collects(ev->plan->op))
        st = run_inward(ev, arena, &in, err);
    cost->fill_s += in.fill_s;
    cost->makespan_s = both ? cost->fill_s + (ev->slices.count - 1) * cost->period_s
                            : fmax(cost->makespan_s, in.makespan_s);
    return st;
}

/* How many trees of equal weight spread a message as much: all, when they are equal, and
 * near 1 when one carries nearly everything. In the capacity model they fill beside each
 * other. */
static double trees_that_count(const struct esp_platform *p, const struct esp_plan *plan)
{
    if (plan->op != ESP_OP_BCAST || p->model == ESP_MODEL_CAPACITY)
        return 1;
    double squares = 0;
    for (int t = 0; t < plan->n_trees; t++)
        squares += plan->trees[t].weight * plan->trees[t].weight;
    return 1 / squares;
}

esp_status espi_plan_cost(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, double slice_bytes, struct espi_arena *arena,
                          struct espi_cost *out, struct esp_err *err)
{
    struct esp_plan plain = espi_plan_plain(plan);
    struct evaluation ev = {.p = p, .plan = &plain};
    if (!(size_bytes > 0 && isfinite(size_bytes)) || !(slice_bytes >= 0))
        return espi_err(err, ESP_EUSAGE, "a message needs a positive size");
    if (espi_plan_has_steps(&plain))
        return espi_post_cost(p, plan, size_bytes, arena, out, err);
    ev.slices = espi_slices(size_bytes, slice_bytes);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    if (evaluation_init(&ev, arena))
        return espi_err_nomem(err);
    struct espi_cost cost = {0};
    add_loads(&ev);
    for (int r = 0; r < ev.res.n; r++)
        if (ev.load[r] > cost.period_s) {
            /* of those that are equally busy but for rounding, the first */
            if (ev.load[r] > cost.period_s * (1 + 1e-9))
                cost.bottleneck = r;
            cost.period_s = ev.load[r];
        }
    cost.load_s = cost.period_s;
    esp_status st = run_trees(&ev, arena, &cost, err);
    if (plain.n_trees > 1)
        cost.makespan_s = trees_that_count(p, &plain) * cost.fill_s +
                          (ev.slices.count - 1) * cost.period_s;
    /* Arrivals along trees do not see all that meets on a cable; its load does. */
    cost.makespan_s =
        fmax(cost.makespan_s,
             ev.slices.count * espi_max_load_s(&ev.res, ev.res.first_link, ev.load));
    cost.throughput_Bps = cost.period_s > 0 ? ev.slices.bytes / cost.period_s : 0;
    espi_arena_release(arena, mark);
    if (!st)
        *out = cost;
    return st;
}

/* A message takes each resource once for all that is in it. A processor that is slower
 * than the way to the receiver (hnow) may still be at it when its last message is there;
 * that is left out, so that no plan is through earlier. */
static int load_messages(struct evaluation *ev, double size_bytes,
                         struct espi_arena *arena)
{
    const struct espi_resources *r = &ev->res;
    struct espi_messages m;
    double *after_s = ESPI_ARENA_ZNEW(arena, double, (size_t)r->n + 1);
    if (!after_s || espi_messages_init(&m, ev->plan, arena))
        return -1;
    for (int i = 0; i < m.n; i++) {
        const int *hops = espi_message_hops(&m, ev->plan, i);
        int n_hops = espi_message_edge(&m, ev->plan, i)->n_hops;
        double bytes = size_bytes * (m.start[i + 1] - m.start[i]) / ev->plan->n_trees;
        double lag_s = espi_path_time(ev->p, bytes, hops, n_hops).lag_s;
        for (int h = 0; h < n_hops; h++)
            for (int k = r->start[hops[h]]; k < r->start[hops[h] + 1]; k++) {
                double use_s = espi_use_time_s(r, ev->p, hops[h], k, bytes);
                ev->load[r->resource[k]] += use_s;
                after_s[r->resource[k]] = fmax(after_s[r->resource[k]], use_s - lag_s);
            }
    }
    for (int k = 0; k < r->n; k++)
        ev->load[k] -= after_s[k];
    return 0;
}

esp_status espi_plan_load_s(const struct esp_platform *p, const struct esp_plan *plan,
                            double size_bytes, double slice_bytes,
                            struct espi_arena *arena, double *out)
{
    struct evaluation ev = {.p = p, .plan = plan};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int has_steps = espi_plan_has_steps(plan), bad;
    double most_s = 0;
    ev.slices = espi_slices(size_bytes, slice_bytes);
    bad = evaluation_init(&ev, arena);
    if (!bad && has_steps)
        bad = load_messages(&ev, size_bytes, arena);
    else if (!bad)
        add_loads(&ev);
    for (int r = 0; r < ev.res.n && !bad; r++)
        most_s = fmax(most_s, ev.load[r] * (has_steps ? 1 : ev.slices.count));
    espi_arena_release(arena, mark);
    if (bad)
        return ESP_ENOMEM;
    *out = most_s;
    return ESP_OK;
}

/* Messages of up to so many sends are played to their end, along trees of up to so many
 * edges: to put more into order takes longer than to find them. */
struct patience {
    double sends, edges;
};

static struct patience patience_for(espi_timing timing, double most_sends)
{
    return timing == ESPI_TIME_CLAIM
               ? (struct patience){1e15, ESPI_CLAIM_EDGES} /* what 64 bits count */
               : (struct patience){most_sends > 0 ? most_sends : ESPI_WEIGH_SENDS,
                                   ESPI_WEIGH_EDGES};
}

/* Of the whole message. */
static double sends_of(const struct esp_platform *p, const struct esp_plan *plan,
                       double slices)
{
    double edges = 0;
    for (int t = 0; t < plan->n_trees; t++)
        edges += plan->trees[t].weight * plan->trees[t].n_edges;
    /* a message in parts has a slice of each */
    return edges * fmax(slices, espi_plan_parts(plan, p->n_hosts));
}

static int is_played(const struct esp_platform *p, const struct esp_plan *plan,
                     double slices, const struct patience *most)
{
    double all_edges = 0;
    for (int t = 0; t < plan->n_trees; t++)
        all_edges += plan->trees[t].n_edges;
    /* of what shares the network a part is played, and tells the rest */
    int is_cheap =
        p->model == ESP_MODEL_CAPACITY || sends_of(p, plan, slices) <= most->sends;
    return !espi_plan_has_steps(plan) && is_cheap &&
           (plan->schedule || all_edges <= most->edges);
}

int espi_plan_is_short(const struct esp_platform *p, const struct esp_plan *plan,
                       double slices, double most_sends)
{
    struct patience most = patience_for(ESPI_TIME_WEIGH, most_sends);
    return p->model != ESP_MODEL_HNOW && is_played(p, plan, slices, &most);
}

int espi_plan_is_exact(const struct esp_platform *p, const struct esp_plan *plan,
                       double slices, double most_sends)
{
    struct patience most = patience_for(ESPI_TIME_WEIGH, most_sends);
    return espi_plan_is_short(p, plan, slices, most_sends) &&
           (p->model != ESP_MODEL_CAPACITY ||
            sends_of(p, plan, slices) <= fmin(most.sends, ESPI_FLUID_WEIGH));
}

static int time_pace(const struct esp_platform *p, const struct esp_plan *plan,
                     struct espi_slices slices, espi_timing timing,
                     struct espi_arena *arena, struct espi_played *t)
{
    double parts = fmax(1, espi_plan_parts(plan, p->n_hosts));
    return slices.count >= fmax(ESPI_STEADY_SLICES, ESPI_STEADY_SLICES_OF_PART * parts)
               ? espi_long_pace(p, plan, slices.bytes, timing, arena, &t->pace_s)
               : 0;
}

static int time_finish(const struct esp_platform *p, const struct esp_plan *plan,
                       struct espi_slices slices, espi_timing timing, double most_sends,
                       struct espi_arena *arena, struct espi_played *t)
{
    struct patience most = patience_for(timing, most_sends);
    return is_played(p, plan, slices.count, &most)
               ? espi_played_finish(p, plan, (int64_t)slices.count, slices.bytes, timing,
                                    arena, t)
               : 0;
}

static void correct(struct espi_cost *cost, const struct espi_played *t,
                    struct espi_slices slices)
{
    if (t->pace_s > cost->load_s * (1 + ESPI_PACE_REACHED)) {
        cost->makespan_s += (slices.count - 1) * (t->pace_s - cost->load_s);
        cost->period_s = t->pace_s;
        cost->throughput_Bps = slices.bytes / t->pace_s;
    }
    if (t->finish_s > 0)
        cost->makespan_s = t->finish_s;
}

/* How a plan is timed. */
struct effort {
    espi_timing timing;
    int with_pace; /* where it is asked for; else only as far as the finish needs it */
    double most_sends;
    const struct espi_played_claims *known; /* or NULL */
};

/* Is what was played what is played for a claim? Of what shares the network so where it
 * was played to its end; else no more is played for a claim. */
static int is_claim(const struct esp_platform *p, const struct effort *e,
                    const struct espi_played *t)
{
    if (!(t->finish_s > 0) || e->timing == ESPI_TIME_RANK)
        return 0;
    return e->timing == ESPI_TIME_CLAIM || p->model != ESP_MODEL_CAPACITY ||
           !(t->pace_s > 0);
}

void espi_claims_add(struct espi_played_claims *claims,
                     const struct espi_played_claim *claim)
{
    if (claim->slices.count > 0 && claims->n < ESPI_CLAIMS_KEPT)
        claims->of[claims->n++] = *claim;
}

struct espi_played_claim espi_claim_of_steps(double size_bytes,
                                             const struct espi_cost *cost)
{
    return (struct espi_played_claim){espi_slices(size_bytes, size_bytes),
                                      cost->makespan_s, cost->period_s};
}

/* The other way round, but for the bottleneck; 0: nothing is known. */
static int recall_steps(const struct esp_plan *plan, double size_bytes,
                        const struct espi_played_claims *known, struct espi_cost *out)
{
    const struct espi_played_claim *claim =
        known && espi_plan_has_steps(plan)
            ? espi_claims_find(known, espi_slices(size_bytes, size_bytes))
            : NULL;
    if (!claim)
        return 0;
    double period_s = claim->pace_s;
    *out = (struct espi_cost){.period_s = period_s,
                              .throughput_Bps = period_s > 0 ? size_bytes / period_s : 0,
                              .fill_s = claim->finish_s,
                              .makespan_s = claim->finish_s,
                              .bottleneck = -1};
    return 1;
}

const struct espi_played_claim *espi_claims_find(const struct espi_played_claims *claims,
                                                 struct espi_slices slices)
{
    for (int i = 0; i < claims->n; i++)
        if (claims->of[i].slices.count == slices.count &&
            claims->of[i].slices.bytes == slices.bytes)
            return &claims->of[i];
    return NULL;
}

static int play_or_recall(const struct esp_platform *p, const struct esp_plan *plan,
                          struct espi_slices slices, const struct effort *e,
                          struct espi_arena *arena, struct espi_played *t)
{
    const struct espi_played_claim *known =
        e->known ? espi_claims_find(e->known, slices) : NULL;
    if (!known)
        return time_finish(p, plan, slices, e->timing, e->most_sends, arena, t);
    *t = (struct espi_played){known->finish_s, known->pace_s};
    return 0;
}

static esp_status time_plan(const struct esp_platform *p, const struct esp_plan *plan,
                            double size_bytes, double slice_bytes, const struct effort *e,
                            struct espi_arena *arena, struct espi_cost *out,
                            struct espi_played_claim *claim, struct esp_err *err)
{
    struct espi_cost cost;
    struct espi_played t = {0, 0};
    struct esp_plan plain = espi_plan_plain(plan);
    struct espi_slices slices = espi_slices(size_bytes, slice_bytes);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    esp_status st = espi_plan_cost(p, plan, size_bytes, slice_bytes, arena, &cost, err);
    if (!st && play_or_recall(p, &plain, slices, e, arena, &t))
        st = espi_err_nomem(err);
    *claim = (struct espi_played_claim){slices, t.finish_s, t.pace_s};
    if (!is_claim(p, e, &t))
        claim->slices.count = 0;
    if (!st && (e->with_pace || !(t.finish_s > 0)) && !(t.pace_s > 0) &&
        time_pace(p, &plain, slices, e->timing, arena, &t))
        st = espi_err_nomem(err);
    espi_arena_release(arena, mark);
    if (st)
        return st;
    correct(&cost, &t, slices);
    *out = cost;
    return ESP_OK;
}

esp_status espi_plan_cost_timed(const struct esp_platform *p, const struct esp_plan *plan,
                                double size_bytes, double slice_bytes,
                                const struct espi_played_claims *known,
                                struct espi_arena *arena, struct espi_cost *out,
                                struct esp_err *err)
{
    struct effort e = {.timing = ESPI_TIME_CLAIM, .with_pace = 1, .known = known};
    struct espi_played_claim claim;
    if (recall_steps(plan, size_bytes, known, out))
        return ESP_OK;
    return time_plan(p, plan, size_bytes, slice_bytes, &e, arena, out, &claim, err);
}

esp_status espi_plan_throughput(const struct esp_platform *p, const struct esp_plan *plan,
                                struct espi_arena *arena, double *out,
                                struct esp_err *err)
{
    struct espi_cost cost;
    struct espi_played t = {0, 0};
    struct esp_plan plain = espi_plan_plain(plan);
    struct espi_slices slices = espi_slices(plan->size_bytes, plan->slice_bytes);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    esp_status st =
        espi_plan_cost(p, plan, plan->size_bytes, plan->slice_bytes, arena, &cost, err);
    if (!st && time_pace(p, &plain, slices, ESPI_TIME_CLAIM, arena, &t))
        st = espi_err_nomem(err);
    espi_arena_release(arena, mark);
    if (st)
        return st;
    correct(&cost, &t, slices);
    *out = cost.throughput_Bps;
    return ESP_OK;
}

static esp_status time_message(const struct esp_platform *p, const struct esp_plan *plan,
                               double size_bytes, double slice_bytes, espi_timing timing,
                               double most_sends, struct espi_arena *arena,
                               struct espi_finish *out, struct esp_err *err)
{
    struct effort e = {.timing = timing, .most_sends = most_sends};
    struct espi_cost cost;
    struct espi_played_claim claim;
    esp_status st =
        time_plan(p, plan, size_bytes, slice_bytes, &e, arena, &cost, &claim, err);
    if (!st)
        *out = (struct espi_finish){cost.makespan_s, claim};
    return st;
}

esp_status espi_plan_claim(const struct esp_platform *p, const struct esp_plan *plan,
                           double size_bytes, double slice_bytes,
                           struct espi_arena *arena, struct espi_finish *out,
                           struct esp_err *err)
{
    return time_message(p, plan, size_bytes, slice_bytes, ESPI_TIME_CLAIM, 0, arena, out,
                        err);
}

esp_status espi_plan_finish(const struct esp_platform *p, const struct esp_plan *plan,
                            double size_bytes, double slice_bytes, double most_sends,
                            struct espi_arena *arena, struct espi_finish *out,
                            struct esp_err *err)
{
    return time_message(p, plan, size_bytes, slice_bytes, ESPI_TIME_WEIGH, most_sends,
                        arena, out, err);
}

esp_status espi_plan_rank(const struct esp_platform *p, const struct esp_plan *plan,
                          double size_bytes, double slice_bytes, double most_sends,
                          struct espi_arena *arena, double *out, struct esp_err *err)
{
    struct espi_finish ranked;
    esp_status st = time_message(p, plan, size_bytes, slice_bytes, ESPI_TIME_RANK,
                                 most_sends, arena, &ranked, err);
    if (!st)
        *out = ranked.makespan_s;
    return st;
}
