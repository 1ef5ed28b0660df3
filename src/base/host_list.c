/* Lists of hosts: each item is text with any number of brackets, and each bracket holds
 * numbers and ranges. Brackets are counted like the digits of a number, the last one
 * fastest, so that nothing is kept but where each of them stands. */
#include "base/host_list.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BRACKETS_MAX = 8, DIGITS_MAX = 9, BASE = 10 }; /* limits; derived: decimal */

struct bracket {
    const char *begin, *end; /* what stands between the brackets */
    const char *next;        /* the range after the one that is open */
    uint32_t low, high, at;
    int width; /* digits of the range's low end, with leading zeros */
};

struct item {
    const char *begin, *end;
    struct bracket bracket[BRACKETS_MAX];
    int n_brackets;
};

static esp_status refuse(struct espi_span what, const char *why, struct esp_err *err)
{
    char shown[64];
    return espi_err(err, ESP_EINPUT, "the list of hosts '%s' %s",
                    espi_span_quote(shown, sizeof shown, what), why);
}

/* Digits at *at, which moves on: how many, 0 for none or too many. */
static int take_number(const char **at, const char *end, uint32_t *value)
{
    const char *begin = *at;
    *value = 0;
    while (*at < end && **at >= '0' && **at <= '9' && *at - begin < DIGITS_MAX) {
        *value = *value * BASE + (uint32_t)(**at - '0');
        (*at)++;
    }
    return (int)(*at - begin);
}

/* Opens the range at b->next, "3" or "3-7": 0, or -1. */
static int open_range(struct bracket *b)
{
    const char *at = b->next;
    b->width = take_number(&at, b->end, &b->low);
    b->high = b->low;
    if (!b->width)
        return -1;
    if (at < b->end && *at == '-') {
        at++;
        if (!take_number(&at, b->end, &b->high))
            return -1;
    }
    if (b->high < b->low || (at < b->end && *at != ','))
        return -1;
    if (at < b->end && ++at == b->end)
        return -1; /* a comma that nothing follows */
    b->next = at;
    b->at = b->low;
    return 0;
}

static int open_bracket(struct bracket *b)
{
    b->next = b->begin;
    return open_range(b);
}

/* Finds the end of the item that begins at `begin`, and its brackets. */
static esp_status scan_item(struct item *item, const char *begin, const char *end,
                            struct esp_err *err)
{
    struct espi_span rest = {begin, (size_t)(end - begin)};
    const char *at = begin;
    item->begin = begin;
    item->n_brackets = 0;
    for (; at < end && *at != ','; at++) {
        if (*at == ']')
            return refuse(rest, "closes a bracket that is not open", err);
        if (*at != '[')
            continue;
        const char *close = memchr(at, ']', (size_t)(end - at));
        if (!close)
            return refuse(rest, "opens a bracket that is not closed", err);
        if (item->n_brackets == BRACKETS_MAX)
            return refuse(rest, "has too many brackets in one name", err);
        struct bracket *b = &item->bracket[item->n_brackets++];
        *b = (struct bracket){.begin = at + 1, .end = close};
        if (open_bracket(b))
            return refuse(rest, "has a bracket without numbers such as [0-3,12]", err);
        at = close;
    }
    item->end = at;
    return at > begin ? ESP_OK : refuse(rest, "has an empty name", err);
}

/* The name that the brackets stand at: 0, or -1 when it is too long. */
static int spell_name(const struct item *item, char name[ESPI_NAME_MAX + 1])
{
    const char *at = item->begin;
    size_t n = 0;
    for (int k = 0; k <= item->n_brackets; k++) {
        const struct bracket *b = k < item->n_brackets ? &item->bracket[k] : NULL;
        size_t length = (size_t)((b ? b->begin - 1 : item->end) - at);
        if (n + length > ESPI_NAME_MAX)
            return -1;
        memcpy(name + n, at, length);
        n += length;
        if (!b)
            break;
        int wrote = snprintf(name + n, ESPI_NAME_MAX + 1 - n, "%0*u", b->width, b->at);
        if (wrote < 0 || n + (size_t)wrote > ESPI_NAME_MAX)
            return -1;
        n += (size_t)wrote;
        at = b->end + 1;
    }
    name[n] = '\0';
    return 0;
}

/* 1 with the brackets at the next name; 0 when there is none; -1: a bad range. */
static int next_name(struct item *item)
{
    for (int k = item->n_brackets - 1; k >= 0; k--) {
        struct bracket *b = &item->bracket[k];
        if (b->at < b->high) {
            b->at++;
            return 1;
        }
        if (b->next < b->end)
            return open_range(b) ? -1 : 1;
        open_bracket(b); /* it opened before */
    }
    return 0;
}

static esp_status each_of_item(struct item *item, size_t *left, espi_take_host take,
                               void *self, struct esp_err *err)
{
    struct espi_span all = {item->begin, (size_t)(item->end - item->begin)};
    char name[ESPI_NAME_MAX + 1];
    int more = 1;
    while (more > 0) {
        if ((*left)-- == 0)
            return refuse(all, "has too many hosts", err);
        if (spell_name(item, name))
            return refuse(all, "has a name longer than 255 bytes", err);
        if (!espi_is_printable(name, strlen(name)))
            return refuse(all, "has a name that is not printable UTF-8", err);
        esp_status status = take(self, name, err);
        if (status)
            return status;
        more = next_name(item);
    }
    return more < 0 ? refuse(all, "has a bracket without numbers such as [0-3,12]", err)
                    : ESP_OK;
}

esp_status espi_host_list_each(struct espi_span list, size_t max, espi_take_host take,
                               void *self, struct esp_err *err)
{
    const char *at = list.text, *end = list.text + list.length;
    size_t left = max;
    for (;;) {
        struct item item;
        esp_status status = scan_item(&item, at, end, err);
        if (!status)
            status = each_of_item(&item, &left, take, self, err);
        if (status || item.end == end)
            return status;
        at = item.end + 1;
    }
}
