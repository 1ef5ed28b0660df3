#include "cli/launching/work_done.h"

#include <math.h>

void cli_work_init(struct cli_work *w, size_t n, const double *cost, double *start_s)
{
    *w = (struct cli_work){.n = n, .cost = cost, .start_s = start_s};
    for (size_t i = 0; i < n; i++) {
        w->total += cost[i];
        start_s[i] = -1;
    }
}

void cli_work_start(struct cli_work *w, size_t i, double now_s)
{
    w->start_s[i] = now_s;
}

void cli_work_end(struct cli_work *w, size_t i, double now_s)
{
    w->spent_s += now_s - w->start_s[i];
    w->done += w->cost[i];
    w->start_s[i] = -1;
}

double cli_work_part(const struct cli_work *w, double now_s)
{
    double sum = w->done;

    for (size_t i = 0; i < w->n && w->spent_s > 0; i++)
        if (w->start_s[i] >= 0)
            sum +=
                fmin(w->cost[i], w->done / w->spent_s * fmax(now_s - w->start_s[i], 0));
    return w->total > 0 ? sum / w->total : 0;
}
