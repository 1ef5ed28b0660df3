/* Forecasts of series of measurements, in the manner of the Network Weather Service: many
 * simple predictors run side by side, and the one that erred least so far speaks.
 *
 * Predictors: the last value, the mean of all, means and medians and trimmed means of
 * windows, medians of windows that adapt, exponential smoothing of several gains, and an
 * autoregression. Each is asked for the next value before it comes, and its errors are
 * kept. Selectors choose the predictor of the least squared or absolute error over all of
 * the past or its last 1 to 100 values; the selector that itself erred least has the
 * word. Ties: the first of the list. */
#ifndef ESPI_FORECAST_FORECAST_H
#define ESPI_FORECAST_FORECAST_H

#include <stddef.h>

#include <espalier/status.h>

struct espi_forecast {
    double value;
    double error;       /* root of the mean squared error of such forecasts so far */
    double mean_error;  /* mean absolute error */
    const char *method; /* the predictor that spoke */
    long samples;
};

struct espi_series;

esp_status espi_series_create(struct espi_series **out, struct esp_err *err);
void espi_series_free(struct espi_series *s);

/* One more measurement; one that is not a finite number is passed over. O(predictors). */
void espi_series_add(struct espi_series *s, double value);

/* What comes next, with the least squared error expected; 0, or -1: there is no
 * measurement yet. */
int espi_series_next(const struct espi_series *s, struct espi_forecast *out);

/* One predictor alone, and how it did; its place in the list, 0 .. count - 1. */
int espi_predictors(void);
int espi_series_predictor(const struct espi_series *s, int which,
                          struct espi_forecast *out);

/* ---- the next call of an application ---- */

/* The value at index n of a line fitted to values 0 .. n - 1 by least squares; of one
 * value that value. n > 0. */
double espi_fit_next(const double *values, int n);

/* The same for what must stay positive and falls or grows by factors (gaps between
 * calls): the line is fitted to the logarithms where all values are positive. */
double espi_fit_next_positive(const double *values, int n);

#endif
