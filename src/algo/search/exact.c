/* The best single tree, found by branch and bound.
 *
 * Each host is given its sender, one host after the other; the arcs chosen so far are a
 * forest. For the finish of N slices the bounds are
 *   early(v)  the earliest that v can have the first slice: a shortest path over arcs
 *             chosen and arcs still possible, each with the time from send to arrival;
 *   tail(v)   what must follow after v has it: the sends within the part of the forest
 *             that hangs on v, in their best order (Jackson's rule, as in the cost of a
 *             tree), and the N - 1 further slices at the pace of the busiest resource on
 *             the way, by the loads so far;
 *   and for how long the message keeps a link or cable busy, by the loads so far.
 * None can fall when more arcs are chosen. An arc u -> v is possible as long as early(u)
 * + its time + tail(v), its own load counted, is less than the best tree so far, and the
 * links on its way are done before that.
 * The host with the fewest possible arcs is next; one without any, or one that no
 * possible path reaches, ends the branch. For the throughput all times are zero and N is
 * two: the finish then is the period.
 *
 * Twins, hosts that differ in name only, are exchangeable as long as nothing is chosen
 * for them: only the first is tried as a sender.
 *
 * Reference: none (Beaumont, Marchal, Robert 2005 prove that the throughput problem is
 * NP-complete).
 * Model: any, shared cables included: loads are those of resources.
 * Guarantee: no single tree is better, by the closed form of cost.h and to 1e-12. Where
 * sends of strangers meet on a cable a finish may be later than that.
 * Complexity: exponential. Measured: complete platforms of 10 hosts (10^8 trees) take
 * at most 0.4 s for the finish, the hardest being those whose links are almost alike, and
 * milliseconds for the throughput, for which 20 hosts are no problem. Sparse platforms
 * let it go further: of 20 Tiers platforms each, from a LAN node, all of 30 hosts were
 * solved in milliseconds and 19 of 65 hosts in up to 8 s. It gives up after a number of
 * steps rather than to run for days. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "algo/pipelined/grow.h"
#include "algo/pipelined/pruner.h"
#include "algo/search/twins.h"
#include "algo/tuning.h"
#include "base/err.h"
#include "base/portable_math.h"

enum { MAX_HOSTS = 100 }; /* limit: more are refused */

struct exact {
    const struct espi_view *v;
    int n, root;
    double more;                   /* further slices: N - 1 */
    double all;                    /* slices that keep links busy: N */
    const double *lag_s, *hold_s;  /* of arcs */
    double *load;                  /* of resources, by the arcs chosen */
    double *saved;                 /* loads to come back to, as a stack */
    int parent_arc[MAX_HOSTS];     /* -1: not chosen yet */
    espi_hostset kids[MAX_HOSTS];  /* hosts that have this one as sender */
    espi_hostset part[MAX_HOSTS];  /* of hosts without a sender: those that hang on it */
    espi_hostset twins[MAX_HOSTS]; /* hosts that differ from it in name only */
    double limit_s;                /* less than this is better than the best */
    int best[MAX_HOSTS];
    int found;
    double steps_left;
};

/* What is known at a node of the search. */
struct outlook {
    double early_s[MAX_HOSTS], tail_s[MAX_HOSTS]; /* tails of hosts without a sender */
    int options[MAX_HOSTS];                       /* possible arcs into the host */
};

struct send {
    int arc;
    double rest_s, tail_s; /* after the sender is free again; after the arrival */
};

/* The busiest resource of the arc when it has `extra` times its own load more. */
static double pace_s(const struct exact *x, int arc, double extra)
{
    const struct espi_view *v = x->v;
    double most = 0;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        most = fmax(most, x->load[v->use_resource[k]] + extra * v->use_s[k]);
    return most;
}

/* For how long the message keeps the links of the arc busy, with it once more. */
static double links_s(const struct exact *x, int arc)
{
    const struct espi_view *v = x->v;
    double most = 0;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        if (v->use_resource[k] >= v->links.first_link)
            most = fmax(most, x->load[v->use_resource[k]] + v->use_s[k]);
    return x->all * most;
}

static double tail_s(const struct exact *x, int host, double pace);

/* The sends of a host that gets slices at this pace, in their best order. */
static int sort_sends(const struct exact *x, int host, double pace, struct send *sends)
{
    int size = 0;
    for (espi_hostset left = x->kids[host]; left; left &= left - 1) {
        int kid = espi_hostset_first(left), e = x->parent_arc[kid], at = size++;
        double tail = tail_s(x, kid, fmax(pace, pace_s(x, e, 0)));
        double rest = x->lag_s[e] - x->hold_s[e] + tail;
        for (; at > 0 && sends[at - 1].rest_s < rest; at--)
            sends[at] = sends[at - 1];
        sends[at] = (struct send){e, rest, tail};
    }
    return size;
}

/* What follows after the host has the first slice. */
static double tail_s(const struct exact *x, int host, double pace)
{
    struct send sends[MAX_HOSTS];
    int size = sort_sends(x, host, pace, sends);
    double busy_s = 0, end_s = x->more * pace;
    for (int i = 0; i < size; i++) {
        end_s = fmax(end_s, busy_s + x->lag_s[sends[i].arc] + sends[i].tail_s);
        busy_s += x->hold_s[sends[i].arc];
    }
    return end_s;
}

/* A bound of all trees with this arc; infinite when it would close a cycle. */
static double arc_bound_s(const struct exact *x, const struct outlook *o, int arc)
{
    int u = x->v->g.tail[arc], to = x->v->g.head[arc];
    if (x->part[to] >> u & 1)
        return INFINITY;
    double end_s =
        o->early_s[u] + x->lag_s[arc] + fmax(x->more * pace_s(x, arc, 1), o->tail_s[to]);
    return fmax(end_s, links_s(x, arc));
}

/* u is the host that comes next along shortest paths: what can it be the sender of? */
static void settle_host(const struct exact *x, struct outlook *o, int u)
{
    const struct espi_digraph *g = &x->v->g;
    for (int k = g->out.start[u]; k < g->out.start[u + 1]; k++) {
        int e = g->out.item[k], to = g->head[e];
        if (to == x->root || (x->parent_arc[to] >= 0 && x->parent_arc[to] != e))
            continue;
        if (x->parent_arc[to] < 0 && arc_bound_s(x, o, e) >= x->limit_s)
            continue;
        o->early_s[to] = fmin(o->early_s[to], o->early_s[u] + x->lag_s[e]);
        o->options[to]++;
    }
}

/* 0 when this branch cannot lead to a better tree. */
static int look_ahead(const struct exact *x, struct outlook *o)
{
    espi_hostset open = espi_hostset_below(x->n);
    for (int h = 0; h < x->n; h++) {
        o->early_s[h] = h == x->root ? 0 : INFINITY;
        o->options[h] = 0;
        o->tail_s[h] = x->parent_arc[h] < 0 ? tail_s(x, h, 0) : 0;
    }
    while (open) {
        int u = -1;
        for (espi_hostset left = open; left; left &= left - 1) {
            int h = espi_hostset_first(left);
            if (u < 0 || o->early_s[h] < o->early_s[u])
                u = h;
        }
        if (!(o->early_s[u] + o->tail_s[u] < x->limit_s))
            return 0;
        open &= ~espi_hostset_of(u);
        settle_host(x, o, u);
    }
    return 1;
}

static int head_of_part(const struct exact *x, int host)
{
    while (x->parent_arc[host] >= 0)
        host = x->v->g.tail[x->parent_arc[host]];
    return host;
}

static void choose_arc(struct exact *x, int arc)
{
    int u = x->v->g.tail[arc], to = x->v->g.head[arc];
    x->part[head_of_part(x, u)] |= x->part[to];
    x->parent_arc[to] = arc;
    x->kids[u] |= espi_hostset_of(to);
}

static void unchoose(struct exact *x, int arc)
{
    int u = x->v->g.tail[arc], to = x->v->g.head[arc];
    x->kids[u] &= ~espi_hostset_of(to);
    x->parent_arc[to] = -1;
    x->part[head_of_part(x, u)] &= ~x->part[to];
}

/* What a tree comes to whose root has this tail. */
static double value_s(const struct exact *x, double tail)
{
    const struct espi_resources *r = &x->v->links;
    return fmax(tail, x->all * espi_max_load_s(r, r->first_link, x->load));
}

/* Keeps the tree of which all is chosen. */
static void keep_tree(struct exact *x, double value)
{
    /* Rounding must not make equal trees look better, one after the other. */
    x->limit_s = value * (1 - 1e-12);
    memcpy(x->best, x->parent_arc, sizeof x->best);
    x->found = 1;
}

/* Of twins that no arc chosen touches, one as a sender is as good as another. */
static int has_earlier_twin(const struct exact *x, int sender, int host)
{
    if (x->parent_arc[sender] >= 0 || x->kids[sender] || sender == x->root)
        return 0;
    for (espi_hostset left = x->twins[sender] & espi_hostset_below(sender); left;
         left &= left - 1) {
        int twin = espi_hostset_first(left);
        if (twin != host && x->parent_arc[twin] < 0 && !x->kids[twin])
            return 1;
    }
    return 0;
}

/* The possible arcs into the host, the most promising first. */
static int sort_options(const struct exact *x, const struct outlook *o, int host,
                        int *arcs)
{
    const struct espi_digraph *g = &x->v->g;
    double bound_s[MAX_HOSTS];
    int size = 0;
    for (int k = g->in.start[host]; k < g->in.start[host + 1]; k++) {
        double b = arc_bound_s(x, o, g->in.item[k]);
        int at = size;
        if (b >= x->limit_s || has_earlier_twin(x, g->tail[g->in.item[k]], host))
            continue;
        for (size++; at > 0 && bound_s[at - 1] > b; at--) {
            bound_s[at] = bound_s[at - 1];
            arcs[at] = arcs[at - 1];
        }
        bound_s[at] = b;
        arcs[at] = g->in.item[k];
    }
    return size;
}

/* Adds the loads of the arc, or brings back those of before: subtracting would let
 * rounding errors pile up. */
static void load_arc(struct exact *x, int arc)
{
    const struct espi_view *v = x->v;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        *x->saved++ = x->load[v->use_resource[k]];
    espi_load_arc(v, arc, 1, x->load);
}

static void unload_arc(struct exact *x, int arc)
{
    const struct espi_view *v = x->v;
    for (int k = v->use_start[arc + 1] - 1; k >= v->use_start[arc]; k--)
        x->load[v->use_resource[k]] = *--x->saved;
}

static void search_branch(struct exact *x)
{
    struct outlook o;
    int next = -1, arcs[MAX_HOSTS];
    if (x->steps_left <= 0)
        return;
    x->steps_left--;
    /* the limit may have fallen since the last arc was found good */
    if (!look_ahead(x, &o) || !(value_s(x, 0) < x->limit_s))
        return;
    for (int h = 0; h < x->n; h++)
        if (h != x->root && x->parent_arc[h] < 0 &&
            (next < 0 || o.options[h] < o.options[next]))
            next = h;
    if (next < 0) {
        keep_tree(x, value_s(x, o.tail_s[x->root]));
        return;
    }
    int n_arcs = sort_options(x, &o, next, arcs);
    for (int i = 0; i < n_arcs; i++) {
        load_arc(x, arcs[i]);
        choose_arc(x, arcs[i]);
        search_branch(x);
        unchoose(x, arcs[i]);
        unload_arc(x, arcs[i]);
    }
}

/* ---- around the search ---- */

static void forget_all(struct exact *x)
{
    memset(x->load, 0, (size_t)x->v->links.n * sizeof *x->load);
    for (int h = 0; h < x->n; h++) {
        x->parent_arc[h] = -1;
        x->kids[h] = 0;
        x->part[h] = espi_hostset_of(h);
    }
}

static void set_tree(struct exact *x, const int *parent_arc)
{
    forget_all(x);
    for (int h = 0; h < x->n; h++)
        if (h != x->root) {
            espi_load_arc(x->v, parent_arc[h], 1, x->load);
            choose_arc(x, parent_arc[h]);
        }
}

/* A tree to start from. */
static void offer(struct exact *x, const int *parent_arc)
{
    set_tree(x, parent_arc);
    double value = value_s(x, tail_s(x, x->root, 0));
    if (!x->found || value < x->limit_s)
        keep_tree(x, value);
}

static esp_status offer_heuristics(struct exact *x, struct espi_arena *a,
                                   struct esp_err *err)
{
    static const struct espi_grow_rule *const rules[] = {&espi_grow_correct,
                                                         &espi_grow_multiport};
    static const espi_out_load_fn loads[] = {espi_out_load_sum_s,
                                             espi_out_load_multiport_s};
    int parent_arc[MAX_HOSTS];
    for (int i = 0; i < 2; i++) {
        struct espi_pruner p;
        esp_status st = espi_grow_tree(x->v, x->root, rules[i], a, parent_arc, err);
        if (st)
            return st;
        offer(x, parent_arc);
        if (espi_pruner_init(&p, &x->v->g, x->root, a) ||
            espi_prune_by_load(&p, x->v, loads[i], a))
            return espi_err_nomem(err);
        offer(x, p.parent_arc);
    }
    return ESP_OK;
}

static int exact_init(struct exact *x, const struct espi_task *task)
{
    int most_uses = 0;
    const struct espi_view *v = task->view;
    *x = (struct exact){.v = v, .n = v->g.n, .root = task->root};
    for (int e = 0; e < v->g.m; e++)
        if (v->use_start[e + 1] - v->use_start[e] > most_uses)
            most_uses = v->use_start[e + 1] - v->use_start[e];
    x->load = ESPI_ARENA_NEW(task->arena, double, v->links.n);
    x->saved = ESPI_ARENA_NEW(task->arena, double, (size_t)most_uses *(size_t)x->n);
    return x->load && x->saved ? 0 : -1;
}

/* Adds the best tree, its sends in the best order for the message. */
static esp_status add_best(struct exact *x, struct esp_plan *plan,
                           struct espi_arena *arena, struct esp_err *err)
{
    int arcs[MAX_HOSTS], n_arcs = 0, hosts[MAX_HOSTS] = {x->root}, n_hosts = 1;
    double pace[MAX_HOSTS] = {0};
    set_tree(x, x->best);
    for (int i = 0; i < n_hosts; i++) {
        struct send sends[MAX_HOSTS];
        int size = sort_sends(x, hosts[i], pace[i], sends);
        for (int k = 0; k < size; k++) {
            arcs[n_arcs++] = sends[k].arc;
            pace[n_hosts] = fmax(pace[i], pace_s(x, sends[k].arc, 0));
            hosts[n_hosts++] = x->v->g.head[sends[k].arc];
        }
    }
    return espi_plan_add_arcs(plan, x->v, 1, arcs, n_arcs, arena, err);
}

enum { THROUGHPUT, FINISH };

/* Steps grow dearer with the hosts, and the chance falls that they suffice. The best pace
 * is found after few, or hardly ever. */
static double affordable_steps(int n, int objective)
{
    if (objective == THROUGHPUT)
        return ceil(ESPI_EXACT_PACE_WORK / ((double)n * n));
    return n <= ESPI_EXACT_HOSTS
               ? ESPI_EXACT_STEPS
               : ceil(ESPI_EXACT_STEPS * espi_power((double)ESPI_EXACT_HOSTS / n, 5));
}

static esp_status run_exact(const struct espi_task *task, struct esp_plan *plan,
                            struct esp_err *err)
{
    struct exact x;
    int objective = (int)task->option[0], finish = objective == FINISH;
    double *zeros = ESPI_ARENA_ZNEW(task->arena, double, task->view->g.m);
    if (!zeros || exact_init(&x, task))
        return espi_err_nomem(err);
    x.lag_s = finish ? task->view->lag_s : zeros;
    x.hold_s = finish ? task->view->hold_s : zeros;
    x.more = finish ? task->slices.count - 1 : 1;
    x.all = finish ? task->slices.count : 0;
    double steps =
        task->option[1] > 0 ? task->option[1] : affordable_steps(x.n, objective);
    x.steps_left = steps;
    esp_status st = offer_heuristics(&x, task->arena, err);
    if (st)
        return st;
    forget_all(&x);
    espi_find_twins(x.v, x.root, x.twins);
    search_branch(&x);
    if (x.steps_left <= 0)
        return espi_err(err, ESP_EUNSUPPORTED,
                        "exact gave up after %.0f steps: too many trees of these %d "
                        "hosts are almost as good as the best (raise the option steps)",
                        steps, x.n);
    x.lag_s = task->view->lag_s;
    x.hold_s = task->view->hold_s;
    x.more = task->slices.count - 1;
    return add_best(&x, plan, task->arena, err);
}

static const struct espi_algo_option options[] = {
    {.name = "objective",
     .choices = "throughput|makespan",
     .meaning =
         "what is best: the pace of a long message, or the completion time of this one"},
    {.name = "steps",
     .standard = 0,
     .min = 0,
     .max = 1e15,
     .meaning = "partial trees to look at before giving up; 0: what takes seconds, or "
                "for more than 20 hosts less"},
    {0},
};

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_LAST},
    {.use = 0},
};

const struct espi_algo espi_algo_exact = {
    .name = "exact",
    .family = "search",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_SEARCHES,
    .max_hosts = MAX_HOSTS,
    .paper = "none",
    .complexity = "exponential",
    .summary = "the best single tree, by branch and bound",
    .options = options,
    .uses = uses,
    .run = run_exact,
};
