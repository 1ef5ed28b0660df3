#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define NUMBER_MAX 400 /* characters; longer numbers are refused */

/* ---- plain numbers ---- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct decimal {
    uint64_t digits;     /* the first 19 significant digits */
    int n_digits, exp10; /* value = digits * 10^exp10 while n_digits <= 19 */
    size_t length;
};

static size_t scan_digits(const char *s, size_t n, size_t at, struct decimal *d,
                          int scale)
{
    for (; at < n && is_digit(s[at]); at++) {
        if (d->n_digits < 19) {
            d->digits = d->digits * 10 + (uint64_t)(s[at] - '0');
            d->n_digits += d->digits != 0;
            d->exp10 -= scale;
        } else {
            d->n_digits = 20; /* too long for the fast way */
        }
    }
    return at;
}

/* Reads digits [. digits] [e [+-] digits]; length 0 when there is no number. An 'e' that
 * no digits follow is left alone: it may begin a unit. */
static struct decimal scan_decimal(const char *s, size_t n)
{
    struct decimal d = {0, 0, 0, 0};
    size_t at = scan_digits(s, n, 0, &d, 0), seen = at;
    if (at < n && s[at] == '.') {
        size_t end = scan_digits(s, n, at + 1, &d, 1);
        seen += end - at - 1;
        at = end;
    }
    if (seen == 0 || at > NUMBER_MAX)
        return d;
    d.length = at;
    if (at < n && (s[at] == 'e' || s[at] == 'E')) {
        size_t e = at + 1;
        int minus = e < n && s[e] == '-', exponent = 0;
        if (e < n && (s[e] == '-' || s[e] == '+'))
            e++;
        size_t first = e;
        for (; e < n && is_digit(s[e]); e++)
            exponent = exponent < 100000 ? exponent * 10 + (s[e] - '0') : exponent;
        if (e > first) {
            d.length = e <= NUMBER_MAX ? e : 0;
            d.exp10 += minus ? -exponent : exponent;
        }
    }
    return d;
}

/* The slow way. strtod would follow the locale of the program that loaded us. */
static double c_strtod(const char *s, size_t n)
{
    static locale_t c_locale; /* glibc's "C" is one static object: a race is harmless */
    locale_t c = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);
    if (!c) {
        c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!c)
            return HUGE_VAL;
        __atomic_store_n(&c_locale, c, __ATOMIC_RELEASE);
    }
    char copy[NUMBER_MAX + 1];
    memcpy(copy, s, n);
    copy[n] = '\0';
    return strtod_l(copy, NULL, c);
}

size_t espi_scan_number(const char *text, size_t length, double *value)
{
    /* With at most 15 digits and a power of ten up to 22, both are exact doubles and one
     * multiplication or division rounds correctly (Clinger 1990). */
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal d = scan_decimal(text, length);
    if (d.length == 0)
        return 0;
    double v;
    if (d.n_digits <= 15 && d.exp10 >= -22 && d.exp10 <= 22) {
        v = (double)d.digits;
        v = d.exp10 < 0 ? v / power[-d.exp10] : v * power[d.exp10];
    } else {
        v = c_strtod(text, d.length);
    }
    if (!isfinite(v))
        return 0;
    *value = v;
    return d.length;
}

int espi_parse_number(const char *text, size_t length, double *value)
{
    double v;
    size_t used = espi_scan_number(text, length, &v);
    if (used == 0 || used != length)
        return -1;
    *value = v;
    return 0;
}

/* ---- units ---- */

struct unit {
    const char *name;
    double times, over; /* one of the two is 1, so that there is one rounding only */
};

#define PER_SECOND(prefix, bytes, bits, over)                                            \
    {prefix "Bps", bytes, 1}, {prefix "B/s", bytes, 1}, {prefix "bps", bits, over},      \
        {prefix "bit/s", bits, over},                                                    \
    {                                                                                    \
        prefix "bit", bits, over                                                         \
    }

static const struct unit bandwidth_units[] = {
    PER_SECOND("", 1, 1, 8),
    PER_SECOND("k", 1e3, 125, 1),
    PER_SECOND("K", 1e3, 125, 1),
    PER_SECOND("M", 1e6, 125e3, 1),
    PER_SECOND("G", 1e9, 125e6, 1),
    PER_SECOND("T", 1e12, 125e9, 1),
    PER_SECOND("Ki", 1024.0, 128, 1),
    PER_SECOND("Mi", 1048576.0, 131072, 1),
    PER_SECOND("Gi", 1073741824.0, 134217728, 1),
    PER_SECOND("Ti", 1099511627776.0, 137438953472, 1),
    {NULL, 0, 0},
};

static const struct unit time_units[] = {
    {"s", 1, 1},           {"ms", 1, 1e3},        {"us", 1, 1e6},
    {"\xc2\xb5s", 1, 1e6}, {"\xce\xbcs", 1, 1e6}, {"ns", 1, 1e9},
    {"min", 60, 1},        {"h", 3600, 1},        {NULL, 0, 0},
};

static const struct unit size_units[] = {
    {"B", 1, 1},
    {"k", 1e3, 1},
    {"K", 1e3, 1},
    {"M", 1e6, 1},
    {"G", 1e9, 1},
    {"T", 1e12, 1},
    {"Ki", 1024, 1},
    {"Mi", 1048576, 1},
    {"Gi", 1073741824.0, 1},
    {"Ti", 1099511627776.0, 1},
    {"kB", 1e3, 1},
    {"KB", 1e3, 1},
    {"MB", 1e6, 1},
    {"GB", 1e9, 1},
    {"TB", 1e12, 1},
    {"KiB", 1024, 1},
    {"MiB", 1048576, 1},
    {"GiB", 1073741824.0, 1},
    {"TiB", 1099511627776.0, 1},
    {NULL, 0, 0},
};

static const struct {
    const char *name, *bare, *list;
    const struct unit *units;
} quantities[ESPI_QUANTITY_COUNT] = {
    [ESPI_BANDWIDTH] =
        {"a bandwidth", "bytes per second",
         "bps kbps Mbps Gbps Tbps Mbit Gbit Bps kBps MBps GBps TBps KiBps MiBps GiBps",
         bandwidth_units},
    [ESPI_TIME] = {"a time", "seconds", "ns us ms s min h", time_units},
    [ESPI_SIZE] = {"a size", "bytes", "B kB MB GB TB KiB MiB GiB TiB k M G", size_units},
};

int espi_parse_quantity(enum espi_quantity what, const char *text, size_t length,
                        double *value)
{
    double number;
    size_t at = espi_scan_number(text, length, &number);
    if (at == 0)
        return -1;
    if (at == length) {
        *value = number;
        return 0;
    }
    if (text[at] == ' ')
        at++;
    for (const struct unit *u = quantities[what].units; u->name; u++) {
        if (strlen(u->name) != length - at ||
            memcmp(u->name, text + at, length - at) != 0)
            continue;
        double scaled = u->over != 1 ? number / u->over : number * u->times;
        if (!isfinite(scaled))
            return -1;
        *value = scaled;
        return 0;
    }
    return -1;
}

int espi_parse_unit(enum espi_quantity what, const char *text, size_t length, double *one)
{
    char number[24];
    if (length == 0 || length > sizeof number - 2 || strchr("0123456789.", text[0]))
        return -1;
    int n = snprintf(number, sizeof number, "1%.*s", (int)length, text);
    return espi_parse_quantity(what, number, (size_t)n, one);
}

int espi_parse_bandwidth(const char *text, double *Bps)
{
    return espi_parse_quantity(ESPI_BANDWIDTH, text, strlen(text), Bps);
}

int espi_parse_time(const char *text, double *seconds)
{
    return espi_parse_quantity(ESPI_TIME, text, strlen(text), seconds);
}

int espi_parse_size(const char *text, double *bytes)
{
    return espi_parse_quantity(ESPI_SIZE, text, strlen(text), bytes);
}

const char *espi_quantity_name(enum espi_quantity what)
{
    return quantities[what].name;
}

const char *espi_quantity_units(enum espi_quantity what)
{
    return quantities[what].list;
}

/* "10G": is it of bits or of bytes? */
static int is_prefix_alone(enum espi_quantity what, const char *text, size_t length)
{
    double ignored;
    return what == ESPI_BANDWIDTH && length > 1 && strchr("kKMGT", text[length - 1]) &&
           text[length - 1] && espi_parse_number(text, length - 1, &ignored) == 0;
}

const char *espi_quantity_complaint(char *out, size_t out_size, enum espi_quantity what,
                                    const char *text, size_t length)
{
    char copy[64], quoted[48];
    size_t n = length < sizeof copy - 1 ? length : sizeof copy - 1;
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    espi_quote(quoted, sizeof quoted, copy);
    double ignored;
    if (length && text[0] == '-' &&
        espi_parse_quantity(what, text + 1, length - 1, &ignored) == 0)
        snprintf(out, out_size, "'%s' is negative", quoted);
    else if (is_prefix_alone(what, text, length))
        snprintf(out, out_size, "'%s' may be bits or bytes: say %sbps or %sBps", quoted,
                 quoted, quoted);
    else
        snprintf(out, out_size,
                 "'%s' is not %s (a number, alone for %s or with one of %s)", quoted,
                 quantities[what].name, quantities[what].bare, quantities[what].list);
    return out;
}

/* ---- for people ---- */

/* Four significant digits; the decimal point is a point in every locale. */
static void format_number(char *out, size_t out_size, double value)
{
    char text[64], *to = text;
    snprintf(text, sizeof text, "%.4g", value);
    int point_done = 0;
    for (const char *from = text; *from; from++) {
        if (strchr("0123456789+-einfa", *from))
            *to++ = *from;
        else if (!point_done++)
            *to++ = '.';
    }
    *to = '\0';
    snprintf(out, out_size, "%s", text);
}

struct scale {
    double from, unit;
    const char *name;
};

/* The last scale that begins at or below value; 0.99995 leaves room for rounding up. */
static const char *format_scaled(char *out, size_t out_size, double value,
                                 const struct scale *scales, int n)
{
    int k = 0;
    while (k + 1 < n && fabs(value) >= scales[k + 1].from * 0.99995)
        k++;
    if (value == 0)
        for (k = 0; scales[k].unit != 1;)
            k++;
    char number[64];
    format_number(number, sizeof number, value / scales[k].unit);
    snprintf(out, out_size, "%s %s", number, scales[k].name);
    return out;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

const char *espi_format_bandwidth(char *out, size_t out_size, double Bps)
{
    static const struct scale scales[] = {{0, 1, "B/s"},
                                          {1e3, 1e3, "kB/s"},
                                          {1e6, 1e6, "MB/s"},
                                          {1e9, 1e9, "GB/s"},
                                          {1e12, 1e12, "TB/s"}};
    return format_scaled(out, out_size, Bps, scales, COUNT(scales));
}

const char *espi_format_time(char *out, size_t out_size, double seconds)
{
    static const struct scale scales[] = {{0, 1e-9, "ns"},    {1e-6, 1e-6, "us"},
                                          {1e-3, 1e-3, "ms"}, {1, 1, "s"},
                                          {120, 60, "min"},   {7200, 3600, "h"}};
    return format_scaled(out, out_size, seconds, scales, COUNT(scales));
}

const char *espi_format_bytes(char *out, size_t out_size, double bytes)
{
    static const struct scale scales[] = {{0, 1, "B"},
                                          {1e3, 1e3, "kB"},
                                          {1e6, 1e6, "MB"},
                                          {1e9, 1e9, "GB"},
                                          {1e12, 1e12, "TB"}};
    return format_scaled(out, out_size, bytes, scales, COUNT(scales));
}
