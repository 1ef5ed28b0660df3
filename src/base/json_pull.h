/* A pull reader for JSON text: the caller asks for what it expects and gets it, or an
 * error that names line and column. Constant memory whatever the nesting.
 *
 * Why not jansson here: a platform of a million links becomes some 700 MB of jansson
 * objects; read this way it needs the text and the platform. Small documents (plans,
 * answers) use jansson. */
#ifndef ESPI_BASE_JSON_PULL_H
#define ESPI_BASE_JSON_PULL_H

#include <stddef.h>

#include <espalier/status.h>

struct espi_json {
    const char *text, *at, *end;
    const char *where; /* the file's name, for messages */
    struct esp_err *err;
    esp_status status; /* sticky: once failed, every call fails */
    int after_open;    /* no item has been read since the bracket opened */
    char *scratch;     /* strings with escapes are unfolded here */
    size_t scratch_cap;
};

struct espi_json_text {
    const char *at; /* not ended by '\0'; valid until the next string is read */
    size_t length;
};

typedef enum espi_json_kind {
    ESPI_JSON_OBJECT,
    ESPI_JSON_ARRAY,
    ESPI_JSON_STRING,
    ESPI_JSON_NUMBER,
    ESPI_JSON_TRUE,
    ESPI_JSON_FALSE,
    ESPI_JSON_NULL,
    ESPI_JSON_NOTHING /* no value starts here */
} espi_json_kind;

void espi_json_init(struct espi_json *j, const char *text, size_t length,
                    const char *where, struct esp_err *err);
void espi_json_done(struct espi_json *j);

/* The kind of value that comes next. */
espi_json_kind espi_json_peek(struct espi_json *j);

/* Objects: open, then key() until it says 0; after each key read or skip one value. */
esp_status espi_json_open_object(struct espi_json *j);
int espi_json_key(struct espi_json *j, struct espi_json_text *key);

/* Arrays: open, then item() until it says 0; after each read or skip one value. */
esp_status espi_json_open_array(struct espi_json *j);
int espi_json_item(struct espi_json *j);

esp_status espi_json_string(struct espi_json *j, struct espi_json_text *out);
esp_status espi_json_number(struct espi_json *j, double *out);
esp_status espi_json_bool(struct espi_json *j, int *out);
esp_status espi_json_skip(struct espi_json *j);

/* Checks that nothing but blanks follows. */
esp_status espi_json_end(struct espi_json *j);

/* Fails at the current place: "file:line:column: sentence". */
esp_status espi_json_fail(struct espi_json *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int espi_json_is(const struct espi_json_text *t, const char *word);

#endif
