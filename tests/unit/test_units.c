/* Numbers with units: what is read, what is refused, what is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "support/seed.h"

struct row {
    enum espi_quantity what;
    const char *text;
    double value;
};

static const struct row good[] = {
    {ESPI_BANDWIDTH, "100Mbps", 12.5e6},
    {ESPI_BANDWIDTH, "12.5MBps", 12.5e6},
    {ESPI_BANDWIDTH, "12.5 MB/s", 12.5e6},
    {ESPI_BANDWIDTH, "1.25GBps", 1.25e9},
    {ESPI_BANDWIDTH, "10KBps", 1e4},
    {ESPI_BANDWIDTH, "10kBps", 1e4},
    {ESPI_BANDWIDTH, "1MiBps", 1048576},
    {ESPI_BANDWIDTH, "1Mibps", 131072},
    {ESPI_BANDWIDTH, "8bps", 1},
    {ESPI_BANDWIDTH, "1bps", 0.125},
    {ESPI_BANDWIDTH, "10Gbit/s", 1.25e9},
    {ESPI_BANDWIDTH, "12500000", 12.5e6},
    {ESPI_BANDWIDTH, "1.25e7", 12.5e6},
    {ESPI_BANDWIDTH, "1.25E+7", 12.5e6},
    {ESPI_BANDWIDTH, ".5Bps", 0.5},
    {ESPI_BANDWIDTH, "5.Bps", 5},
    {ESPI_BANDWIDTH, "0", 0},
    {ESPI_TIME, "5ms", 0.005},
    {ESPI_TIME, "24us", 24e-6},
    {ESPI_TIME, "24\xc2\xb5s", 24e-6},
    {ESPI_TIME, "1.5s", 1.5},
    {ESPI_TIME, "3ns", 3e-9},
    {ESPI_TIME, "2min", 120},
    {ESPI_TIME, "1h", 3600},
    {ESPI_TIME, "0.25", 0.25},
    {ESPI_TIME, "1e-3ms", 1e-6},
    {ESPI_SIZE, "64MB", 64e6},
    {ESPI_SIZE, "64KiB", 65536},
    {ESPI_SIZE, "64KB", 64000},
    {ESPI_SIZE, "64kB", 64000},
    {ESPI_SIZE, "1TiB", 1099511627776.0},
    {ESPI_SIZE, "123", 123},
    {ESPI_SIZE, "7B", 7},
    {ESPI_SIZE, "64M", 64e6},
    {ESPI_SIZE, "10G", 10e9},
    {ESPI_SIZE, "2Mi", 2097152},
    {ESPI_BANDWIDTH, "100Mbit", 12.5e6},
};

static const struct row bad[] = {
    {ESPI_BANDWIDTH, "", 0},          {ESPI_BANDWIDTH, " 1", 0},
    {ESPI_BANDWIDTH, "1 ", 0},        {ESPI_BANDWIDTH, "-1", 0},
    {ESPI_BANDWIDTH, "+1", 0},        {ESPI_BANDWIDTH, "nan", 0},
    {ESPI_BANDWIDTH, "inf", 0},       {ESPI_BANDWIDTH, "Infinity", 0},
    {ESPI_BANDWIDTH, "0x10", 0},      {ESPI_BANDWIDTH, "1e", 0},
    {ESPI_BANDWIDTH, "1e+", 0},       {ESPI_BANDWIDTH, "1e999", 0},
    {ESPI_BANDWIDTH, "1e308TBps", 0}, {ESPI_BANDWIDTH, "1,5", 0},
    {ESPI_BANDWIDTH, "1.2.3", 0},     {ESPI_BANDWIDTH, ".", 0},
    {ESPI_BANDWIDTH, "Mbps", 0},      {ESPI_BANDWIDTH, "1Mups", 0},
    {ESPI_BANDWIDTH, "1mbps", 0},     {ESPI_BANDWIDTH, "1Mbpsx", 0},
    {ESPI_BANDWIDTH, "1  Mbps", 0},   {ESPI_BANDWIDTH, "1ms", 0},
    {ESPI_BANDWIDTH, "10G", 0},       {ESPI_TIME, "1Ms", 0},
    {ESPI_TIME, "1Mbps", 0},          {ESPI_TIME, "1 s s", 0},
    {ESPI_TIME, "1sec", 0},           {ESPI_SIZE, "64m", 0},
    {ESPI_SIZE, "64MBps", 0},         {ESPI_SIZE, "64Kib", 0},
};

static void good_quantities(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double v = -7;
        if (espi_parse_quantity(good[i].what, good[i].text, strlen(good[i].text), &v) ||
            v != good[i].value)
            fail_msg("%s: %.17g, not %.17g", good[i].text, v, good[i].value);
    }
}

static void bad_quantities(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double v = -7;
        if (!espi_parse_quantity(bad[i].what, bad[i].text, strlen(bad[i].text), &v) ||
            v != -7)
            fail_msg("'%s' was taken for %.17g", bad[i].text, v);
    }
}

static void plain_wrappers(void **state)
{
    (void)state;
    double v = 0;
    assert_int_equal(espi_parse_bandwidth("8kbps", &v), 0);
    assert_true(v == 1000);
    assert_int_equal(espi_parse_time("8ms", &v), 0);
    assert_true(v == 0.008);
    assert_int_equal(espi_parse_size("8kB", &v), 0);
    assert_true(v == 8000);
    assert_int_equal(espi_parse_size("8kbps", &v), -1);
}

/* A number embedded in a longer text is not read beyond its length. */
static void numbers_have_a_length(void **state)
{
    (void)state;
    double v = 0;
    assert_int_equal(espi_scan_number("12345", 2, &v), 2);
    assert_true(v == 12);
    assert_int_equal(espi_scan_number("1e5", 2, &v), 1);
    assert_int_equal(espi_parse_number("1.5;", 4, &v), -1);
    char many[1000];
    memset(many, '1', sizeof many);
    assert_int_equal(espi_parse_number(many, sizeof many, &v), -1);
    assert_int_equal(espi_parse_number(many, 300, &v), 0);
    many[300] = '\0';
    assert_true(v == strtod(many, NULL));
}

/* Both ways of conversion agree with libc's, bit for bit (the tests run in "C"); what is
 * out of range, as the largest numbers are when rounded to a digit, is no number here. */
static void same_as_strtod(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(11));
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = espi_rng_next(&r) >> 1;
        double want;
        memcpy(&want, &bits, sizeof want);
        if (i % 2)
            want = (double)espi_rng_below(&r, 1000000) / (1 << (i % 20));
        if (!(want < 1.7e308))
            continue;
        snprintf(text, sizeof text, "%.*g", 1 + (int)espi_rng_below(&r, 20), want);
        want = strtod(text, NULL);
        double v = -1;
        int refused = espi_parse_number(text, strlen(text), &v) != 0;
        want = isfinite(want) ? want : -1;
        if (refused != (want < 0) || memcmp(&v, &want, sizeof v))
            fail_msg("%s: %.17g, not %.17g", text, v, want);
    }
}

static void complaints(void **state)
{
    (void)state;
    char text[256];
    espi_quantity_complaint(text, sizeof text, ESPI_TIME, "3 fs", 4);
    assert_string_equal(text, "'3 fs' is not a time (a number, alone for seconds or with "
                              "one of ns us ms s min h)");
    espi_quantity_complaint(text, sizeof text, ESPI_BANDWIDTH, "-3Mbps", 6);
    assert_string_equal(text, "'-3Mbps' is negative");
    char huge[5000];
    memset(huge, '\n', sizeof huge);
    espi_quantity_complaint(text, sizeof text, ESPI_SIZE, huge, sizeof huge);
    assert_null(strchr(text, '\n'));
    assert_non_null(strstr(text, "..."));
    assert_string_equal(espi_quantity_name(ESPI_SIZE), "a size");
    assert_non_null(strstr(espi_quantity_units(ESPI_SIZE), "KiB"));
}

static void formats(void **state)
{
    (void)state;
    char t[32];
    assert_string_equal(espi_format_bandwidth(t, sizeof t, 12.5e6), "12.5 MB/s");
    assert_string_equal(espi_format_bandwidth(t, sizeof t, 0.5), "0.5 B/s");
    assert_string_equal(espi_format_bandwidth(t, sizeof t, 999999), "1 MB/s");
    assert_string_equal(espi_format_bandwidth(t, sizeof t, 3e15), "3000 TB/s");
    assert_string_equal(espi_format_time(t, sizeof t, 1.25e-3), "1.25 ms");
    assert_string_equal(espi_format_time(t, sizeof t, 24e-6), "24 us");
    assert_string_equal(espi_format_time(t, sizeof t, 0), "0 s");
    assert_string_equal(espi_format_time(t, sizeof t, 90), "90 s");
    assert_string_equal(espi_format_time(t, sizeof t, 150), "2.5 min");
    assert_string_equal(espi_format_time(t, sizeof t, 9000), "2.5 h");
    assert_string_equal(espi_format_bytes(t, sizeof t, 64e6), "64 MB");
    assert_string_equal(espi_format_bytes(t, sizeof t, 65536), "65.54 kB");
    assert_string_equal(espi_format_bytes(t, sizeof t, 17), "17 B");
}

/* What is printed can be read. */
static void formatted_is_read(void **state)
{
    (void)state;
    struct espi_rng r;
    espi_rng_seed(&r, test_seed(5));
    for (int i = 0; i < 10000; i++) {
        double x = espi_rng_log_range(&r, 1e-3, 1e14), y = 0;
        char t[32];
        espi_format_bandwidth(t, sizeof t, x);
        assert_int_equal(espi_parse_bandwidth(t, &y), 0);
        assert_true(y > x * 0.999 && y < x * 1.001);
        espi_format_time(t, sizeof t, x * 1e-6);
        assert_int_equal(espi_parse_time(t, &y), 0);
        assert_true(y > x * 0.999e-6 && y < x * 1.001e-6);
        espi_format_bytes(t, sizeof t, x);
        assert_int_equal(espi_parse_size(t, &y), 0);
        assert_true(y > x * 0.999 && y < x * 1.001);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_quantities), cmocka_unit_test(bad_quantities),
        cmocka_unit_test(plain_wrappers),  cmocka_unit_test(numbers_have_a_length),
        cmocka_unit_test(same_as_strtod),  cmocka_unit_test(complaints),
        cmocka_unit_test(formats),         cmocka_unit_test(formatted_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
