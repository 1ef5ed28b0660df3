/* How the slices of a round are shared among the trees. */
#include <math.h>
#include <string.h>

#include "program/program.h"

/* Counts by largest remainder for a round of that many slots; gives the largest error in
 * parts of the whole. Trees may get nothing. */
static double share(const struct esp_plan *plan, int slots, int *count, double *remainder)
{
    int given = 0;
    for (int t = 0; t < plan->n_trees; t++) {
        double want = plan->trees[t].weight * slots;
        count[t] = (int)floor(want + 1e-9);
        remainder[t] = want - count[t];
        given += count[t];
    }
    for (; given < slots; given++) {
        int best = 0;
        for (int t = 1; t < plan->n_trees; t++)
            if (remainder[t] > remainder[best])
                best = t;
        count[best]++;
        remainder[best] -= 1;
    }
    double worst = 0;
    for (int t = 0; t < plan->n_trees; t++)
        worst = fmax(worst, fabs((double)count[t] / slots - plan->trees[t].weight));
    return worst;
}

int espi_round_choose(const struct esp_plan *plan, int64_t n_slices, int max_slots,
                      double tolerance, struct espi_arena *arena, struct espi_round *out)
{
    int *count = ESPI_ARENA_NEW(arena, int, plan->n_trees);
    double *remainder = ESPI_ARENA_NEW(arena, double, plan->n_trees);
    if (!count || !remainder)
        return -1;
    int most = n_slices < max_slots ? (int)n_slices : max_slots, best = 1;
    double best_error = INFINITY;
    for (int slots = 1; slots <= most; slots++) {
        double error = share(plan, slots, count, remainder);
        if (error < best_error) {
            best_error = error;
            best = slots;
        }
        if (error <= tolerance)
            break;
    }
    share(plan, best, count, remainder);
    *out = (struct espi_round){best, count};
    return 0;
}
