/* The check of a packing. Plain and slow on purpose: loads are summed up link by link,
 * and the cheapest tree comes from the textbook form of the algorithm of Chu, Liu and
 * Edmonds, which contracts cycles in rounds; with switches over paths found by Bellman
 * and Ford. O(trees * n + n m), with switches O(n^2 m). */
#include "bound/certificate.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

struct check {
    const struct espi_view *v;
    const struct esp_platform *p;
    int root;
    struct espi_arena *arena;
    struct esp_err *err;
};

/* ---- the trees ---- */

/* The host that sends to h in the tree, -1 when the path into h is none. */
static int sender(const struct check *c, const struct espi_packing_tree *t, int h)
{
    int first = t->hop_start[h], last = t->hop_start[h + 1];
    for (int k = first; k < last; k++) {
        int e = t->hops[k];
        if (e < 0 || e >= c->p->n_links)
            return -1;
        if (k > first && (c->p->tail[e] != c->p->head[t->hops[k - 1]] ||
                          c->v->host[c->p->tail[e]] >= 0))
            return -1;
    }
    if (first == last || c->p->head[t->hops[last - 1]] != c->v->node[h])
        return -1;
    return c->v->host[c->p->tail[t->hops[first]]];
}

static esp_status check_tree(const struct check *c, const struct espi_packing_tree *t,
                             int number, int *from)
{
    int n = c->v->g.n;
    if (t->hop_start[c->root] != t->hop_start[c->root + 1])
        return espi_err(c->err, ESP_EINTERNAL, "tree %d leads into its root", number);
    for (int h = 0; h < n; h++) {
        from[h] = h == c->root ? -1 : sender(c, t, h);
        if (h != c->root && from[h] < 0)
            return espi_err(c->err, ESP_EINTERNAL, "tree %d has no path to host %d",
                            number, h);
    }
    for (int h = 0; h < n; h++) {
        int x = h, steps = 0;
        while (x != c->root && steps++ < n)
            x = from[x];
        if (x != c->root)
            return espi_err(c->err, ESP_EINTERNAL, "tree %d has a cycle at host %d",
                            number, h);
        for (x = h; from[x] >= 0 && from[x] != c->root;) {
            int up = from[x];
            from[x] = c->root; /* known to lead there */
            x = up;
        }
    }
    return ESP_OK;
}

static esp_status check_trees(const struct check *c, const struct espi_packing *packing,
                              struct espi_certificate *out)
{
    const struct espi_resources *r = &c->v->links;
    double *used = ESPI_ARENA_ZNEW(c->arena, double, r->n);
    int *from = ESPI_ARENA_NEW(c->arena, int, c->v->g.n);
    if (!used || !from)
        return espi_err_nomem(c->err);
    for (int i = 0; i < packing->n_trees; i++) {
        const struct espi_packing_tree *t = &packing->tree[i];
        esp_status st = check_tree(c, t, i, from);
        if (st)
            return st;
        if (!(t->rate > 0))
            return espi_err(c->err, ESP_EINTERNAL, "tree %d has no rate", i);
        out->rate += t->rate;
        for (int k = t->hop_start[0]; k < t->hop_start[c->v->g.n]; k++)
            for (int q = r->start[t->hops[k]]; q < r->start[t->hops[k] + 1]; q++)
                used[r->resource[q]] += t->rate * r->time_s[q];
    }
    for (int i = 0; i < r->n; i++)
        out->usage = fmax(out->usage, used[i]);
    return ESP_OK;
}

/* ---- the prices ---- */

struct arc {
    int from, to;
    double cost;
};

struct contraction {
    int n, m, root;
    struct arc *arcs;
    int *from, *seen, *name;
    double *least; /* cost of the cheapest arc into the node */
};

/* The cheapest arc into each node, added to *total; -1 when a node has none. */
static int choose_cheapest_arcs(struct contraction *t, double *total)
{
    for (int v = 0; v < t->n; v++) {
        t->least[v] = v == t->root ? 0 : INFINITY;
        t->seen[v] = t->name[v] = -1;
    }
    for (int k = 0; k < t->m; k++) {
        const struct arc *a = &t->arcs[k];
        if (a->to != t->root && a->cost < t->least[a->to]) {
            t->least[a->to] = a->cost;
            t->from[a->to] = a->from;
        }
    }
    for (int v = 0; v < t->n; v++) {
        if (t->least[v] == INFINITY)
            return -1;
        *total += t->least[v];
    }
    return 0;
}

/* Names the cycles of the chosen arcs 0, 1, ...; returns how many there are. */
static int name_cycles(struct contraction *t)
{
    int count = 0;
    for (int v = 0; v < t->n; v++) {
        int x = v;
        while (x != t->root && t->seen[x] < 0) {
            t->seen[x] = v;
            x = t->from[x];
        }
        if (x == t->root || t->seen[x] != v)
            continue;
        for (; t->name[x] < 0; x = t->from[x])
            t->name[x] = count;
        count++;
    }
    return count;
}

/* Cycles become nodes; arcs cost what they cost more than the arc they would replace. */
static void contract_cycles(struct contraction *t, int count)
{
    int left = 0;
    for (int v = 0; v < t->n; v++)
        if (t->name[v] < 0)
            t->name[v] = count++;
    for (int k = 0; k < t->m; k++) {
        struct arc a = t->arcs[k];
        int u = t->name[a.from], v = t->name[a.to];
        if (u != v)
            t->arcs[left++] = (struct arc){u, v, a.cost - t->least[a.to]};
    }
    t->m = left;
    t->n = count;
    t->root = t->name[t->root];
}

/* Cost of the cheapest tree; infinite when there is none, -1 when out of memory. */
static double cheapest_tree(struct check *c, int n, struct arc *arcs, int m)
{
    double total = 0;
    struct contraction t = {.n = n, .m = m, .root = c->root, .arcs = arcs};
    t.from = ESPI_ARENA_NEW(c->arena, int, n);
    t.seen = ESPI_ARENA_NEW(c->arena, int, n);
    t.name = ESPI_ARENA_NEW(c->arena, int, n);
    t.least = ESPI_ARENA_NEW(c->arena, double, n);
    if (!t.from || !t.seen || !t.name || !t.least)
        return -1;
    for (;;) {
        if (choose_cheapest_arcs(&t, &total))
            return INFINITY;
        int cycles = name_cycles(&t);
        if (!cycles)
            return total;
        contract_cycles(&t, cycles);
    }
}

/* Costs of the cheapest paths through switches from one host to all nodes. */
static void paths_from(const struct check *c, int node, const double *link_cost,
                       double *cost)
{
    const struct esp_platform *p = c->p;
    for (int x = 0; x < p->n_nodes; x++)
        cost[x] = x == node ? 0 : INFINITY;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int e = 0; e < p->n_links; e++) {
            int u = p->tail[e];
            if (u != node && !espi_is_switch(p, u))
                continue;
            if (cost[u] + link_cost[e] < cost[p->head[e]]) {
                cost[p->head[e]] = cost[u] + link_cost[e];
                changed = 1;
            }
        }
    }
}

static double tree_cost(struct check *c, const double *link_cost)
{
    const struct esp_platform *p = c->p;
    const struct espi_view *v = c->v;
    int n = v->g.n, m = 0, switched = n < p->n_nodes;
    size_t most = switched ? (size_t)n * (size_t)n : (size_t)p->n_links;
    struct arc *arcs = ESPI_ARENA_NEW(c->arena, struct arc, most);
    double *cost = ESPI_ARENA_NEW(c->arena, double, p->n_nodes);
    if (!arcs || !cost)
        return -1;
    for (int e = 0; e < p->n_links && !switched; e++)
        arcs[m++] = (struct arc){p->tail[e], p->head[e], link_cost[e]};
    for (int h = 0; h < n && switched; h++) {
        paths_from(c, v->node[h], link_cost, cost);
        for (int to = 0; to < n; to++)
            if (to != h && isfinite(cost[v->node[to]]))
                arcs[m++] = (struct arc){h, to, cost[v->node[to]]};
    }
    return cheapest_tree(c, n, arcs, m);
}

static esp_status check_prices(struct check *c, const double *price,
                               struct espi_certificate *out)
{
    const struct espi_resources *r = &c->v->links;
    double sum = 0, *link_cost = ESPI_ARENA_ZNEW(c->arena, double, c->p->n_links);
    if (!link_cost)
        return espi_err_nomem(c->err);
    for (int i = 0; i < r->n; i++) {
        if (!(price[i] >= 0))
            return espi_err(c->err, ESP_EINTERNAL, "a price is negative");
        sum += price[i];
    }
    for (int e = 0; e < c->p->n_links; e++)
        for (int q = r->start[e]; q < r->start[e + 1]; q++)
            link_cost[e] += price[r->resource[q]] * r->time_s[q];
    double cost = tree_cost(c, link_cost);
    if (cost < 0)
        return espi_err_nomem(c->err);
    if (!(cost > 0))
        return espi_err(c->err, ESP_EINTERNAL, "the prices prove nothing");
    out->bound = sum / cost;
    return ESP_OK;
}

static int about(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

esp_status espi_certificate_check(const struct espi_view *v, int root,
                                  const struct espi_packing *packing, double gap,
                                  struct espi_arena *arena, struct espi_certificate *out,
                                  struct esp_err *err)
{
    struct check c = {v, v->p, root, arena, err};
    struct espi_certificate found = {0};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    esp_status st = check_trees(&c, packing, &found);
    if (!st && v->g.n > 1)
        st = check_prices(&c, packing->price, &found);
    espi_arena_release(arena, mark);
    if (st || v->g.n == 1) {
        if (!st)
            *out = (struct espi_certificate){INFINITY, 0, INFINITY, 0};
        return st;
    }
    found.gap = found.bound / found.rate - 1;
    if (found.usage > 1 + 1e-9)
        return espi_err(err, ESP_EINTERNAL, "a resource is used %.12g of its time",
                        found.usage);
    if (!about(found.rate, packing->rate))
        return espi_err(err, ESP_EINTERNAL, "the rates sum to %.12g, not %.12g",
                        found.rate, packing->rate);
    if (!about(found.bound, packing->bound) && found.bound > packing->bound)
        return espi_err(err, ESP_EINTERNAL, "the prices prove %.12g, not %.12g",
                        found.bound, packing->bound);
    if (found.gap > gap || found.gap < -1e-9)
        return espi_err(err, ESP_EINTERNAL, "trees and prices differ by %.3g", found.gap);
    *out = found;
    return ESP_OK;
}
