/* The exponentials, logarithms and angles that are the same on every machine: near the C
 * library's, exact where that is promised, and the very bits that other machines give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "base/rng.h"

enum { DRAWS = 200000 };

static void assert_near(double found, double wanted, double relative, double x)
{
    if (!(fabs(found - wanted) <= relative * fabs(wanted) + 1e-300))
        fail_msg("at %.17g: %.17g, not %.17g", x, found, wanted);
}

static void near_those_of_the_library(void **state)
{
    struct espi_rng rng;
    (void)state;
    espi_rng_seed(&rng, 1);
    for (int i = 0; i < DRAWS; i++) {
        double x = espi_rng_range(&rng, -700, 700), y = exp(x), s, c;
        double little = espi_rng_range(&rng, -0.9, 3) * exp(fmin(x, 0) / 20);
        double angle = espi_rng_range(&rng, -1000, 1000);
        assert_near(espi_exp(x), y, 1e-15, x);
        assert_near(espi_exp(little), exp(little), 1e-15, little);
        assert_near(espi_exp2(x), exp2(x), 1e-15, x);
        assert_near(espi_log(y), log(y), 1e-15, y);
        assert_near(espi_log(1 + little), log(1 + little), 1e-15, 1 + little);
        assert_near(espi_log1p(little), log1p(little), 1e-15, little);
        espi_sin_cos(angle, &s, &c);
        assert_true(fabs(s - sin(angle)) < 1e-12 && fabs(c - cos(angle)) < 1e-12);
    }
}

static void at_the_ends(void **state)
{
    (void)state;
    assert_true(espi_exp(0) == 1 && espi_log(1) == 0 && espi_log1p(0) == 0);
    assert_true(espi_exp(-INFINITY) == 0 && espi_exp(-1e300) == 0);
    assert_true(espi_exp(710) == INFINITY && espi_exp(INFINITY) == INFINITY);
    assert_true(isfinite(espi_exp(709.7)));
    assert_true(espi_exp(-745) > 0 && espi_exp(-746) == 0);
    assert_true(espi_log(0) == -INFINITY && espi_log(INFINITY) == INFINITY);
    assert_true(isnan(espi_log(-1)) && isnan(espi_log(NAN)) && isnan(espi_exp(NAN)));
    assert_true(espi_exp2(-1e9) == 0 && espi_exp2(1024) == INFINITY);
    assert_near(espi_log(5e-324), log(5e-324), 1e-15, 5e-324);
    assert_near(espi_log(1.7e308), log(1.7e308), 1e-15, 1.7e308);
}

static void powers_and_decades_are_exact(void **state)
{
    double ten = 1;
    (void)state;
    for (int e = 0; e <= 22; e++, ten *= 10) { /* powers of ten that are doubles */
        assert_true(espi_power(10, e) == ten);
        assert_int_equal(espi_decade(ten), e);
        assert_int_equal(espi_decade(nextafter(ten, 0)), e - 1);
        assert_int_equal(espi_decade(nextafter(ten, INFINITY)), e);
    }
    for (int e = -30; e < 0; e++) {
        assert_near(espi_power(10, e), pow(10, e), 1e-15, e);
        assert_int_equal(espi_decade(1.001 * espi_power(10, e)), e);
        assert_int_equal(espi_decade(0.999 * espi_power(10, e)), e - 1);
    }
    for (int e = -1074; e < 1024; e++)
        assert_true(espi_exp2(e) == ldexp(1, e));
    assert_true(espi_power(3, 5) == 243 && espi_power(2, -3) == 0.125);
    assert_true(espi_power(0, 0) == 1 && espi_hypot(3, 4) == 5);
}

/* A hash over the bits of many results. It is the same under every compiler and on every
 * processor, or the plans of two ranks may differ. */
static void the_same_bits_everywhere(void **state)
{
    struct espi_rng rng;
    uint64_t hash = 1469598103934665603u;
    (void)state;
    espi_rng_seed(&rng, 2);
    for (int i = 0; i < DRAWS; i++) {
        double x = espi_rng_range(&rng, -50, 50), angle, found[6];
        angle = espi_rng_range(&rng, -50, 50);
        found[0] = espi_exp(x);
        found[1] = espi_log(found[0]);
        found[2] = espi_log1p(fabs(x) / 50);
        found[3] = espi_power(x, i % 40 - 20);
        espi_sin_cos(angle, &found[4], &found[5]);
        for (int k = 0; k < 6; k++) {
            uint64_t bits;
            memcpy(&bits, &found[k], sizeof bits);
            hash = (hash ^ bits) * 1099511628211u;
        }
    }
    assert_int_equal(hash, 0xe8dc5b7a330795fb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_those_of_the_library),
        cmocka_unit_test(at_the_ends),
        cmocka_unit_test(powers_and_decades_are_exact),
        cmocka_unit_test(the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
