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
            "network or its hosts were under load. Measure again when they are quiet.",
            m->disturbed, m->rounds);
    else if (m && espi_measurement_is_bad(m))
        snprintf(out, size,
                 "that is not good. Measure again with more time "
                 "(--budget), and see that nothing else runs meanwhile.");
    else
        return NULL;
    return out;
}

/* A link that is as fast as the slowest of its cables is known as these are. */
static struct esp_rate_range link_range(const struct esp_platform *p, int link)
{
    struct esp_rate_range range = esp_platform_link_range(p, link);
    double Bps = esp_platform_link_bandwidth_Bps(p, link), high_Bps = INFINITY;
    int is_own = 1;

    for (int k = 0; k < esp_platform_link_cable_count(p, link); k++) {
        struct esp_rate_range cable =
            esp_platform_cable_range(p, esp_platform_link_cable(p, link, k));
        double rate =
            esp_platform_cable_bandwidth_Bps(p, esp_platform_link_cable(p, link, k));
        range.low_Bps = fmin(range.low_Bps, cable.low_Bps);
        high_Bps = fmin(high_Bps, cable.high_Bps);
        is_own &= rate > Bps;
    }
    if (!is_own)
        range.high_Bps = fmax(Bps, high_Bps);
    return range;
}

/* Prices that prove a limit prove one for other rates, too: each resource counts with its
 * share times what its rate has become. */
int cli_bound_range(const struct esp_platform *p, const struct esp_bound *b,
                    struct esp_rate_range *out)
{
    double low = 0, high = 0;

    for (int i = 0; i < b->n_bottlenecks; i++) {
        const struct esp_bottleneck *x = b->bottlenecks[i];
        struct esp_rate_range range = {1, 1, ESP_UNSET};
        double Bps = 1;
        if (x->kind == ESP_RESOURCE_CABLE) {
            range = esp_platform_cable_range(p, x->owner);
            Bps = esp_platform_cable_bandwidth_Bps(p, x->owner);
        } else if (x->kind == ESP_RESOURCE_LINK) {
            range = link_range(p, x->owner);
            Bps = esp_platform_link_bandwidth_Bps(p, x->owner);
        }
        low += x->price * range.low_Bps / Bps;
        high += x->price * range.high_Bps / Bps;
    }
    *out = (struct esp_rate_range){low * b->throughput_Bps, high * b->throughput_Bps, 0};
    return b->n_bottlenecks > 0 && high > low && isfinite(b->throughput_Bps);
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
