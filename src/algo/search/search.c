#include "algo/search/search.h"

#include <math.h>

#include "base/clock.h"

int espi_search_is_over(const struct espi_search *search, double work, long steps)
{
    if (search->deadline_s > 0)
        return steps % 16 == 0 && espi_now_s() >= search->deadline_s;
    return work >= search->work;
}

static double most_used_s(const struct espi_view *v, int arc)
{
    double most = 0;
    for (int k = v->use_start[arc]; k < v->use_start[arc + 1]; k++)
        most = fmax(most, v->use_s[k]);
    return most;
}

double espi_search_least_period_s(const struct espi_view *v, int root)
{
    double least = 0;
    for (int h = 0; h < v->g.n; h++) {
        double best = INFINITY;
        for (int k = v->g.in.start[h]; k < v->g.in.start[h + 1]; k++)
            best = fmin(best, most_used_s(v, v->g.in.item[k]));
        if (h != root && isfinite(best))
            least = fmax(least, best);
    }
    return least;
}
