#include "sim/trace.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/input.h"
#include "base/scan.h"
#include "platform/platform.h"

enum kind { NODE, LINK, PAIR, CABLE, KINDS };

static const struct {
    const char *word;
    int names, has_factor;
} kinds[KINDS] = {
    [NODE] = {"node", 1, 0},
    [LINK] = {"link", 2, 1},
    [PAIR] = {"pair", 2, 1},
    [CABLE] = {"cable", 1, 1},
};

struct event {
    enum kind kind;
    double at_s, factor;
    struct espi_span name[2];
};

void espi_trace_done(struct esp_trace *t)
{
    espi_free(t->changes);
    espi_free(t->stops);
    *t = (struct esp_trace){0};
}

esp_status esp_trace_create(struct esp_trace **out, struct esp_err *err)
{
    struct esp_trace *trace = out ? espi_calloc(1, sizeof *trace) : NULL;
    if (!out)
        return espi_err(err, ESP_EUSAGE, "there is no place for the trace");
    if (!trace)
        return espi_err_nomem(err);
    *out = trace;
    return ESP_OK;
}

void esp_trace_free(struct esp_trace *trace)
{
    if (!trace)
        return;
    espi_trace_done(trace);
    espi_free(trace);
}

const struct esp_rate_change *esp_trace_changes(const struct esp_trace *trace, int *count)
{
    int n = trace ? (int)trace->n_changes : 0;
    if (count)
        *count = n;
    return n ? trace->changes : NULL;
}

const struct esp_node_stop *esp_trace_stops(const struct esp_trace *trace, int *count)
{
    int n = trace ? (int)trace->n_stops : 0;
    if (count)
        *count = n;
    return n ? trace->stops : NULL;
}

/* ---- from an event to what the simulator takes ---- */

static esp_status add_change(struct esp_trace *t, const struct event *e, int is_cable,
                             int id, struct esp_err *err)
{
    if (espi_grow((void **)&t->changes, &t->changes_room, t->n_changes + 1,
                  sizeof *t->changes))
        return espi_err_nomem(err);
    t->changes[t->n_changes++] = (struct esp_rate_change){
        .at_s = e->at_s, .is_cable = is_cable, .id = id, .factor = e->factor};
    return ESP_OK;
}

/* The node of a name that does not end in '\0', or -1. */
static int find_node(const struct esp_platform *p, struct espi_span s)
{
    char name[ESPI_NAME_MAX + 1];
    if (s.length > ESPI_NAME_MAX)
        return -1;
    memcpy(name, s.text, s.length);
    name[s.length] = '\0';
    return esp_platform_find_node(p, name);
}

static esp_status need_node(const struct esp_platform *p, struct espi_span s, int *node,
                            struct esp_err *err)
{
    char name[64];
    int found = find_node(p, s);
    if (found < 0)
        return espi_err(err, ESP_EINPUT, "no node is named '%s'",
                        espi_span_quote(name, sizeof name, s));
    *node = found;
    return ESP_OK;
}

static esp_status add_stop(struct esp_trace *t, const struct esp_platform *p,
                           const struct event *e, struct esp_err *err)
{
    char name[64];
    int node = -1;
    esp_status st = need_node(p, e->name[0], &node, err);
    if (st)
        return st;
    if (espi_is_switch(p, node))
        return espi_err(err, ESP_EINPUT,
                        "%s is a switch, and only hosts stop; take its links down",
                        espi_span_quote(name, sizeof name, e->name[0]));
    if (espi_grow((void **)&t->stops, &t->stops_room, t->n_stops + 1, sizeof *t->stops))
        return espi_err_nomem(err);
    t->stops[t->n_stops++] = (struct esp_node_stop){.at_s = e->at_s, .node = node};
    return ESP_OK;
}

static esp_status add_link(struct esp_trace *t, const struct esp_platform *p,
                           const struct event *e, int from, int to, struct esp_err *err)
{
    char a[64], b[64];
    int link = esp_platform_find_link(p, from, to);
    if (link < 0)
        return espi_err(err, ESP_EINPUT, "there is no link %s -> %s",
                        espi_quote(a, sizeof a, espi_node_name(p, from)),
                        espi_quote(b, sizeof b, espi_node_name(p, to)));
    return add_change(t, e, 0, link, err);
}

static esp_status add_links(struct esp_trace *t, const struct esp_platform *p,
                            const struct event *e, struct esp_err *err)
{
    int a = -1, b = -1;
    esp_status st = need_node(p, e->name[0], &a, err);
    if (!st)
        st = need_node(p, e->name[1], &b, err);
    if (!st)
        st = add_link(t, p, e, a, b, err);
    if (!st && e->kind == PAIR)
        st = add_link(t, p, e, b, a, err);
    return st;
}

static esp_status add_cable(struct esp_trace *t, const struct esp_platform *p,
                            const struct event *e, struct esp_err *err)
{
    char name[64];
    for (int i = 0; i < p->n_shared; i++)
        if (espi_span_is(e->name[0], espi_shared_name(p, i)))
            return add_change(t, e, 1, i, err);
    return espi_err(err, ESP_EINPUT, "no shared link is named '%s'",
                    espi_span_quote(name, sizeof name, e->name[0]));
}

static esp_status add_event(struct esp_trace *t, const struct esp_platform *p,
                            const struct event *e, struct esp_err *err)
{
    if (e->kind == NODE)
        return add_stop(t, p, e, err);
    return e->kind == CABLE ? add_cable(t, p, e, err) : add_links(t, p, e, err);
}

/* ---- the parts of an event ---- */

static int parse_kind(struct espi_span s, enum kind *kind)
{
    for (int i = 0; i < KINDS; i++)
        if (espi_span_is(s, kinds[i].word)) {
            *kind = (enum kind)i;
            return 0;
        }
    return -1;
}

static int parse_factor(struct espi_span s, double *factor)
{
    if (espi_span_is(s, "down") || espi_span_is(s, "up")) {
        *factor = s.length == 2;
        return 0;
    }
    return espi_parse_number(s.text, s.length, factor);
}

/* ---- lines of a file ---- */

enum { CELLS_MAX = 5 };

/* Gives the number of cells that there are, which may be more than fit. */
static int split_line(struct espi_span line, struct espi_span cell[CELLS_MAX])
{
    int n = 0;
    if (!memchr(line.text, ',', line.length))
        return espi_split(line, cell, CELLS_MAX);
    for (;;) {
        const char *comma = memchr(line.text, ',', line.length);
        size_t length = comma ? (size_t)(comma - line.text) : line.length;
        if (n < CELLS_MAX)
            cell[n] = espi_trim((struct espi_span){line.text, length});
        n++;
        if (!comma)
            return n;
        line.text += length + 1;
        line.length -= length + 1;
    }
}

static esp_status read_event(const struct espi_lines *lines, struct espi_span line,
                             struct event *e, struct esp_err *err)
{
    struct espi_span cell[CELLS_MAX];
    char shown[64];
    int n = split_line(line, cell);
    if (n < 2 || parse_kind(cell[1], &e->kind))
        return espi_lines_err(lines, err, "'%s' is not node, link, pair or cable",
                              n < 2 ? "" : espi_span_quote(shown, sizeof shown, cell[1]));
    int names = kinds[e->kind].names, wanted = 2 + names + kinds[e->kind].has_factor;
    if (n != wanted)
        return espi_lines_err(lines, err, "%d cells where %d make up a change of a %s", n,
                              wanted, kinds[e->kind].word);
    esp_status st = espi_lines_quantity(lines, ESPI_TIME, cell[0], "time", &e->at_s, err);
    if (st)
        return st;
    for (int i = 0; i < names; i++)
        e->name[i] = cell[2 + i];
    if (kinds[e->kind].has_factor && parse_factor(cell[n - 1], &e->factor))
        return espi_lines_err(lines, err,
                              "'%s' is not a factor (a number from 0 up, down or up)",
                              espi_span_quote(shown, sizeof shown, cell[n - 1]));
    return ESP_OK;
}

static esp_status read_line(struct esp_trace *t, const struct esp_platform *p,
                            const struct espi_lines *lines, struct espi_span line,
                            struct esp_err *err)
{
    struct event e = {0};
    struct esp_err why = {.status = ESP_OK, .text = ""};
    esp_status st = read_event(lines, line, &e, err);
    if (st)
        return st;
    st = add_event(t, p, &e, &why);
    if (st == ESP_EINPUT)
        return espi_lines_err(lines, err, "%s", why.text);
    return st ? espi_err_nomem(err) : ESP_OK;
}

esp_status esp_trace_parse(struct esp_trace *t, const struct esp_platform *p,
                           const char *text, size_t length, const char *where,
                           struct esp_err *err)
{
    if (!t || !p || !text || !where)
        return espi_err(err, ESP_EUSAGE, "a trace needs a platform and a text");
    size_t n_changes = t->n_changes, n_stops = t->n_stops;
    struct espi_lines lines;
    struct espi_span line;
    esp_status st = ESP_OK;
    int got;
    espi_lines_init(&lines, text, length, where, ESPI_LINE_MAX);
    while (!st && (got = espi_lines_next_data(&lines, &line, err)) != 0)
        st = got < 0 ? ESP_EINPUT : read_line(t, p, &lines, line, err);
    if (st) {
        t->n_changes = n_changes;
        t->n_stops = n_stops;
    }
    return st;
}

esp_status esp_trace_read(struct esp_trace *t, const struct esp_platform *p,
                          const char *path, struct esp_err *err)
{
    struct espi_input in;
    if (!t || !p || !path)
        return espi_err(err, ESP_EUSAGE, "a trace needs a platform and a file");
    esp_status st = espi_input_read(&in, path, err);
    if (st)
        return st;
    st = esp_trace_parse(t, p, in.text, in.length, in.where, err);
    espi_input_done(&in);
    return st;
}

/* ---- one word ---- */

/* Splits "A:B"; names may hold ':' themselves, so that the nodes there are decide. */
static int split_names(const struct esp_platform *p, struct espi_span both,
                       struct espi_span name[2])
{
    int found = 0;
    for (size_t i = 0; i < both.length; i++) {
        struct espi_span a = {both.text, i};
        struct espi_span b = {both.text + i + 1, both.length - i - 1};
        if (both.text[i] != ':')
            continue;
        int exact = find_node(p, a) >= 0 && find_node(p, b) >= 0;
        if (!found || exact) {
            name[0] = a;
            name[1] = b;
            found = 1;
        }
        if (exact)
            return 0;
    }
    return found ? 0 : -1;
}

/* "TIME" or "TIME=FACTOR" */
static int parse_when(struct espi_span s, struct event *e)
{
    const char *equals = memchr(s.text, '=', s.length);
    size_t n = equals ? (size_t)(equals - s.text) : s.length;
    if (espi_parse_quantity(ESPI_TIME, s.text, n, &e->at_s))
        return -1;
    if (!equals)
        return 0;
    struct espi_span factor = {equals + 1, s.length - n - 1};
    return kinds[e->kind].has_factor ? parse_factor(factor, &e->factor) : -1;
}

static int parse_word(const struct esp_platform *p, const char *word, struct event *e)
{
    const char *colon = strchr(word, ':'), *at = strrchr(word, '@');
    if (!colon || !at || at < colon)
        return -1;
    struct espi_span kind = {word, (size_t)(colon - word)};
    struct espi_span when = {at + 1, strlen(at + 1)};
    struct espi_span names = {colon + 1, (size_t)(at - colon - 1)};
    if (parse_kind(kind, &e->kind) || parse_when(when, e))
        return -1;
    e->name[0] = names;
    return kinds[e->kind].names == 2 ? split_names(p, names, e->name) : 0;
}

esp_status esp_trace_add(struct esp_trace *t, const struct esp_platform *p,
                         const char *word, struct esp_err *err)
{
    struct event e = {0};
    char shown[80];
    if (!t || !p || !word)
        return espi_err(err, ESP_EUSAGE, "a trace needs a platform and an event");
    size_t n_changes = t->n_changes;
    if (parse_word(p, word, &e))
        return espi_err(err, ESP_EUSAGE,
                        "'%s' is none of node:NAME@TIME, link:FROM:TO@TIME[=FACTOR], "
                        "pair:A:B@TIME[=FACTOR], cable:NAME@TIME[=FACTOR]",
                        espi_quote(shown, sizeof shown, word));
    esp_status st = add_event(t, p, &e, err);
    if (st)
        t->n_changes = n_changes;
    return st;
}
