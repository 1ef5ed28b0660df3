#include "support/all_trees.h"

#include <math.h>
#include <stdlib.h>

#include "cost/cost.h"

struct visit {
    const struct espi_view *v;
    int root;
    all_trees_fn fn;
    void *arg;
    long count;
    int parent_arc[ALL_TREES_MAX];
};

static int is_tree(const struct visit *w)
{
    for (int h = 0; h < w->v->g.n; h++) {
        int steps = 0;
        for (int x = h; x != w->root; x = w->v->g.tail[w->parent_arc[x]])
            if (++steps > w->v->g.n)
                return 0;
    }
    return 1;
}

static void choose(struct visit *w, int host)
{
    const struct espi_digraph *g = &w->v->g;
    if (host == g->n) {
        if (is_tree(w)) {
            w->count++;
            w->fn(w->arg, w->parent_arc);
        }
        return;
    }
    if (host == w->root) {
        w->parent_arc[host] = -1;
        choose(w, host + 1);
        return;
    }
    for (int k = g->in.start[host]; k < g->in.start[host + 1]; k++) {
        w->parent_arc[host] = g->in.item[k];
        choose(w, host + 1);
    }
}

long all_trees_visit(const struct espi_view *v, int root, all_trees_fn fn, void *arg)
{
    struct visit w = {.v = v, .root = root, .fn = fn, .arg = arg};
    if (v->g.n > ALL_TREES_MAX)
        abort();
    choose(&w, 0);
    return w.count;
}

/* ---- the best of them ---- */

struct search {
    const struct espi_view *v;
    int root;
    double count;
    double *load;
    struct espi_arena arena;
    struct all_trees_best best;
    int kids[ALL_TREES_MAX][ALL_TREES_MAX], n_kids[ALL_TREES_MAX]; /* arcs in order */
};

static void evaluate_order(struct search *s)
{
    int arcs[ALL_TREES_MAX], hosts[ALL_TREES_MAX], n_arcs = 0, n_hosts = 0;
    struct espi_tree_cost cost;
    hosts[n_hosts++] = s->root;
    for (int i = 0; i < n_hosts; i++)
        for (int k = 0; k < s->n_kids[hosts[i]]; k++) {
            arcs[n_arcs] = s->kids[hosts[i]][k];
            hosts[n_hosts++] = s->v->g.head[arcs[n_arcs++]];
        }
    if (espi_tree_cost(s->v, s->root, arcs, s->count, &s->arena, &cost))
        abort();
    s->best.fill_s = fmin(s->best.fill_s, cost.fill_s);
    s->best.makespan_s = fmin(s->best.makespan_s, cost.makespan_s);
}

/* All permutations of the children from place k on, for this host and those after it. */
static void permute(struct search *s, int host, int k)
{
    if (host == s->v->g.n) {
        evaluate_order(s);
        return;
    }
    if (k >= s->n_kids[host] - 1) {
        permute(s, host + 1, 0);
        return;
    }
    int *kids = s->kids[host];
    for (int i = k; i < s->n_kids[host]; i++) {
        int first = kids[i];
        kids[i] = kids[k];
        kids[k] = first;
        permute(s, host, k + 1);
        kids[k] = kids[i];
        kids[i] = first;
    }
}

static void try_tree(void *arg, const int *parent_arc)
{
    struct search *s = arg;
    double period_s = espi_tree_period_s(s->v, parent_arc, s->load);
    s->best.period_s = fmin(s->best.period_s, period_s);
    if (s->count <= 0)
        return;
    for (int h = 0; h < s->v->g.n; h++)
        s->n_kids[h] = 0;
    for (int h = 0; h < s->v->g.n; h++)
        if (parent_arc[h] >= 0) {
            int u = s->v->g.tail[parent_arc[h]];
            s->kids[u][s->n_kids[u]++] = parent_arc[h];
        }
    permute(s, 0, 0);
}

struct all_trees_best all_trees_best(const struct espi_view *v, int root, double count)
{
    struct search s = {.v = v, .root = root, .count = count};
    s.best = (struct all_trees_best){0, INFINITY, INFINITY, INFINITY};
    espi_arena_init(&s.arena);
    s.load = calloc((size_t)v->links.n + 1, sizeof *s.load);
    if (!s.load)
        abort();
    s.best.n_trees = all_trees_visit(v, root, try_tree, &s);
    free(s.load);
    espi_arena_done(&s.arena);
    return s.best;
}
