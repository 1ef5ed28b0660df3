#include "algo/atomic/ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

int *espi_ranks(const struct espi_task *task)
{
    int n = task->view->g.n, at = 0;
    int *hosts = ESPI_ARENA_NEW(task->arena, int, n);
    if (!hosts)
        return NULL;
    hosts[at++] = task->root;
    for (int h = 0; h < n; h++)
        if (h != task->root)
            hosts[at++] = h;
    return hosts;
}

esp_status espi_ranks_begin(const struct espi_task *task, const int **hosts,
                            struct espi_transfers *t, struct esp_err *err)
{
    *hosts = espi_ranks(task);
    return *hosts ? espi_transfers_init(t, task, ESPI_ROUTE_DIRECT, err)
                  : espi_err_nomem(err);
}

double *espi_mean_send_s(const struct espi_task *task)
{
    const struct espi_view *v = task->view;
    double *mean_s = ESPI_ARENA_NEW(task->arena, double, v->g.n);
    if (!mean_s)
        return NULL;
    for (int h = 0; h < v->g.n; h++) {
        int first = v->g.out.start[h], last = v->g.out.start[h + 1];
        double sum_s = 0;
        for (int k = first; k < last; k++)
            sum_s += v->lag_s[v->g.out.item[k]];
        mean_s[h] = last > first ? sum_s / (last - first) : INFINITY;
    }
    return mean_s;
}

struct ranked_host {
    double cost;
    int host;
};

static int by_cost(const void *a, const void *b)
{
    const struct ranked_host *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->host < y->host ? -1 : x->host > y->host;
}

int *espi_ranks_by(const struct espi_task *task, const double *cost)
{
    int n = task->view->g.n;
    int *hosts = espi_ranks(task);
    struct ranked_host *sorted = ESPI_ARENA_NEW(task->arena, struct ranked_host, n);
    if (!hosts || !sorted)
        return NULL;
    for (int i = 1; i < n; i++)
        sorted[i] = (struct ranked_host){cost[hosts[i]], hosts[i]};
    qsort(sorted + 1, (size_t)n - 1, sizeof *sorted, by_cost);
    for (int i = 1; i < n; i++)
        hosts[i] = sorted[i].host;
    return hosts;
}

/* The weight of a rank's lowest digit that is not 0; of rank 0 one that no rank has. */
static int64_t lowest_digit(int rank, int n, int radix)
{
    int64_t weight = 1;
    while (rank ? rank % (weight * radix) == 0 : weight < n)
        weight *= radix;
    return weight;
}

esp_status espi_add_knomial(struct espi_transfers *t, const int *hosts, int n, int radix,
                            struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int r = 0; r < n; r++)
        for (int64_t weight = lowest_digit(r, n, radix) / radix; weight > 0;
             weight /= radix)
            for (int64_t to = r + weight; to < r + weight * radix && to < n && !st;
                 to += weight)
                st = espi_transfers_add(t, hosts[r], hosts[to], err);
    return st;
}

esp_status espi_add_binomial(struct espi_transfers *t, const int *hosts, int n,
                             struct esp_err *err)
{
    return espi_add_knomial(t, hosts, n, 2, err);
}
