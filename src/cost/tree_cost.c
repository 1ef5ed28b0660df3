/* The cost of a tree of arcs of a view. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cost/cost.h"

double espi_max_load_s(const struct espi_resources *r, int first, const double *load)
{
    double most = 0;
    for (int i = first; i < r->n; i++)
        most = fmax(most, load[i]);
    return most;
}

double espi_tree_period_s(const struct espi_view *v, const int *parent_arc, double *load)
{
    memset(load, 0, (size_t)v->links.n * sizeof *load);
    for (int h = 0; h < v->g.n; h++)
        if (parent_arc[h] >= 0)
            espi_load_arc(v, parent_arc[h], 1, load);
    return espi_max_load_s(&v->links, 0, load);
}

struct child {
    double rest_s; /* what remains after the sender is free again */
    int arc;
};

static int by_rest(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->rest_s != y->rest_s)
        return x->rest_s > y->rest_s ? -1 : 1;
    return x->arc < y->arc ? -1 : x->arc > y->arc;
}

struct orderer {
    const struct espi_view *v;
    int *start; /* host -> its children in `kids` */
    struct child *kids;
    int *order; /* hosts, parents first */
    double *fill_s;
};

static int orderer_init(struct orderer *o, int root, const int *parent_arc,
                        struct espi_arena *a)
{
    int n = o->v->g.n;
    const int *tail = o->v->g.tail;
    o->start = ESPI_ARENA_ZNEW(a, int, (size_t)n + 2);
    o->kids = ESPI_ARENA_NEW(a, struct child, n);
    o->order = ESPI_ARENA_NEW(a, int, n);
    o->fill_s = ESPI_ARENA_NEW(a, double, n);
    if (!o->start || !o->kids || !o->order || !o->fill_s)
        return -1;
    /* Counting sort, shifted by one so that filling leaves the starts in place. */
    for (int h = 0; h < n; h++)
        if (parent_arc[h] >= 0)
            o->start[tail[parent_arc[h]] + 2]++;
    for (int h = 0; h < n; h++)
        o->start[h + 2] += o->start[h + 1];
    for (int h = 0; h < n; h++)
        if (parent_arc[h] >= 0)
            o->kids[o->start[tail[parent_arc[h]] + 1]++].arc = parent_arc[h];
    int size = 0;
    o->order[size++] = root;
    for (int i = 0; i < size; i++)
        for (int k = o->start[o->order[i]]; k < o->start[o->order[i] + 1]; k++)
            o->order[size++] = o->v->g.head[o->kids[k].arc];
    return 0;
}

/* Sorts the children of a host whose own fills are known; gives the host's fill. */
static double order_children(struct orderer *o, int host)
{
    const struct espi_view *v = o->v;
    int first = o->start[host], last = o->start[host + 1];
    for (int k = first; k < last; k++) {
        int e = o->kids[k].arc;
        o->kids[k].rest_s = v->lag_s[e] - v->hold_s[e] + o->fill_s[v->g.head[e]];
    }
    qsort(o->kids + first, (size_t)(last - first), sizeof *o->kids, by_rest);
    double busy_s = 0, fill_s = 0;
    for (int k = first; k < last; k++) {
        int e = o->kids[k].arc;
        fill_s = fmax(fill_s, busy_s + v->lag_s[e] + o->fill_s[v->g.head[e]]);
        busy_s += v->hold_s[e];
    }
    return fill_s;
}

int espi_order_tree(const struct espi_view *v, int root, const int *parent_arc,
                    struct espi_arena *arena, int *arcs, double *fill_s)
{
    struct orderer o = {.v = v};
    struct espi_arena_mark mark = espi_arena_mark(arena);
    if (orderer_init(&o, root, parent_arc, arena))
        return -1;
    int n = v->g.n, at = 0;
    for (int i = n - 1; i >= 0; i--) {
        double one_s = order_children(&o, o.order[i]);
        o.fill_s[o.order[i]] = one_s;
    }
    for (int i = 0; i < n; i++)
        for (int k = o.start[o.order[i]]; k < o.start[o.order[i] + 1]; k++)
            arcs[at++] = o.kids[k].arc;
    if (fill_s)
        *fill_s = o.fill_s[root];
    espi_arena_release(arena, mark);
    return 0;
}

int espi_tree_cost(const struct espi_view *v, int root, const int *arcs, double count,
                   struct espi_arena *arena, struct espi_tree_cost *out)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int n = v->g.n;
    double *load = ESPI_ARENA_ZNEW(arena, double, v->links.n);
    double *pace_s = ESPI_ARENA_NEW(arena, double, n);
    double *next_s = ESPI_ARENA_NEW(arena, double, n);
    if (!load || !pace_s || !next_s)
        return -1;
    for (int i = 0; i < n - 1; i++)
        espi_load_arc(v, arcs[i], 1, load);
    struct espi_tree_cost cost = {espi_max_load_s(&v->links, 0, load), 0, 0};
    pace_s[root] = next_s[root] = 0;
    for (int i = 0; i < n - 1; i++) {
        int e = arcs[i], from = v->g.tail[e], to = v->g.head[e];
        double most = pace_s[from], at = next_s[from] + v->lag_s[e];
        for (int k = v->use_start[e]; k < v->use_start[e + 1]; k++)
            most = fmax(most, load[v->use_resource[k]]);
        next_s[from] += v->hold_s[e];
        next_s[to] = at;
        pace_s[to] = most;
        cost.fill_s = fmax(cost.fill_s, at);
        cost.makespan_s = fmax(cost.makespan_s, at + (count - 1) * most);
    }
    cost.makespan_s = fmax(cost.makespan_s,
                           count * espi_max_load_s(&v->links, v->links.first_link, load));
    espi_arena_release(arena, mark);
    *out = cost;
    return 0;
}

esp_status espi_plan_add_arcs(struct esp_plan *plan, const struct espi_view *v,
                              double weight, const int *arcs, int n_arcs,
                              struct espi_arena *arena, struct esp_err *err)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int n_hops = 0;
    for (int i = 0; i < n_arcs; i++)
        n_hops += v->hop_start[arcs[i] + 1] - v->hop_start[arcs[i]];
    int *start = ESPI_ARENA_NEW(arena, int, (size_t)n_arcs + 1);
    int *hops = ESPI_ARENA_NEW(arena, int, n_hops);
    if (!start || !hops)
        return espi_err_nomem(err);
    start[0] = 0;
    for (int i = 0; i < n_arcs; i++) {
        int first = v->hop_start[arcs[i]], count = v->hop_start[arcs[i] + 1] - first;
        memcpy(hops + start[i], v->hops + first, (size_t)count * sizeof *hops);
        start[i + 1] = start[i] + count;
    }
    esp_status st = esp_plan_add_tree(plan, v->p, weight, n_arcs, start, hops, err);
    espi_arena_release(arena, mark);
    return st;
}

esp_status espi_plan_add_parents(struct esp_plan *plan, const struct espi_view *v,
                                 int root, double weight, const int *parent_arc,
                                 struct espi_arena *arena, struct esp_err *err)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    int *arcs = ESPI_ARENA_NEW(arena, int, v->g.n);
    if (!arcs || espi_order_tree(v, root, parent_arc, arena, arcs, NULL))
        return espi_err_nomem(err);
    esp_status st = espi_plan_add_arcs(plan, v, weight, arcs, v->g.n - 1, arena, err);
    espi_arena_release(arena, mark);
    return st;
}
