/* Forecasts: the vector, the predictors computed naively, and what the choice promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "forecast/forecast.h"
#include "support/alloc_fail.h"
#include "support/seed.h"

static struct espi_series *series_of(const double *values, int n)
{
    struct espi_series *s;
    assert_int_equal(espi_series_create(&s, NULL), ESP_OK);
    for (int i = 0; i < n; i++)
        espi_series_add(s, values[i]);
    return s;
}

static struct espi_forecast by_name(const struct espi_series *s, const char *name)
{
    struct espi_forecast f = {0};
    for (int i = 0; i < espi_predictors(); i++) {
        assert_int_equal(espi_series_predictor(s, i, &f), 0);
        if (strcmp(f.method, name) == 0)
            return f;
    }
    fail_msg("no predictor is called %s", name);
    return f;
}

static void the_vector_comes_out(void **state)
{
    static const double values[] = {10, 12, 11, 13, 12, 30, 12, 11, 13, 12};
    static const struct {
        const char *name;
        double value, squared, absolute;
    } cases[] = {
        {"last value", 12, 73.778, 5.111},
        {"running mean", 13.6, 40.960, 3.501},
        {"smoothing 0.05", 11.477, 44.959, 3.368},
        {"smoothing 0.10", 12.421, 43.351, 3.280},
        {"smoothing 0.20", 13.249, 43.065, 3.718},
        {"smoothing 0.50", 12.688, 49.523, 4.292},
        {"median of 31", 12, 37.139, 2.722},
        {"median of 5", 12, 37.139, 2.722},
        {"mean of 5", 15.6, 44.517, 4.144},
        {"trimmed mean of 31", 12, 38.547, 2.787},
        {"trimmed mean of 51", 12, 38.547, 2.787},
    };
    (void)state;
    struct espi_series *s = series_of(values, 10);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct espi_forecast f = by_name(s, cases[i].name);
        assert_true(fabs(f.value - cases[i].value) < 6e-4);
        assert_true(fabs(f.error * f.error - cases[i].squared) < 6e-4);
        assert_true(fabs(f.mean_error - cases[i].absolute) < 6e-4);
    }
    espi_series_free(s);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double naive_median(const double *values, int n, int window)
{
    double v[64];
    int count = n < window ? n : window;
    memcpy(v, values + n - count, (size_t)count * sizeof *v);
    qsort(v, (size_t)count, sizeof *v, by_value);
    return (v[(count - 1) / 2] + v[count / 2]) / 2;
}

static double naive_mean(const double *values, int n, int window)
{
    int count = n < window ? n : window;
    double sum = 0;
    for (int i = n - count; i < n; i++)
        sum += values[i];
    return sum / count;
}

static void predictors_are_what_they_are_called(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(3));
    for (int round = 0; round < 60; round++) {
        double values[200];
        int n = 1 + (int)espi_rng_below(&rng, 200);
        for (int i = 0; i < n; i++)
            values[i] = espi_rng_range(&rng, 0, 100);
        struct espi_series *s = series_of(values, n);
        assert_true(by_name(s, "last value").value == values[n - 1]);
        assert_true(fabs(by_name(s, "running mean").value - naive_mean(values, n, n)) <
                    1e-9);
        assert_true(fabs(by_name(s, "mean of 5").value - naive_mean(values, n, 5)) <
                    1e-9);
        assert_true(fabs(by_name(s, "mean of 31").value - naive_mean(values, n, 31)) <
                    1e-9);
        assert_true(by_name(s, "median of 5").value == naive_median(values, n, 5));
        assert_true(by_name(s, "median of 31").value == naive_median(values, n, 31));
        espi_series_free(s);
    }
}

/* Over a long series the choice does nearly as well as the best predictor alone. */
static void the_choice_is_near_the_best(void **state)
{
    (void)state;
    struct espi_rng rng;
    espi_rng_seed(&rng, test_seed(9));
    for (int kind = 0; kind < 4; kind++) {
        struct espi_series *s;
        struct espi_forecast f, best = {.error = INFINITY};
        double level = 50, before = 0;
        assert_int_equal(espi_series_create(&s, NULL), ESP_OK);
        for (int i = 0; i < 600; i++) {
            double noise = espi_rng_gaussian(&rng, 0, 1), value = 50 + noise;
            if (kind == 1) /* a walk: the last value is best */
                value = level += noise;
            if (kind == 2) /* remembers: a regression is best */
                value = 50 + (before = 0.9 * before + noise);
            if (kind == 3) /* spikes: medians are best */
                value = espi_rng_below(&rng, 10) ? value : 500;
            espi_series_add(s, value);
        }
        for (int i = 0; i < espi_predictors(); i++) {
            struct espi_forecast one;
            espi_series_predictor(s, i, &one);
            if (one.error < best.error)
                best = one;
        }
        assert_int_equal(espi_series_next(s, &f), 0);
        assert_true(f.error <= 1.1 * best.error);
        assert_true(f.mean_error <= f.error * (1 + 1e-12));
        espi_series_free(s);
    }
}

static void a_steady_series_has_no_error(void **state)
{
    (void)state;
    struct espi_series *s;
    struct espi_forecast f;
    assert_int_equal(espi_series_create(&s, NULL), ESP_OK);
    assert_int_equal(espi_series_next(s, &f), -1);
    espi_series_add(s, NAN);
    espi_series_add(s, INFINITY);
    assert_int_equal(espi_series_next(s, &f), -1);
    espi_series_add(s, 7);
    assert_int_equal(espi_series_next(s, &f), 0);
    assert_true(f.value == 7 && f.samples == 1);
    for (int i = 0; i < 300; i++)
        espi_series_add(s, 7);
    assert_int_equal(espi_series_next(s, &f), 0);
    assert_true(fabs(f.value - 7) < 1e-12 && f.error < 1e-12);
    espi_series_free(s);
}

static void the_next_call_is_fitted(void **state)
{
    static const double sizes[] = {1000, 900, 800}, gaps[] = {90, 45, 22.5};
    static const double with_zero[] = {4, 2, 0};
    (void)state;
    assert_true(fabs(espi_fit_next(sizes, 3) - 700) < 1e-9);
    assert_true(fabs(espi_fit_next(gaps, 3) - -15) < 1e-9);
    assert_true(fabs(espi_fit_next_positive(gaps, 3) - 11.25) < 1e-9);
    assert_true(espi_fit_next_positive(with_zero, 3) == 0);
    assert_true(espi_fit_next(sizes, 1) == 1000);
    assert_true(fabs(espi_fit_next_positive(sizes, 1) - 1000) < 1e-9);
}

static esp_status make(void *arg)
{
    struct espi_series *s;
    (void)arg;
    esp_status st = espi_series_create(&s, NULL);
    if (!st)
        espi_series_free(s);
    return st;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    assert_int_equal(alloc_fail_each(make, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_comes_out),
        cmocka_unit_test(predictors_are_what_they_are_called),
        cmocka_unit_test(the_choice_is_near_the_best),
        cmocka_unit_test(a_steady_series_has_no_error),
        cmocka_unit_test(the_next_call_is_fitted),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
