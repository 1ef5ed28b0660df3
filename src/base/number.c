#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/portable_math.h"
#include "base/units.h"

/* printf follows the locale: its decimal separator may be another than a point. */
static void point_for_comma(char *text)
{
    for (char *c = text; *c; c++)
        if (!strchr("0123456789+-e", *c)) {
            *c = '.';
            char *rest = c + 1; /* a separator of several bytes */
            while (*rest && !strchr("0123456789+-e", *rest))
                rest++;
            memmove(c + 1, rest, strlen(rest) + 1);
            return;
        }
}

int espi_number_print(char out[ESPI_NUMBER_MAX], double value)
{
    /* 6 digits are what people write, 15 always survive as text, 17 as double. */
    static const int precisions[] = {6, 15, 16, 17};
    int minus = value < 0;
    for (int i = 0; i < 4; i++) {
        double back;
        snprintf(out, ESPI_NUMBER_MAX, "%.*g", precisions[i], value);
        point_for_comma(out);
        size_t n = strlen(out + minus);
        if (espi_scan_number(out + minus, n, &back) == n &&
            back == (minus ? -value : value))
            break;
    }
    return (int)strlen(out);
}

double espi_round_digits(double value, int digits)
{
    if (!isfinite(value) || value == 0)
        return value;
    int places = digits - 1 - espi_decade(fabs(value));
    double unit = espi_power(10, places < 0 ? -places : places);
    return places < 0 ? nearbyint(value / unit) * unit : nearbyint(value * unit) / unit;
}
