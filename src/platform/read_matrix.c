/* A pair of matrices: latencies (seconds) and bandwidths (bytes a second), row i and
 * column j for the link i -> j.
 *
 * Cells stand apart by commas, semicolons, tabs or blanks (whichever the first line has)
 * and may be quoted; numbers may have units. No link where the bandwidth is 0, "-" or
 * empty; the diagonal is ignored. The first row and the first column may be names: they
 * are when most of them are no values. Without names nodes are p0, p1, ... The default
 * model is one-port, that of the papers which measure such matrices.
 *
 * Both files are read side by side, a row at a time: memory is that of the links. */
#include "platform/readers.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"

struct table {
    struct espi_lines lines;
    enum espi_quantity what;
    const char *label;
    char separator;             /* ' ': any number of blanks */
    int has_header, has_column; /* names above, names at the left */
    struct espi_span header;    /* the line of names */
    size_t header_line;
    int n; /* rows of values */
};

/* ---- cells ---- */

/* Takes the next cell from *rest: 1, 0 when the line is at its end, -1 when a quotation
 * does not end where the cell ends. *rest.text is NULL after the last cell. */
static int next_cell(const struct table *t, struct espi_span *rest,
                     struct espi_span *cell)
{
    if (!rest->text)
        return 0;
    if (t->separator == ' ')
        return espi_next_field(rest, cell);
    struct espi_span s = *rest;
    while (s.length && s.text[0] == ' ')
        s.text++, s.length--;
    if (s.length && s.text[0] == '"') {
        const char *close = memchr(s.text + 1, '"', s.length - 1);
        if (!close)
            return -1;
        *cell = (struct espi_span){s.text + 1, (size_t)(close - s.text - 1)};
        s.length -= (size_t)(close + 1 - s.text);
        s.text = close + 1;
        while (s.length && s.text[0] == ' ')
            s.text++, s.length--;
        if (s.length && s.text[0] != t->separator)
            return -1;
    } else {
        const char *end = memchr(s.text, t->separator, s.length);
        size_t n = end ? (size_t)(end - s.text) : s.length;
        *cell = espi_trim((struct espi_span){s.text, n});
        s.text += n;
        s.length -= n;
    }
    *rest = s.length ? (struct espi_span){s.text + 1, s.length - 1}
                     : (struct espi_span){NULL, 0};
    return 1;
}

static esp_status bad_quotation(const struct espi_lines *at, struct esp_err *err)
{
    return espi_lines_err(at, err, "a quotation mark that is not the end of its cell");
}

static int count_cells(const struct table *t, struct espi_span line)
{
    struct espi_span cell;
    int n = 0, got;
    while ((got = next_cell(t, &line, &cell)) > 0)
        n++;
    return got < 0 ? -1 : n;
}

static int is_absent(struct espi_span cell)
{
    return cell.length == 0 || espi_span_is(cell, "-");
}

/* Is it a value, be it a bad one? Names such as 10.0.0.7 are none. */
static int looks_like_value(const struct table *t, struct espi_span cell)
{
    static const char *const words[] = {"nan", "NaN", "inf", "Inf"};
    double ignored;
    if (cell.length > 1 && (cell.text[0] == '-' || cell.text[0] == '+'))
        cell.text++, cell.length--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (espi_span_is(cell, words[i]))
            return 1;
    return is_absent(cell) ||
           espi_parse_quantity(t->what, cell.text, cell.length, &ignored) == 0;
}

/* ---- shape ---- */

static char find_separator(struct espi_span line)
{
    static const char candidates[] = {';', ',', '\t'};
    for (size_t i = 0; i < sizeof candidates; i++)
        if (memchr(line.text, candidates[i], line.length))
            return candidates[i];
    return ' ';
}

/* Lines of data: blanks at the ends may be cells when they are separators. */
static int next_row(struct espi_lines *lines, struct espi_span *line, struct esp_err *err)
{
    struct espi_span bare;
    do {
        int got = espi_lines_next(lines, line, err);
        if (got <= 0)
            return got;
        bare = espi_trim(*line);
    } while (bare.length == 0 || bare.text[0] == '#');
    return 1;
}

/* Names, when most of the cells are no values: one bad cell makes no header. */
static int is_header(const struct table *t, struct espi_span line)
{
    struct espi_span cell;
    long names = 0, values = 0;
    while (next_cell(t, &line, &cell) > 0) {
        if (!looks_like_value(t, cell))
            names++;
        else if (!is_absent(cell))
            values++;
    }
    return names > values;
}

/* Finds separator, names and number of rows; leaves the lines at the first row. */
static esp_status find_shape(struct table *t, struct esp_err *err)
{
    struct espi_span line, cell;
    struct espi_lines start = t->lines;
    int got = next_row(&t->lines, &line, err);
    if (got < 0)
        return ESP_EINPUT;
    if (got == 0)
        return espi_err(err, ESP_EINPUT, "%s: there are no rows", t->lines.where);
    t->separator = find_separator(line);
    t->has_header = is_header(t, line);
    if (t->has_header) {
        t->header = line;
        t->header_line = t->lines.number;
        start = t->lines;
        got = next_row(&t->lines, &line, err);
    }
    if (got > 0) {
        struct espi_span rest = line;
        t->has_column = next_cell(t, &rest, &cell) > 0 && !looks_like_value(t, cell);
    }
    for (; got > 0; got = next_row(&t->lines, &line, err))
        t->n++;
    t->lines = start;
    if (got < 0)
        return ESP_EINPUT;
    if (t->n == 0)
        return espi_err(err, ESP_EINPUT, "%s: there are no rows", t->lines.where);
    return ESP_OK;
}

/* The header has a cell above the column of names, or not. */
static esp_status open_header(struct table *t, struct espi_span *rest,
                              struct esp_err *err)
{
    struct espi_lines at = t->lines;
    at.number = t->header_line;
    struct espi_span corner;
    int cells = count_cells(t, t->header);
    if (cells < 0)
        return bad_quotation(&at, err);
    *rest = t->header;
    if (t->has_column && cells == t->n + 1)
        next_cell(t, rest, &corner);
    else if (cells != t->n)
        return espi_lines_err(&at, err, "%d names above %d rows", cells, t->n);
    return ESP_OK;
}

/* ---- nodes ---- */

/* The name in a cell becomes node i or, when not to be added, must be that of node i. */
static esp_status take_name(const struct espi_lines *at, struct espi_span cell,
                            struct esp_builder *b, int i, int add, struct esp_err *err)
{
    char name[ESPI_NAME_MAX + 1];
    if (espi_lines_name(at, cell, name, err))
        return ESP_EINPUT;
    int seen = esp_builder_find_node(b, name);
    if (!add && seen != i)
        return espi_lines_err(at, err, "'%s' is not the name of node %d", name, i);
    if (add && seen >= 0)
        return espi_lines_err(at, err, "the name '%s' stands twice", name);
    return add ? espi_reader_add_host(b, name, NULL, err) : ESP_OK;
}

static esp_status header_nodes(struct table *t, struct esp_builder *b, int add,
                               struct esp_err *err)
{
    struct espi_span rest, cell = {NULL, 0};
    struct espi_lines at = t->lines;
    at.number = t->header_line;
    esp_status status = open_header(t, &rest, err);
    for (int i = 0; i < t->n && !status; i++) {
        next_cell(t, &rest, &cell);
        status = take_name(&at, cell, b, i, add, err);
    }
    return status;
}

static esp_status column_nodes(struct table *t, struct esp_builder *b, int add,
                               struct esp_err *err)
{
    struct espi_lines lines = t->lines;
    struct espi_span rest, cell;
    esp_status status = ESP_OK;
    for (int i = 0; i < t->n && !status; i++) {
        if (next_row(&lines, &rest, err) <= 0)
            return ESP_EINPUT;
        if (next_cell(t, &rest, &cell) <= 0)
            return bad_quotation(&lines, err);
        status = take_name(&lines, cell, b, i, add, err);
    }
    return status;
}

static esp_status plain_nodes(int n, struct esp_builder *b, struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < n && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "p%d", i);
        status = espi_reader_add_host(b, name, NULL, err);
    }
    return status;
}

/* Names may stand at four places; the first adds, the others must agree. */
static esp_status add_nodes(struct table *tables, struct esp_builder *b,
                            struct esp_err *err)
{
    int named = 0;
    esp_status status = ESP_OK;
    for (int k = 0; k < 2 && !status; k++) {
        if (tables[k].has_header)
            status = header_nodes(&tables[k], b, !named++, err);
        if (!status && tables[k].has_column)
            status = column_nodes(&tables[k], b, !named++, err);
    }
    if (!status && !named)
        status = plain_nodes(tables[0].n, b, err);
    return status;
}

/* ---- links ---- */

/* The row's cells, ready for the first value. */
static esp_status open_row(struct table *t, struct espi_span *rest, struct esp_err *err)
{
    struct espi_span name;
    if (next_row(&t->lines, rest, err) <= 0)
        return ESP_EINPUT;
    int cells = count_cells(t, *rest);
    if (cells < 0)
        return bad_quotation(&t->lines, err);
    if (cells != t->n + t->has_column)
        return espi_lines_err(&t->lines, err, "%d values in a row of a matrix of %d rows",
                              cells - t->has_column, t->n);
    if (t->has_column)
        next_cell(t, rest, &name);
    return ESP_OK;
}

/* *value is untouched, and *absent true, when there is none. */
static esp_status read_cell(const struct table *t, struct espi_span *rest, int column,
                            double *value, int *absent, struct esp_err *err)
{
    struct espi_span cell = {NULL, 0};
    next_cell(t, rest, &cell);
    *absent = is_absent(cell);
    if (*absent || !espi_parse_quantity(t->what, cell.text, cell.length, value))
        return ESP_OK;
    char why[256];
    return espi_lines_err(
        &t->lines, err, "column %d: %s %s", column + 1 + t->has_column, t->label,
        espi_quantity_complaint(why, sizeof why, t->what, cell.text, cell.length));
}

static esp_status read_row(struct table *tables, struct esp_builder *b, int i,
                           struct esp_err *err)
{
    struct espi_span rest[2];
    for (int k = 0; k < 2; k++)
        if (open_row(&tables[k], &rest[k], err))
            return ESP_EINPUT;
    esp_status status = ESP_OK;
    for (int j = 0; j < tables[0].n && !status; j++) {
        double value[2] = {0, 0};
        int absent[2];
        for (int k = 0; k < 2; k++)
            if (read_cell(&tables[k], &rest[k], j, &value[k], &absent[k], err))
                return ESP_EINPUT;
        if (i == j || absent[1] || value[1] == 0)
            continue;
        if (absent[0])
            return espi_lines_err(&tables[0].lines, err,
                                  "column %d: no latency, but %s has a bandwidth",
                                  j + 1 + tables[0].has_column, tables[1].lines.where);
        status = esp_builder_add_link(b, i, j, value[0], value[1], NULL, err);
    }
    return status;
}

static esp_status init_table(struct table *t, const struct espi_source *source,
                             enum espi_quantity what, const char *label,
                             struct esp_err *err)
{
    *t = (struct table){.what = what, .label = label};
    /* A row of n cells may be any length. */
    espi_lines_init(&t->lines, source->text, source->length, source->where, 0);
    return find_shape(t, err);
}

esp_status espi_read_matrix(const struct espi_source *latency,
                            const struct espi_source *bandwidth,
                            struct esp_platform **out, struct esp_err *err)
{
    struct table tables[2];
    esp_status status = init_table(&tables[0], latency, ESPI_TIME, "latency", err);
    if (!status)
        status = init_table(&tables[1], bandwidth, ESPI_BANDWIDTH, "bandwidth", err);
    if (status)
        return status;
    if (tables[0].n != tables[1].n)
        return espi_err(err, ESP_EINPUT, "%s has %d rows, but %s has %d", latency->where,
                        tables[0].n, bandwidth->where, tables[1].n);
    struct esp_builder *b = NULL;
    status = espi_reader_begin(latency, ESP_MODEL_ONE_PORT, &b, err);
    if (status)
        return status;
    status = add_nodes(tables, b, err);
    for (int i = 0; i < tables[0].n && !status; i++)
        status = read_row(tables, b, i, err);
    return espi_reader_end(latency, b, status, out, err);
}
