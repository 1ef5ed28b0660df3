#include "algo/allgather/pairs.h"

#include <math.h>
#include <stdlib.h>

#include "graph/dijkstra.h"

/* Are there times of processors, apart from those of links? */
static int has_overheads(const struct esp_platform *p)
{
    return p->model == ESP_MODEL_HNOW || p->model == ESP_MODEL_MULTI_PORT;
}

/* Receives cost nothing in the multi-port model unless the node says so. */
static double recv_s_of(const struct esp_platform *p, int node, double bytes)
{
    return p->model == ESP_MODEL_HNOW ? espi_recv_overhead_s(p, node, bytes)
                                      : fmax(p->recv_s[node], 0);
}

/* ---- the pairs ---- */

/* Latency and time a byte of the cheapest paths: what each arc adds, one after the
 * other. */
static void add_row(struct espi_pairs *t, const struct espi_view *v, int from,
                    const int *last_arc, const double *distance)
{
    double(*row)[2] = t->end + (size_t)from * (size_t)t->n;
    for (int to = 0; to < t->n; to++) {
        row[to][0] = isfinite(distance[to]) ? 0 : INFINITY;
        row[to][1] = 0;
        for (int x = to; last_arc[x] >= 0; x = v->g.tail[last_arc[x]]) {
            row[to][0] += v->latency_s[last_arc[x]];
            row[to][1] += 1 / v->bandwidth_Bps[last_arc[x]];
        }
    }
}

/* What leads straight there is taken, as in plans. */
static void set_direct(struct espi_pairs *t, const struct espi_view *v)
{
    for (int e = 0; e < v->g.m; e++) {
        size_t at = (size_t)v->g.tail[e] * (size_t)t->n + (size_t)v->g.head[e];
        t->end[at][0] = v->latency_s[e];
        t->end[at][1] = 1 / v->bandwidth_Bps[e];
    }
}

static int find_ends(struct espi_pairs *t, const struct espi_task *task)
{
    const struct espi_view *v = task->view;
    struct espi_dijkstra work;
    double *distance = ESPI_ARENA_NEW(task->arena, double, t->n);
    int *last_arc = ESPI_ARENA_NEW(task->arena, int, t->n);
    size_t cells = (size_t)t->n * (size_t)t->n;
    t->end = espi_arena_alloc(task->arena, cells, sizeof *t->end);
    if (!distance || !last_arc || !t->end || espi_dijkstra_init(&work, t->n, task->arena))
        return -1;
    int complete = v->g.m >= t->n * (t->n - 1);
    for (int h = 0; h < t->n && !complete; h++) {
        struct espi_dijkstra_query q = {v->time_s, &h, 1, NULL};
        espi_dijkstra(&work, &v->g, &q, distance, last_arc);
        add_row(t, v, h, last_arc, distance);
    }
    for (size_t i = 0; i < cells && complete; i++)
        t->end[i][0] = t->end[i][1] = 0;
    set_direct(t, v);
    return 0;
}

/* An affine function through its values at two lengths. */
static void set_affine(double *t, double b0, double t0, double b1, double t1)
{
    t[1] = (t1 - t0) / (b1 - b0);
    t[0] = t0 - t[1] * b0;
}

static int find_overheads(struct espi_pairs *t, const struct espi_task *task,
                          double bytes)
{
    const struct esp_platform *p = task->p;
    double longer = 2.0 * t->n * bytes;
    t->send = espi_arena_alloc(task->arena, (size_t)t->n, sizeof *t->send);
    t->recv = espi_arena_alloc(task->arena, (size_t)t->n, sizeof *t->recv);
    if (!t->send || !t->recv)
        return -1;
    for (int h = 0; h < t->n; h++) {
        int v = task->view->node[h];
        set_affine(t->send[h], bytes, espi_hold_s(p, v, bytes), longer,
                   espi_hold_s(p, v, longer));
        set_affine(t->recv[h], bytes, recv_s_of(p, v, bytes), longer,
                   recv_s_of(p, v, longer));
    }
    if (p->model == ESP_MODEL_MULTI_PORT) /* the link's time comes after the overhead */
        for (int i = 0; i < t->n; i++)
            for (int j = 0; j < t->n; j++)
                for (int k = 0; k < 2; k++)
                    t->end[(size_t)i * (size_t)t->n + (size_t)j][k] += t->send[i][k];
    return 0;
}

int espi_pairs_init(struct espi_pairs *t, const struct espi_task *task, double part_bytes)
{
    *t = (struct espi_pairs){.n = task->view->g.n};
    if (find_ends(t, task))
        return -1;
    if (has_overheads(task->p))
        return find_overheads(t, task, part_bytes);
    t->by_pair = 1;
    t->send = t->recv = t->end;
    if (task->p->model != ESP_MODEL_CAPACITY)
        return 0;
    size_t cells = (size_t)t->n * (size_t)t->n; /* ends are not kept busy */
    t->send = t->recv = espi_arena_zalloc(task->arena, cells, sizeof *t->send);
    return t->send ? 0 : -1;
}

/* ---- speed ---- */

struct speed {
    double send_s, recv_s;
    int host;
};

static int by_speed(const void *a, const void *b)
{
    const struct speed *x = a, *y = b;
    if (x->send_s != y->send_s)
        return x->send_s < y->send_s ? -1 : 1;
    if (x->recv_s != y->recv_s)
        return x->recv_s < y->recv_s ? -1 : 1;
    return x->host < y->host ? -1 : x->host > y->host;
}

static struct speed speed_of(const struct espi_task *task, int host, double bytes)
{
    const struct espi_view *v = task->view;
    struct speed s = {0, 0, host};
    if (has_overheads(task->p)) {
        s.send_s = espi_hold_s(task->p, v->node[host], bytes);
        s.recv_s = recv_s_of(task->p, v->node[host], bytes);
        return s;
    }
    int first = v->g.out.start[host], last = v->g.out.start[host + 1];
    for (int k = first; k < last; k++)
        s.send_s +=
            v->latency_s[v->g.out.item[k]] + bytes / v->bandwidth_Bps[v->g.out.item[k]];
    s.send_s = last > first ? s.send_s / (last - first) : INFINITY;
    return s;
}

int *espi_hosts_by_speed(const struct espi_task *task, double bytes)
{
    int n = task->view->g.n;
    int *hosts = ESPI_ARENA_NEW(task->arena, int, n);
    struct speed *speed = ESPI_ARENA_NEW(task->arena, struct speed, n);
    if (!hosts || !speed)
        return NULL;
    for (int h = 0; h < n; h++)
        speed[h] = speed_of(task, h, bytes);
    qsort(speed, (size_t)n, sizeof *speed, by_speed);
    for (int h = 0; h < n; h++)
        hosts[h] = speed[h].host;
    return hosts;
}
