/* Tables of links: CSV with a header that names the columns, a line for each directed
 * link, as clouds are published (Skyplane, Cloudcast):
 *
 *     from,to,throughput_bps,usd_per_GB
 *     aws:us-east-1,gcp:us-west1-a,4432659936,0.09
 *
 * Columns stand in any order. There must be from, to and one of throughput_bps (bits a
 * second where it has no unit) and bandwidth_Bps (bytes); latency_s and usd_per_GB may be
 * missing, and others are passed over. A node comes to be where its name first stands;
 * what stands before a ':' in its name is its site. The default model is `capacity`. */
#include "platform/readers.h"

#include <string.h>

#include "base/err.h"
#include "base/scan.h"

enum { COLUMNS_MAX = 64, BITS = 8 }; /* limit: of a line; derived: bits of a byte */

enum column {
    COLUMN_FROM,
    COLUMN_TO,
    COLUMN_BITS,
    COLUMN_BANDWIDTH,
    COLUMN_LATENCY,
    COLUMN_PRICE,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    [COLUMN_FROM] = "from",           [COLUMN_TO] = "to",
    [COLUMN_BITS] = "throughput_bps", [COLUMN_BANDWIDTH] = "bandwidth_Bps",
    [COLUMN_LATENCY] = "latency_s",   [COLUMN_PRICE] = "usd_per_GB",
};

struct columns {
    int n;
    int at[COLUMN_COUNT]; /* -1: there is none */
};

/* Gives how many cells there are, of which the first max are kept. */
static int split_cells(struct espi_span line, struct espi_span *cells, int max)
{
    const char *at = line.text, *end = line.text + line.length;
    int n = 0;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        if (n < max)
            cells[n] = espi_trim((struct espi_span){at, (size_t)(stop - at)});
        n++;
        if (!comma)
            return n;
        at = comma + 1;
    }
}

static esp_status read_header(const struct espi_lines *lines, struct espi_span line,
                              struct columns *columns, struct esp_err *err)
{
    struct espi_span cell[COLUMNS_MAX];
    columns->n = split_cells(line, cell, COLUMNS_MAX);
    if (columns->n > COLUMNS_MAX)
        return espi_lines_err(lines, err, "more than %d columns", COLUMNS_MAX);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        columns->at[c] = -1;
        for (int i = 0; i < columns->n; i++) {
            if (!espi_span_is(cell[i], column_names[c]))
                continue;
            if (columns->at[c] >= 0)
                return espi_lines_err(lines, err, "the column %s is there twice",
                                      column_names[c]);
            columns->at[c] = i;
        }
    }
    if (columns->at[COLUMN_FROM] < 0 || columns->at[COLUMN_TO] < 0)
        return espi_lines_err(
            lines, err, "the first line names the columns, and there is no '%s'",
            column_names[columns->at[COLUMN_FROM] < 0 ? COLUMN_FROM : COLUMN_TO]);
    if ((columns->at[COLUMN_BITS] < 0) == (columns->at[COLUMN_BANDWIDTH] < 0))
        return espi_lines_err(lines, err,
                              "there must be one of the columns throughput_bps and "
                              "bandwidth_Bps");
    return ESP_OK;
}

static esp_status find_or_add_node(struct esp_builder *b, const struct espi_lines *lines,
                                   struct espi_span s, int *node, struct esp_err *err)
{
    char name[ESPI_NAME_MAX + 1], site[ESPI_NAME_MAX + 1];
    struct esp_node_spec spec = {name, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    if (espi_lines_name(lines, s, name, err))
        return ESP_EINPUT;
    *node = esp_builder_find_node(b, name);
    if (*node >= 0)
        return ESP_OK;
    const char *colon = strchr(name, ':');
    if (colon && colon > name) {
        memcpy(site, name, (size_t)(colon - name));
        site[colon - name] = '\0';
        spec.site = site;
    }
    return esp_builder_add_node(b, &spec, node, err);
}

/* Bare numbers are bits a second there, and bytes a second everywhere else. */
static esp_status read_rate(const struct espi_lines *lines, const struct columns *columns,
                            const struct espi_span *cell, double *Bps,
                            struct esp_err *err)
{
    if (columns->at[COLUMN_BITS] < 0)
        return espi_lines_quantity(lines, ESPI_BANDWIDTH,
                                   cell[columns->at[COLUMN_BANDWIDTH]], "bandwidth_Bps",
                                   Bps, err);
    struct espi_span s = cell[columns->at[COLUMN_BITS]];
    if (espi_parse_number(s.text, s.length, Bps) == 0) {
        *Bps /= BITS;
        return ESP_OK;
    }
    return espi_lines_quantity(lines, ESPI_BANDWIDTH, s, "throughput_bps", Bps, err);
}

static esp_status read_price(const struct espi_lines *lines, struct espi_span s,
                             double *usd, struct esp_err *err)
{
    char shown[64];
    if (espi_parse_number(s.text, s.length, usd) == 0)
        return ESP_OK;
    return espi_lines_err(lines, err, "usd_per_GB '%s' is not a number from 0 up",
                          espi_span_quote(shown, sizeof shown, s));
}

struct link_line {
    double Bps, latency_s, usd_per_GB;
};

static esp_status read_values(const struct espi_lines *lines,
                              const struct columns *columns, const struct espi_span *cell,
                              struct link_line *is, struct esp_err *err)
{
    esp_status st = read_rate(lines, columns, cell, &is->Bps, err);
    if (!st && !(is->Bps > 0))
        st = espi_lines_err(lines, err, "the throughput must be more than zero");
    if (!st && columns->at[COLUMN_LATENCY] >= 0)
        st = espi_lines_quantity(lines, ESPI_TIME, cell[columns->at[COLUMN_LATENCY]],
                                 "latency_s", &is->latency_s, err);
    if (!st && columns->at[COLUMN_PRICE] >= 0)
        st = read_price(lines, cell[columns->at[COLUMN_PRICE]], &is->usd_per_GB, err);
    return st;
}

static esp_status read_link_line(struct esp_builder *b, const struct espi_lines *lines,
                                 const struct columns *columns, struct espi_span line,
                                 struct esp_err *err)
{
    struct espi_span cell[COLUMNS_MAX];
    struct link_line is = {0, 0, 0};
    int from, to, link, n = split_cells(line, cell, COLUMNS_MAX);
    if (n != columns->n)
        return espi_lines_err(lines, err, "%d cells where the header has %d", n,
                              columns->n);
    esp_status st = read_values(lines, columns, cell, &is, err);
    if (!st)
        st = find_or_add_node(b, lines, cell[columns->at[COLUMN_FROM]], &from, err);
    if (!st)
        st = find_or_add_node(b, lines, cell[columns->at[COLUMN_TO]], &to, err);
    if (st)
        return st;
    if (from == to) {
        char name[64];
        return espi_lines_err(
            lines, err, "a link from '%s' to itself",
            espi_span_quote(name, sizeof name, cell[columns->at[COLUMN_FROM]]));
    }
    struct esp_err why = {0};
    st = esp_builder_add_link(b, from, to, is.latency_s, is.Bps, &link, &why);
    if (!st)
        st = esp_builder_set_link_price(b, link, is.usd_per_GB, &why);
    if (st == ESP_ENOMEM)
        return espi_err_nomem(err);
    return st ? espi_lines_err(lines, err, "%s", why.text) : ESP_OK;
}

int espi_is_links_header(struct espi_span line)
{
    struct espi_span cell[COLUMNS_MAX];
    int n = split_cells(line, cell, COLUMNS_MAX), from = 0, to = 0;
    for (int i = 0; i < n && i < COLUMNS_MAX; i++) {
        from |= espi_span_is(cell[i], column_names[COLUMN_FROM]);
        to |= espi_span_is(cell[i], column_names[COLUMN_TO]);
    }
    return from && to;
}

esp_status espi_read_links(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    struct esp_builder *b = NULL;
    struct columns columns = {0};
    esp_status status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &b, err);
    if (status)
        return status;
    struct espi_lines lines;
    espi_lines_init(&lines, source->text, source->length, source->where, ESPI_LINE_MAX);
    struct espi_span line;
    int got;
    while (!status && (got = espi_lines_next_data(&lines, &line, err)) != 0)
        status = got < 0      ? ESP_EINPUT
                 : !columns.n ? read_header(&lines, line, &columns, err)
                              : read_link_line(b, &lines, &columns, line, err);
    return espi_reader_end(source, b, status, out, err);
}
