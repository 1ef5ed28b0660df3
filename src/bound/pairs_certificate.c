#include "bound/pairs_certificate.h"

#include <math.h>

#include "base/err.h"
#include "base/watch.h"
#include "bound/tuning.h"

/* ---- prices ---- */

/* All cheapest paths, by Floyd and Warshall; 0: the time was over before. */
static int close_costs(double *cost, int n)
{
    for (int k = 0; k < n; k++) {
        if (espi_watch_is_over())
            return 0;
        for (int i = 0; i < n; i++) {
            double to_k = cost[(size_t)i * (size_t)n + (size_t)k];
            for (int j = 0; j < n && isfinite(to_k); j++) {
                double *at = &cost[(size_t)i * (size_t)n + (size_t)j];
                *at = fmin(*at, to_k + cost[(size_t)k * (size_t)n + (size_t)j]);
            }
        }
    }
    return 1;
}

static double *link_costs(const struct espi_flow_net *net, const double *price,
                          struct espi_arena *arena)
{
    const struct esp_platform *p = net->p;
    size_t n = (size_t)p->n_nodes;
    double *cost = ESPI_ARENA_NEW(arena, double, n *n);
    for (size_t i = 0; i < n * n && cost; i++)
        cost[i] = i / n == i % n ? 0 : INFINITY;
    for (int e = 0; e < p->n_links && cost; e++) {
        double sum = 0;
        double *at = &cost[(size_t)p->tail[e] * n + (size_t)p->head[e]];
        for (int k = net->res.start[e]; k < net->res.start[e + 1]; k++)
            sum += price[net->res.resource[k]] * net->res.time_s[k];
        *at = fmin(*at, sum);
    }
    return cost;
}

int espi_pairs_certificate_s(const struct espi_flow_net *net, const double *price,
                             struct espi_arena *arena, double *bound_s)
{
    const struct esp_platform *p = net->p;
    struct espi_arena_mark mark = espi_arena_mark(arena);
    double *cost = link_costs(net, price, arena), paid_s = 0, all = 0;
    if (!cost)
        return -1;
    int known = close_costs(cost, p->n_nodes);
    for (int i = 0; i < p->n_nodes && known; i++)
        for (int j = 0; j < p->n_nodes; j++)
            if (!espi_is_switch(p, i) && !espi_is_switch(p, j))
                paid_s += cost[(size_t)i * (size_t)p->n_nodes + (size_t)j];
    for (int r = 0; r < net->res.n; r++)
        all += price[r];
    espi_arena_release(arena, mark);
    *bound_s = all > 0 ? paid_s / all : 0;
    return 0;
}

/* ---- paths ---- */

static esp_status wrong_path(struct esp_err *err, int path, const char *what)
{
    return espi_err(err, ESP_EINTERNAL, "path %d of an alltoall: %s", path, what);
}

static esp_status check_path(const struct espi_flow_net *net,
                             const struct espi_all_pairs *found, int i,
                             struct esp_err *err)
{
    const struct esp_platform *p = net->p;
    const struct espi_pair_path *path = &found->path[i];
    int at = path->from;
    if (espi_is_switch(p, path->from) || espi_is_switch(p, path->to) ||
        path->from == path->to || !(path->weight > 0))
        return wrong_path(err, i, "it is for no pair of hosts, or for nothing");
    for (int k = 0; k < path->n_hops; k++) {
        if (p->tail[path->hops[k]] != at)
            return wrong_path(err, i, "its links do not join");
        at = p->head[path->hops[k]];
    }
    return at == path->to ? ESP_OK : wrong_path(err, i, "it ends elsewhere");
}

static esp_status check_sums(const struct espi_flow_net *net, const double *sum,
                             struct esp_err *err)
{
    const struct esp_platform *p = net->p;
    size_t n = (size_t)p->n_nodes;
    for (size_t k = 0; k < n * n; k++) {
        int from = (int)(k / n), to = (int)(k % n);
        int wanted = from != to && !espi_is_switch(p, from) && !espi_is_switch(p, to);
        if (fabs(sum[k] - wanted) > ESPI_BOUND_TIGHT)
            return espi_err(err, ESP_EINTERNAL,
                            "nodes %d and %d exchange %.9g of their part", from, to,
                            sum[k]);
    }
    return ESP_OK;
}

esp_status espi_pairs_certificate_check(const struct espi_flow_net *net,
                                        const struct espi_all_pairs *found,
                                        struct espi_arena *arena, struct esp_err *err)
{
    size_t n = (size_t)net->p->n_nodes;
    double *sum = ESPI_ARENA_ZNEW(arena, double, n *n);
    double *load = ESPI_ARENA_ZNEW(arena, double, net->res.n), proven_s = 0;
    esp_status st = ESP_OK;
    if (!sum || !load || espi_pairs_certificate_s(net, found->price, arena, &proven_s))
        return espi_err_nomem(err);
    for (int i = 0; i < found->n_paths && !st; i++) {
        const struct espi_pair_path *path = &found->path[i];
        st = check_path(net, found, i, err);
        for (int k = 0; k < path->n_hops && !st; k++)
            espi_resources_add(&net->res, path->hops[k], path->weight, load);
        if (!st)
            sum[(size_t)path->from * n + (size_t)path->to] += path->weight;
    }
    if (!st)
        st = check_sums(net, sum, err);
    for (int r = 0; r < net->res.n && !st; r++)
        if (load[r] > found->period_s * (1 + ESPI_BOUND_TIGHT))
            st = espi_err(err, ESP_EINTERNAL, "a resource is busy for %.9g s, not %.9g s",
                          load[r], found->period_s);
    if (!st && found->bound_s > proven_s * (1 + ESPI_BOUND_TIGHT))
        st = espi_err(err, ESP_EINTERNAL, "prices prove %.9g s, not %.9g s", proven_s,
                      found->bound_s);
    return st;
}
