#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algo/multicast/multicast.h"
#include "base/err.h"
#include "graph/maxflow.h"
#include "graph/reach.h"

esp_status espi_task_net(const struct espi_task *task, struct espi_flow_net *net,
                         struct esp_err *err)
{
    const struct esp_request *r = task->request;
    if (espi_flow_net_init(net, task->p, task->view->slice_bytes, r->root, r->n_targets,
                           r->targets, task->arena))
        return espi_err_nomem(err);
    return ESP_OK;
}

struct ranking {
    const double *amount;
    double sign, most;
};

/* Amounts out of a linear program: what differs by rounding is equal. */
static int by_amount(const void *a, const void *b, void *arg)
{
    const struct ranking *r = arg;
    int x = *(const int *)a, y = *(const int *)b;
    double dx = floor(1e7 * r->amount[x] / r->most + 0.5) * r->sign;
    double dy = floor(1e7 * r->amount[y] / r->most + 0.5) * r->sign;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return x < y ? -1 : x > y;
}

int espi_rank_nodes(const double *amount, const unsigned char *skip, int n, double sign,
                    int *order)
{
    struct ranking r = {amount, sign, 1e-300};
    int count = 0;
    for (int v = 0; v < n; v++)
        if (!skip[v]) {
            order[count++] = v;
            r.most = fmax(r.most, fabs(amount[v]));
        }
    qsort_r(order, (size_t)count, sizeof *order, by_amount, &r);
    return count;
}

void espi_inflow(const struct espi_digraph *g, const double *flow, double *inflow)
{
    for (int e = 0; e < g->m; e++)
        inflow[g->head[e]] += fmax(flow[e], 0);
}

int espi_target_inflow(const struct espi_flow_net *net, const double *y, double *inflow,
                       struct espi_arena *arena)
{
    struct espi_arena_mark mark = espi_arena_mark(arena);
    struct espi_maxflow w;
    double *capacity = ESPI_ARENA_NEW(arena, double, net->g.m);
    double *flow = ESPI_ARENA_NEW(arena, double, net->g.m);
    if (!capacity || !flow || espi_maxflow_init(&w, &net->g, arena))
        return -1;
    memcpy(capacity, y, (size_t)net->g.m * sizeof *y);
    memset(inflow, 0, (size_t)net->g.n * sizeof *inflow);
    for (int i = 0; i < net->n_targets; i++) {
        espi_maxflow(&w, capacity, net->root, net->targets[i], INFINITY);
        espi_maxflow_arcs(&w, flow);
        espi_inflow(&net->g, flow, inflow);
    }
    espi_arena_release(arena, mark);
    return 0;
}

esp_status espi_reachable(const struct espi_task *task, unsigned char *seen,
                          struct esp_err *err)
{
    const struct esp_platform *p = task->p;
    struct espi_digraph g = {p->n_nodes, p->n_links, p->tail, p->head, p->out, p->in};
    int *order = ESPI_ARENA_NEW(task->arena, int, p->n_nodes);
    if (!order)
        return espi_err_nomem(err);
    espi_reach(&g, task->request->root, NULL, seen, order);
    return ESP_OK;
}

esp_status espi_add_steiner(const struct espi_task *task, double weight,
                            const struct espi_steiner_tree *tree, struct esp_plan *plan,
                            struct esp_err *err)
{
    return esp_plan_add_tree(plan, task->p, weight, tree->n_edges, tree->hop_start,
                             tree->hops, err);
}
