#include "runtime/agreement.h"

#include <math.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "platform/platform.h"
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

typedef double measure_team(const struct espi_view *v, struct espi_arena *arena);

/* measure gives NAN when out of memory. */
static esp_status measure_words(const struct esp_platform *team, measure_team *measure,
                                double *out_s, struct esp_err *err)
{
    struct espi_arena arena;
    struct espi_view v;
    espi_arena_init(&arena);
    esp_status st = espi_view_init(&v, team, WORDS_BYTES, &arena, err);
    double s = st ? 0 : measure(&v, &arena);
    espi_arena_done(&arena);
    if (isnan(s))
        st = espi_err_nomem(err);
    if (!st)
        *out_s = s;
    return st;
}

static double all_rounds(const struct espi_view *v, struct espi_arena *arena)
{
    (void)arena;
    return add_rounds(v);
}

esp_status espi_predict_agreement(const struct esp_platform *team, double *out_s,
                                  struct esp_err *err)
{
    return measure_words(team, all_rounds, out_s, err);
}

esp_status espi_predict_telling(const struct esp_platform *team,
                                const struct espi_native_library *library, int all_tell,
                                int root, double *out_s, struct esp_err *err)
{
    double n = team->n_hosts, s = 0;
    esp_op op = all_tell ? ESP_OP_ALLGATHER : ESP_OP_BCAST;
    double bytes = sizeof(uint64_t) * n * (all_tell ? n : 1);
    esp_status st =
        library ? espi_native_predict(library, team, op, root, bytes, &s, err) : ESP_OK;
    if (!st && !(s > 0))
        st = espi_predict_agreement(team, &s, err);
    if (!st)
        *out_s = s;
    return st;
}

/* Each goes on when it has heard from the one so far before it. */
static double disseminate(const struct espi_view *v, struct espi_arena *arena)
{
    int n = v->g.n;
    double *at_s = ESPI_ARENA_ZNEW(arena, double, n), last_s = 0;
    double *next_s = ESPI_ARENA_ZNEW(arena, double, n), far_s = farthest_s(v);
    if (!at_s || !next_s)
        return NAN;
    for (int by = 1; by < n; by *= 2) {
        for (int i = 0; i < n; i++) {
            int from = (i - by + n) % n;
            next_s[i] = fmax(at_s[i], at_s[from] + lag_between(v, from, i, far_s));
        }
        double *swap = at_s;
        at_s = next_s;
        next_s = swap;
    }
    for (int i = 0; i < n; i++)
        last_s = fmax(last_s, at_s[i]);
    return last_s;
}

esp_status espi_predict_barrier(const struct esp_platform *team, double *out_s,
                                struct esp_err *err)
{
    return measure_words(team, disseminate, out_s, err);
}

static double longest(const struct espi_view *v, struct espi_arena *arena)
{
    (void)arena;
    return farthest_s(v);
}

esp_status espi_longest_way(const struct esp_platform *team, double *out_s,
                            struct esp_err *err)
{
    return measure_words(team, longest, out_s, err);
}
