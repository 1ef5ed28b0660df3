#include "algo/transfers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/tuning.h"
#include "base/err.h"

esp_status espi_transfers_init(struct espi_transfers *t, const struct espi_task *task,
                               espi_route route, struct esp_err *err)
{
    int n = task->view->g.n, n_nodes = task->view->p->n_nodes;
    struct espi_arena *a = task->arena;
    *t = (struct espi_transfers){.task = task, .route = route, .source = -1, .row = -1};
    t->distance = ESPI_ARENA_NEW(a, double, n);
    t->last_arc = ESPI_ARENA_NEW(a, int, n);
    t->path = ESPI_ARENA_NEW(a, int, n);
    t->start_cap = (size_t)n + 1;
    t->start = ESPI_ARENA_NEW(a, int, t->start_cap);
    t->arc_to = ESPI_ARENA_NEW(a, int, n);
    t->arc_row = ESPI_ARENA_NEW(a, int, n);
    t->hop_from = ESPI_ARENA_NEW(a, int, n_nodes);
    if (!t->hop_from || !t->distance || !t->last_arc || !t->path || !t->start ||
        !t->arc_to || !t->arc_row || espi_dijkstra_init(&t->work, n, a) ||
        espi_router_init(&t->router, &task->view->g, task->view->time_s, a) ||
        (route == ESPI_ROUTE_SHORTEST && espi_router_gather(&t->router, a)))
        return espi_err_nomem(err);
    for (int h = 0; h < n; h++)
        t->arc_row[h] = -1;
    for (int i = 0; i < n_nodes; i++)
        t->hop_from[i] = -1;
    t->start[0] = 0;
    return ESP_OK;
}

static int find_arc(struct espi_transfers *t, int from, int to)
{
    const struct espi_digraph *g = &t->task->view->g;
    for (int k = g->out.start[from]; t->row != from && k < g->out.start[from + 1]; k++) {
        int arc = g->out.item[k];
        t->arc_to[g->head[arc]] = arc;
        t->arc_row[g->head[arc]] = from;
    }
    t->row = from;
    return t->arc_row[to] == from ? t->arc_to[to] : -1;
}

static int add_arc(struct espi_transfers *t, int arc)
{
    const struct espi_view *v = t->task->view;
    int first = v->hop_start[arc], count = v->hop_start[arc + 1] - first;
    if (espi_arena_grow_ints(t->task->arena, &t->hops, (size_t)t->n_hops, (size_t)count,
                             &t->hops_cap))
        return -1;
    memcpy(t->hops + t->n_hops, v->hops + first, (size_t)count * sizeof *t->hops);
    t->n_hops += count;
    return 0;
}

/* Puts a shortest path into t->path and gives its length; -1: there is none. */
static int find_path(struct espi_transfers *t, int from, int to)
{
    const struct espi_view *v = t->task->view;
    struct espi_dijkstra_query q = {v->time_s, &from, 1, NULL};
    t->asked = t->source == from ? t->asked + 1 : 1;
    t->source = from;
    if (t->asked <= ESPI_PATHS_FEW)
        return espi_route_between(&t->router, from, to, t->path);
    if (t->asked == ESPI_PATHS_FEW + 1)
        espi_dijkstra_start(&t->work, &v->g, &q, t->distance, t->last_arc);
    espi_dijkstra_reach(&t->work, &v->g, &q, to, t->distance, t->last_arc);
    if (!isfinite(t->distance[to]))
        return -1;
    int length = 0, at;
    for (int x = to; x != from; x = v->g.tail[t->last_arc[x]])
        length++;
    at = length;
    for (int x = to; x != from; x = v->g.tail[t->last_arc[x]])
        t->path[--at] = t->last_arc[x];
    return length;
}

/* Arcs that follow one another may pass a switch twice, to a host and back: what lies
 * between is left out. From hop `first` on. */
static void cut_loops(struct espi_transfers *t, int first)
{
    const struct esp_platform *p = t->task->view->p;
    int end = first;
    for (int i = first; i < t->n_hops; i++) {
        int hop = t->hops[i];
        t->hop_from[p->tail[hop]] = end;
        t->hops[end++] = hop;
        int back = t->hop_from[p->head[hop]];
        for (; back >= 0 && end > back; end--)
            t->hop_from[p->tail[t->hops[end - 1]]] = -1;
    }
    t->n_hops = end;
    for (int i = first; i < end; i++)
        t->hop_from[p->tail[t->hops[i]]] = -1;
}

static esp_status add_path(struct espi_transfers *t, int from, int to,
                           struct esp_err *err)
{
    const struct espi_view *v = t->task->view;
    int length = find_path(t, from, to), first = t->n_hops;
    if (length < 0) {
        char a[64], b[64];
        return espi_err(err, ESP_EUNSUPPORTED, "no path leads from %s to %s",
                        espi_quote(a, sizeof a, espi_node_name(v->p, v->node[from])),
                        espi_quote(b, sizeof b, espi_node_name(v->p, v->node[to])));
    }
    for (int i = 0; i < length; i++)
        if (add_arc(t, t->path[i]))
            return espi_err_nomem(err);
    if (length > 1 && v->g.n < v->p->n_nodes)
        cut_loops(t, first);
    return ESP_OK;
}

esp_status espi_transfers_add(struct espi_transfers *t, int from, int to,
                              struct esp_err *err)
{
    int arc = t->route == ESPI_ROUTE_DIRECT ? find_arc(t, from, to) : -1;
    esp_status st = ESP_OK;
    if (espi_arena_grow_ints(t->task->arena, &t->start, (size_t)t->n + 1, 1,
                             &t->start_cap))
        return espi_err_nomem(err);
    if (arc < 0)
        st = add_path(t, from, to, err);
    else if (add_arc(t, arc))
        st = espi_err_nomem(err);
    if (!st)
        t->start[++t->n] = t->n_hops;
    return st;
}

struct timed {
    double start_s;
    int transfer;
};

static int by_start(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return x->transfer < y->transfer ? -1 : x->transfer > y->transfer;
}

/* When each transfer would leave its sender if nobody else's were in the way. */
static int time_transfers(const struct espi_transfers *t, struct timed *timed)
{
    const struct espi_view *v = t->task->view;
    double *next_s = ESPI_ARENA_ZNEW(t->task->arena, double, v->g.n);
    if (!next_s)
        return -1;
    for (int i = 0; i < t->n; i++) {
        const int *hops = t->hops + t->start[i];
        int count = t->start[i + 1] - t->start[i];
        int from = v->host[v->p->tail[hops[0]]];
        int to = v->host[v->p->head[hops[count - 1]]];
        struct espi_path_time time = espi_path_time(v->p, v->slice_bytes, hops, count);
        timed[i] = (struct timed){next_s[from], i};
        next_s[to] = next_s[from] + time.lag_s;
        next_s[from] += time.hold_s;
    }
    return 0;
}

/* A host sends in the order of the plan, also what it passes on for others: with the
 * transfers by their starts it waits less for what is late. Each sender's own order stays
 * as it is, and so does that senders come after those who bring them the data. */
static int order_by_start(struct espi_transfers *t)
{
    struct espi_arena *a = t->task->arena;
    struct timed *timed = ESPI_ARENA_NEW(a, struct timed, t->n);
    int *start = ESPI_ARENA_NEW(a, int, (size_t)t->n + 1);
    int *hops = ESPI_ARENA_NEW(a, int, t->n_hops);
    if (!timed || !start || !hops || time_transfers(t, timed))
        return -1;
    qsort(timed, (size_t)t->n, sizeof *timed, by_start);
    start[0] = 0;
    for (int i = 0; i < t->n; i++) {
        int first = t->start[timed[i].transfer];
        int count = t->start[timed[i].transfer + 1] - first;
        memcpy(hops + start[i], t->hops + first, (size_t)count * sizeof *hops);
        start[i + 1] = start[i] + count;
    }
    t->start = start;
    t->hops = hops;
    return 0;
}

esp_status espi_transfers_plan(struct espi_transfers *t, struct esp_plan *plan,
                               struct esp_err *err)
{
    if (t->n_hops > t->n && order_by_start(t))
        return espi_err_nomem(err);
    return esp_plan_add_tree(plan, t->task->p, 1, t->n, t->start, t->hops, err);
}
