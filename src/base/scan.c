#include "base/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

void espi_lines_init(struct espi_lines *lines, const char *text, size_t length,
                     const char *where, size_t max_line)
{
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        text += 3, length -= 3;
    *lines = (struct espi_lines){text, text + length, where, 0, max_line};
}

int espi_lines_next(struct espi_lines *lines, struct espi_span *line, struct esp_err *err)
{
    if (lines->at == lines->end)
        return 0;
    size_t left = (size_t)(lines->end - lines->at);
    const char *eol = memchr(lines->at, '\n', left);
    size_t n = eol ? (size_t)(eol - lines->at) : left;
    line->text = lines->at;
    line->length = n;
    lines->at += eol ? n + 1 : n;
    lines->number++;
    if (n && line->text[n - 1] == '\r')
        line->length--;
    if (lines->max_line && n > lines->max_line) {
        espi_lines_err(lines, err, "%zu characters long; at most %zu are read", n,
                       lines->max_line);
        return -1;
    }
    if (memchr(line->text, '\0', line->length)) {
        espi_lines_err(lines, err, "holds a zero byte, so this is not a text file");
        return -1;
    }
    return 1;
}

int espi_lines_next_data(struct espi_lines *lines, struct espi_span *line,
                         struct esp_err *err)
{
    for (;;) {
        int got = espi_lines_next(lines, line, err);
        if (got <= 0)
            return got;
        *line = espi_trim(*line);
        if (line->length && line->text[0] != '#')
            return 1;
    }
}

void espi_lines_fill(const struct espi_lines *lines, struct esp_err *err, const char *fmt,
                     ...)
{
    char text[384];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    espi_err_fill(err, ESP_EINPUT, "%s:%zu: %s", lines->where, lines->number, text);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct espi_span espi_trim(struct espi_span s)
{
    while (s.length && is_blank(s.text[0]))
        s.text++, s.length--;
    while (s.length && is_blank(s.text[s.length - 1]))
        s.length--;
    return s;
}

int espi_span_is(struct espi_span s, const char *text)
{
    return strlen(text) == s.length &&
           (s.length == 0 || memcmp(text, s.text, s.length) == 0);
}

int espi_next_field(struct espi_span *rest, struct espi_span *field)
{
    while (rest->length && is_blank(rest->text[0]))
        rest->text++, rest->length--;
    if (rest->length == 0)
        return 0;
    size_t n = 0;
    while (n < rest->length && !is_blank(rest->text[n]))
        n++;
    *field = (struct espi_span){rest->text, n};
    rest->text += n;
    rest->length -= n;
    return 1;
}

int espi_split(struct espi_span line, struct espi_span *fields, int max)
{
    int n = 0;
    struct espi_span field;
    while (espi_next_field(&line, &field)) {
        if (n < max)
            fields[n] = field;
        n++;
    }
    return n;
}

int espi_lines_name(const struct espi_lines *lines, struct espi_span s,
                    char name[ESPI_NAME_MAX + 1], struct esp_err *err)
{
    char quoted[48];
    const char *cause = NULL;
    if (s.length == 0)
        cause = "is empty";
    else if (s.length > ESPI_NAME_MAX)
        cause = "is longer than 255 bytes";
    else if (!espi_is_printable(s.text, s.length))
        cause = "is not printable UTF-8 text";
    if (cause) {
        espi_lines_err(lines, err, "the name '%s' %s",
                       espi_span_quote(quoted, sizeof quoted, s), cause);
        return -1;
    }
    memcpy(name, s.text, s.length);
    name[s.length] = '\0';
    return 0;
}

esp_status espi_lines_quantity(const struct espi_lines *lines, enum espi_quantity what,
                               struct espi_span s, const char *label, double *value,
                               struct esp_err *err)
{
    if (espi_parse_quantity(what, s.text, s.length, value) == 0)
        return ESP_OK;
    char why[256];
    return espi_lines_err(
        lines, err, "%s %s", label,
        espi_quantity_complaint(why, sizeof why, what, s.text, s.length));
}

const char *espi_span_quote(char *out, size_t out_size, struct espi_span s)
{
    char copy[256];
    size_t n = s.length < sizeof copy - 1 ? s.length : sizeof copy - 1;
    if (n)
        memcpy(copy, s.text, n);
    copy[n] = '\0';
    return espi_quote(out, out_size, copy);
}
