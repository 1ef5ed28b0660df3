/* formPoolSets. The paper's text asks for the average bandwidth inside a pool, its two
 * printed examples come out only when every pair counts: that is the rule here, and the
 * average an option. */
#include <math.h>

#include "algo/anneal/anneal.h"

static int accepts(int n, const double *bandwidth, double threshold,
                   enum espi_pool_rule rule, const int *pool, int which, int v)
{
    double sum = 0;
    int members = 0;
    for (int u = 0; u < v; u++) {
        if (pool[u] != which)
            continue;
        double both = fmin(bandwidth[(size_t)u * (size_t)n + (size_t)v],
                           bandwidth[(size_t)v * (size_t)n + (size_t)u]);
        if (rule == ESPI_POOL_PAIRS && !(both >= threshold))
            return 0;
        sum += both;
        members++;
    }
    return sum >= threshold * members;
}

int espi_form_pools(int n, const double *bandwidth, double part, enum espi_pool_rule rule,
                    int *pool)
{
    double most = 0;
    int count = 0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        most = fmax(most, bandwidth[i]);
    for (int v = 0; v < n; v++) {
        pool[v] = 0;
        while (pool[v] < count &&
               !accepts(n, bandwidth, part * most, rule, pool, pool[v], v))
            pool[v]++;
        if (pool[v] == count)
            count++;
    }
    return count;
}
