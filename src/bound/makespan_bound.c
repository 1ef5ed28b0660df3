/* The bound is the largest of several, each of which holds for every plan in slices of
 * any size, since it counts of each resource only what bytes take of it, not messages:
 * - the size over the best throughput of the platform without latencies, and for a
 *   broadcast more than that: at the prices that prove that throughput every resource
 *   counts for the time that it can be used, not before the first byte can be there and
 *   not so late that what it carries comes in after the end; for a scatter the same
 *   within the program itself, for all parts and for those that go far (part_times.c);
 * - the quickest flow to one target (quickest_flow.c), of a broadcast;
 * - cuts (cut_times.c): all that has to leave the root, or enter a host or a site, and
 * the latency of the shortest ways to and from there;
 * - the longest of the shortest ways.
 * What collects is what distributes on the platform turned round, in time, too. */
#include "bound/makespan_bound.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/watch.h"
#include "bound/op_bound.h"
#include "bound/part_times.h"
#include "bound/quickest_flow.h"
#include "bound/tuning.h"
#include "plan/ops.h"
#include "solve/packing.h"
#include "solve/solve_budget.h"

/* derived: without latencies slices of any size give the same. */
static const double SLICE_BYTES = 65536;

struct search {
    const struct espi_makespan_task *t; /* an operation that distributes, or allreduce */
    const struct esp_platform *relaxed;
    struct espi_cut_net net;
    unsigned char *is_target; /* by node */
    int n_targets;
    double *from_s;             /* from the root, by node */
    double *before_s, *after_s; /* by link */
    int *links;
    double best_s;
};

static void raise_bound(struct search *s, double end_s)
{
    s->best_s = fmax(s->best_s, end_s);
}

/* ---- the platform without what slices of some size would not pay ---- */

static double fastest_Bps(const struct esp_platform *p, const struct espi_rows *links,
                          int node)
{
    double Bps = 0;
    for (int k = links->start[node]; k < links->start[node + 1]; k++)
        Bps = fmax(Bps, p->bandwidth_Bps[links->item[k]]);
    return Bps;
}

/* A byte of a message of any size takes at least this of the processors: no more than of
 * the fastest link, since the last send may take longer of its sender than it travels. */
static void relax_nodes(struct esp_platform *p, int inward)
{
    int workstations = p->model == ESP_MODEL_HNOW;
    for (int u = 0; u < p->n_nodes; u++) {
        double Bps = fastest_Bps(p, &p->out, u);
        if (workstations || inward || p->send_s[u] != ESP_UNSET)
            p->send_s[u] = 0;
        p->recv_s[u] = 0;
        if (!p->rates)
            continue;
        struct esp_node_rates *r = &p->rates[u];
        r->hold_s = 0;
        r->send_Bps = r->send_Bps > 0 ? fmax(r->send_Bps, Bps) : 0;
        r->recv_Bps = r->recv_Bps > 0 ? fmax(r->recv_Bps, fastest_Bps(p, &p->in, u)) : 0;
        r->hold_Bps = r->hold_Bps > 0 && !inward ? fmax(r->hold_Bps, Bps) : 0;
    }
}

static void relax_links(struct esp_platform *p, int exclusive)
{
    for (int e = 0; e < p->n_links; e++)
        p->latency_s[e] = 0;
    for (int c = 0; c < p->n_shared && exclusive; c++)
        for (int k = p->shared_links.start[c]; k < p->shared_links.start[c + 1]; k++)
            p->shared_Bps[c] =
                fmax(p->shared_Bps[c], p->bandwidth_Bps[p->shared_links.item[k]]);
}

static espi_latency_place place_of(esp_model model, int inward)
{
    switch (model) {
    case ESP_MODEL_CAPACITY:
        return inward ? ESPI_LATENCY_FIRST : ESPI_LATENCY_LAST;
    case ESP_MODEL_ONE_PORT:
    case ESP_MODEL_HALF_DUPLEX:
        return inward ? ESPI_LATENCY_LAST : ESPI_LATENCY_FIRST;
    default:
        return ESPI_LATENCY_UNKNOWN;
    }
}

/* The target within (or without) a site to which it is farthest, -1: there is none. */
static int farthest_target(const struct search *s, int site, int without)
{
    const struct esp_platform *p = s->net.p;
    int best = -1;
    for (int v = 0; v < p->n_nodes; v++)
        if (s->is_target[v] && (site < -1 || (p->node_site[v] == site) != without) &&
            (best < 0 || s->from_s[v] > s->from_s[best]))
            best = v;
    return best;
}

/* ---- throughput ---- */

/* The delay of each resource: the least of its links before and after. */
static void resource_delays(const struct search *s, const struct espi_resources *r,
                            double *delay_s, double *after)
{
    for (int x = 0; x < r->n; x++)
        delay_s[x] = after[x] = INFINITY;
    for (int e = 0; e < s->net.p->n_links; e++)
        for (int k = r->start[e]; k < r->start[e + 1]; k++) {
            int x = r->resource[k];
            delay_s[x] = fmin(delay_s[x], s->before_s[e]);
            after[x] = fmin(after[x], s->after_s[e]);
        }
    for (int x = 0; x < r->n; x++)
        delay_s[x] += after[x];
}

/* What the prices of a packing prove: sum of price * (time it can be used) is at least
 * what the cheapest tree costs for all bytes. */
static double priced_s(const struct espi_packing *packing, int n, const double *scale,
                       const double *delay_s, double slices, struct espi_delayed *at)
{
    int used = 0;
    for (int x = 0; x < n; x++)
        if (packing->price[x] > 0)
            at[used++] = (struct espi_delayed){packing->price[x] * scale[x], delay_s[x]};
    return espi_delayed_s(at, used, slices / packing->bound);
}

/* Takes of each resource what it cannot be used within end_s. */
static void shrink_resources(struct espi_view *v, double end_s, const double *delay_s,
                             double *scale)
{
    static const double MOST = 1e6; /* limit: of what cannot be used at all */
    for (int x = 0; x < v->links.n; x++) {
        double factor = end_s > delay_s[x] ? end_s / (end_s - delay_s[x]) : MOST;
        scale[x] = isfinite(delay_s[x]) ? fmin(factor, MOST) : 1;
    }
    for (int k = 0; k < v->use_start[v->g.m] && v->use_s != v->links.time_s; k++)
        v->use_s[k] *= scale[v->use_resource[k]];
    for (int k = 0; k < v->links.start[v->p->n_links]; k++)
        v->links.time_s[k] *= scale[v->links.resource[k]];
}

/* Every target gets the message, by ways of which the short ones may be thin. Those of a
 * site are about as far. */
static esp_status bound_flows(struct search *s, struct esp_err *err)
{
    const struct esp_platform *p = s->net.p;
    esp_status st = ESP_OK;
    for (int site = -1; site < p->n_sites && !st && !espi_watch_is_over(); site++) {
        int target = farthest_target(s, site, 0);
        if (target >= 0)
            st = espi_quickest_flow_s(&s->net, s->t->root, target, s->t->size_bytes,
                                      &s->best_s, err);
    }
    return st;
}

/* A broadcast: the prices of the best packing of trees, and once more those of the best
 * packing within the time that is known to be needed, when it is so short that delays
 * count. */
static esp_status bound_trees(struct search *s, struct esp_err *err)
{
    const struct espi_makespan_task *t = s->t;
    struct espi_packing_options options = {.gap = ESPI_OP_BOUND_GAP,
                                           .time_limit_s = t->time_limit_s};
    struct espi_arena *arena = s->net.arena;
    double slices = t->size_bytes / SLICE_BYTES;
    struct espi_view v;
    struct espi_packing packing;
    esp_status st = espi_view_init(&v, s->relaxed, SLICE_BYTES, arena, err);
    if (st)
        return st;
    double *delay_s = ESPI_ARENA_NEW(arena, double, v.links.n);
    double *scale = ESPI_ARENA_NEW(arena, double, v.links.n);
    struct espi_delayed *at = ESPI_ARENA_NEW(arena, struct espi_delayed, v.links.n);
    if (!delay_s || !scale || !at ||
        espi_cut_net_windows(&s->net, s->from_s, NULL, s->before_s, s->after_s))
        return espi_err_nomem(err);
    resource_delays(s, &v.links, delay_s, scale);
    for (int x = 0; x < v.links.n; x++)
        scale[x] = 1;
    for (int pass = 0; pass < 2 && !st; pass++) {
        st = espi_packing_solve(&v, v.host[t->root], &options, arena, &packing, err);
        if (st || !isfinite(packing.bound))
            break;
        raise_bound(s, priced_s(&packing, v.links.n, scale, delay_s, slices, at));
        if (pass || s->best_s <= ESPI_DELAYS_COUNT * slices / packing.bound)
            break;
        shrink_resources(&v, s->best_s, delay_s, scale);
    }
    return st || s->net.p->n_links > ESPI_QUICKEST_LINKS ? st : bound_flows(s, err);
}

/* A scatter: what each resource is used for in its time. */
static esp_status bound_parts(struct search *s, struct esp_err *err)
{
    const struct espi_makespan_task *t = s->t;
    struct espi_flow_net net;
    struct espi_part_times parts = {&s->net, &net, s->from_s, s->before_s, s->after_s};
    double end_s = s->best_s;
    if (espi_flow_net_init(&net, s->relaxed, t->size_bytes / s->n_targets, t->root,
                           t->n_targets, t->targets, s->net.arena))
        return espi_err_nomem(err);
    esp_status st = espi_parts_s(&parts, &end_s, err);
    if (!st)
        raise_bound(s, end_s);
    return st;
}

/* Other operations: every byte crosses some link last. */
static esp_status bound_rate(struct search *s, struct esp_err *err)
{
    const struct espi_makespan_task *t = s->t;
    struct espi_op_bound_task task = {s->relaxed,     t->op,      t->root,
                                      t->n_targets,   t->targets, SLICE_BYTES,
                                      t->time_limit_s};
    struct espi_op_bound found = {0};
    double delay_s = INFINITY;
    esp_status st = espi_op_bound(&task, &found, err);
    for (int e = 0; e < t->p->n_links; e++)
        delay_s = fmin(delay_s, t->p->latency_s[e]);
    if (s->net.place == ESPI_LATENCY_UNKNOWN)
        delay_s = 0;
    if (!st && found.throughput_Bps > 0)
        raise_bound(s, t->size_bytes / found.throughput_Bps + delay_s);
    return st;
}

/* ---- cuts ---- */

static int cut_node(struct search *s, int node, int out, double bytes)
{
    const struct espi_rows *rows = out ? &s->net.p->out : &s->net.p->in;
    int n = rows->start[node + 1] - rows->start[node];
    memcpy(s->links, rows->item + rows->start[node], (size_t)n * sizeof *s->links);
    double end_s = espi_cut_s(&s->net, s->links, n, bytes, s->before_s, s->after_s);
    raise_bound(s, end_s);
    return end_s < 0 ? -1 : 0;
}

/* Into a site, or out of that of the root. */
static int cut_site(struct search *s, int site, int out, double bytes)
{
    const struct esp_platform *p = s->net.p;
    int n = 0;
    for (int e = 0; e < p->n_links; e++) {
        int from = p->node_site[p->tail[e]] == site,
            to = p->node_site[p->head[e]] == site;
        if (out ? from && !to : !from && to)
            s->links[n++] = e;
    }
    double end_s =
        n ? espi_cut_s(&s->net, s->links, n, bytes, s->before_s, s->after_s) : 0;
    raise_bound(s, end_s);
    return end_s < 0 ? -1 : 0;
}

/* What has to reach one target, over cuts before it. */
static int cut_towards(struct search *s, int target, int site, int out, double bytes)
{
    struct espi_arena_mark mark = espi_arena_mark(s->net.arena);
    double *to_s = ESPI_ARENA_NEW(s->net.arena, double, s->net.p->n_nodes);
    if (target < 0)
        return 0;
    if (!to_s)
        return -1;
    espi_cut_net_to(&s->net, target, to_s);
    int bad =
        espi_cut_net_windows(&s->net, s->from_s, to_s, s->before_s, s->after_s) ||
        (site < -1 ? cut_node(s, s->t->root, 1, bytes) : cut_site(s, site, out, bytes));
    espi_arena_release(s->net.arena, mark);
    return bad ? -1 : 0;
}

/* All targets get the message: broadcast and multicast. */
static int cut_message(struct search *s)
{
    const struct esp_platform *p = s->net.p;
    double bytes = s->t->size_bytes;
    int home = p->node_site[s->t->root];
    int bad = cut_towards(s, farthest_target(s, -2, 0), -2, 1, bytes);
    for (int site = 0; site < p->n_sites && !bad && !espi_watch_is_over(); site++)
        bad = site == home ? cut_towards(s, farthest_target(s, site, 1), site, 1, bytes)
                           : cut_towards(s, farthest_target(s, site, 0), site, 0, bytes);
    if (!bad)
        bad = espi_cut_net_windows(&s->net, s->from_s, NULL, s->before_s, s->after_s);
    for (int v = 0; v < p->n_nodes && !bad && !espi_watch_is_over(); v++)
        bad = s->is_target[v] ? cut_node(s, v, 0, bytes) : 0;
    return bad;
}

/* Each target gets its part. */
static int cut_parts(struct search *s)
{
    const struct esp_platform *p = s->net.p;
    double part = s->t->size_bytes / s->n_targets;
    int bad = espi_cut_net_windows(&s->net, s->from_s, NULL, s->before_s, s->after_s);
    if (!bad)
        bad = cut_node(s, s->t->root, 1, s->t->size_bytes);
    for (int v = 0; v < p->n_nodes && !bad && !espi_watch_is_over(); v++)
        bad = s->is_target[v] ? cut_node(s, v, 0, part) : 0;
    return bad;
}

/* What each host has to receive and to send. */
struct own_bytes {
    double in, out;
};

/* Every host gets something of each other: all of what it combines (allreduce), or all
 * parts but its own, which is what leaves it (allgather), or a part of its own from each
 * (alltoall). */
static struct own_bytes own_bytes_of(const struct search *s)
{
    double size = s->t->size_bytes, n = s->net.p->n_hosts;
    switch (s->t->op) {
    case ESP_OP_ALLGATHER:
        return (struct own_bytes){size * (n - 1) / n, size / n};
    case ESP_OP_ALLTOALL:
        return (struct own_bytes){size / n, size / n};
    default:
        return (struct own_bytes){size, size};
    }
}

/* Alltoall: all that has to cross between a site and the others. */
static int cut_all_sites(struct search *s)
{
    const struct esp_platform *p = s->net.p;
    double part = s->t->size_bytes / ((double)p->n_hosts * (p->n_hosts - 1));
    int bad = 0;
    for (int site = 0; site < p->n_sites && !bad && !espi_watch_is_over(); site++) {
        double inside = 0;
        for (int v = 0; v < p->n_nodes; v++)
            inside += !espi_is_switch(p, v) && p->node_site[v] == site;
        double bytes = part * inside * (p->n_hosts - inside);
        bad = cut_site(s, site, 0, bytes) || cut_site(s, site, 1, bytes);
    }
    return bad;
}

static int cut_all(struct search *s)
{
    const struct esp_platform *p = s->net.p;
    struct own_bytes own = own_bytes_of(s);
    int bad = espi_cut_net_windows(&s->net, NULL, NULL, s->before_s, s->after_s);
    if (!bad && espi_op_has_pairs(s->t->op))
        bad = cut_all_sites(s);
    for (int v = 0; v < p->n_nodes && !bad && !espi_watch_is_over(); v++) {
        if (espi_is_switch(p, v))
            continue;
        espi_cut_net_from(&s->net, v, s->from_s);
        for (int w = 0; w < p->n_nodes; w++)
            if (!espi_is_switch(p, w))
                raise_bound(s, s->from_s[w]);
        bad = cut_node(s, v, 0, own.in) || cut_node(s, v, 1, own.out);
    }
    return bad;
}

static esp_status bound_cuts(struct search *s, struct esp_err *err)
{
    const struct esp_platform *p = s->net.p;
    int all = espi_op_frees_roots(s->t->op);
    if (!all) {
        espi_cut_net_from(&s->net, s->t->root, s->from_s);
        for (int v = 0; v < p->n_nodes; v++)
            if (s->is_target[v])
                raise_bound(s, s->from_s[v]);
    }
    int bad = all                           ? cut_all(s)
              : espi_op_has_paths(s->t->op) ? cut_parts(s)
                                            : cut_message(s);
    return bad ? espi_err_nomem(err) : ESP_OK;
}

/* Does every link use something? Between workstations that work for messages and not for
 * bytes it does not, and there is no throughput that limits. */
static int is_limited(const struct search *s)
{
    const struct espi_resources *r = &s->net.uses;
    int limited = 1;
    for (int e = 0; e < s->net.p->n_links; e++) {
        double sum_s = 0;
        for (int k = r->start[e]; k < r->start[e + 1]; k++)
            sum_s += r->time_s[k];
        limited &= sum_s > 0;
    }
    return limited;
}

/* ---- the whole ---- */

static int search_init(struct search *s, struct espi_arena *arena, int inward,
                       struct espi_dijkstra *paths)
{
    const struct espi_makespan_task *t = s->t;
    const struct esp_platform *p = t->p;
    s->net = (struct espi_cut_net){.p = p,
                                   .slice_bytes = SLICE_BYTES,
                                   .place = place_of(p->model, inward),
                                   .paths = paths,
                                   .arena = arena};
    s->net.last_arc = ESPI_ARENA_NEW(arena, int, p->n_nodes);
    s->is_target = ESPI_ARENA_ZNEW(arena, unsigned char, p->n_nodes);
    s->from_s = ESPI_ARENA_NEW(arena, double, p->n_nodes);
    s->before_s = ESPI_ARENA_NEW(arena, double, p->n_links);
    s->after_s = ESPI_ARENA_NEW(arena, double, p->n_links);
    s->links = ESPI_ARENA_NEW(arena, int, p->n_links);
    if (!s->net.last_arc || !s->is_target || !s->from_s || !s->before_s || !s->after_s ||
        !s->links || espi_dijkstra_init(paths, p->n_nodes, arena) ||
        espi_resources_init(&s->net.uses, s->relaxed, SLICE_BYTES, arena))
        return -1;
    for (int v = 0; v < p->n_nodes && !t->targets; v++)
        s->is_target[v] = !espi_is_switch(p, v) && v != t->root;
    for (int i = 0; i < t->n_targets && t->targets; i++)
        s->is_target[t->targets[i]] = 1;
    for (int v = 0; v < p->n_nodes; v++)
        s->n_targets += s->is_target[v];
    return 0;
}

static esp_status bound_turned(const struct espi_makespan_task *t,
                               const struct esp_platform *relaxed, int inward,
                               double *bound_s, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_dijkstra paths;
    struct search s = {.t = t, .relaxed = relaxed};
    espi_arena_init(&arena);
    esp_status st =
        search_init(&s, &arena, inward, &paths) ? espi_err_nomem(err) : ESP_OK;
    if (!st && s.n_targets > 0) {
        st = bound_cuts(&s, err);
        if (!st && !espi_watch_is_over() && is_limited(&s))
            st = t->op == ESP_OP_BCAST || (t->op == ESP_OP_MULTICAST && !t->targets)
                     ? bound_trees(&s, err)
                 : t->op == ESP_OP_SCATTER ? bound_parts(&s, err)
                                           : bound_rate(&s, err);
        if (espi_solve_budget_was_late(st))
            st = ESP_OK; /* what is known until then */
    }
    espi_arena_done(&arena);
    if (!st)
        *bound_s = s.best_s;
    return st;
}

esp_status espi_makespan_bound(const struct espi_makespan_task *task, double *bound_s,
                               struct esp_err *err)
{
    struct espi_makespan_task there = *task;
    struct espi_watch watch;
    const struct esp_platform *turned = NULL;
    struct esp_platform *relaxed = NULL;
    int inward = espi_op_collects(task->op);
    esp_status st = inward ? espi_platform_turned(task->p, &turned, err) : ESP_OK;
    there.p = inward ? turned : task->p;
    there.op = espi_op_mirror(task->op);
    if (!st)
        st = esp_platform_with_model(there.p, there.p->model, &relaxed, err);
    if (!st) {
        relax_nodes(relaxed, inward);
        relax_links(relaxed, task->exclusive);
        espi_watch_begin(&watch, task->time_limit_s, NULL, NULL);
        st = bound_turned(&there, relaxed, inward, bound_s, err);
        espi_watch_end(&watch);
    }
    esp_platform_free(relaxed);
    return st;
}
