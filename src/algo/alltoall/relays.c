/* relays: each pair's part straight, or by way of one other host, whatever is sooner: the
 * way's latency and the busiest of what it uses.
 *
 * Pairs choose one after the other, again and again, each the way that is soonest beside
 * what the others have chosen; the best round is kept. So those that are far apart go by
 * way of who is near both, as long as there is room, and what is crowded is gone around.
 *
 * Reference: none; best replies of a congestion game (R. Rosenthal, A class of games
 * possessing pure-strategy Nash equilibria, 1973). Model: any, by its resources.
 * Guarantee: none; a linear program (all-pairs) gives the optimum of long messages, where
 * latencies do not count. Complexity: rounds * n^3. Only sums, so that all machines find
 * the same. */
#include <math.h>
#include <string.h>

#include "algo/algo.h"
#include "base/err.h"
#include "plan/ops.h"

enum { OPTION_ROUNDS };

static const struct espi_algo_option options[] = {
    {.name = "rounds",
     .standard = ESPI_RELAY_ROUNDS,
     .min = 1,
     .max = 1000,
     .meaning = "how often each pair chooses between its ways"},
    {0},
};

struct relays {
    struct espi_view v; /* for a pair's part */
    int n;
    int *arc;       /* from * n + to -> the arc between them, -1: none */
    double *far_s;  /* arc -> the latency of it */
    int *by, *best; /* from * n + to -> the relay; the receiver: straight */
    double *load_s; /* by resource */
};

static int *pair_of(const struct relays *x, int *of, int from, int to)
{
    return &of[(size_t)from * (size_t)x->n + (size_t)to];
}

static esp_status relays_init(struct relays *x, const struct espi_task *task,
                              struct esp_err *err)
{
    struct espi_arena *a = task->arena;
    double n = task->view->g.n;
    esp_status st =
        espi_view_init(&x->v, task->p, task->request->size_bytes / (n * (n - 1)), a, err);
    if (st)
        return st;
    x->n = x->v.g.n;
    size_t pairs = (size_t)x->n * (size_t)x->n;
    x->arc = ESPI_ARENA_NEW(a, int, pairs);
    x->by = ESPI_ARENA_NEW(a, int, pairs);
    x->best = ESPI_ARENA_NEW(a, int, pairs);
    x->far_s = ESPI_ARENA_ZNEW(a, double, x->v.g.m);
    x->load_s = ESPI_ARENA_ZNEW(a, double, x->v.links.n);
    if (!x->arc || !x->by || !x->best || !x->far_s || !x->load_s)
        return espi_err_nomem(err);
    memset(x->arc, 0xff, pairs * sizeof *x->arc);
    for (int e = 0; e < x->v.g.m; e++) {
        *pair_of(x, x->arc, x->v.g.tail[e], x->v.g.head[e]) = e;
        for (int h = x->v.hop_start[e]; h < x->v.hop_start[e + 1]; h++)
            x->far_s[e] += task->p->latency_s[x->v.hops[h]];
    }
    return ESP_OK;
}

/* ---- ways ---- */

/* How busy what the arc uses would be with one part more. */
static double busy_s(const struct relays *x, int arc, double most_s)
{
    for (int k = x->v.use_start[arc]; k < x->v.use_start[arc + 1]; k++)
        most_s = fmax(most_s, x->load_s[x->v.use_resource[k]] + x->v.use_s[k]);
    return most_s;
}

/* When what goes that way may be there; infinite: it is none. */
static double way_s(const struct relays *x, int from, int by, int to)
{
    int first = *pair_of(x, x->arc, from, by), last = *pair_of(x, x->arc, by, to);
    if (first < 0 || (by != to && last < 0))
        return INFINITY;
    if (by == to)
        return x->far_s[first] + busy_s(x, first, 0);
    return x->far_s[first] + x->far_s[last] + busy_s(x, last, busy_s(x, first, 0));
}

static void load_way(struct relays *x, int from, int by, int to, double sign)
{
    espi_load_arc(&x->v, *pair_of(x, x->arc, from, by), sign, x->load_s);
    if (by != to)
        espi_load_arc(&x->v, *pair_of(x, x->arc, by, to), sign, x->load_s);
}

/* The soonest; of equals the one it has, then straight. */
static int choose_way(const struct relays *x, int from, int to, int now)
{
    int best = now >= 0 ? now : to;
    double best_s = way_s(x, from, best, to), straight_s = way_s(x, from, to, to);
    if (straight_s < best_s) {
        best = to;
        best_s = straight_s;
    }
    for (int by = 0; by < x->n; by++) {
        double s = by == from || by == to ? INFINITY : way_s(x, from, by, to);
        if (s < best_s) {
            best = by;
            best_s = s;
        }
    }
    return isfinite(best_s) ? best : -1;
}

/* All pairs once, those of a shift together, so that no host is favoured; -1: some are
 * not joined. */
static int choose_all(struct relays *x, int is_first)
{
    for (int shift = 1; shift < x->n; shift++)
        for (int from = 0; from < x->n; from++) {
            int to = (from + shift) % x->n, *by = pair_of(x, x->by, from, to);
            if (!is_first)
                load_way(x, from, *by, to, -1);
            *by = choose_way(x, from, to, is_first ? -1 : *by);
            if (*by < 0)
                return -1;
            load_way(x, from, *by, to, 1);
        }
    return 0;
}

/* When the last would be there. */
static double last_s(const struct relays *x)
{
    double most_s = 0;
    for (int from = 0; from < x->n; from++)
        for (int to = 0; to < x->n; to++)
            if (from != to)
                most_s = fmax(most_s, way_s(x, from, *pair_of(x, x->by, from, to), to));
    return most_s;
}

/* ---- the plan ---- */

static esp_status add_way(const struct relays *x, int from, int to, struct esp_plan *plan,
                          struct espi_arena *arena, struct esp_err *err)
{
    int by = *pair_of(x, x->best, from, to), n_arcs = by == to ? 1 : 2;
    int first = *pair_of(x, x->arc, from, by);
    int last = *pair_of(x, x->arc, by, to);
    int arcs[2] = {first, last};
    double parts = (double)x->n * (x->n - 1);
    esp_status st = espi_plan_add_arcs(plan, &x->v, 1 / parts, arcs, n_arcs, arena, err);
    return st ? st
              : esp_plan_set_tree_ends(plan, x->v.node[from], 1, &x->v.node[to], err);
}

static esp_status run_relays(const struct espi_task *task, struct esp_plan *plan,
                             struct esp_err *err)
{
    struct relays x;
    double least_s = INFINITY;
    esp_status st = relays_init(&x, task, err);
    for (int round = 0; round < (int)task->option[OPTION_ROUNDS] && !st; round++) {
        if (choose_all(&x, round == 0))
            return espi_err(err, ESP_EUNSUPPORTED,
                            "some hosts are farther apart than two ways");
        double s = last_s(&x);
        if (s < least_s)
            memcpy(x.best, x.by, (size_t)x.n * (size_t)x.n * sizeof *x.by);
        least_s = fmin(least_s, s);
    }
    for (int from = 0; from < x.n && !st; from++)
        for (int to = 0; to < x.n && !st; to++)
            if (from != to)
                st = add_way(&x, from, to, plan, task->arena, err);
    return st;
}

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_WEIGHED, .max_hosts = ESPI_SPREAD_PAIRS_HOSTS},
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_RELAYS_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_relays = {
    .name = "relays",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_MANY_TREES,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "none",
    .complexity = "rounds * n^3",
    .summary = "each pair's part straight or through one host, whatever is sooner",
    .options = options,
    .uses = uses,
    .run = run_relays,
};
