/* The tuned constants of this room; docs/tuning.md is written from here (tools/tuning).
 */
#ifndef ESPI_FORECAST_TUNING_H
#define ESPI_FORECAST_TUNING_H

/* Values of a series that predictors look back on.
 * unit: values
 * trades: larger, memory and time; smaller, slow trends are not seen
 * shown by: build/release/tests/test_forecast
 * chosen on: the list of predictors of the Network Weather Service (Wolski, Spring
 * and Hayes 1999) */
enum { ESPI_FORECAST_WINDOW = 51 };

/* Errors kept of each predictor, by which the next forecast is chosen.
 * unit: forecasts
 * trades: larger, a change of behaviour is noticed later; smaller, luck chooses
 * shown by: build/release/tests/test_forecast
 * chosen on: not measured */
enum { ESPI_FORECAST_PAST = 100 };

/* Terms of the autoregression.
 * unit: terms
 * trades: larger, it follows noise; smaller, it misses periods
 * shown by: build/release/tests/test_forecast
 * chosen on: not measured */
enum { ESPI_FORECAST_ORDER = 4 };

#endif
