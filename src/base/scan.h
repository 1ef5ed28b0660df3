/* Lines, fields and cells of text formats: bounded pieces of a text that is not copied,
 * with line numbers for messages. The text is hostile. */
#ifndef ESPI_BASE_SCAN_H
#define ESPI_BASE_SCAN_H

#include <stddef.h>

#include <espalier/status.h>

#include "base/err.h"
#include "base/units.h"

struct espi_span {
    const char *text;
    size_t length;
};

#define ESPI_LINE_MAX ((size_t)1 << 20)
#define ESPI_NAME_MAX 255 /* bytes of a node's name in the text formats */

struct espi_lines {
    const char *at, *end;
    const char *where;
    size_t number;   /* of the line last given, from 1 */
    size_t max_line; /* longer lines are refused; 0: no limit */
};

void espi_lines_init(struct espi_lines *lines, const char *text, size_t length,
                     const char *where, size_t max_line);

/* The next line without its end: 1; 0 at the end of the text; -1 and err when the line
 * is too long or holds a zero byte. */
int espi_lines_next(struct espi_lines *lines, struct espi_span *line,
                    struct esp_err *err);

/* The same without blanks at both ends, passing over empty lines and those that begin
 * with '#'. */
int espi_lines_next_data(struct espi_lines *lines, struct espi_span *line,
                         struct esp_err *err);

/* Fills err (if any) with "WHERE:LINE: ...". */
void espi_lines_fill(const struct espi_lines *lines, struct esp_err *err, const char *fmt,
                     ...) __attribute__((format(printf, 3, 4)));
/* The same, and gives ESP_EINPUT. */
#define espi_lines_err(lines, err, ...)                                                  \
    (espi_lines_fill((lines), (err), __VA_ARGS__), espi_err_status(ESP_EINPUT))

struct espi_span espi_trim(struct espi_span s);
int espi_span_is(struct espi_span s, const char *text);

/* Takes the next field, up to blanks, from *rest: 1, or 0 when there is none. */
int espi_next_field(struct espi_span *rest, struct espi_span *field);

/* Splits a line into at most max fields; gives the number that there are. */
int espi_split(struct espi_span line, struct espi_span *fields, int max);

/* Copies a name so that it ends in '\0': -1 and err when it is empty, longer than
 * ESPI_NAME_MAX, not UTF-8 or holds control characters. */
int espi_lines_name(const struct espi_lines *lines, struct espi_span s,
                    char name[ESPI_NAME_MAX + 1], struct esp_err *err);

/* A quantity in a line; `label` names it in the message. */
esp_status espi_lines_quantity(const struct espi_lines *lines, enum espi_quantity what,
                               struct espi_span s, const char *label, double *value,
                               struct esp_err *err);

/* A span as it may stand in a message; cut when it is long. Returns out. */
const char *espi_span_quote(char *out, size_t out_size, struct espi_span s);

#endif
