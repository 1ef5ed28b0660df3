/* Writes the native format, espalier-platform/1, straight to the stream: a million links
 * need no memory. Numbers are printed so that they read back bit for bit. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_text.h"
#include "base/number.h"
#include "platform/platform.h"

static void put_number(FILE *out, const char *key, double value)
{
    char text[ESPI_NUMBER_MAX];
    espi_number_print(text, value);
    fprintf(out, ", \"%s\": %s", key, text);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    espi_json_put_string(out, text);
}

static void put_rates(const struct esp_platform *p, int i, FILE *out)
{
    struct esp_node_rates r = esp_platform_node_rates(p, i);
    const struct {
        const char *key;
        double value;
    } rates[] = {{"send_Bps", r.send_Bps},
                 {"recv_Bps", r.recv_Bps},
                 {"hold_s", r.hold_s},
                 {"hold_Bps", r.hold_Bps}};
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
        if (rates[k].value > 0)
            put_number(out, rates[k].key, rates[k].value);
}

static void put_machines(const struct esp_platform *p, int i, FILE *out)
{
    struct esp_machines m = espi_machines_get(&p->prices, i);
    if (m.usd_per_hour > 0)
        put_number(out, "usd_per_hour", m.usd_per_hour);
    if (m.max_count != 1)
        fprintf(out, ", \"max_count\": %d", m.max_count);
}

static void put_price(FILE *out, double usd_per_GB)
{
    if (usd_per_GB > 0)
        put_number(out, "usd_per_GB", usd_per_GB);
}

static void put_node(const struct esp_platform *p, int i, FILE *out)
{
    fputs(i ? ",\n    {" : "\n    {", out);
    put_text(out, "name", espi_node_name(p, i));
    if (p->node_site[i] >= 0) {
        fputs(", ", out);
        put_text(out, "site", esp_platform_node_site(p, i));
    }
    if (espi_is_switch(p, i))
        fputs(", \"kind\": \"switch\"", out);
    if (p->send_s[i] != ESP_UNSET)
        put_number(out, "send_s", p->send_s[i]);
    if (p->recv_s[i] != ESP_UNSET)
        put_number(out, "recv_s", p->recv_s[i]);
    put_rates(p, i, out);
    put_machines(p, i, out);
    fputs("}", out);
}

/* As it is given; a high_Bps that is not known is left out. */
static void put_range(FILE *out, const struct esp_rate_range *range)
{
    if (range->confidence == ESP_UNSET)
        return;
    put_number(out, "low_Bps", range->low_Bps);
    if (isfinite(range->high_Bps))
        put_number(out, "high_Bps", range->high_Bps);
    put_number(out, "confidence", range->confidence);
}

static int same_range(const struct esp_platform *p, int e, int f)
{
    struct esp_rate_range x = esp_platform_link_range(p, e),
                          y = esp_platform_link_range(p, f);
    return x.low_Bps == y.low_Bps && x.high_Bps == y.high_Bps &&
           x.confidence == y.confidence;
}

/* Is link e + 1 the exact opposite of link e? Then one entry stands for both. */
static int is_duplex(const struct esp_platform *p, int e)
{
    return e + 1 < p->n_links && p->tail[e] == p->head[e + 1] &&
           p->head[e] == p->tail[e + 1] && p->latency_s[e] == p->latency_s[e + 1] &&
           p->bandwidth_Bps[e] == p->bandwidth_Bps[e + 1] && same_range(p, e, e + 1) &&
           espi_price_get(&p->prices.links, e) == espi_price_get(&p->prices.links, e + 1);
}

static void put_links(const struct esp_platform *p, FILE *out)
{
    for (int e = 0; e < p->n_links; e++) {
        int duplex = is_duplex(p, e);
        fputs(e ? ",\n    {" : "\n    {", out);
        put_text(out, "from", espi_node_name(p, p->tail[e]));
        fputs(", ", out);
        put_text(out, "to", espi_node_name(p, p->head[e]));
        put_number(out, "latency_s", p->latency_s[e]);
        put_number(out, "bandwidth_Bps", p->bandwidth_Bps[e]);
        struct esp_rate_range range = esp_platform_link_range(p, e);
        put_range(out, &range);
        put_price(out, espi_price_get(&p->prices.links, e));
        fputs(duplex ? ", \"duplex\": true}" : "}", out);
        e += duplex;
    }
}

static void put_cable(const struct esp_platform *p, int s, FILE *out)
{
    const struct espi_rows *rows = &p->shared_links;
    fputs(s ? ",\n    {" : "\n    {", out);
    put_text(out, "name", espi_shared_name(p, s));
    put_number(out, "bandwidth_Bps", p->shared_Bps[s]);
    struct esp_rate_range range = esp_platform_cable_range(p, s);
    put_range(out, &range);
    put_price(out, espi_price_get(&p->prices.cables, s));
    fputs(", \"links\": [", out);
    for (int k = rows->start[s]; k < rows->start[s + 1]; k++) {
        int e = rows->item[k];
        fputs(k > rows->start[s] ? ", [" : "[", out);
        espi_json_put_string(out, espi_node_name(p, p->tail[e]));
        fputs(", ", out);
        espi_json_put_string(out, espi_node_name(p, p->head[e]));
        fputs("]", out);
    }
    fputs("]}", out);
}

static void put_measurement(const struct esp_platform *p, FILE *out)
{
    const struct esp_measurement *m = esp_platform_measurement(p);
    if (!m)
        return;
    fprintf(out, ",\n  \"measured\": {\"rounds\": %d, \"disturbed\": %d", m->rounds,
            m->disturbed);
    if (m->transfers) {
        fprintf(out, ", \"transfers\": %d", m->transfers);
        put_number(out, "off_median", m->off_median);
        put_number(out, "off_95", m->off_95);
    }
    fputs("}", out);
}

esp_status esp_platform_write_stream(const struct esp_platform *p, FILE *out,
                                     struct esp_err *err)
{
    fputs("{\n  \"format\": \"espalier-platform/1\",\n  ", out);
    put_text(out, "name", p->name);
    fprintf(out, ",\n  \"model\": \"%s\"", esp_model_name(p->model));
    put_measurement(p, out);
    fputs(",\n  \"nodes\": [", out);
    for (int i = 0; i < p->n_nodes; i++)
        put_node(p, i, out);
    fputs("\n  ],\n  \"links\": [", out);
    put_links(p, out);
    fputs("\n  ]", out);
    if (p->n_shared) {
        fputs(",\n  \"shared\": [", out);
        for (int s = 0; s < p->n_shared; s++)
            put_cable(p, s, out);
        fputs("\n  ]", out);
    }
    fputs("\n}\n", out);
    if (fflush(out) || ferror(out))
        return espi_err(err, ESP_EIO, "cannot write the platform: %s", strerror(errno));
    return ESP_OK;
}

static esp_status write_platform(const void *what, FILE *out, struct esp_err *err)
{
    return esp_platform_write_stream(what, out, err);
}

esp_status esp_platform_write(const struct esp_platform *p, const char *path,
                              struct esp_err *err)
{
    return espi_write_file(path, write_platform, p, err);
}
