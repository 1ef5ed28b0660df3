/* How sure the rates of a measured platform are.
 *
 * A round tells the rate of a cable (or of a port, which is one) when by the platform the
 * cable is clearly the reason why its transfers were no faster. What it carried in all
 * those rounds are values about its rate, and between which of them the middle lies is a
 * matter of counting: of n values all lie above it, or all below, in one of 2^(n-1)
 * cases. So the range is that of the k-th smallest to the k-th largest value, with the
 * confidence 1 - 2 (C(n,0) + ... + C(n,k-1)) / 2^n, for the largest k that leaves
 * ESPI_SURE of it.
 *
 * Most cables have too few values for that. How far values are off is learned from all
 * cables together: by how much two values of one cable differ, which is more than one of
 * them differs from the truth. Of m such pairs the k-th smallest difference is not
 * exceeded by the next with a chance of k / (m + 1); by so much the range is widened.
 *
 * A cable that never was the reason has at least the rate that was seen, as often as that
 * was seen: m values near the best are a chance of 1 - 1 / 2^m. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "measure/certainty_of_rates.h"
#include "measure/platform_flows.h"

enum { VALUES_MAX = 1000 }; /* rounding: 2^1000 is a number */

struct carried {
    int resource, held, order;
    double Bps;
};

struct carried_list {
    struct carried *at;
    int n;
};

static int by_resource(const void *x, const void *y)
{
    const struct carried *a = x, *b = y;
    if (a->resource != b->resource)
        return a->resource < b->resource ? -1 : 1;
    if (a->held != b->held)
        return a->held ? -1 : 1;
    return a->order - b->order;
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* ---- ranges from values ---- */

/* Values are off by no more than this part, with that confidence. */
struct deviation {
    double part, confidence;
};

/* Of very many values every so many will do: 1 / 2^n must be a number. */
struct esp_rate_range espi_range_of_values(const double *sorted, int all)
{
    int step = 1 + all / VALUES_MAX, n = (all + step - 1) / step, k = 0;
    double outside = 0, term = 2; /* twice C(n, i) / 2^n */
    for (int i = 0; i < n; i++)
        term /= 2;
    for (int i = 0; 2 * (i + 1) <= n + 1; i++) {
        if (i > 0 && outside + term > 1 - ESPI_SURE)
            break;
        outside += term;
        term *= (double)(n - i) / (i + 1);
        k = i;
    }
    return (struct esp_rate_range){sorted[k * step], sorted[(n - 1 - k) * step],
                                   fmax(0, 1 - outside)};
}

/* Few values, and by how much values deviate elsewhere. */
static struct esp_rate_range widened(const double *sorted, int n,
                                     const struct deviation *usual)
{
    return (struct esp_rate_range){sorted[0] * (1 - usual->part),
                                   sorted[n - 1] * (1 + usual->part), usual->confidence};
}

static struct esp_rate_range at_least(const double *sorted, int n)
{
    int first = n - 1;
    double chance = 0.5;
    while (first > 0 && sorted[first - 1] >= ESPI_BORNE_OUT * sorted[n - 1]) {
        first--;
        chance /= 2;
    }
    return (struct esp_rate_range){sorted[first], INFINITY, 1 - chance};
}

/* ---- values from rounds ---- */

static int gather_carried(struct espi_platform_flows *x,
                          const struct espi_trial_rounds *rounds,
                          struct carried_list *list, struct espi_arena *arena)
{
    struct espi_round_forecast f;
    for (int k = 0; k < rounds->n; k++) {
        const struct espi_trial_flow *flows = &rounds->flows[rounds->start[k]];
        struct espi_arena_mark mark = espi_arena_mark(arena);
        if (espi_round_forecast(x, flows, rounds->start[k + 1] - rounds->start[k], &f,
                                arena))
            return -1;
        for (int r = 0; r < f.n; r++)
            list->at[list->n++] =
                (struct carried){f.resource[r], espi_round_is_held(&f, r), k,
                                 espi_round_seen(&f, flows, r)};
        espi_arena_release(arena, mark);
    }
    qsort(list->at, (size_t)list->n, sizeof *list->at, by_resource);
    return 0;
}

/* Pairs of values of one resource, none of them twice. */
static struct deviation usual_deviation(const struct carried_list *list, double *pairs)
{
    int n = 0;
    for (int i = 0; i + 1 < list->n; i++) {
        const struct carried *a = &list->at[i], *b = &list->at[i + 1];
        if (!a->held || !b->held || a->resource != b->resource)
            continue;
        pairs[n++] = 1 - fmin(a->Bps, b->Bps) / fmax(a->Bps, b->Bps);
        i++;
    }
    qsort(pairs, (size_t)n, sizeof *pairs, by_value);
    int k = (int)ceil(ESPI_SURE * (n + 1));
    k = k < n ? k : n;
    return (struct deviation){n ? pairs[k - 1] : 0, (double)k / (n + 1)};
}

static struct esp_rate_range range_of(const struct carried *at, int n, double *values,
                                      const struct deviation *usual)
{
    int held = 0;
    while (held < n && at[held].held)
        held++;
    n = held ? held : n;
    for (int i = 0; i < n; i++)
        values[i] = at[i].Bps;
    qsort(values, (size_t)n, sizeof *values, by_value);
    if (!held)
        return at_least(values, n);
    struct esp_rate_range counted = espi_range_of_values(values, n);
    return counted.confidence < usual->confidence ? widened(values, n, usual) : counted;
}

/* Links that share cables are sure as these are. */
static esp_status note_range(const struct esp_platform *p, int resource,
                             struct esp_rate_range range, struct espi_certainty *out,
                             struct esp_err *err)
{
    int is_cable = resource < p->n_shared, i = resource - (is_cable ? 0 : p->n_shared);
    double Bps = is_cable ? p->shared_Bps[i] : p->bandwidth_Bps[i];
    if (!is_cable && esp_platform_link_cable_count(p, i) > 0)
        return ESP_OK;
    range.low_Bps = fmin(range.low_Bps, Bps);
    range.high_Bps = fmax(range.high_Bps, Bps);
    return espi_ranges_set(is_cable ? &out->cables : &out->links, i, Bps, &range, err);
}

esp_status espi_certainty_of_rates(const struct esp_platform *p,
                                   const struct espi_samples *samples,
                                   struct espi_certainty *out, struct espi_arena *arena,
                                   struct esp_err *err)
{
    struct espi_platform_flows x;
    struct espi_trial_rounds rounds = {0};
    struct carried_list list = {0};
    esp_status status = ESP_OK;
    if (espi_platform_flows_init(&x, p, samples, arena) ||
        espi_trial_rounds_gather(&rounds, samples, ESPI_SAMPLE_RATE, arena))
        return espi_err_nomem(err);
    espi_rounds_of_nodes(&x, &rounds);
    size_t room = espi_rounds_uses(&x, &rounds, arena);
    double *values = ESPI_ARENA_NEW(arena, double, room);
    list.at = ESPI_ARENA_NEW(arena, struct carried, room);
    if (!room || !values || !list.at || gather_carried(&x, &rounds, &list, arena))
        return espi_err_nomem(err);
    struct deviation usual = usual_deviation(&list, values);
    for (int i = 0, end; i < list.n && !status; i = end) {
        for (end = i; end < list.n && list.at[end].resource == list.at[i].resource;)
            end++;
        status = note_range(p, list.at[i].resource,
                            range_of(&list.at[i], end - i, values, &usual), out, err);
    }
    return status;
}
