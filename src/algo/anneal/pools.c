/* formPoolSets. The paper's text asks for the average bandwidth inside a pool, its two
 * printed examples come out only when every pair counts: that is the rule here, and the
 * average an option. */
#include <math.h>

#include "algo/anneal/anneal.h"

/* sum[p]: the bandwidth between v and the members of pool p; -inf once a pair is too slow
 * and every pair counts. */
static void add_up(int n, const double *bandwidth, double threshold,
                   enum espi_pool_rule rule, const int *pool, int v, double *sum)
{
    for (int u = 0; u < v; u++) {
        double both = fmin(bandwidth[(size_t)u * (size_t)n + (size_t)v],
                           bandwidth[(size_t)v * (size_t)n + (size_t)u]);
        int refused = rule == ESPI_POOL_PAIRS && !(both >= threshold);
        sum[pool[u]] += refused ? -INFINITY : both;
    }
}

int espi_form_pools(int n, const double *bandwidth, double part, enum espi_pool_rule rule,
                    int *pool, int *size, double *sum)
{
    double most = 0;
    int count = 0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        most = fmax(most, bandwidth[i]);
    for (int v = 0; v < n; v++) {
        for (int k = 0; k < count; k++)
            sum[k] = 0;
        add_up(n, bandwidth, part * most, rule, pool, v, sum);
        pool[v] = 0;
        while (pool[v] < count && !(sum[pool[v]] >= part * most * size[pool[v]]))
            pool[v]++;
        if (pool[v] == count)
            size[count++] = 0;
        size[pool[v]]++;
    }
    return count;
}
