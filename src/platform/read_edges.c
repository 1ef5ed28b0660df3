/* Edge lists: a line `u v capacity [latency]` for each directed link.
 *
 * Fields stand apart by blanks; what follows a '#' is a comment; there is no header.
 * Capacities have a unit, of their own or from the line `unit GBps` (or the options):
 * what a bare number means nobody can tell, and lists of weights look the same.
 * Latencies are seconds (0 when absent), or have units. After the line `undirected` each
 * line is a link in both directions, and `switch PATTERN` says which nodes forward and
 * are no hosts. A node comes to be where its name first stands. This is how switched
 * fabrics are often published, so that the default model is `capacity`: links have
 * limits, nodes none. */
#include "platform/readers.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "platform/part.h"

enum { PATTERNS_MAX = 4096 }; /* limit: bytes of all patterns of switches together */

struct list {
    struct esp_builder *b;
    const struct espi_lines *lines;
    struct esp_err *err;
    double unit_Bps; /* of capacities without one; 0: none is known */
    int undirected;
    char switches[PATTERNS_MAX]; /* patterns, with commas between them */
};

static esp_status find_or_add(struct list *list, struct espi_span s, int *node)
{
    char name[ESPI_NAME_MAX + 1];
    if (espi_lines_name(list->lines, s, name, list->err))
        return ESP_EINPUT;
    *node = esp_builder_find_node(list->b, name);
    if (*node >= 0)
        return ESP_OK;
    return espi_reader_add_host(list->b, name, node, list->err);
}

static int split_line(struct espi_span line, struct espi_span *fields, int max)
{
    const char *comment = memchr(line.text, '#', line.length);
    if (comment)
        line.length = (size_t)(comment - line.text);
    return espi_split(line, fields, max);
}

/* ---- what the list says of itself ---- */

static esp_status set_unit(struct list *list, struct espi_span s)
{
    char shown[64];
    if (espi_parse_unit(ESPI_BANDWIDTH, s.text, s.length, &list->unit_Bps) == 0)
        return ESP_OK;
    return espi_lines_err(list->lines, list->err, "'%s' is no unit of bandwidth (%s)",
                          espi_span_quote(shown, sizeof shown, s),
                          espi_quantity_units(ESPI_BANDWIDTH));
}

static esp_status add_switches(struct list *list, struct espi_span s)
{
    size_t used = strlen(list->switches);
    if (used + s.length + 2 > sizeof list->switches)
        return espi_lines_err(list->lines, list->err,
                              "more than %d bytes of names of switches", PATTERNS_MAX);
    snprintf(list->switches + used, sizeof list->switches - used, "%s%.*s",
             used ? "," : "", (int)s.length, s.text);
    return ESP_OK;
}

/* A line of one or two words, which is no link. */
static esp_status read_remark(struct list *list, const struct espi_span *field, int n)
{
    if (n == 2 && espi_span_is(field[0], "switch"))
        return add_switches(list, field[1]);
    if (n == 2 && espi_span_is(field[0], "unit"))
        return set_unit(list, field[1]);
    if (n == 1 && espi_span_is(field[0], "undirected")) {
        list->undirected = 1;
        return ESP_OK;
    }
    return espi_lines_err(list->lines, list->err,
                          "%d fields where `from to capacity [latency]` should stand", n);
}

/* ---- links ---- */

static esp_status read_capacity(const struct list *list, struct espi_span s, double *Bps)
{
    char shown[64];
    if (espi_parse_number(s.text, s.length, Bps))
        return espi_lines_quantity(list->lines, ESPI_BANDWIDTH, s, "capacity", Bps,
                                   list->err);
    if (!(list->unit_Bps > 0))
        return espi_lines_err(
            list->lines, list->err,
            "capacity '%s' has no unit: write it behind the number (10Gbps, 25GBps), "
            "or once for all in a line `unit Gbps`, or say --unit",
            espi_span_quote(shown, sizeof shown, s));
    *Bps *= list->unit_Bps;
    return ESP_OK;
}

static esp_status add_links(struct list *list, const struct espi_span *field,
                            double latency_s, double bandwidth_Bps)
{
    int from = -1, to = -1;
    char name[64];
    esp_status st = find_or_add(list, field[0], &from);
    if (!st)
        st = find_or_add(list, field[1], &to);
    if (st)
        return st;
    if (from == to)
        return espi_lines_err(list->lines, list->err, "a link from '%s' to itself",
                              espi_span_quote(name, sizeof name, field[0]));
    st = esp_builder_add_link(list->b, from, to, latency_s, bandwidth_Bps, NULL,
                              list->err);
    return !st && list->undirected ? esp_builder_add_link(list->b, to, from, latency_s,
                                                          bandwidth_Bps, NULL, list->err)
                                   : st;
}

static esp_status read_line(struct list *list, struct espi_span line)
{
    struct espi_span field[4];
    int n = split_line(line, field, 4);
    double bandwidth_Bps = 0, latency_s = 0;
    if (n < 3)
        return read_remark(list, field, n);
    if (n > 4)
        return espi_lines_err(list->lines, list->err,
                              "%d fields where `from to capacity [latency]` should stand",
                              n);
    esp_status st = read_capacity(list, field[2], &bandwidth_Bps);
    if (!st && n == 4)
        st = espi_lines_quantity(list->lines, ESPI_TIME, field[3], "latency", &latency_s,
                                 list->err);
    if (st)
        return st;
    if (bandwidth_Bps <= 0)
        return espi_lines_err(list->lines, list->err,
                              "the capacity must be more than zero");
    return add_links(list, field, latency_s, bandwidth_Bps);
}

/* ---- the whole ---- */

static esp_status read_lines(struct list *list, struct espi_lines *lines)
{
    struct espi_span line;
    esp_status st = ESP_OK;
    int got;
    while (!st && (got = espi_lines_next_data(lines, &line, list->err)) != 0)
        st = got < 0 ? ESP_EINPUT : read_line(list, line);
    return st;
}

static esp_status mark_switches(const struct list *list, const char *where,
                                struct esp_platform **p)
{
    struct esp_platform *changed = NULL;
    if (!list->switches[0])
        return ESP_OK;
    esp_status st = espi_platform_with_switches(*p, list->switches, &changed, list->err);
    if (st == ESP_EINPUT)
        espi_err_prefix(list->err, st, where);
    esp_platform_free(*p);
    *p = changed;
    return st;
}

/* A link that is there twice may be its own way back. */
static void explain_twice(struct esp_err *err)
{
    char said[sizeof err->text];
    if (!err || !strstr(err->text, "twice"))
        return;
    memcpy(said, err->text, sizeof said);
    espi_err(err, ESP_EINPUT, "%s: of an undirected list each line is both directions",
             said);
}

esp_status espi_read_edges(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    struct esp_builder *b = NULL;
    struct esp_platform *p = NULL;
    struct espi_lines lines;
    struct list list = {.lines = &lines, .err = err, .undirected = source->undirected};
    esp_status status = espi_source_unit(source, &list.unit_Bps, err);
    if (!status)
        status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &b, err);
    if (status)
        return status;
    list.b = b;
    espi_lines_init(&lines, source->text, source->length, source->where, ESPI_LINE_MAX);
    status = read_lines(&list, &lines);
    esp_status whole = espi_reader_end(source, b, status, &p, err);
    if (!status && whole == ESP_EINPUT && list.undirected)
        explain_twice(err);
    status = whole;
    if (!status)
        status = mark_switches(&list, source->where, &p);
    if (!status)
        *out = p;
    return status;
}
