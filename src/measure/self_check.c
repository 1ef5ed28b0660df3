#include "measure/self_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/portable_math.h"
#include "measure/platform_flows.h"
#include "measure/tuning.h"

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Rounds of the same transfers count as one, with the mean of what each transfer got:
 * which of two has the greater part of a cable changes from time to time. Gives how many
 * there are. */
static int mean_of_same(const struct espi_trial_rounds *r, int first, double *seen)
{
    int n = r->start[first + 1] - r->start[first], times = 0;
    for (int i = 0; i < n; i++)
        seen[i] = 0;
    for (int k = first; k < r->n; k++) {
        if (r->same[k] != first)
            continue;
        times++;
        for (int i = 0; i < n; i++)
            seen[i] += r->flows[r->start[k] + i].Bps;
    }
    for (int i = 0; i < n; i++)
        seen[i] /= times;
    return times;
}

/* Transfers that came out otherwise each time, or faster once: no disturbance does that.
 */
static int count_surprises(const struct espi_round_forecast *f, const double *seen,
                           int times)
{
    int n = 0;
    for (int i = 0; i < f->n_flows; i++) {
        double more = espi_log(seen[i] / f->rate[i]);
        n += more > ESPI_SURPRISE || (times > 1 && more < -ESPI_SURPRISE);
    }
    return n;
}

static int find_deviations(struct espi_platform_flows *x,
                           const struct espi_trial_rounds *r, double *off, int *n_off,
                           int *surprises, struct espi_arena *arena)
{
    double *seen = ESPI_ARENA_NEW(arena, double, (size_t)r->start[r->n] + 1);
    struct espi_round_forecast f;
    if (!seen)
        return -1;
    for (int k = 0; k < r->n; k++) {
        if (r->same[k] != k)
            continue;
        struct espi_arena_mark mark = espi_arena_mark(arena);
        if (espi_round_forecast(x, &r->flows[r->start[k]], r->start[k + 1] - r->start[k],
                                &f, arena))
            return -1;
        *surprises += count_surprises(&f, seen, mean_of_same(r, k, seen));
        for (int i = 0; i < f.n_flows; i++)
            off[(*n_off)++] = fabs(f.rate[i] / seen[i] - 1);
        espi_arena_release(arena, mark);
    }
    return 0;
}

int espi_self_check(const struct esp_platform *p, const struct espi_samples *samples,
                    struct esp_measurement *out, int *surprises, struct espi_arena *arena)
{
    struct espi_trial_rounds checks = {0};
    struct espi_platform_flows x;
    int n = 0, again = 0;
    if (espi_platform_flows_init(&x, p, samples, arena) ||
        espi_trial_rounds_gather(&checks, samples, ESPI_SAMPLE_CHECK, arena))
        return -1;
    int rounds = checks.n + checks.n_beaten;
    espi_rounds_of_nodes(&x, &checks);
    double *off = ESPI_ARENA_NEW(arena, double, (size_t)checks.start[checks.n] + 1);
    if (!off || find_deviations(&x, &checks, off, &n, &again, arena))
        return -1;
    if (surprises)
        *surprises = again;
    qsort(off, (size_t)n, sizeof *off, by_value);
    *out = (struct esp_measurement){.rounds = rounds,
                                    .disturbed = checks.n_beaten,
                                    .transfers = n,
                                    .off_median = n ? off[n / 2] : 0,
                                    .off_95 = n ? off[n * 95 / 100] : 0};
    return 0;
}

int espi_measurement_is_bad(const struct esp_measurement *m)
{
    return m->transfers && (m->off_median > ESPI_SPREAD || m->off_95 > ESPI_SURPRISE);
}

int espi_measurement_is_disturbed(const struct esp_measurement *m)
{
    return m->disturbed > ESPI_DISTURBED * m->rounds;
}
