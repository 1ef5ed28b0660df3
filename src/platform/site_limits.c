/* What one machine may send and receive at a site, as providers of clouds say it: each
 * node of the site gets a port out and a port in, a cable that all its links of that
 * direction share. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"
#include "platform/platform.h"

struct site_limit {
    double out_Bps, in_Bps; /* 0: nothing is said */
};

static esp_status bad_limit(const char *text, size_t length, const char *why,
                            struct esp_err *err)
{
    char copy[64], shown[96];
    size_t n = length < sizeof copy ? length : sizeof copy - 1;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return espi_err(err, ESP_EUSAGE,
                    "site limit '%s': %s (SITE=OUT/IN, as in aws=5Gbps/10Gbps, with "
                    "commas between them)",
                    espi_quote(shown, sizeof shown, copy), why);
}

static int find_site(const struct esp_platform *p, const char *text, size_t length)
{
    for (int s = 0; s < p->n_sites; s++) {
        const char *name = espi_names_text(&p->sites, s);
        if (strlen(name) == length && memcmp(name, text, length) == 0)
            return s;
    }
    return -1;
}

/* "aws=5Gbps/10Gbps" */
static esp_status read_limit(const struct esp_platform *p, const char *text,
                             size_t length, struct site_limit *limits,
                             struct esp_err *err)
{
    const char *equals = memchr(text, '=', length);
    const char *slash =
        equals ? memchr(equals, '/', (size_t)(text + length - equals)) : 0;
    if (!slash)
        return bad_limit(text, length, "there is no '=' or no '/'", err);
    int site = find_site(p, text, (size_t)(equals - text));
    if (site < 0)
        return bad_limit(text, length, "the platform has no such site", err);
    struct site_limit is = {0, 0};
    if (espi_parse_quantity(ESPI_BANDWIDTH, equals + 1, (size_t)(slash - equals - 1),
                            &is.out_Bps) ||
        espi_parse_quantity(ESPI_BANDWIDTH, slash + 1,
                            (size_t)(text + length - slash - 1), &is.in_Bps) ||
        !(is.out_Bps > 0 && is.in_Bps > 0))
        return bad_limit(text, length, "a rate is a positive bandwidth", err);
    if (limits[site].out_Bps > 0)
        return bad_limit(text, length, "the site is there twice", err);
    limits[site] = is;
    return ESP_OK;
}

static esp_status read_limits(const struct esp_platform *p, const char *text,
                              struct site_limit *limits, struct esp_err *err)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        esp_status st = read_limit(p, text, length, limits, err);
        if (st || !text[length])
            return st;
        text += length + 1;
    }
}

int espi_site_has_limit(const char *limits, const char *site)
{
    size_t length = strlen(site);
    while (strncmp(limits, site, length) != 0 || limits[length] != '=') {
        limits += strcspn(limits, ",");
        if (!*limits++)
            return 0;
    }
    return 1;
}

static esp_status add_port(struct esp_builder *b, const struct esp_platform *p, int node,
                           const char *direction, const struct espi_rows *rows,
                           double Bps, struct esp_err *err)
{
    int first = rows->start[node], n = rows->start[node + 1] - first;
    char *name = NULL;
    if (!n)
        return ESP_OK;
    size_t size = strlen(direction) + strlen(espi_node_name(p, node)) + 2;
    name = espi_malloc(size);
    if (!name)
        return espi_err_nomem(err);
    snprintf(name, size, "%s %s", direction, espi_node_name(p, node));
    esp_status st = esp_builder_add_cable(b, name, Bps, rows->item + first, n, err);
    espi_free(name);
    return st;
}

static esp_status add_ports(struct esp_builder *b, const struct esp_platform *p,
                            const struct site_limit *limits, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int v = 0; v < p->n_nodes && !st; v++) {
        int site = p->node_site[v];
        if (site < 0 || !(limits[site].out_Bps > 0))
            continue;
        st = add_port(b, p, v, "out of", &p->out, limits[site].out_Bps, err);
        if (!st)
            st = add_port(b, p, v, "into", &p->in, limits[site].in_Bps, err);
    }
    return st;
}

static esp_status set_machines(struct esp_builder *b, const struct esp_platform *p,
                               int max_count, double usd_per_hour, struct esp_err *err)
{
    esp_status st = ESP_OK;
    for (int v = 0; v < p->n_nodes && !st; v++) {
        struct esp_machines m = esp_platform_node_machines(p, v);
        if (espi_is_switch(p, v))
            continue;
        if (max_count > 0)
            m.max_count = max_count;
        if (usd_per_hour != ESP_UNSET)
            m.usd_per_hour = usd_per_hour;
        st = esp_builder_set_machines(b, v, &m, err);
    }
    return st;
}

esp_status espi_platform_with_limits(const struct esp_platform *p, const char *limits,
                                     int max_count, double usd_per_hour,
                                     struct esp_platform **out, struct esp_err *err)
{
    struct esp_builder *b = NULL;
    struct site_limit *by_site = espi_calloc((size_t)p->n_sites + 1, sizeof *by_site);
    if (!by_site)
        return espi_err_nomem(err);
    esp_status st = limits ? read_limits(p, limits, by_site, err) : ESP_OK;
    if (!st)
        st = espi_platform_begin_copy(p, &b, err);
    if (!st)
        st = add_ports(b, p, by_site, err);
    if (!st)
        st = set_machines(b, p, max_count, usd_per_hour, err);
    if (!st)
        st = esp_builder_build(b, out, err);
    esp_builder_free(b);
    espi_free(by_site);
    return st;
}
