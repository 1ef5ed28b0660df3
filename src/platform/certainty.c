#include "platform/certainty.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/platform.h"

enum { COUNT_MAX = 1000000000 }; /* limit: of what a file says */

void espi_certainty_done(struct espi_certainty *c)
{
    espi_free(c->links.at);
    espi_free(c->cables.at);
    memset(c, 0, sizeof *c);
}

/* ---- ranges ---- */

static const struct esp_rate_range unknown = {0, 0, ESP_UNSET};

static esp_status check_range(const struct esp_rate_range *range, double Bps,
                              struct esp_err *err)
{
    if (!(range->low_Bps > 0 && range->low_Bps <= Bps))
        return espi_err(err, ESP_EINPUT,
                        "low_Bps %g must be positive and not above the rate, %g B/s",
                        range->low_Bps, Bps);
    if (!(range->high_Bps >= Bps))
        return espi_err(err, ESP_EINPUT, "high_Bps %g must not be below the rate, %g B/s",
                        range->high_Bps, Bps);
    if (!(range->confidence >= 0 && range->confidence <= 1))
        return espi_err(err, ESP_EINPUT, "a confidence of %g is not between 0 and 1",
                        range->confidence);
    return ESP_OK;
}

esp_status espi_ranges_set(struct espi_ranges *r, int i, double Bps,
                           const struct esp_rate_range *range, struct esp_err *err)
{
    esp_status status = check_range(range, Bps, err);
    if (status)
        return status;
    if (espi_grow((void **)&r->at, &r->room, (size_t)i + 1, sizeof *r->at))
        return espi_err_nomem(err);
    while (r->n <= (size_t)i)
        r->at[r->n++] = unknown;
    r->at[i] = *range;
    return ESP_OK;
}

static int is_known(const struct espi_ranges *r, int i)
{
    return (size_t)i < r->n && r->at[i].confidence != ESP_UNSET;
}

struct esp_rate_range espi_ranges_get(const struct espi_ranges *r, int i, double Bps)
{
    return is_known(r, i) ? r->at[i] : (struct esp_rate_range){Bps, Bps, ESP_UNSET};
}

void espi_ranges_scale(struct espi_ranges *r, int i, double factor)
{
    if (!is_known(r, i))
        return;
    r->at[i].low_Bps *= factor;
    r->at[i].high_Bps *= factor;
}

int espi_ranges_equal(const struct espi_ranges *a, const struct espi_ranges *b, int n)
{
    for (int i = 0; i < n && (a->n || b->n); i++) {
        struct esp_rate_range x = espi_ranges_get(a, i, 0), y = espi_ranges_get(b, i, 0);
        if (x.low_Bps != y.low_Bps || x.high_Bps != y.high_Bps ||
            x.confidence != y.confidence)
            return 0;
    }
    return 1;
}

/* ---- measurements ---- */

esp_status espi_measurement_check(const struct esp_measurement *m, struct esp_err *err)
{
    if (m->rounds < 1 || m->rounds > COUNT_MAX || m->disturbed < 0 ||
        m->disturbed > m->rounds)
        return espi_err(err, ESP_EINPUT,
                        "a measurement has 1 to %d rounds, and no more that were "
                        "disturbed",
                        COUNT_MAX);
    if (m->transfers < 0 || m->transfers > COUNT_MAX)
        return espi_err(err, ESP_EINPUT, "a measurement predicts 0 to %d transfers",
                        COUNT_MAX);
    if (!(m->off_median >= 0 && m->off_median <= m->off_95 && isfinite(m->off_95)))
        return espi_err(err, ESP_EINPUT,
                        "off_median and off_95 must be finite, not negative, and the "
                        "first not above the second");
    if (m->transfers == 0 && m->off_95 > 0)
        return espi_err(err, ESP_EINPUT,
                        "off_95 says how far transfers were off, and transfers is 0");
    return ESP_OK;
}

int espi_measurement_equal(const struct esp_measurement *a,
                           const struct esp_measurement *b)
{
    return a->transfers == b->transfers && a->rounds == b->rounds &&
           a->disturbed == b->disturbed && a->off_median == b->off_median &&
           a->off_95 == b->off_95;
}

/* ---- of platforms ---- */

struct esp_rate_range esp_platform_link_range(const struct esp_platform *p, int link)
{
    if (!p || link < 0 || link >= p->n_links)
        return unknown;
    return espi_ranges_get(&p->certainty.links, link, p->bandwidth_Bps[link]);
}

struct esp_rate_range esp_platform_cable_range(const struct esp_platform *p, int cable)
{
    if (!p || cable < 0 || cable >= p->n_shared)
        return unknown;
    return espi_ranges_get(&p->certainty.cables, cable, p->shared_Bps[cable]);
}

const struct esp_measurement *esp_platform_measurement(const struct esp_platform *p)
{
    return p && p->certainty.measured.rounds ? &p->certainty.measured : NULL;
}
