/* GraphML, read with expat.
 *
 * Nodes by their id; edges by source and target, `directed` or not (an undirected edge
 * makes two links). What a <data> means is the attr.name of its key: latency_s, latency
 * or delay (0 when absent); bandwidth_Bps, bandwidth, capacity or speed (must be there);
 * usd_per_GB of edges; send_s, recv_s, usd_per_hour, max_count, site, kind (host, switch,
 * router) of nodes; model of the graph. Values may have units; bare numbers are seconds
 * and bytes a second. Other data is passed over. The default model is one-port.
 *
 * Refused: document types (and with them entities, which grow without bounds or fetch
 * other files), nested graphs, hyperedges, nesting deeper than 32. */
#include "platform/readers.h"
#include "platform/xml_error.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/scan.h"

#define DEPTH_MAX 32
#define VALUE_MAX 4096 /* bytes of a <data> that we use */
#define KEYS_MAX  4096

enum field {
    FIELD_NONE,
    FIELD_LATENCY,
    FIELD_BANDWIDTH,
    FIELD_SEND,
    FIELD_RECV,
    FIELD_SITE,
    FIELD_KIND,
    FIELD_MODEL,
    FIELD_PRICE,
    FIELD_HOUR,
    FIELD_MACHINES,
    FIELD_COUNT
};

static const struct {
    const char *name;
    enum field field;
} field_names[] = {
    {"latency_s", FIELD_LATENCY},   {"latency", FIELD_LATENCY},
    {"delay", FIELD_LATENCY},       {"bandwidth_Bps", FIELD_BANDWIDTH},
    {"bandwidth", FIELD_BANDWIDTH}, {"capacity", FIELD_BANDWIDTH},
    {"speed", FIELD_BANDWIDTH},     {"send_s", FIELD_SEND},
    {"recv_s", FIELD_RECV},         {"site", FIELD_SITE},
    {"kind", FIELD_KIND},           {"model", FIELD_MODEL},
    {"usd_per_GB", FIELD_PRICE},    {"usd_per_hour", FIELD_HOUR},
    {"max_count", FIELD_MACHINES},
};

enum owner { OWNER_NODE, OWNER_EDGE, OWNER_GRAPH, OWNER_COUNT };

struct key {
    char *id;
    enum field field;
    unsigned owners; /* bit set: the kinds of elements it is for */
    char *value;     /* <default>, or NULL */
};

struct edge {
    int source, target; /* names, see reader.names */
    int directed;
    size_t line;
    double latency_s, bandwidth_Bps, usd_per_GB;
};

struct reader {
    XML_Parser parser;
    const char *where;
    struct esp_err *err;
    esp_status status;
    struct esp_builder *builder;

    struct key *keys;
    size_t n_keys, key_cap;

    struct edge *edges; /* kept to the end: nodes may stand after their edges */
    size_t n_edges, edge_cap;
    char *ends; /* the ends' names, each ended by '\0' */
    size_t *end_at;
    size_t ends_size, ends_cap, n_ends, end_at_cap;

    int depth, graphs, edge_default_directed;
    enum owner owner;        /* of the <data> that is open */
    int element_depth;       /* of the open node or edge, 0: none */
    char *id;                /* of the open node */
    struct edge edge;        /* the open one */
    char *data[FIELD_COUNT]; /* of the open node or edge, NULL: not given */

    enum field field;       /* whose value is being gathered */
    struct key *default_of; /* or of this key */
    char value[VALUE_MAX];
    size_t value_length;
};

/* ---- failing ---- */

static void stop_parser(struct reader *r, esp_status status)
{
    if (!r->status)
        r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

static void fail_at(struct reader *r, size_t line, const char *fmt, va_list ap)
{
    char text[384];
    if (r->status)
        return;
    vsnprintf(text, sizeof text, fmt, ap);
    r->status = espi_err(r->err, ESP_EINPUT, "%s:%zu: %s", r->where, line, text);
}

__attribute__((format(printf, 2, 3))) static void fail(struct reader *r, const char *fmt,
                                                       ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_at(r, (size_t)XML_GetCurrentLineNumber(r->parser), fmt, ap);
    va_end(ap);
    XML_StopParser(r->parser, XML_FALSE);
}

__attribute__((format(printf, 3, 4))) static esp_status
fail_edge(struct reader *r, const struct edge *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_at(r, e->line, fmt, ap);
    va_end(ap);
    return r->status;
}

static void fail_nomem(struct reader *r)
{
    stop_parser(r, espi_err_nomem(r->err));
}

/* ---- small things ---- */

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* Gives an attribute that must be there and may stand in names. */
static const char *needed(struct reader *r, const char *element, const char **attributes,
                          const char *name)
{
    const char *value = attribute(attributes, name);
    char quoted[64];
    if (!value || !value[0])
        fail(r, "a <%s> without the attribute '%s'", element, name);
    else if (strlen(value) > ESPI_NAME_MAX || !espi_is_printable(value, strlen(value)))
        fail(r, "'%s' is longer than %d bytes or not printable",
             espi_quote(quoted, sizeof quoted, value), ESPI_NAME_MAX);
    else
        return value;
    return NULL;
}

static void clear_data(struct reader *r)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        espi_free(r->data[i]);
        r->data[i] = NULL;
    }
    espi_free(r->id);
    r->id = NULL;
}

/* What the open element says of a field, or the key's default, or NULL. */
static const char *value_of(const struct reader *r, enum field field, enum owner owner)
{
    if (r->data[field])
        return r->data[field];
    for (size_t i = 0; i < r->n_keys; i++)
        if (r->keys[i].field == field && (r->keys[i].owners >> owner & 1) &&
            r->keys[i].value)
            return r->keys[i].value;
    return NULL;
}

/* Sets *out when the field is given; 0 when it then is a quantity. */
static int quantity_of(struct reader *r, enum field field, enum owner owner,
                       enum espi_quantity what, const char *label, double *out)
{
    const char *text = value_of(r, field, owner);
    char why[256];
    if (!text || espi_parse_quantity(what, text, strlen(text), out) == 0)
        return 0;
    fail(r, "%s %s", label,
         espi_quantity_complaint(why, sizeof why, what, text, strlen(text)));
    return -1;
}

/* The same of a plain number. */
static int number_of(struct reader *r, enum field field, enum owner owner,
                     const char *label, double *out)
{
    const char *text = value_of(r, field, owner);
    char quoted[48];
    if (!text || espi_parse_number(text, strlen(text), out) == 0)
        return 0;
    fail(r, "%s '%s' is not a number from 0 up", label,
         espi_quote(quoted, sizeof quoted, text));
    return -1;
}

/* ---- elements ---- */

static void open_key(struct reader *r, const char **attributes)
{
    const char *id = needed(r, "key", attributes, "id");
    const char *name = attribute(attributes, "attr.name");
    const char *owner = attribute(attributes, "for");
    if (!id)
        return;
    if (r->n_keys >= KEYS_MAX) {
        fail(r, "more than %d keys", KEYS_MAX);
        return;
    }
    struct key key = {NULL, FIELD_NONE, 0, NULL};
    for (size_t i = 0; name && i < sizeof field_names / sizeof *field_names; i++)
        if (strcmp(name, field_names[i].name) == 0)
            key.field = field_names[i].field;
    if (!owner || strcmp(owner, "all") == 0)
        key.owners = 1u << OWNER_NODE | 1u << OWNER_EDGE | 1u << OWNER_GRAPH;
    else if (strcmp(owner, "node") == 0)
        key.owners = 1u << OWNER_NODE;
    else if (strcmp(owner, "edge") == 0)
        key.owners = 1u << OWNER_EDGE;
    else if (strcmp(owner, "graph") == 0)
        key.owners = 1u << OWNER_GRAPH;
    if (espi_grow((void **)&r->keys, &r->key_cap, r->n_keys + 1, sizeof key) ||
        !(key.id = espi_strdup(id)))
        fail_nomem(r);
    else
        r->keys[r->n_keys++] = key;
}

static void open_graph(struct reader *r, const char **attributes)
{
    const char *edges = attribute(attributes, "edgedefault");
    if (r->graphs++)
        fail(r, "a second or nested <graph>; one is read");
    else if (!edges || strcmp(edges, "undirected") == 0)
        r->edge_default_directed = 0;
    else if (strcmp(edges, "directed") == 0)
        r->edge_default_directed = 1;
    else
        fail(r, "edgedefault is neither 'directed' nor 'undirected'");
}

static void open_node(struct reader *r, const char **attributes)
{
    const char *id = needed(r, "node", attributes, "id");
    if (!id)
        return;
    clear_data(r);
    r->id = espi_strdup(id);
    if (!r->id)
        fail_nomem(r);
    r->owner = OWNER_NODE;
    r->element_depth = r->depth;
}

/* Keeps a name to the end; gives its number, or -1. */
static int keep_end(struct reader *r, const char *name)
{
    size_t n = strlen(name) + 1;
    if (espi_grow((void **)&r->ends, &r->ends_cap, r->ends_size + n, 1) ||
        espi_grow((void **)&r->end_at, &r->end_at_cap, r->n_ends + 1,
                  sizeof *r->end_at)) {
        fail_nomem(r);
        return -1;
    }
    memcpy(r->ends + r->ends_size, name, n);
    r->end_at[r->n_ends] = r->ends_size;
    r->ends_size += n;
    return (int)r->n_ends++;
}

static void open_edge(struct reader *r, const char **attributes)
{
    const char *source = needed(r, "edge", attributes, "source");
    const char *target = source ? needed(r, "edge", attributes, "target") : NULL;
    const char *directed = attribute(attributes, "directed");
    if (!target)
        return;
    clear_data(r);
    r->edge = (struct edge){.directed = r->edge_default_directed,
                            .line = (size_t)XML_GetCurrentLineNumber(r->parser)};
    if (directed && strcmp(directed, "true") != 0 && strcmp(directed, "false") != 0) {
        fail(r, "directed is neither 'true' nor 'false'");
        return;
    }
    if (directed)
        r->edge.directed = directed[0] == 't';
    r->edge.source = keep_end(r, source);
    r->edge.target = keep_end(r, target);
    r->owner = OWNER_EDGE;
    r->element_depth = r->depth;
}

/* Data of the graph itself, or of the node or edge it stands directly in. */
static void open_data(struct reader *r, const char **attributes)
{
    const char *id = attribute(attributes, "key");
    enum owner owner = r->element_depth ? r->owner : OWNER_GRAPH;
    if (!id || (r->element_depth && r->depth != r->element_depth + 1))
        return;
    for (size_t i = 0; i < r->n_keys; i++)
        if (strcmp(r->keys[i].id, id) == 0 && (r->keys[i].owners >> owner & 1)) {
            r->field = r->keys[i].field;
            r->value_length = 0;
            return;
        }
}

static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
    struct reader *r = arg;
    if (r->status) /* expat may still tell what it had read when it was stopped */
        return;
    name = local_name(name);
    if (++r->depth > DEPTH_MAX) {
        fail(r, "elements nested more than %d deep", DEPTH_MAX);
        return;
    }
    if (r->depth == 1 && strcmp(name, "graphml") != 0) {
        char quoted[48];
        fail(r, "the outermost element is <%s>, not <graphml>",
             espi_quote(quoted, sizeof quoted, name));
    } else if (strcmp(name, "key") == 0) {
        open_key(r, attributes);
    } else if (strcmp(name, "default") == 0 && r->n_keys) {
        r->default_of = &r->keys[r->n_keys - 1];
        r->value_length = 0;
    } else if (strcmp(name, "graph") == 0) {
        open_graph(r, attributes);
    } else if (strcmp(name, "data") == 0) {
        open_data(r, attributes);
    } else if (strcmp(name, "hyperedge") == 0) {
        fail(r, "hyperedges are not read");
    } else if (strcmp(name, "node") == 0 || strcmp(name, "edge") == 0) {
        if (r->element_depth || !r->graphs)
            fail(r, "a <%s> %s", name,
                 r->graphs ? "inside of another one or of an edge"
                           : "outside of <graph>");
        else if (name[0] == 'n')
            open_node(r, attributes);
        else
            open_edge(r, attributes);
    }
}

static int node_kind(struct reader *r, esp_node_kind *kind)
{
    const char *text = value_of(r, FIELD_KIND, OWNER_NODE);
    char quoted[48];
    *kind = ESP_NODE_HOST;
    if (!text || strcmp(text, "host") == 0)
        return 0;
    *kind = ESP_NODE_SWITCH;
    if (strcmp(text, "switch") == 0 || strcmp(text, "router") == 0)
        return 0;
    fail(r, "kind '%s' is none of host, switch, router",
         espi_quote(quoted, sizeof quoted, text));
    return -1;
}

static int node_machines(struct reader *r, struct esp_machines *machines)
{
    double count = 1;
    if (number_of(r, FIELD_HOUR, OWNER_NODE, "usd_per_hour", &machines->usd_per_hour) ||
        number_of(r, FIELD_MACHINES, OWNER_NODE, "max_count", &count))
        return -1;
    if (!(count >= 1 && count <= INT32_MAX) || count != (double)(int)count) {
        fail(r, "max_count is a whole number from 1 up");
        return -1;
    }
    machines->max_count = (int)count;
    return 0;
}

static void close_node(struct reader *r)
{
    struct esp_node_spec spec = {r->id, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    const char *site = value_of(r, FIELD_SITE, OWNER_NODE);
    struct esp_machines machines = {0, 1};
    char quoted[64];
    int node;
    espi_quote(quoted, sizeof quoted, r->id);
    if (quantity_of(r, FIELD_SEND, OWNER_NODE, ESPI_TIME, "send_s", &spec.send_s) ||
        quantity_of(r, FIELD_RECV, OWNER_NODE, ESPI_TIME, "recv_s", &spec.recv_s) ||
        node_kind(r, &spec.kind) || node_machines(r, &machines))
        return;
    if (site && site[0])
        spec.site = site;
    if (site && !espi_is_printable(site, strlen(site))) {
        fail(r, "the site of node '%s' is not printable text", quoted);
        return;
    }
    if (esp_builder_find_node(r->builder, r->id) >= 0) {
        fail(r, "node '%s' stands twice", quoted);
        return;
    }
    esp_status status = esp_builder_add_node(r->builder, &spec, &node, r->err);
    if (!status)
        status = esp_builder_set_machines(r->builder, node, &machines, r->err);
    if (status)
        stop_parser(r, status);
}

static void close_edge(struct reader *r)
{
    struct edge *e = &r->edge;
    if (quantity_of(r, FIELD_LATENCY, OWNER_EDGE, ESPI_TIME, "latency", &e->latency_s) ||
        quantity_of(r, FIELD_BANDWIDTH, OWNER_EDGE, ESPI_BANDWIDTH, "bandwidth",
                    &e->bandwidth_Bps) ||
        number_of(r, FIELD_PRICE, OWNER_EDGE, "usd_per_GB", &e->usd_per_GB))
        return;
    if (!value_of(r, FIELD_BANDWIDTH, OWNER_EDGE))
        fail(r, "an edge without bandwidth (a key of the name bandwidth_Bps, bandwidth, "
                "capacity or speed)");
    else if (e->bandwidth_Bps <= 0)
        fail(r, "the bandwidth must be more than zero");
    else if (espi_grow((void **)&r->edges, &r->edge_cap, r->n_edges + 1, sizeof *e))
        fail_nomem(r);
    else
        r->edges[r->n_edges++] = *e;
}

static void close_value(struct reader *r)
{
    while (r->value_length && strchr(" \t\r\n", r->value[r->value_length - 1]))
        r->value_length--;
    char *text = espi_malloc(r->value_length + 1);
    if (!text) {
        fail_nomem(r);
        return;
    }
    memcpy(text, r->value, r->value_length);
    text[r->value_length] = '\0';
    char **place = r->default_of ? &r->default_of->value : &r->data[r->field];
    espi_free(*place);
    *place = text;
    if (!r->default_of && r->field == FIELD_MODEL) {
        esp_model model;
        if (esp_model_parse(text, &model))
            fail(r, "a model that is none");
        else
            esp_builder_set_model(r->builder, model);
    }
}

static void XMLCALL on_end(void *arg, const char *name)
{
    struct reader *r = arg;
    if (r->status)
        return;
    name = local_name(name);
    if (r->field || r->default_of) {
        int ends = strcmp(name, "data") == 0 || strcmp(name, "default") == 0;
        if (ends)
            close_value(r);
        else
            fail(r, "elements inside of a value");
        r->field = FIELD_NONE;
        r->default_of = NULL;
    } else if (r->depth == r->element_depth) {
        if (r->owner == OWNER_NODE)
            close_node(r);
        else
            close_edge(r);
        r->element_depth = 0;
    }
    r->depth--;
}

static void XMLCALL on_text(void *arg, const char *text, int length)
{
    struct reader *r = arg;
    if (r->status || (!r->field && !r->default_of))
        return;
    while (length && r->value_length == 0 && strchr(" \t\r\n", *text))
        text++, length--;
    if ((size_t)length >= VALUE_MAX - r->value_length) {
        fail(r, "a value longer than %d bytes", VALUE_MAX);
        return;
    }
    memcpy(r->value + r->value_length, text, (size_t)length);
    r->value_length += (size_t)length;
}

static void XMLCALL on_doctype(void *arg, const char *name, const char *system,
                               const char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    struct reader *r = arg;
    fail(r, "document types and entities are refused; take the DOCTYPE out");
}

/* ---- the whole ---- */

static esp_status add_edge(struct reader *r, const struct edge *e)
{
    const char *ends[2] = {r->ends + r->end_at[e->source],
                           r->ends + r->end_at[e->target]};
    int node[2];
    char quoted[64];
    for (int k = 0; k < 2; k++) {
        node[k] = esp_builder_find_node(r->builder, ends[k]);
        if (node[k] < 0)
            return fail_edge(r, e, "there is no node '%s'",
                             espi_quote(quoted, sizeof quoted, ends[k]));
    }
    if (node[0] == node[1])
        return fail_edge(r, e, "an edge from '%s' to itself",
                         espi_quote(quoted, sizeof quoted, ends[0]));
    esp_status status = ESP_OK;
    for (int k = 0; k < (e->directed ? 1 : 2) && !status; k++) {
        int link;
        status = esp_builder_add_link(r->builder, node[k], node[1 - k], e->latency_s,
                                      e->bandwidth_Bps, &link, r->err);
        if (!status)
            status = esp_builder_set_link_price(r->builder, link, e->usd_per_GB, r->err);
    }
    return status;
}

static esp_status parse_graphml(struct reader *r, const char *text, size_t length)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    /* In one piece: in pieces, expat would read a long token again with each. */
    if (XML_Parse(r->parser, text, (int)length, XML_TRUE) == XML_STATUS_OK || r->status)
        return r->status;
    r->status = espi_xml_err(r->parser, r->where, r->err);
    return r->status;
}

static void reader_done(struct reader *r)
{
    clear_data(r);
    for (size_t i = 0; i < r->n_keys; i++) {
        espi_free(r->keys[i].id);
        espi_free(r->keys[i].value);
    }
    espi_free(r->keys);
    espi_free(r->edges);
    espi_free(r->ends);
    espi_free(r->end_at);
    if (r->parser)
        XML_ParserFree(r->parser);
    espi_free(r);
}

esp_status espi_read_graphml(const struct espi_source *source, struct esp_platform **out,
                             struct esp_err *err)
{
    static const XML_Memory_Handling_Suite memory = {espi_malloc, espi_realloc,
                                                     espi_free};
    if (source->length > INT32_MAX)
        return espi_err(err, ESP_EINPUT, "%s: larger than 2 GiB", source->where);
    struct reader *r = espi_calloc(1, sizeof *r);
    if (!r)
        return espi_err_nomem(err);
    r->where = source->where;
    r->err = err;
    r->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    esp_status status = r->parser ? ESP_OK : espi_err_nomem(err);
    if (!status)
        status = espi_reader_begin(source, ESP_MODEL_ONE_PORT, &r->builder, err);
    if (!status)
        status = parse_graphml(r, source->text, source->length);
    for (size_t i = 0; i < r->n_edges && !status; i++)
        status = add_edge(r, &r->edges[i]);
    status = espi_reader_end(source, r->builder, status, out, err);
    reader_done(r);
    return status;
}
