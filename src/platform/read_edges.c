/* Edge lists: a line `u v capacity [latency]` for each directed link.
 *
 * Fields stand apart by blanks; what follows a '#' is a comment; there is no header.
 * Capacities are bytes a second, latencies seconds (0 when absent), or numbers with
 * units. A node comes to be where its name first stands. This is how switched fabrics are
 * often published, so that the default model is `capacity`: links have limits, nodes
 * none. */
#include "platform/readers.h"

#include <string.h>

#include "base/err.h"
#include "base/scan.h"

static esp_status find_or_add(struct esp_builder *b, const struct espi_lines *lines,
                              struct espi_span s, int *node, struct esp_err *err)
{
    char name[ESPI_NAME_MAX + 1];
    if (espi_lines_name(lines, s, name, err))
        return ESP_EINPUT;
    *node = esp_builder_find_node(b, name);
    if (*node >= 0)
        return ESP_OK;
    return espi_reader_add_host(b, name, node, err);
}

static int split_line(struct espi_span line, struct espi_span *fields, int max)
{
    const char *comment = memchr(line.text, '#', line.length);
    if (comment)
        line.length = (size_t)(comment - line.text);
    return espi_split(line, fields, max);
}

static esp_status read_line(struct esp_builder *b, const struct espi_lines *lines,
                            struct espi_span line, struct esp_err *err)
{
    struct espi_span field[4];
    int from, to, n = split_line(line, field, 4);
    double bandwidth_Bps = 0, latency_s = 0;
    if (n < 3 || n > 4)
        return espi_lines_err(
            lines, err, "%d fields where `from to capacity [latency]` should stand", n);
    esp_status status = espi_lines_quantity(lines, ESPI_BANDWIDTH, field[2], "capacity",
                                            &bandwidth_Bps, err);
    if (!status && n == 4)
        status =
            espi_lines_quantity(lines, ESPI_TIME, field[3], "latency", &latency_s, err);
    if (status)
        return status;
    if (bandwidth_Bps <= 0)
        return espi_lines_err(lines, err, "the capacity must be more than zero");
    status = find_or_add(b, lines, field[0], &from, err);
    if (!status)
        status = find_or_add(b, lines, field[1], &to, err);
    if (status)
        return status;
    if (from == to) {
        char name[64];
        return espi_lines_err(lines, err, "a link from '%s' to itself",
                              espi_span_quote(name, sizeof name, field[0]));
    }
    return esp_builder_add_link(b, from, to, latency_s, bandwidth_Bps, NULL, err);
}

esp_status espi_read_edges(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    struct esp_builder *b = NULL;
    esp_status status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &b, err);
    if (status)
        return status;
    struct espi_lines lines;
    espi_lines_init(&lines, source->text, source->length, source->where, ESPI_LINE_MAX);
    struct espi_span line;
    int got;
    while (!status && (got = espi_lines_next_data(&lines, &line, err)) != 0)
        status = got < 0 ? ESP_EINPUT : read_line(b, &lines, line, err);
    return espi_reader_end(source, b, status, out, err);
}
