#include "algo/anneal/net.h"

#include <stdlib.h>
#include <string.h>

struct arc_in {
    double lag_s;
    int tail, arc;
};

static int by_lag(const void *a, const void *b)
{
    const struct arc_in *x = a, *y = b;
    if (x->lag_s != y->lag_s)
        return x->lag_s < y->lag_s ? -1 : 1;
    return x->arc < y->arc ? -1 : x->arc > y->arc;
}

/* The arcs into one host from others of the net. */
static int collect_arcs(const struct espi_anneal_net *net, int x, struct arc_in *list)
{
    const struct espi_digraph *g = &net->v->g;
    int n = 0, h = net->host[x];
    for (int i = g->in.start[h]; i < g->in.start[h + 1]; i++) {
        int e = g->in.item[i], tail = net->number[g->tail[e]];
        if (tail >= 0 && tail != x)
            list[n++] = (struct arc_in){net->v->lag_s[e], tail, e};
    }
    qsort(list, (size_t)n, sizeof *list, by_lag);
    return n;
}

static void fill_arcs(struct espi_anneal_net *net, struct arc_in *list)
{
    int at = 0;
    for (int x = 0; x < net->n; x++) {
        int n = collect_arcs(net, x, list);
        net->start[x] = at;
        for (int i = 0; i < n; i++, at++) {
            net->tail[at] = list[i].tail;
            net->head[at] = x;
            net->arc[at] = list[i].arc;
            net->hold_s[at] = net->v->hold_s[list[i].arc];
            net->lag_s[at] = list[i].lag_s;
        }
    }
    net->start[net->n] = at;
}

static void fill_enter(struct espi_anneal_net *net, int root)
{
    const struct espi_digraph *g = &net->v->g;
    for (int x = 0; x < net->n; x++) {
        int h = net->host[x];
        net->enter_s[x] = 0;
        for (int i = g->in.start[h]; i < g->in.start[h + 1] && net->root < 0; i++) {
            int e = g->in.item[i];
            double lag_s = net->v->lag_s[e];
            if (g->tail[e] == root && !(net->enter_s[x] > 0 && net->enter_s[x] <= lag_s))
                net->enter_s[x] = lag_s;
        }
    }
}

int espi_anneal_net_init(struct espi_anneal_net *net, const struct espi_view *v, int n,
                         const int *host, int root, struct espi_arena *arena)
{
    int arcs = 0, most = 0;
    for (int x = 0; x < n; x++) {
        int degree = v->g.in.start[host[x] + 1] - v->g.in.start[host[x]];
        arcs += degree;
        most = degree > most ? degree : most;
    }
    *net = (struct espi_anneal_net){.v = v,
                                    .n = n,
                                    .host = host,
                                    .root = -1,
                                    .objective = ESPI_ANNEAL_FILL,
                                    .count = 1};
    net->start = ESPI_ARENA_NEW(arena, int, n + 1);
    net->tail = ESPI_ARENA_NEW(arena, int, arcs);
    net->head = ESPI_ARENA_NEW(arena, int, arcs);
    net->arc = ESPI_ARENA_NEW(arena, int, arcs);
    net->number = ESPI_ARENA_NEW(arena, int, v->g.n);
    net->hold_s = ESPI_ARENA_NEW(arena, double, arcs);
    net->lag_s = ESPI_ARENA_NEW(arena, double, arcs);
    net->enter_s = ESPI_ARENA_NEW(arena, double, n);
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct arc_in *list = ESPI_ARENA_NEW(arena, struct arc_in, most);
    if (!net->start || !net->tail || !net->head || !net->arc || !net->hold_s ||
        !net->lag_s || !net->enter_s || !net->number || !list)
        return -1;
    memset(net->number, -1, (size_t)v->g.n * sizeof *net->number);
    for (int x = 0; x < n; x++)
        net->number[host[x]] = x;
    net->root = net->number[root];
    fill_arcs(net, list);
    fill_enter(net, root);
    espi_arena_release(arena, mark);
    return 0;
}
