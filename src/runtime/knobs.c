/* The settings of knob_list.def: listed, and read. */
#include "runtime/knobs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/units.h"

enum knob_number {
#define KNOB(id, kind, values, standard, help) id,
#include "runtime/knob_list.def"
#undef KNOB
    N_KNOBS
};

static const struct espi_knob knobs[N_KNOBS] = {
#define KNOB(id, kind, values, standard, help) {"ESPALIER_" #id, values, standard, help},
#include "runtime/knob_list.def"
#undef KNOB
};

const struct espi_knob *espi_knobs(int *count)
{
    *count = N_KNOBS;
    return knobs;
}

static esp_status wrong(const struct espi_knob *knob, const char *text,
                        struct esp_err *err)
{
    char quoted[80];
    return espi_err(err, ESP_EUSAGE, "%s: '%s' is not one of %s", knob->name,
                    espi_quote(quoted, sizeof quoted, text), knob->values);
}

static esp_status read_choice(enum knob_number k, const char *text, int *out,
                              struct esp_err *err)
{
    size_t length = strlen(text);
    int index = 0;
    for (const char *at = knobs[k].values; *at; index++) {
        size_t word = strcspn(at, "|");
        if (word == length && memcmp(at, text, word) == 0) {
            *out = index;
            return ESP_OK;
        }
        at += word + (at[word] == '|');
    }
    return wrong(&knobs[k], text, err);
}

static esp_status read_size(enum knob_number k, const char *text, double *out,
                            struct esp_err *err)
{
    char why[256];
    if (espi_parse_size(text, out) == 0)
        return ESP_OK;
    espi_quantity_complaint(why, sizeof why, ESPI_SIZE, text, strlen(text));
    return espi_err(err, ESP_EUSAGE, "%s: %s", knobs[k].name, why);
}

static esp_status read_number(enum knob_number k, const char *text, double min,
                              double max, double *out, struct esp_err *err)
{
    double value;
    char quoted[80];
    if (espi_parse_number(text, strlen(text), &value) || value < min || value > max)
        return espi_err(err, ESP_EUSAGE, "%s: '%s' is not a number from %g to %g",
                        knobs[k].name, espi_quote(quoted, sizeof quoted, text), min, max);
    *out = value;
    return ESP_OK;
}

static esp_status read_count(enum knob_number k, const char *text, int min, int max,
                             int *out, struct esp_err *err)
{
    double number;
    esp_status st = read_number(k, text, min, max, &number, err);
    if (!st)
        *out = (int)number;
    return st;
}

static esp_status read_text(enum knob_number k, const char *text, char *out, size_t size,
                            struct esp_err *err)
{
    if (strlen(text) >= size)
        return espi_err(err, ESP_EUSAGE, "%s is longer than %zu bytes", knobs[k].name,
                        size - 1);
    memset(out, 0, size);
    memcpy(out, text, strlen(text));
    return ESP_OK;
}

/* "12>": the number (of "*": -1), and what stands behind the mark; NULL: it is not so. */
static const char *parse_rank(const char *text, const char *end, char mark, int *out)
{
    double value;
    const char *at = memchr(text, mark, (size_t)(end - text));
    if (at == text + 1 && *text == '*') {
        *out = -1;
        return at + 1;
    }
    if (!at || espi_parse_number(text, (size_t)(at - text), &value) || value < 0 ||
        value > INT_MAX || value != (int)value)
        return NULL;
    *out = (int)value;
    return at + 1;
}

int espi_slow_parse(const char *text, size_t length, struct espi_slow_setting *out)
{
    struct espi_slow_setting s;
    const char *end = text + length;
    text = parse_rank(text, end, '>', &s.from);
    text = text ? parse_rank(text, end, '=', &s.to) : NULL;
    if (!text ||
        espi_parse_quantity(ESPI_BANDWIDTH, text, (size_t)(end - text),
                            &s.bandwidth_Bps) ||
        s.bandwidth_Bps <= 0)
        return -1;
    *out = s;
    return 0;
}

static esp_status read_slow(enum knob_number k, const char *text, char *out, size_t size,
                            struct esp_err *err)
{
    struct espi_slow_setting ignored;
    char quoted[80];
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        if (espi_slow_parse(at, length, &ignored))
            return espi_err(err, ESP_EUSAGE, "%s: '%s' is not of the form %s",
                            knobs[k].name, espi_quote(quoted, sizeof quoted, at),
                            knobs[k].values);
        at += length + (at[length] == ',');
    }
    return read_text(k, text, out, size, err);
}

/* Kinds of values, as the list names them. */
#define CHOICE(member)           read_choice(k, text, &s->member, err)
#define TEXT(member)             read_text(k, text, s->member, sizeof s->member, err)
#define SLOW_LINKS(member)       read_slow(k, text, s->member, sizeof s->member, err)
#define SIZE(member)             read_size(k, text, &s->member, err)
#define NUMBER(member, min, max) read_number(k, text, min, max, &s->member, err)
#define COUNT(member, min, max)  read_count(k, text, min, max, &s->member, err)

static esp_status read_one(struct espi_settings *s, enum knob_number k, const char *text,
                           struct esp_err *err)
{
    switch (k) {
#define KNOB(id, kind, values, standard, help)                                           \
    case id:                                                                             \
        return kind;
#include "runtime/knob_list.def"
#undef KNOB
    default:
        return ESP_OK;
    }
}

esp_status espi_settings_read(struct espi_settings *out, char *(*get)(const char *name),
                              struct esp_err *err)
{
    struct espi_settings s;
    memset(&s, 0, sizeof s);
    for (enum knob_number k = 0; k < N_KNOBS; k++) {
        const char *text = get(knobs[k].name);
        esp_status st = read_one(&s, k, text && *text ? text : knobs[k].standard, err);
        if (st)
            return st;
    }
    *out = s;
    return ESP_OK;
}
