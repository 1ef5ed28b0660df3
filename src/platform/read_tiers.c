/* Tiers output files (M. Doar's topology generator, versions 1.1 and 1.2).
 *
 * After `# NODES` stand lines `id x y type` (type 0 WAN, 1 MAN, 2 LAN), after `# EDGES`
 * lines `from to delay bandwidth from-type to-type state`; other lines that begin with
 * '#' are comments. Edges between networks stand twice, some in both directions: the
 * first one counts, and each makes a link in both directions.
 *
 * Bandwidth is a class in Mbit/s. The generator gives delays no unit ("fixed + unit *
 * distance"); they are taken as microseconds, which makes LAN hops some milliseconds at
 * most. All nodes are hosts, named by the tier and Tiers' own number (w0, m3, l9). A site
 * is a WAN, MAN or LAN: nodes of one tier that edges within the tier join. The default
 * model is one-port, as in the papers that use these files.
 *
 * O(n + m log m) for n nodes and m edges. */
#include "platform/readers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/scan.h"

#define BPS_PER_CLASS 125000.0 /* derived: one Mbit/s */
#define UNITS_PER_S   1e6      /* derived: microseconds */

struct edge {
    int a, b; /* a < b, whatever the direction in the file */
    int order;
    int from, to;
    double delay, bandwidth;
};

struct tiers {
    struct espi_lines lines;
    int n_nodes, said_nodes; /* said_nodes: from the head of the file, or -1 */
    int *type;
    int *parent; /* union-find of the sites */
    size_t type_cap, parent_cap;
    int n_edges;
    struct edge *edges;
    size_t edge_cap;
    enum { HEAD, NODES, EDGES } section;
};

/* ---- reading ---- */

static esp_status read_int(const struct tiers *t, struct espi_span s, const char *label,
                           int max, int *out, struct esp_err *err)
{
    double v;
    if (espi_parse_number(s.text, s.length, &v) || v > max || v != (int)v) {
        char quoted[48];
        return espi_lines_err(&t->lines, err,
                              "%s '%s' is not a whole number from 0 to %d", label,
                              espi_span_quote(quoted, sizeof quoted, s), max);
    }
    *out = (int)v;
    return ESP_OK;
}

static esp_status read_node(struct tiers *t, struct espi_span line, struct esp_err *err)
{
    struct espi_span f[4];
    int id, type, n = espi_split(line, f, 4);
    if (n != 4)
        return espi_lines_err(&t->lines, err,
                              "%d fields where `node x y type` should stand", n);
    esp_status status = read_int(t, f[0], "node", 100000000, &id, err);
    if (!status)
        status = read_int(t, f[3], "type", 2, &type, err);
    if (status)
        return status;
    if (id < t->n_nodes)
        return espi_lines_err(&t->lines, err, "node %d stands twice", id);
    if (id > t->n_nodes)
        return espi_lines_err(&t->lines, err, "node %d stands where node %d should", id,
                              t->n_nodes);
    size_t need = (size_t)id + 1;
    if (espi_grow((void **)&t->type, &t->type_cap, need, sizeof *t->type) ||
        espi_grow((void **)&t->parent, &t->parent_cap, need, sizeof *t->parent))
        return espi_err_nomem(err);
    t->type[id] = type;
    t->parent[id] = id;
    t->n_nodes++;
    return ESP_OK;
}

static esp_status read_end(const struct tiers *t, struct espi_span s, int *node,
                           struct esp_err *err)
{
    esp_status status = read_int(t, s, "node", 100000000, node, err);
    if (!status && *node >= t->n_nodes)
        return espi_lines_err(&t->lines, err, "there is no node %d", *node);
    return status;
}

static esp_status read_metric(const struct tiers *t, struct espi_span s,
                              const char *label, double *v, struct esp_err *err)
{
    if (espi_parse_number(s.text, s.length, v) == 0)
        return ESP_OK;
    char quoted[48];
    return espi_lines_err(&t->lines, err, "%s '%s' is not a number of zero or more",
                          label, espi_span_quote(quoted, sizeof quoted, s));
}

static int find_root(struct tiers *t, int v)
{
    while (t->parent[v] != v)
        v = t->parent[v] = t->parent[t->parent[v]];
    return v;
}

/* The lowest node of a site is its root, so that sites are numbered in node order. */
static void join_sites(struct tiers *t, int a, int b)
{
    a = find_root(t, a);
    b = find_root(t, b);
    if (a < b)
        t->parent[b] = a;
    else
        t->parent[a] = b;
}

static esp_status read_edge(struct tiers *t, struct espi_span line, struct esp_err *err)
{
    struct espi_span f[7];
    int n = espi_split(line, f, 7);
    if (n != 7)
        return espi_lines_err(&t->lines, err,
                              "%d fields where `from to delay bandwidth from-type "
                              "to-type state` should stand",
                              n);
    struct edge e = {0};
    esp_status status = read_end(t, f[0], &e.from, err);
    if (!status)
        status = read_end(t, f[1], &e.to, err);
    if (!status)
        status = read_metric(t, f[2], "delay", &e.delay, err);
    if (!status)
        status = read_metric(t, f[3], "bandwidth", &e.bandwidth, err);
    if (status)
        return status;
    if (e.from == e.to)
        return espi_lines_err(&t->lines, err, "an edge from node %d to itself", e.from);
    if (e.bandwidth <= 0 || e.bandwidth > 1e15)
        return espi_lines_err(&t->lines, err,
                              "the bandwidth must be more than zero and at most 1e15");
    if (espi_grow((void **)&t->edges, &t->edge_cap, (size_t)t->n_edges + 1, sizeof e))
        return espi_err_nomem(err);
    e.a = e.from < e.to ? e.from : e.to;
    e.b = e.from < e.to ? e.to : e.from;
    e.order = t->n_edges;
    t->edges[t->n_edges++] = e;
    if (t->type[e.a] == t->type[e.b])
        join_sites(t, e.a, e.b);
    return ESP_OK;
}

/* Comments say where the sections begin and how many nodes there should be. */
static void read_comment(struct tiers *t, struct espi_span line)
{
    static const char total[] = "Total Number of Nodes (derived) :";
    struct espi_span s = espi_trim((struct espi_span){line.text + 1, line.length - 1});
    size_t n = sizeof total - 1;
    double v;
    if (espi_span_is(s, "NODES")) {
        t->section = NODES;
    } else if (espi_span_is(s, "EDGES")) {
        t->section = EDGES;
    } else if (s.length > n && espi_span_is((struct espi_span){s.text, n}, total)) {
        s = espi_trim((struct espi_span){s.text + n, s.length - n});
        if (espi_parse_number(s.text, s.length, &v) == 0 && v < 1e9)
            t->said_nodes = (int)v;
    }
}

static esp_status read_line(struct tiers *t, struct espi_span line, struct esp_err *err)
{
    line = espi_trim(line);
    if (line.length == 0)
        return ESP_OK;
    if (line.text[0] == '#') {
        read_comment(t, line);
        return ESP_OK;
    }
    if (t->section == HEAD)
        return espi_lines_err(&t->lines, err, "data before the line `# NODES`");
    return t->section == NODES ? read_node(t, line, err) : read_edge(t, line, err);
}

static esp_status read_all(struct tiers *t, struct esp_err *err)
{
    struct espi_span line;
    int got;
    esp_status status = ESP_OK;
    while (!status && (got = espi_lines_next(&t->lines, &line, err)) != 0)
        status = got < 0 ? ESP_EINPUT : read_line(t, line, err);
    if (!status && t->section != EDGES)
        return espi_lines_err(&t->lines, err, "ends before the line `# %s`",
                              t->section == HEAD ? "NODES" : "EDGES");
    if (!status && t->said_nodes >= 0 && t->said_nodes != t->n_nodes)
        return espi_err(err, ESP_EINPUT, "%s: holds %d nodes where its head says %d",
                        t->lines.where, t->n_nodes, t->said_nodes);
    return status;
}

/* ---- building ---- */

static int by_ends(const void *x, const void *y)
{
    const struct edge *e = x, *f = y;
    if (e->a != f->a)
        return e->a < f->a ? -1 : 1;
    if (e->b != f->b)
        return e->b < f->b ? -1 : 1;
    return e->order < f->order ? -1 : 1;
}

static int by_order(const void *x, const void *y)
{
    const struct edge *e = x, *f = y;
    return e->order < f->order ? -1 : 1;
}

/* Keeps the first edge of each pair of nodes, in the order of the file. */
static void drop_repeated(struct tiers *t)
{
    if (t->n_edges == 0)
        return;
    qsort(t->edges, (size_t)t->n_edges, sizeof *t->edges, by_ends);
    int kept = 1;
    for (int i = 1; i < t->n_edges; i++)
        if (t->edges[i].a != t->edges[kept - 1].a ||
            t->edges[i].b != t->edges[kept - 1].b)
            t->edges[kept++] = t->edges[i];
    t->n_edges = kept;
    qsort(t->edges, (size_t)kept, sizeof *t->edges, by_order);
}

static esp_status add_nodes(struct tiers *t, struct esp_builder *b, struct esp_err *err)
{
    static const char *const tier[] = {"wan", "man", "lan"};
    int n_sites[3] = {0, 0, 0};
    int *number = ESPI_NEW(int, t->n_nodes); /* root -> number of the site in its tier */
    esp_status status = number ? ESP_OK : espi_err_nomem(err);
    for (int v = 0; v < t->n_nodes && !status; v++) {
        char name[32], site[32];
        int root = find_root(t, v), type = t->type[v];
        if (root == v)
            number[v] = n_sites[type]++;
        snprintf(name, sizeof name, "%c%d", tier[type][0], v);
        snprintf(site, sizeof site, "%s%d", tier[type], number[root]);
        struct esp_node_spec spec = {name, site, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
        status = esp_builder_add_node(b, &spec, NULL, err);
    }
    espi_free(number);
    return status;
}

static esp_status add_links(struct tiers *t, struct esp_builder *b, struct esp_err *err)
{
    esp_status status = ESP_OK;
    drop_repeated(t);
    for (int i = 0; i < t->n_edges && !status; i++) {
        const struct edge *e = &t->edges[i];
        double latency_s = e->delay / UNITS_PER_S;
        double bandwidth_Bps = e->bandwidth * BPS_PER_CLASS;
        status =
            esp_builder_add_link(b, e->from, e->to, latency_s, bandwidth_Bps, NULL, err);
        if (!status)
            status = esp_builder_add_link(b, e->to, e->from, latency_s, bandwidth_Bps,
                                          NULL, err);
    }
    return status;
}

esp_status espi_read_tiers(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    struct tiers t = {.said_nodes = -1};
    espi_lines_init(&t.lines, source->text, source->length, source->where, ESPI_LINE_MAX);
    struct esp_builder *b = NULL;
    esp_status status = read_all(&t, err);
    if (!status)
        status = espi_reader_begin(source, ESP_MODEL_ONE_PORT, &b, err);
    if (!status)
        status = add_nodes(&t, b, err);
    if (!status)
        status = add_links(&t, b, err);
    status = espi_reader_end(source, b, status, out, err);
    espi_free(t.type);
    espi_free(t.parent);
    espi_free(t.edges);
    return status;
}
