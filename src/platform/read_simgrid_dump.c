/* What espalier-simgrid prints of a SimGrid platform; the lines are described there.
 *
 * Two hosts with a route between them are joined by a link: latency that of the route,
 * bandwidth the least of the route's SimGrid links. A SimGrid link on the routes of
 * several pairs of hosts (a network card, a backbone, a WAN cable) becomes a shared
 * cable, unless its policy is fatpipe; one that a route crosses twice counts once. Zones
 * become sites.
 *
 * The default model is `capacity`: SimGrid limits links, and nothing else, so with the
 * shared cables everything is said; ports would limit the hosts a second time.
 *
 * The text comes from another process and is not trusted. Linear in its length. */
#include "platform/readers.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/scan.h"

struct cable {
    double bandwidth_Bps;
    int is_shared;
    size_t name; /* offset in text */
};

struct use {
    int cable, link;
};

struct dump {
    struct espi_lines lines;
    char label[200];
    struct esp_builder *b;
    int n_hosts, n_cables;
    struct cable *cables;
    char *text; /* names of cables, each ended by '\0' */
    struct use *uses;
    size_t cable_cap, text_size, text_cap, n_uses, use_cap;
    int ended;
};

/* ---- fields ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes %XX; a lone % is the empty name, which may_be_empty allows. */
static esp_status read_name(const struct dump *d, struct espi_span s, int may_be_empty,
                            char name[ESPI_NAME_MAX + 1], struct esp_err *err)
{
    char plain[ESPI_NAME_MAX + 2];
    struct espi_span span = {plain, 0};
    name[0] = '\0';
    if (may_be_empty && espi_span_is(s, "%"))
        return ESP_OK;
    for (size_t i = 0; i < s.length && span.length < sizeof plain; i++) {
        int high = -1, low = -1;
        if (s.text[i] == '%' && s.length - i > 2) {
            high = hex_digit(s.text[i + 1]);
            low = hex_digit(s.text[i + 2]);
        }
        if (s.text[i] == '%' && (high < 0 || low < 0))
            return espi_lines_err(&d->lines, err, "a %% without two digits");
        plain[span.length++] = high < 0 ? s.text[i] : (char)(high * 16 + low);
        i += high < 0 ? 0 : 2;
    }
    return espi_lines_name(&d->lines, span, name, err) ? ESP_EINPUT : ESP_OK;
}

static esp_status read_value(const struct dump *d, struct espi_span s, double *v,
                             struct esp_err *err)
{
    if (espi_parse_number(s.text, s.length, v) == 0)
        return ESP_OK;
    char quoted[48];
    return espi_lines_err(&d->lines, err, "'%s' is not a number of zero or more",
                          espi_span_quote(quoted, sizeof quoted, s));
}

static esp_status read_index(const struct dump *d, struct espi_span s, int count,
                             int *out, struct esp_err *err)
{
    double v = -1;
    if (espi_parse_number(s.text, s.length, &v) || !(v < count) || v != (int)v) {
        char quoted[48];
        return espi_lines_err(&d->lines, err, "there is no number '%s' of %d",
                              espi_span_quote(quoted, sizeof quoted, s), count);
    }
    *out = (int)v;
    return ESP_OK;
}

/* ---- lines ---- */

static esp_status read_host(struct dump *d, struct espi_span rest, struct esp_err *err)
{
    struct espi_span f[2];
    char name[ESPI_NAME_MAX + 1], site[ESPI_NAME_MAX + 1];
    if (espi_split(rest, f, 2) != 2)
        return espi_lines_err(&d->lines, err, "a host without name and zone");
    esp_status status = read_name(d, f[0], 0, name, err);
    if (!status)
        status = read_name(d, f[1], 1, site, err);
    if (status)
        return status;
    if (esp_builder_find_node(d->b, name) >= 0)
        return espi_lines_err(&d->lines, err, "host '%s' stands twice", name);
    struct esp_node_spec spec = {name, site[0] ? site : NULL, ESP_NODE_HOST, ESP_UNSET,
                                 ESP_UNSET};
    d->n_hosts++;
    return esp_builder_add_node(d->b, &spec, NULL, err);
}

static esp_status read_cable(struct dump *d, struct espi_span rest, struct esp_err *err)
{
    struct espi_span f[4];
    char name[ESPI_NAME_MAX + 1];
    double latency_s;
    struct cable c = {.name = d->text_size};
    if (espi_split(rest, f, 4) != 4)
        return espi_lines_err(&d->lines, err, "a link without its four values");
    esp_status status = read_name(d, f[0], 0, name, err);
    if (!status)
        status = read_value(d, f[1], &c.bandwidth_Bps, err);
    if (!status)
        status = read_value(d, f[2], &latency_s, err);
    if (status)
        return status;
    c.is_shared = espi_span_is(f[3], "shared");
    if (!c.is_shared && !espi_span_is(f[3], "fatpipe"))
        return espi_lines_err(&d->lines, err, "a policy that is none");
    size_t n = strlen(name) + 1;
    if (espi_grow((void **)&d->cables, &d->cable_cap, (size_t)d->n_cables + 1,
                  sizeof c) ||
        espi_grow((void **)&d->text, &d->text_cap, d->text_size + n, 1))
        return espi_err_nomem(err);
    memcpy(d->text + d->text_size, name, n);
    d->text_size += n;
    d->cables[d->n_cables++] = c;
    return ESP_OK;
}

/* The links of a route: notes that `link` uses them and finds the least bandwidth. */
static esp_status read_hops(struct dump *d, struct espi_span *rest, int link,
                            double *bandwidth_Bps, struct esp_err *err)
{
    struct espi_span field;
    *bandwidth_Bps = -1;
    while (espi_next_field(rest, &field)) {
        struct use u = {0, link};
        esp_status status = read_index(d, field, d->n_cables, &u.cable, err);
        if (status)
            return status;
        const struct cable *c = &d->cables[u.cable];
        if (c->bandwidth_Bps <= 0)
            return espi_lines_err(&d->lines, err,
                                  "the bandwidth of link '%s' must be more than zero",
                                  d->text + c->name);
        if (*bandwidth_Bps < 0 || c->bandwidth_Bps < *bandwidth_Bps)
            *bandwidth_Bps = c->bandwidth_Bps;
        if (!c->is_shared)
            continue;
        if (espi_grow((void **)&d->uses, &d->use_cap, d->n_uses + 1, sizeof u))
            return espi_err_nomem(err);
        d->uses[d->n_uses++] = u;
    }
    if (*bandwidth_Bps < 0)
        return espi_lines_err(&d->lines, err, "a route without links");
    return ESP_OK;
}

static esp_status read_route(struct dump *d, struct espi_span rest, int link,
                             struct esp_err *err)
{
    struct espi_span f[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    int from, to;
    double latency_s, bandwidth_Bps;
    for (int i = 0; i < 3; i++)
        espi_next_field(&rest, &f[i]);
    esp_status status = read_index(d, f[0], d->n_hosts, &from, err);
    if (!status)
        status = read_index(d, f[1], d->n_hosts, &to, err);
    if (!status)
        status = read_value(d, f[2], &latency_s, err);
    if (!status)
        status = read_hops(d, &rest, link, &bandwidth_Bps, err);
    if (status)
        return status;
    if (from == to)
        return espi_lines_err(&d->lines, err, "a route from host %d to itself", from);
    return esp_builder_add_link(d->b, from, to, latency_s, bandwidth_Bps, NULL, err);
}

static esp_status read_lines(struct dump *d, struct esp_err *err)
{
    struct espi_span line, word;
    int got = espi_lines_next(&d->lines, &line, err), n_links = 0;
    if (got < 0)
        return ESP_EINPUT;
    if (got == 0 || !espi_span_is(line, "espalier-simgrid 1"))
        return espi_err(err, ESP_EINPUT,
                        "%s: does not begin with 'espalier-simgrid 1': its reader is of "
                        "another version",
                        d->label);
    esp_status status = ESP_OK;
    while (!status && !d->ended && (got = espi_lines_next(&d->lines, &line, err)) != 0) {
        if (got < 0)
            return ESP_EINPUT;
        word = (struct espi_span){NULL, 0};
        espi_next_field(&line, &word);
        if (espi_span_is(word, "host"))
            status = read_host(d, line, err);
        else if (espi_span_is(word, "link"))
            status = read_cable(d, line, err);
        else if (espi_span_is(word, "route"))
            status = read_route(d, line, n_links++, err);
        else if (espi_span_is(word, "end"))
            d->ended = 1;
        else
            status = espi_lines_err(&d->lines, err, "an unknown line");
    }
    if (!status && !d->ended)
        return espi_lines_err(&d->lines, err, "ends too early");
    return status;
}

/* ---- shared cables ---- */

/* Adds cable c, used by list[0..n), unless one pair of hosts has it for itself. */
static esp_status add_cable(struct dump *d, int c, int *list, int n, struct esp_err *err)
{
    int kept = 0; /* a route's links stand side by side, so do its repetitions */
    for (int i = 0; i < n; i++)
        if (kept == 0 || list[kept - 1] != list[i])
            list[kept++] = list[i];
    if (kept < 2)
        return ESP_OK;
    return esp_builder_add_cable(d->b, d->text + d->cables[c].name,
                                 d->cables[c].bandwidth_Bps, list, kept, err);
}

/* Sorts the uses by cable, counting, and adds the cables in SimGrid's order. */
static esp_status add_cables(struct dump *d, struct esp_err *err)
{
    size_t *start = espi_calloc((size_t)d->n_cables + 2, sizeof *start);
    int *list = ESPI_NEW(int, d->n_uses);
    esp_status status = start && list ? ESP_OK : espi_err_nomem(err);
    if (!status) {
        for (size_t i = 0; i < d->n_uses; i++)
            start[d->uses[i].cable + 2]++;
        for (int c = 0; c < d->n_cables; c++)
            start[c + 2] += start[c + 1];
        for (size_t i = 0; i < d->n_uses; i++)
            list[start[d->uses[i].cable + 1]++] = d->uses[i].link;
    }
    for (int c = 0; c < d->n_cables && !status; c++)
        status = add_cable(d, c, list + start[c], (int)(start[c + 1] - start[c]), err);
    espi_free(start);
    espi_free(list);
    return status == ESP_EINPUT ? espi_err_prefix(err, status, d->label) : status;
}

esp_status espi_read_simgrid_dump(const struct espi_source *source,
                                  struct esp_platform **out, struct esp_err *err)
{
    struct dump d = {0};
    snprintf(d.label, sizeof d.label, "%s (as SimGrid tells it)", source->where);
    espi_lines_init(&d.lines, source->text, source->length, d.label, 0);
    esp_status status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &d.b, err);
    if (!status)
        status = read_lines(&d, err);
    if (!status)
        status = add_cables(&d, err);
    status = espi_reader_end(source, d.b, status, out, err);
    espi_free(d.cables);
    espi_free(d.text);
    espi_free(d.uses);
    return status;
}
