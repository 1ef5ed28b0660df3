#include "cli/printing/certainty.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/printing/output.h"
#include "measure/self_check.h"

const char *cli_range_text(char *out, size_t size, struct esp_rate_range range)
{
    char low[32], high[32];

    out[0] = '\0';
    if (range.confidence == ESP_UNSET)
        return out;
    espi_format_bandwidth(low, sizeof low, range.low_Bps);
    espi_format_bandwidth(high, sizeof high, range.high_Bps);
    if (isfinite(range.high_Bps))
        snprintf(out, size, "%s to %s", low, high);
    else
        snprintf(out, size, "at least %s", low);
    return out;
}

const char *cli_check_text(char *out, size_t size, const struct esp_platform *p)
{
    const struct esp_measurement *m = esp_platform_measurement(p);

    out[0] = '\0';
    if (m && m->transfers)
        snprintf(out, size,
                 "predicts transfers within %.2g%% (median), %.2g%% (95 of 100)",
                 100 * m->off_median, 100 * m->off_95);
    return out;
}

static void count_range(struct esp_rate_range range, int *known, int *open)
{
    *known += range.confidence != ESP_UNSET;
    *open += range.confidence != ESP_UNSET && isinf(range.high_Bps);
}

const char *cli_unsure_text(char *out, size_t size, const struct esp_platform *p)
{
    int known = 0, open = 0;

    out[0] = '\0';
    for (int c = 0; c < esp_platform_cable_count(p); c++)
        count_range(esp_platform_cable_range(p, c), &known, &open);
    for (int e = 0; e < esp_platform_link_count(p); e++)
        count_range(esp_platform_link_range(p, e), &known, &open);
    if (open)
        snprintf(out, size,
                 "%d of %d rates were never what limits: they are at least what is said",
                 open, known);
    return out;
}

const char *cli_measurement_warning(char *out, size_t size, const struct esp_platform *p)
{
    const struct esp_measurement *m = esp_platform_measurement(p);

    if (m && espi_measurement_is_disturbed(m))
        snprintf(
            out, size,
            "%d of %d rounds got less than when the same transfers ran again: the "
            "network or its hosts are under load. Measure again when they are quiet.",
            m->disturbed, m->rounds);
    else if (m && espi_measurement_is_bad(m))
        snprintf(out, size,
                 "these predictions are not good. Measure again with more time "
                 "(--budget), and see that nothing else runs meanwhile.");
    else
        return NULL;
    return out;
}

void cli_json_range(json_t *json, struct esp_rate_range range)
{
    if (range.confidence == ESP_UNSET)
        return;
    cli_json_real(json, "low_Bps", range.low_Bps);
    cli_json_real(json, "high_Bps", isfinite(range.high_Bps) ? range.high_Bps : NAN);
    cli_json_real(json, "confidence", range.confidence);
}

json_t *cli_measurement_json(const struct esp_platform *p)
{
    const struct esp_measurement *m = esp_platform_measurement(p);
    json_t *json = m ? json_object() : json_null();
    char warning[300];

    if (!m)
        return json;
    json_object_set_new(json, "rounds", json_integer(m->rounds));
    json_object_set_new(json, "disturbed", json_integer(m->disturbed));
    json_object_set_new(json, "transfers", json_integer(m->transfers));
    cli_json_real(json, "off_median", m->transfers ? m->off_median : NAN);
    cli_json_real(json, "off_95", m->transfers ? m->off_95 : NAN);
    const char *text = cli_measurement_warning(warning, sizeof warning, p);
    json_object_set_new(json, "warning", text ? json_string(text) : json_null());
    return json;
}
