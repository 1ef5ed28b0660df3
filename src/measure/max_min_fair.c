#include "measure/max_min_fair.h"

#include <math.h>

struct filling {
    double *left; /* of each resource */
    int *open;    /* flows of it that are not settled */
};

/* The resource that gives its open flows least, or -1. */
static int tightest_resource(const struct espi_max_min_fair *fair,
                             const struct filling *f, double *share)
{
    int which = -1;
    *share = INFINITY;
    for (int r = 0; r < fair->n_resources; r++)
        if (f->open[r] > 0 && f->left[r] / f->open[r] < *share) {
            *share = f->left[r] / f->open[r];
            which = r;
        }
    return which;
}

static int flow_uses(const struct espi_max_min_fair *fair, int flow, int resource)
{
    for (int k = fair->start[flow]; k < fair->start[flow + 1]; k++)
        if (fair->item[k] == resource)
            return 1;
    return 0;
}

static void settle_flow(const struct espi_max_min_fair *fair, struct filling *f, int flow,
                        double rate)
{
    for (int k = fair->start[flow]; k < fair->start[flow + 1]; k++) {
        f->left[fair->item[k]] = fmax(0, f->left[fair->item[k]] - rate);
        f->open[fair->item[k]]--;
    }
}

int espi_max_min_fair_rates(const struct espi_max_min_fair *fair, double *rate,
                            struct espi_arena *arena)
{
    struct filling f;
    double share;
    f.left = ESPI_ARENA_NEW(arena, double, (size_t)fair->n_resources + 1);
    f.open = ESPI_ARENA_ZNEW(arena, int, (size_t)fair->n_resources + 1);
    if (!f.left || !f.open)
        return -1;
    for (int r = 0; r < fair->n_resources; r++)
        f.left[r] = fair->capacity[r];
    for (int k = 0; k < fair->start[fair->n_flows]; k++)
        f.open[fair->item[k]]++;
    for (int i = 0; i < fair->n_flows; i++)
        rate[i] = -1;
    for (int r; (r = tightest_resource(fair, &f, &share)) >= 0;)
        for (int i = 0; i < fair->n_flows; i++)
            if (rate[i] < 0 && flow_uses(fair, i, r)) {
                rate[i] = share;
                settle_flow(fair, &f, i, share);
            }
    return 0;
}
