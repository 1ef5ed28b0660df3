/* After R. Wolski, N. Spring, J. Hayes, The Network Weather Service, 1999; the list of
 * predictors is that of its Forecast library. Departures: the adaptive medians compare
 * the medians of the three windows and stay within their bounds, as intended there; an
 * autoregression is in the list (the 1998 set had one). */
#include "forecast/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "forecast/tuning.h"

enum kind { LAST, MEAN, SMOOTH, MEDIAN, SLIDING, TRIMMED, ADAPTIVE, REGRESSION };

static const struct predictor {
    const char *name;
    enum kind kind;
    double gain;             /* of SMOOTH */
    int window;              /* of MEDIAN, SLIDING, TRIMMED */
    int least, most, offset; /* of ADAPTIVE; it starts with `window` */
} list[] = {
    {.name = "last value", .kind = LAST},
    {.name = "running mean", .kind = MEAN},
    {.name = "smoothing 0.05", .kind = SMOOTH, .gain = 0.05},
    {.name = "smoothing 0.10", .kind = SMOOTH, .gain = 0.10},
    {.name = "smoothing 0.15", .kind = SMOOTH, .gain = 0.15},
    {.name = "smoothing 0.20", .kind = SMOOTH, .gain = 0.20},
    {.name = "smoothing 0.30", .kind = SMOOTH, .gain = 0.30},
    {.name = "smoothing 0.40", .kind = SMOOTH, .gain = 0.40},
    {.name = "smoothing 0.50", .kind = SMOOTH, .gain = 0.50},
    {.name = "smoothing 0.75", .kind = SMOOTH, .gain = 0.75},
    {.name = "median of 31", .kind = MEDIAN, .window = 31},
    {.name = "median of 5", .kind = MEDIAN, .window = 5},
    {.name = "mean of 31", .kind = SLIDING, .window = 31},
    {.name = "mean of 5", .kind = SLIDING, .window = 5},
    {.name = "trimmed mean of 31", .kind = TRIMMED, .window = 31},
    {.name = "trimmed mean of 51", .kind = TRIMMED, .window = 51},
    {.name = "median of 5 to 21",
     .kind = ADAPTIVE,
     .window = 10,
     .least = 5,
     .most = 21,
     .offset = 1},
    {.name = "median of 21 to 51",
     .kind = ADAPTIVE,
     .window = 30,
     .least = 21,
     .most = 51,
     .offset = 5},
    {.name = "autoregression", .kind = REGRESSION},
};

enum { N_LIST = sizeof list / sizeof *list };

static const int spans[] = {0, 1, 5, 10, 20, 30, 50, 100}; /* 0: all of the past */

enum { N_SPANS = sizeof spans / sizeof *spans, N_SELECTORS = 2 * N_SPANS };

/* How well something predicted. */
struct score {
    double squared, absolute; /* sums over all of the past */
};

struct espi_series {
    long n;
    double sum;
    double recent[ESPI_FORECAST_WINDOW]; /* the last values, in a ring: value i is at i %
                                            ESPI_FORECAST_WINDOW */
    double next[N_LIST];                 /* what each says of the next value */
    double smooth[N_LIST];
    int window[N_LIST]; /* of the adaptive ones */
    struct score score[N_LIST];
    double error[ESPI_FORECAST_PAST][N_LIST]; /* of the last forecasts, in a ring */
    int chosen[N_SELECTORS]; /* predictor of each selector; first squared, then absolute
                              */
    struct score selector[N_SELECTORS];
};

/* ---- windows ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The last values, at most `window`, oldest first; gives how many. */
static int latest(const struct espi_series *s, int window, double *out)
{
    int n = s->n < window ? (int)s->n : window;
    for (int i = 0; i < n; i++)
        out[i] = s->recent[(s->n - n + i) % ESPI_FORECAST_WINDOW];
    return n;
}

static double median(const struct espi_series *s, int window)
{
    double v[ESPI_FORECAST_WINDOW];
    int n = latest(s, window, v);
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* The mean without that part of the values at either end. */
static double trimmed(const struct espi_series *s, int window, double part)
{
    double v[ESPI_FORECAST_WINDOW], sum = 0;
    int n = latest(s, window, v), cut = (int)(part * n);
    qsort(v, (size_t)n, sizeof *v, by_value);
    for (int i = cut; i < n - cut; i++)
        sum += v[i];
    return sum / (n - 2 * cut);
}

/* Coefficients by Levinson's recursion on the autocorrelations r[0 .. order]. */
static void levinson(const double *r, int order, double *a)
{
    double left = r[0];
    for (int k = 0; k < order; k++) {
        double before[ESPI_FORECAST_ORDER], reflection = r[k + 1];
        memcpy(before, a, sizeof before);
        for (int i = 0; i < k; i++)
            reflection -= before[i] * r[k - i];
        if (!(left > 0))
            return;
        reflection /= left;
        a[k] = reflection;
        for (int i = 0; i < k; i++)
            a[i] = before[i] - reflection * before[k - 1 - i];
        left *= 1 - reflection * reflection;
    }
}

static double regression(const struct espi_series *s)
{
    double v[ESPI_FORECAST_WINDOW], a[ESPI_FORECAST_ORDER] = {0},
                                    r[ESPI_FORECAST_ORDER + 1] = {0}, mean = 0, next = 0;
    int n = latest(s, ESPI_FORECAST_WINDOW, v),
        order = n / 3 < ESPI_FORECAST_ORDER ? n / 3 : ESPI_FORECAST_ORDER;
    for (int i = 0; i < n; i++)
        mean += v[i] / n;
    for (int k = 0; k <= order; k++)
        for (int i = k; i < n; i++)
            r[k] += (v[i] - mean) * (v[i - k] - mean);
    levinson(r, order, a);
    for (int k = 0; k < order; k++)
        next += a[k] * (v[n - 1 - k] - mean);
    return mean + next;
}

/* Moves the window by one towards the neighbour that would have told the value best. */
static void adapt(struct espi_series *s, int which, double value)
{
    const struct predictor *p = &list[which];
    int now = s->window[which], best = now;
    double least = fabs(median(s, now) - value);
    for (int side = -1; side <= 1; side += 2) {
        int other = now + side * p->offset;
        if (other < p->least || other > p->most)
            continue;
        double error = fabs(median(s, other) - value);
        if (error < least) {
            least = error;
            best = now + side;
        }
    }
    s->window[which] = best;
}

static double predict(const struct espi_series *s, int which)
{
    const struct predictor *p = &list[which];
    switch (p->kind) {
    case LAST:
        return s->recent[(s->n - 1) % ESPI_FORECAST_WINDOW];
    case MEAN:
        return s->sum / (double)s->n;
    case SMOOTH:
        return s->smooth[which];
    case MEDIAN:
        return median(s, p->window);
    case SLIDING:
        return trimmed(s, p->window, 0);
    case TRIMMED:
        return trimmed(s, p->window, 0.3); /* published: NWS */
    case ADAPTIVE:
        return median(s, s->window[which]);
    default:
        return regression(s);
    }
}

/* ---- errors ---- */

static void add_score(struct score *score, double error)
{
    score->squared += error * error;
    score->absolute += fabs(error);
}

/* What each predictor lost over the last forecasts, or over all. Time is the outer loop:
 * the sums of the predictors do not wait for each other. */
static void find_losses(const struct espi_series *s, int span, int squared,
                        double lost[N_LIST])
{
    long made = s->n - 1;
    for (int i = 0; i < N_LIST; i++)
        lost[i] = span ? 0 : squared ? s->score[i].squared : s->score[i].absolute;
    for (long at = made > span ? made - span : 0; span && at < made; at++) {
        const double *error = s->error[at % ESPI_FORECAST_PAST];
        for (int i = 0; i < N_LIST; i++)
            lost[i] += squared ? error[i] * error[i] : fabs(error[i]);
    }
}

static void choose_predictor(struct espi_series *s)
{
    for (int k = 0; k < N_SELECTORS; k++) {
        double lost[N_LIST], least = INFINITY;
        find_losses(s, spans[k % N_SPANS], k < N_SPANS, lost);
        for (int i = 0; i < N_LIST; i++)
            if (lost[i] < least) {
                least = lost[i];
                s->chosen[k] = i;
            }
    }
}

/* All that was said of the value that has come. */
static void judge_predictors(struct espi_series *s, double value)
{
    for (int k = 0; k < N_SELECTORS; k++)
        add_score(&s->selector[k], s->next[s->chosen[k]] - value);
    for (int i = 0; i < N_LIST; i++) {
        double error = s->next[i] - value;
        add_score(&s->score[i], error);
        s->error[(s->n - 1) % ESPI_FORECAST_PAST][i] = error;
    }
}

/* ---- the series ---- */

esp_status espi_series_create(struct espi_series **out, struct esp_err *err)
{
    struct espi_series *s = espi_calloc(1, sizeof *s);
    if (!s)
        return espi_err_nomem(err);
    for (int i = 0; i < N_LIST; i++)
        s->window[i] = list[i].window;
    *out = s;
    return ESP_OK;
}

void espi_series_free(struct espi_series *s)
{
    espi_free(s);
}

void espi_series_add(struct espi_series *s, double value)
{
    if (!isfinite(value))
        return;
    if (s->n > 0)
        judge_predictors(s, value);
    for (int i = 0; i < N_LIST; i++) {
        if (list[i].kind == SMOOTH)
            s->smooth[i] =
                s->n ? s->smooth[i] + list[i].gain * (value - s->smooth[i]) : value;
        else if (list[i].kind == ADAPTIVE && s->n)
            adapt(s, i, value);
    }
    s->recent[s->n % ESPI_FORECAST_WINDOW] = value;
    s->sum += value;
    s->n++;
    for (int i = 0; i < N_LIST; i++)
        s->next[i] = predict(s, i);
    choose_predictor(s);
}

static void tell_forecast(const struct espi_series *s, int which,
                          const struct score *score, struct espi_forecast *out)
{
    double made = s->n > 1 ? (double)(s->n - 1) : 1;
    *out = (struct espi_forecast){.value = s->next[which],
                                  .error = sqrt(score->squared / made),
                                  .mean_error = score->absolute / made,
                                  .method = list[which].name,
                                  .samples = s->n};
}

int espi_series_next(const struct espi_series *s, struct espi_forecast *out)
{
    int best = 0;
    if (s->n == 0)
        return -1;
    for (int k = 1; k < N_SELECTORS; k++)
        if (s->selector[k].squared < s->selector[best].squared)
            best = k;
    tell_forecast(s, s->chosen[best], &s->selector[best], out);
    return 0;
}

int espi_predictors(void)
{
    return N_LIST;
}

int espi_series_predictor(const struct espi_series *s, int which,
                          struct espi_forecast *out)
{
    if (s->n == 0)
        return -1;
    tell_forecast(s, which, &s->score[which], out);
    return 0;
}
