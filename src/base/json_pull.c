#include "base/json_pull.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/units.h"

enum { MAX_DEPTH = 64 }; /* limit: our formats need five */

void espi_json_init(struct espi_json *j, const char *text, size_t length,
                    const char *where, struct esp_err *err)
{
    memset(j, 0, sizeof *j);
    j->text = j->at = text;
    j->end = text + length;
    j->where = where;
    j->err = err;
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        j->at += 3;
}

void espi_json_done(struct espi_json *j)
{
    espi_free(j->scratch);
    j->scratch = NULL;
    j->scratch_cap = 0;
}

esp_status espi_json_fail(struct espi_json *j, const char *fmt, ...)
{
    if (j->status)
        return j->status;
    size_t line = 1, column = 1;
    for (const char *p = j->text; p < j->at; p++) {
        column++;
        if (*p == '\n')
            line++, column = 1;
    }
    char why[ESP_ERR_TEXT_MAX], shown[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    j->status = ESP_EINPUT;
    return espi_err(j->err, ESP_EINPUT, "%s:%zu:%zu: %s",
                    espi_quote(shown, sizeof shown, j->where), line, column, why);
}

static esp_status fail_nomem(struct espi_json *j)
{
    j->status = ESP_ENOMEM;
    return espi_err_nomem(j->err);
}

static void skip_blanks(struct espi_json *j)
{
    while (j->at < j->end &&
           (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
        j->at++;
}

espi_json_kind espi_json_peek(struct espi_json *j)
{
    skip_blanks(j);
    if (j->status || j->at == j->end)
        return ESPI_JSON_NOTHING;
    switch (*j->at) {
    case '{':
        return ESPI_JSON_OBJECT;
    case '[':
        return ESPI_JSON_ARRAY;
    case '"':
        return ESPI_JSON_STRING;
    case 't':
        return ESPI_JSON_TRUE;
    case 'f':
        return ESPI_JSON_FALSE;
    case 'n':
        return ESPI_JSON_NULL;
    default:
        return *j->at == '-' || (*j->at >= '0' && *j->at <= '9') ? ESPI_JSON_NUMBER
                                                                 : ESPI_JSON_NOTHING;
    }
}

/* Fails because something else than `wanted` stands here. */
static esp_status fail_expected(struct espi_json *j, const char *wanted)
{
    static const char *const kinds[] = {"an object", "an array", "a string", "a number",
                                        "true",      "false",    "null"};
    espi_json_kind kind = espi_json_peek(j);
    if (j->at == j->end)
        return espi_json_fail(j, "the text ends here, but %s was expected", wanted);
    if (kind != ESPI_JSON_NOTHING)
        return espi_json_fail(j, "%s was expected, not %s", wanted, kinds[kind]);
    char c[2] = {*j->at, '\0'}, shown[8];
    return espi_json_fail(j, "%s was expected, not '%s'", wanted,
                          espi_quote(shown, sizeof shown, c));
}

static esp_status open_bracket(struct espi_json *j, espi_json_kind kind, const char *name)
{
    if (j->status)
        return j->status;
    if (espi_json_peek(j) != kind)
        return fail_expected(j, name);
    j->at++;
    j->after_open = 1;
    return ESP_OK;
}

esp_status espi_json_open_object(struct espi_json *j)
{
    return open_bracket(j, ESPI_JSON_OBJECT, "an object {...}");
}

esp_status espi_json_open_array(struct espi_json *j)
{
    return open_bracket(j, ESPI_JSON_ARRAY, "an array [...]");
}

/* Is there another entry before the closing bracket? Consumes the comma or bracket. */
static int next_entry(struct espi_json *j, char closing)
{
    if (j->status)
        return 0;
    skip_blanks(j);
    int first = j->after_open;
    j->after_open = 0;
    if (j->at < j->end && *j->at == closing) {
        j->at++;
        return 0;
    }
    if (first)
        return 1;
    if (j->at == j->end || *j->at != ',') {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "',' or '%c'", closing);
        fail_expected(j, wanted);
        return 0;
    }
    j->at++;
    return 1;
}

int espi_json_item(struct espi_json *j)
{
    return next_entry(j, ']');
}

int espi_json_key(struct espi_json *j, struct espi_json_text *key)
{
    if (!next_entry(j, '}'))
        return 0;
    if (espi_json_peek(j) != ESPI_JSON_STRING) {
        fail_expected(j, "a key in quotes");
        return 0;
    }
    if (espi_json_string(j, key))
        return 0;
    skip_blanks(j);
    if (j->at == j->end || *j->at != ':') {
        fail_expected(j, "':' after the key");
        return 0;
    }
    j->at++;
    return 1;
}

/* ---- strings ---- */

/* Length of the well-formed UTF-8 character at p, or 0. */
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    int n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || end - p < n)
        return 0;
    unsigned c = p[0] & (0xffu >> (n + 1));
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? n : 0;
}

static int hex4(const char *p, const char *end, unsigned *out)
{
    if (end - p < 4)
        return -1;
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 16;
        if (d == 16)
            return -1;
        v = v << 4 | d;
    }
    *out = v;
    return 0;
}

static size_t put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* \uXXXX, with a second half for characters beyond the first plane. */
static esp_status unicode_escape(struct espi_json *j, char *out, size_t *n)
{
    unsigned c, low;
    if (hex4(j->at, j->end, &c))
        return espi_json_fail(j, "\\u needs four hexadecimal digits");
    j->at += 4;
    if (c >= 0xd800 && c <= 0xdbff) {
        if (j->end - j->at < 6 || j->at[0] != '\\' || j->at[1] != 'u' ||
            hex4(j->at + 2, j->end, &low) || low < 0xdc00 || low > 0xdfff)
            return espi_json_fail(j, "half of a surrogate pair is missing");
        j->at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c == 0 || (c >= 0xdc00 && c <= 0xdfff))
        return espi_json_fail(j, "this character is not allowed in a string");
    *n += put_utf8(out + *n, c);
    return ESP_OK;
}

static esp_status escape(struct espi_json *j, char *out, size_t *n)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    j->at++;
    if (j->at == j->end)
        return espi_json_fail(j, "the text ends inside a string");
    char c = *j->at++;
    if (c == 'u')
        return unicode_escape(j, out, n);
    const char *hit = c ? strchr(from, c) : NULL;
    if (!hit)
        return espi_json_fail(j, "unknown escape in a string");
    out[(*n)++] = to[hit - from];
    return ESP_OK;
}

/* The raw end of the string that starts at `at` (after the quote), or NULL. */
static const char *string_end(const char *at, const char *end, int *plain)
{
    *plain = 1;
    for (; at < end; at++) {
        if (*at == '"')
            return at;
        if (*at == '\\')
            *plain = 0, at++;
        else if ((unsigned char)*at >= 0x80 || (unsigned char)*at < 0x20)
            *plain = 0;
    }
    return NULL;
}

/* Unfolds escapes and checks the characters of [at, stop). */
static esp_status unfold(struct espi_json *j, const char *stop,
                         struct espi_json_text *out)
{
    size_t n = 0;
    if (espi_grow((void **)&j->scratch, &j->scratch_cap, (size_t)(stop - j->at) + 8, 1))
        return fail_nomem(j);
    while (j->at < stop) {
        unsigned char c = (unsigned char)*j->at;
        int length = c < 0x80 ? 1
                              : utf8_length((const unsigned char *)j->at,
                                            (const unsigned char *)stop);
        if (c == '\\') {
            if (escape(j, j->scratch, &n))
                return j->status;
            continue;
        }
        if (length == 0)
            return espi_json_fail(j, "the string is not UTF-8");
        if (c < 0x20)
            return espi_json_fail(j, "a control character stands in a string");
        memcpy(j->scratch + n, j->at, (size_t)length);
        n += (size_t)length;
        j->at += length;
    }
    out->at = j->scratch;
    out->length = n;
    return ESP_OK;
}

esp_status espi_json_string(struct espi_json *j, struct espi_json_text *out)
{
    if (j->status)
        return j->status;
    if (espi_json_peek(j) != ESPI_JSON_STRING)
        return fail_expected(j, "a string");
    int plain;
    const char *stop = string_end(j->at + 1, j->end, &plain);
    if (!stop)
        return espi_json_fail(j, "this string has no end");
    j->at++;
    if (plain) {
        out->at = j->at;
        out->length = (size_t)(stop - j->at);
    } else if (unfold(j, stop, out)) {
        return j->status;
    }
    j->at = stop + 1;
    return ESP_OK;
}

/* ---- the other values ---- */

esp_status espi_json_number(struct espi_json *j, double *out)
{
    if (j->status)
        return j->status;
    if (espi_json_peek(j) != ESPI_JSON_NUMBER)
        return fail_expected(j, "a number");
    int minus = *j->at == '-';
    const char *digits = j->at + minus;
    double value;
    size_t n = espi_scan_number(digits, (size_t)(j->end - digits), &value);
    if (n == 0 || digits[n - 1] == '.' || digits[0] == '.' ||
        (digits[0] == '0' && n > 1 && digits[1] >= '0' && digits[1] <= '9'))
        return espi_json_fail(j, "this is not a number, or one out of range");
    j->at = digits + n;
    *out = minus ? -value : value;
    return ESP_OK;
}

static int take_word(struct espi_json *j, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n))
        return 0;
    j->at += n;
    return 1;
}

esp_status espi_json_bool(struct espi_json *j, int *out)
{
    if (j->status)
        return j->status;
    skip_blanks(j);
    if (take_word(j, "true"))
        *out = 1;
    else if (take_word(j, "false"))
        *out = 0;
    else
        return fail_expected(j, "true or false");
    return ESP_OK;
}

static esp_status skip_scalar(struct espi_json *j)
{
    struct espi_json_text text;
    double number;
    int truth;
    switch (espi_json_peek(j)) {
    case ESPI_JSON_STRING:
        return espi_json_string(j, &text);
    case ESPI_JSON_NUMBER:
        return espi_json_number(j, &number);
    case ESPI_JSON_TRUE:
    case ESPI_JSON_FALSE:
        return espi_json_bool(j, &truth);
    case ESPI_JSON_NULL:
        return take_word(j, "null") ? ESP_OK : fail_expected(j, "null");
    default:
        return fail_expected(j, "a value");
    }
}

/* Skips any value. A bit a level tells objects from arrays: no recursion, so that
 * hostile nesting costs nothing. */
esp_status espi_json_skip(struct espi_json *j)
{
    unsigned char is_object[MAX_DEPTH];
    struct espi_json_text key;
    int depth = 0;
    do {
        espi_json_kind kind = espi_json_peek(j);
        if (kind == ESPI_JSON_OBJECT || kind == ESPI_JSON_ARRAY) {
            if (depth == MAX_DEPTH)
                return espi_json_fail(j, "nested more than %d deep", MAX_DEPTH);
            is_object[depth++] = kind == ESPI_JSON_OBJECT;
            j->at++;
            j->after_open = 1;
        } else if (skip_scalar(j)) {
            return j->status;
        }
        while (depth > 0 &&
               !(is_object[depth - 1] ? espi_json_key(j, &key) : espi_json_item(j))) {
            if (j->status)
                return j->status;
            depth--;
        }
    } while (depth > 0);
    return j->status;
}

esp_status espi_json_end(struct espi_json *j)
{
    if (j->status)
        return j->status;
    skip_blanks(j);
    if (j->at < j->end)
        return espi_json_fail(j, "text follows after the end of the document");
    return ESP_OK;
}

int espi_json_is(const struct espi_json_text *t, const char *word)
{
    return strlen(word) == t->length && !memcmp(t->at, word, t->length);
}
