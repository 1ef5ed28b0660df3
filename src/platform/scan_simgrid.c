/* What of a SimGrid platform libsimgrid gets to see.
 *
 * libsimgrid obeys what it reads: a <config> lets it write any file, attributes and
 * elements name others for it to open, and deep nesting runs over the end of an array in
 * its parser. So a file is not handed to it. It is read here, with expat, and written
 * anew: only elements and attributes of the tables below, only text that is printable,
 * no entities, no comments. What libsimgrid then reads is what was looked at, byte for
 * byte, and means the same to both parsers.
 *
 * Left out: how speeds and states change with time (<trace>, <trace_connect>, the
 * attributes that name a file of such changes). What is read is the network as it begins,
 * so this changes nothing.
 * Refused: all other elements and attributes (<config> and <include> among them), text
 * between elements, a document type that is not the plain one of SimGrid, nesting deeper
 * than 32.
 *
 * Elements keep their line, so that what SimGrid says of a line is true of the file. */
#include "platform/readers.h"
#include "platform/xml_error.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/input.h"
#include "base/scan.h"

#define DEPTH_MAX 32
#define VALUE_MAX 65536 /* bytes of an attribute */

/* From simgrid.dtd, version 4.1. */
static const struct element {
    const char *name, *kept, *left_out; /* attributes, each with a blank behind it */
    int is_left_out;
} elements[] = {
    {"platform", "version ", "", 0},
    {"zone", "id routing ", "", 0},
    {"AS", "id routing ", "", 0},
    {"prop", "id value ", "", 0},
    {"host", "id speed core coordinates pstate ",
     "speed_file availability_file state_file ", 0},
    {"disk", "id read_bw write_bw ", "", 0},
    {"host_link", "id up down ", "", 0},
    {"cluster",
     "id prefix suffix radical speed core bw lat sharing_policy topology topo_parameters "
     "bb_bw bb_lat bb_sharing_policy router_id limiter_link loopback_bw loopback_lat ",
     "", 0},
    {"cabinet", "id prefix suffix radical speed bw lat ", "", 0},
    {"peer", "id speed bw_in bw_out lat coordinates ",
     "speed_file availability_file state_file ", 0},
    {"router", "id coordinates ", "", 0},
    {"backbone", "id bandwidth latency ", "", 0},
    {"link", "id bandwidth latency sharing_policy ",
     "bandwidth_file latency_file state_file ", 0},
    {"route", "src dst symmetrical ", "", 0},
    {"zoneRoute", "src dst gw_src gw_dst symmetrical ", "", 0},
    {"ASroute", "src dst gw_src gw_dst symmetrical ", "", 0},
    {"bypassRoute", "src dst ", "", 0},
    {"bypassZoneRoute", "src dst gw_src gw_dst ", "", 0},
    {"bypassASroute", "src dst gw_src gw_dst ", "", 0},
    {"link_ctn", "id direction ", "", 0},
    {"trace", "", "id file periodicity ", 1},
    {"trace_connect", "", "kind trace element ", 1},
};

struct scan {
    XML_Parser parser;
    const struct espi_source *source;
    struct esp_err *err;
    esp_status status;
    char *out;
    size_t length, cap, line; /* of what was written */
    int depth;
    int left_out; /* depth of the element that is being left out; 0: none */
    int is_open;  /* the '>' of the last tag is still to come */
};

/* ---- failing ---- */

static void stop_parser(struct scan *s, esp_status status)
{
    if (!s->status)
        s->status = status;
    XML_StopParser(s->parser, XML_FALSE);
}

__attribute__((format(printf, 2, 3))) static void fail(struct scan *s, const char *fmt,
                                                       ...)
{
    char text[384];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!s->status)
        stop_parser(s,
                    espi_err(s->err, ESP_EINPUT, "%s:%lu: %s", s->source->where,
                             (unsigned long)XML_GetCurrentLineNumber(s->parser), text));
}

/* ---- writing ---- */

static void put_n(struct scan *s, const char *text, size_t n)
{
    if (s->status)
        return;
    if (s->length + n > ESPI_INPUT_MAX)
        fail(s, "larger than %zu MiB, the most that is read", ESPI_INPUT_MAX >> 20);
    else if (espi_grow((void **)&s->out, &s->cap, s->length + n, 1))
        stop_parser(s, espi_err_nomem(s->err));
    else {
        memcpy(s->out + s->length, text, n);
        s->length += n;
    }
}

static void put_text(struct scan *s, const char *text)
{
    put_n(s, text, strlen(text));
}

static void put_value(struct scan *s, const char *name, const char *value)
{
    static const char special[] = "&<>\"'";
    static const char *const code[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    put_text(s, " ");
    put_text(s, name);
    put_text(s, "=\"");
    while (*value) {
        size_t plain = strcspn(value, special);
        put_n(s, value, plain);
        value += plain;
        if (*value)
            put_text(s, code[strchr(special, *value++) - special]);
    }
    put_text(s, "\"");
}

/* Ends the tag before, and goes on to the line where the reader is. */
static void go_on(struct scan *s)
{
    size_t line = (size_t)XML_GetCurrentLineNumber(s->parser);
    if (s->is_open)
        put_text(s, ">");
    s->is_open = 0;
    for (; s->line < line && !s->status; s->line++)
        put_text(s, "\n");
}

/* ---- elements ---- */

static const struct element *find_element(const char *name)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, name) == 0)
            return &elements[i];
    return NULL;
}

static int is_among(const char *name, const char *list)
{
    size_t n = strlen(name);
    for (; *list; list = strchr(list, ' ') + 1)
        if (strncmp(list, name, n) == 0 && list[n] == ' ')
            return 1;
    return 0;
}

/* An entity that nobody declared is passed over by expat when it stands in an attribute
 * of a document with a document type, and its name with it. */
static int has_strange_entity(const struct scan *s)
{
    static const char *const known[] = {"&amp;",  "&lt;",   "&gt;",
                                        "&quot;", "&apos;", "&#"};
    XML_Index from = XML_GetCurrentByteIndex(s->parser);
    int count = XML_GetCurrentByteCount(s->parser);
    if (from < 0 || count <= 0)
        return 0;
    const char *at = s->source->text + from, *end = at + count;
    while ((at = memchr(at, '&', (size_t)(end - at)))) {
        int found = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            size_t n = strlen(known[i]);
            found |= (size_t)(end - at) >= n && memcmp(at, known[i], n) == 0;
        }
        if (!found)
            return 1;
        at++;
    }
    return 0;
}

static void put_attributes(struct scan *s, const struct element *e, const char **pairs)
{
    char quoted[64];
    for (; pairs[0] && !s->status; pairs += 2) {
        size_t n = strlen(pairs[1]);
        if (!is_among(pairs[0], e->kept) && !is_among(pairs[0], e->left_out))
            fail(s, "<%s> has an attribute '%s', which is not read", e->name,
                 espi_quote(quoted, sizeof quoted, pairs[0]));
        else if (n > VALUE_MAX)
            fail(s, "the attribute '%s' is longer than %d bytes", pairs[0], VALUE_MAX);
        else if (!espi_is_harmless_text(pairs[1], n))
            fail(s, "the attribute '%s' has characters that cannot be printed: '%s'",
                 pairs[0], espi_quote(quoted, sizeof quoted, pairs[1]));
        else if (is_among(pairs[0], e->kept))
            put_value(s, pairs[0], pairs[1]);
    }
}

static void refuse_element(struct scan *s, const char *name)
{
    char quoted[64];
    if (strcmp(name, "config") == 0)
        fail(s, "a <config> changes what SimGrid itself does, and is not obeyed: take it "
                "out");
    else
        fail(s, "<%s> is not an element of SimGrid platforms that is read",
             espi_quote(quoted, sizeof quoted, name));
}

static void XMLCALL on_start(void *arg, const char *name, const char **pairs)
{
    struct scan *s = arg;
    if (s->status) /* expat may still tell what it had read when it was stopped */
        return;
    const struct element *e = find_element(name);
    if (++s->depth > DEPTH_MAX) {
        fail(s, "elements are nested deeper than %d", DEPTH_MAX);
    } else if (!e || (s->depth == 1) != (e == elements)) {
        refuse_element(s, name);
    } else if (has_strange_entity(s)) {
        fail(s, "<%s> has an entity, which is not read", name);
    } else if (s->left_out || e->is_left_out) {
        s->left_out = s->left_out ? s->left_out : s->depth;
    } else {
        go_on(s);
        put_text(s, "<");
        put_text(s, name);
        put_attributes(s, e, pairs);
        s->is_open = 1;
    }
}

static void XMLCALL on_end(void *arg, const char *name)
{
    struct scan *s = arg;
    if (s->status)
        return;
    if (!s->left_out) {
        put_text(s, s->is_open ? "/" : "</");
        put_text(s, s->is_open ? "" : name);
        put_text(s, ">");
        s->is_open = 0;
    } else if (s->left_out == s->depth) {
        s->left_out = 0;
    }
    s->depth--;
}

static void XMLCALL on_text(void *arg, const char *text, int length)
{
    struct scan *s = arg;
    for (int i = 0; i < length && !s->left_out; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i]) {
            fail(s, "there is text between elements, where SimGrid has none");
            return;
        }
}

/* ---- the head of the document ---- */

static void XMLCALL on_doctype(void *arg, const char *name, const char *system,
                               const char *public, int has_subset)
{
    static const char dtd[] = "simgrid.dtd";
    struct scan *s = arg;
    size_t n = system ? strlen(system) : 0, m = sizeof dtd - 1;
    if (strcmp(name, "platform") != 0 || public || has_subset || n < m ||
        strcmp(system + n - m, dtd) != 0)
        fail(s,
             "a document type other than <!DOCTYPE platform SYSTEM \"...%s\"> is not "
             "read",
             dtd);
}

static void XMLCALL on_entity(void *arg, const char *name, int is_parameter)
{
    (void)name, (void)is_parameter;
    fail(arg, "there is an entity, and none are read");
}

static esp_status parse_simgrid(struct scan *s)
{
    XML_SetUserData(s->parser, s);
    XML_SetElementHandler(s->parser, on_start, on_end);
    XML_SetCharacterDataHandler(s->parser, on_text);
    XML_SetStartDoctypeDeclHandler(s->parser, on_doctype);
    XML_SetSkippedEntityHandler(s->parser, on_entity);
    put_text(s, "<?xml version=\"1.0\"?><!DOCTYPE platform SYSTEM "
                "\"https://simgrid.org/simgrid.dtd\">");
    /* In one piece: in pieces, expat would read a long token again with each. */
    if (XML_Parse(s->parser, s->source->text, (int)s->source->length, XML_TRUE) ==
            XML_STATUS_OK ||
        s->status)
        return s->status;
    return espi_xml_err(s->parser, s->source->where, s->err);
}

esp_status espi_scan_simgrid(const struct espi_source *source, char **text,
                             size_t *length, struct esp_err *err)
{
    static const XML_Memory_Handling_Suite memory = {espi_malloc, espi_realloc,
                                                     espi_free};
    struct scan s = {.source = source, .err = err, .line = 1};
    if (source->length > INT32_MAX)
        return espi_err(err, ESP_EINPUT, "%s: larger than 2 GiB", source->where);
    s.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    esp_status status = s.parser ? parse_simgrid(&s) : espi_err_nomem(err);
    if (s.parser)
        XML_ParserFree(s.parser);
    if (status) {
        espi_free(s.out);
        return status;
    }
    *text = s.out;
    *length = s.length;
    return ESP_OK;
}
