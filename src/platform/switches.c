/* Which nodes are switches, where a file does not say so by itself. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/err.h"
#include "platform/part.h"
#include "platform/platform.h"

int espi_fits_pattern(const char *pattern, size_t length, const char *text)
{
    const char *end = pattern + length, *star = NULL, *from = NULL;
    while (*text) {
        if (pattern < end && *pattern == '*') { /* first as no text at all */
            star = pattern++;
            from = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) { /* then as one byte more */
            pattern = star + 1;
            text = ++from;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static esp_status turn_pattern(struct esp_platform *p, const char *pattern, size_t length,
                               struct esp_err *err)
{
    int fitting = 0;
    for (int v = 0; v < p->n_nodes; v++) {
        if (!espi_fits_pattern(pattern, length, espi_node_name(p, v)))
            continue;
        fitting++;
        p->n_hosts -= !espi_is_switch(p, v);
        p->node_kind[v] = ESP_NODE_SWITCH;
    }
    char copy[64], shown[96];
    size_t n = length < sizeof copy ? length : sizeof copy - 1;
    memcpy(copy, pattern, n);
    copy[n] = '\0';
    espi_quote(shown, sizeof shown, copy);
    if (!fitting)
        return espi_err(err, ESP_EINPUT, "no node is named '%s', which is to be a switch",
                        shown);
    return p->n_hosts > 0 ? ESP_OK
                          : espi_err(err, ESP_EINPUT,
                                     "with '%s' as switches no host is left", shown);
}

esp_status espi_platform_with_switches(const struct esp_platform *p, const char *patterns,
                                       struct esp_platform **out, struct esp_err *err)
{
    struct esp_platform *copy = NULL;
    esp_status st = esp_platform_with_model(p, p->model, &copy, err);
    while (!st && *patterns) {
        size_t length = strcspn(patterns, ",");
        st = turn_pattern(copy, patterns, length, err);
        patterns += length;
        patterns += *patterns == ',';
    }
    if (st)
        esp_platform_free(copy);
    else
        *out = copy;
    return st;
}

/* ---- hosts that look like switches ---- */

/* A name is taken for a switch's where one of these stands at its beginning or behind a
 * mark, and no letter follows: sw1, nvswitch, rack3-leaf2, but not swan or cores. */
static int is_named_like_switch(const char *name)
{
    static const char *const words[] = {"switch", "nvswitch", "sw",   "router", "spine",
                                        "leaf",   "tor",      "core", "hub"};
    for (const char *at = name; *at; at++) {
        if (at != name && isalnum((unsigned char)at[-1]))
            continue;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t n = strlen(words[i]);
            if (strncasecmp(at, words[i], n) == 0 && !isalpha((unsigned char)at[n]))
                return 1;
        }
    }
    return 0;
}

/* The one neighbour of v, whichever way links go; -1: there are none or several. */
static int lone_neighbour(const struct esp_platform *p, int v)
{
    int found = -1;
    for (int k = p->out.start[v]; k < p->out.start[v + 1]; k++) {
        int w = p->head[p->out.item[k]];
        if (found >= 0 && w != found)
            return -1;
        found = w;
    }
    for (int k = p->in.start[v]; k < p->in.start[v + 1]; k++) {
        int w = p->tail[p->in.item[k]];
        if (found >= 0 && w != found)
            return -1;
        found = w;
    }
    return found;
}

static int count_leaves(const struct esp_platform *p, int v)
{
    int leaves = 0;
    for (int k = p->out.start[v]; k < p->out.start[v + 1]; k++)
        leaves += lone_neighbour(p, p->head[p->out.item[k]]) == v;
    return leaves;
}

int espi_find_likely_switch(const struct esp_platform *p, int *leaves)
{
    *leaves = 0;
    for (int v = 0; v < p->n_nodes; v++)
        if (!espi_is_switch(p, v) && is_named_like_switch(espi_node_name(p, v)))
            return v;
    for (int v = 0; v < p->n_nodes; v++) {
        *leaves = espi_is_switch(p, v) ? 0 : count_leaves(p, v);
        if (*leaves > 1)
            return v;
    }
    *leaves = 0;
    return -1;
}
