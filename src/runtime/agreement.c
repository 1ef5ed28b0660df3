#include "runtime/agreement.h"

#include <math.h>

#include "base/arena.h"
#include "platform/view.h"

enum { WORDS_BYTES = 64 }; /* derived: a few numbers, and no more */

static double farthest_s(const struct espi_view *v)
{
    double most_s = 0;
    for (int e = 0; e < v->g.m; e++)
        most_s = fmax(most_s, v->lag_s[e]);
    return most_s;
}

/* From one host to another; where no arc leads there, as far as any. */
static double lag_between(const struct espi_view *v, int from, int to, double far_s)
{
    double least_s = INFINITY;
    for (int k = v->g.out.start[from]; k < v->g.out.start[from + 1]; k++) {
        int arc = v->g.out.item[k];
        if (v->g.head[arc] == to)
            least_s = fmin(least_s, v->lag_s[arc]);
    }
    return fmin(least_s, far_s);
}

static double add_rounds(const struct espi_view *v)
{
    double total_s = 0, far_s = farthest_s(v);
    for (int bit = 1; bit < v->g.n; bit *= 2) {
        double round_s = 0;
        for (int i = 0; i < v->g.n; i++)
            if ((i ^ bit) < v->g.n)
                round_s = fmax(round_s, lag_between(v, i, i ^ bit, far_s));
        total_s += round_s;
    }
    return total_s;
}

esp_status espi_predict_agreement(const struct esp_platform *team, double *out_s,
                                  struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_view v;
    espi_arena_init(&arena);
    esp_status st = espi_view_init(&v, team, WORDS_BYTES, &arena, err);
    if (!st)
        *out_s = add_rounds(&v);
    espi_arena_done(&arena);
    return st;
}
