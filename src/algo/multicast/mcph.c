/* MCPH: one tree, grown towards the target that can be had with the least bottleneck.
 *
 * Minimum cost path heuristic, adapted to throughput: an arc costs what its sender sends
 * for each slice once the arc is in the tree, a path its dearest arc (then the sum, then
 * the number of arcs). The cheapest path from the tree to a target that is left is added
 * until none is. Reference: H. Takahashi, A. Matsuyama, An approximate solution for the
 * Steiner problem in graphs, 1980; Beaumont, Legrand, Marchal, Robert 2004. Model: any;
 * it looks at how long sends hold their senders. Guarantee: none. Complexity:
 * O(targets * n^2). */
#include <math.h>
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/err.h"

struct key {
    double most, sum;
    int hops;
};

struct grower {
    const struct espi_view *v;
    unsigned char *in_tree, *settled, *is_target;
    double *load_s; /* of the hosts' sends */
    struct key *key;
    int *last; /* arc by which the best path enters */
    int *arcs, *stack;
    int n_arcs;
};

static int less(const struct key *a, const struct key *b)
{
    if (a->most != b->most)
        return a->most < b->most;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    return a->hops < b->hops;
}

static void relax_arcs(struct grower *x, int u)
{
    const struct espi_digraph *g = &x->v->g;
    for (int k = g->out.start[u]; k < g->out.start[u + 1]; k++) {
        int e = g->out.item[k], w = g->head[e];
        if (x->in_tree[w] || x->settled[w])
            continue;
        double cost = x->load_s[u] + x->v->hold_s[e];
        struct key next = {fmax(x->key[u].most, cost), x->key[u].sum + cost,
                           x->key[u].hops + 1};
        if (less(&next, &x->key[w])) {
            x->key[w] = next;
            x->last[w] = e;
        }
    }
}

/* The first target that is settled; -1: none can be reached. */
static int nearest_target(struct grower *x)
{
    int n = x->v->g.n;
    memset(x->settled, 0, (size_t)n);
    for (int h = 0; h < n; h++) {
        x->key[h] = x->in_tree[h] ? (struct key){0, 0, 0} : (struct key){INFINITY, 0, 0};
        x->last[h] = -1;
    }
    for (;;) {
        int u = -1;
        for (int h = 0; h < n; h++)
            if (!x->settled[h] && isfinite(x->key[h].most) &&
                (u < 0 || less(&x->key[h], &x->key[u])))
                u = h;
        if (u < 0 || (x->is_target[u] && !x->in_tree[u]))
            return u;
        x->settled[u] = 1;
        relax_arcs(x, u);
    }
}

static void add_path(struct grower *x, int to)
{
    int n = 0;
    for (int h = to; x->last[h] >= 0; h = x->v->g.tail[x->last[h]])
        x->stack[n++] = x->last[h];
    while (n > 0) {
        int e = x->stack[--n];
        x->arcs[x->n_arcs++] = e;
        x->in_tree[x->v->g.head[e]] = 1;
        x->load_s[x->v->g.tail[e]] += x->v->hold_s[e];
    }
}

static int grower_init(struct grower *x, const struct espi_task *task)
{
    struct espi_arena *a = task->arena;
    int n = task->view->g.n;
    x->v = task->view;
    x->in_tree = ESPI_ARENA_ZNEW(a, unsigned char, n);
    x->settled = ESPI_ARENA_NEW(a, unsigned char, n);
    x->is_target = ESPI_ARENA_ZNEW(a, unsigned char, n);
    x->load_s = ESPI_ARENA_ZNEW(a, double, n);
    x->key = ESPI_ARENA_NEW(a, struct key, n);
    x->last = ESPI_ARENA_NEW(a, int, n);
    x->arcs = ESPI_ARENA_NEW(a, int, n);
    x->stack = ESPI_ARENA_NEW(a, int, n);
    if (!x->in_tree || !x->settled || !x->is_target || !x->load_s || !x->key ||
        !x->last || !x->arcs || !x->stack)
        return -1;
    x->in_tree[task->root] = 1;
    return 0;
}

static esp_status run_mcph(const struct espi_task *task, struct esp_plan *plan,
                           struct esp_err *err)
{
    struct espi_flow_net net;
    struct grower x = {0};
    esp_status st = espi_task_net(task, &net, err);
    if (st)
        return st;
    if (grower_init(&x, task))
        return espi_err_nomem(err);
    for (int i = 0; i < net.n_targets; i++)
        x.is_target[task->view->host[net.targets[i]]] = 1;
    for (int left = net.n_targets; left > 0;) {
        int to = nearest_target(&x);
        if (to < 0)
            return espi_err(err, ESP_EUNSUPPORTED, "some target cannot be reached");
        add_path(&x, to);
        left = 0;
        for (int h = 0; h < task->view->g.n; h++)
            left += x.is_target[h] && !x.in_tree[h];
    }
    return espi_plan_add_arcs(plan, task->view, 1, x.arcs, x.n_arcs, task->arena, err);
}

const struct espi_algo espi_algo_mcph = {
    .name = "mcph",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "Beaumont, Legrand, Marchal, Robert 2004, MCPH",
    .complexity = "O(targets n^2)",
    .summary = "one tree, grown towards the target of the least bottleneck",
    .run = run_mcph,
};
