/* What ibnetdiscover prints: blocks of a switch, an adapter or a router, each with a line
 * for each of its ports.
 *
 *     Switch 40 "S-b8ce" # "MF0;leaf-1:MQM8790/U1" enhanced port 0 lid 1 lmc 0
 *     [1]  "H-0c42"[1](c42a) # "node01 mlx5_0" lid 5 4xHDR
 *
 *     Ca 1 "H-0c42" # "node01 mlx5_0"
 *     [1](c42a) "S-b8ce"[1] # lid 5 lmc 0 "MF0;leaf-1:MQM8790/U1" lid 1 4xHDR
 *
 * Switches and routers become nodes of kind switch. Adapters whose description is a host
 * and a device ("node01 mlx5_0", "node01 HCA-2") become that host, several of them one
 * host; others are named by their description where it is one word, else by their GUID.
 * So are nodes whose name another has. What adds up in switches ("Aggregation Node") is
 * left out with its cables. A cable stands in the blocks of both its ends and counts
 * once; several between the same two nodes become one link each way, of their sum. The
 * rate is that of the data, by width and speed. The default model is `capacity`. */
#include "platform/readers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/scan.h"
#include "base/sort.h"
#include "platform/names.h"

enum { LEFT_OUT = -2, LANES_MAX = 64 }; /* limit: of one port */

struct lane {
    const char *name;
    double Gbps;
};

/* published: data rates of one lane, the InfiniBand roadmap's of 4 lanes over 4. */
static const struct lane speeds[] = {{"SDR", 2},    {"DDR", 4},      {"QDR", 8},
                                     {"FDR10", 10}, {"FDR", 13.625}, {"EDR", 25},
                                     {"HDR", 50},   {"NDR", 100},    {"XDR", 200}};

struct block {
    struct espi_span kind, guid, about; /* about: its description, may be empty */
    size_t line, first_port;
    int node; /* in the builder, or LEFT_OUT */
};

struct port {
    struct espi_span peer;
    int block; /* whose port it is */
    int number, peer_number;
    double Bps;
    size_t line;
};

/* A cable with its ends in order: (a, a_port) before (b, b_port). */
struct cable {
    int a, b; /* nodes */
    int a_block, b_block, a_port, b_port;
    double Bps;
};

struct ibnet {
    struct espi_lines lines;
    struct esp_builder *b;
    struct espi_names guids;  /* of blocks, numbered alike */
    struct espi_names nodes;  /* of the builder, numbered alike */
    struct espi_names abouts; /* descriptions that were there */
    int n_switches;           /* nodes below are switches */
    struct block *blocks;
    size_t n_blocks, block_cap;
    struct port *ports;
    size_t n_ports, port_cap;
};

/* ---- lines ---- */

static int begins_with(struct espi_span s, const char *word)
{
    size_t n = strlen(word);
    return s.length > n && memcmp(s.text, word, n) == 0;
}

static int is_block_line(struct espi_span line)
{
    static const char *const kinds[] = {"Switch", "Ca", "Rt"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (begins_with(line, kinds[k]) && strchr(" \t", line.text[strlen(kinds[k])]) &&
            memchr(line.text, '"', line.length))
            return 1;
    return 0;
}

int espi_is_ibnet_line(struct espi_span line)
{
    return begins_with(line, "vendid=0x") || begins_with(line, "switchguid=0x") ||
           begins_with(line, "caguid=0x") || is_block_line(line);
}

/* What stands in the first quotes at or after *at, which moves behind them: 0, or -1. */
static int take_quoted(const char **at, const char *end, struct espi_span *out)
{
    const char *open = memchr(*at, '"', (size_t)(end - *at));
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (!close)
        return -1;
    *out = (struct espi_span){open + 1, (size_t)(close - open - 1)};
    *at = close + 1;
    return 0;
}

/* The number of a port, "[12]", at *at: 0, or -1. */
static int take_port(const char **at, const char *end, int *number)
{
    const char *close =
        *at < end && **at == '[' ? memchr(*at, ']', (size_t)(end - *at)) : NULL;
    double value;
    if (!close || espi_parse_number(*at + 1, (size_t)(close - *at - 1), &value) ||
        !(value >= 0 && value <= 1e6)) /* limit: ports of a switch */
        return -1;
    *number = (int)value;
    *at = close + 1;
    return 0;
}

/* The data rate that "4xHDR" stands for, or 0. */
static double parse_speed(struct espi_span field)
{
    const char *x = memchr(field.text, 'x', field.length);
    double lanes;
    if (!x || espi_parse_number(field.text, (size_t)(x - field.text), &lanes) ||
        !(lanes >= 1 && lanes <= LANES_MAX))
        return 0;
    struct espi_span name = {x + 1, field.length - (size_t)(x + 1 - field.text)};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++)
        if (espi_span_is(name, speeds[k].name))
            return lanes * speeds[k].Gbps * 1e9 / 8; /* derived: bytes of Gbit */
    return 0;
}

static double find_speed_word(struct espi_span line)
{
    struct espi_span field;
    double Bps = 0;
    const char *quote = memrchr(line.text, '"', line.length);
    line.length -= (size_t)(quote + 1 - line.text);
    line.text = quote + 1;
    while (Bps <= 0 && espi_next_field(&line, &field))
        Bps = parse_speed(field);
    return Bps;
}

static esp_status take_port_line(struct ibnet *net, struct espi_span line,
                                 struct esp_err *err)
{
    const char *at = line.text, *end = line.text + line.length;
    struct port port = {.block = (int)net->n_blocks - 1, .line = net->lines.number};
    if (!net->n_blocks)
        return espi_lines_err(&net->lines, err, "a port before the first node");
    if (take_port(&at, end, &port.number) || take_quoted(&at, end, &port.peer) ||
        take_port(&at, end, &port.peer_number))
        return espi_lines_err(&net->lines, err,
                              "not a port: [PORT] \"PEER\"[PORT] # ... 4xHDR");
    port.Bps = find_speed_word(line);
    if (port.Bps <= 0)
        return espi_lines_err(&net->lines, err,
                              "no width and speed at the end, such as 4xHDR");
    if (espi_grow((void **)&net->ports, &net->port_cap, net->n_ports + 1, sizeof port))
        return espi_err_nomem(err);
    net->ports[net->n_ports++] = port;
    return ESP_OK;
}

static esp_status take_block_line(struct ibnet *net, struct espi_span line,
                                  struct esp_err *err)
{
    const char *at = line.text, *end = line.text + line.length;
    struct block block = {
        .line = net->lines.number, .first_port = net->n_ports, .node = LEFT_OUT};
    struct espi_span rest = line;
    char guid[ESPI_NAME_MAX + 1];
    espi_next_field(&rest, &block.kind);
    if (take_quoted(&at, end, &block.guid))
        return espi_lines_err(&net->lines, err, "a quote that does not end");
    if (espi_lines_name(&net->lines, block.guid, guid, err))
        return ESP_EINPUT;
    take_quoted(&at, end, &block.about); /* may be missing */
    if (espi_names_find(&net->guids, guid) >= 0)
        return espi_lines_err(&net->lines, err, "a second block of this node");
    if (espi_names_intern(&net->guids, guid) < 0 ||
        espi_grow((void **)&net->blocks, &net->block_cap, net->n_blocks + 1,
                  sizeof block))
        return espi_err_nomem(err);
    net->blocks[net->n_blocks++] = block;
    return ESP_OK;
}

static esp_status gather_blocks(struct ibnet *net, struct esp_err *err)
{
    struct espi_span line;
    int got;
    esp_status status = ESP_OK;
    while (!status && (got = espi_lines_next_data(&net->lines, &line, err)) != 0)
        status = got < 0               ? ESP_EINPUT
                 : line.text[0] == '[' ? take_port_line(net, line, err)
                 : is_block_line(line) ? take_block_line(net, line, err)
                                       : ESP_OK;
    return status;
}

/* ---- names ---- */

/* "node01" of "node01 mlx5_0", or the whole where it is one word; else empty. */
static struct espi_span host_word(struct espi_span about)
{
    struct espi_span field[2];
    int n = espi_split(about, field, 2);
    int is_device = n == 2 && field[1].text[field[1].length - 1] >= '0' &&
                    field[1].text[field[1].length - 1] <= '9';
    return n == 1 || is_device ? field[0] : (struct espi_span){about.text, 0};
}

/* "leaf-1" of "MF0;leaf-1:MQM8790/U1", "dir/L01/U1" of "MF0;dir:SX6536/L01/U1"; the whole
 * where it is one word; else empty. */
static void switch_words(struct espi_span about, struct espi_span *name,
                         struct espi_span *chip)
{
    const char *end = about.text + about.length;
    const char *from = memchr(about.text, ';', about.length);
    const char *colon = from ? memchr(from, ':', (size_t)(end - from)) : NULL;
    const char *slash = colon ? memchr(colon, '/', (size_t)(end - colon)) : NULL;
    struct espi_span field[2];
    *chip = (struct espi_span){end, 0};
    if (colon) {
        *name = (struct espi_span){from + 1, (size_t)(colon - from - 1)};
        if (slash && memchr(slash + 1, '/', (size_t)(end - slash - 1)))
            *chip = (struct espi_span){slash, (size_t)(end - slash)};
        return;
    }
    *name = espi_split(about, field, 2) == 1 ? field[0] : *chip;
}

static int is_aggregator(const struct block *block)
{
    static const char words[] = "Aggregation Node";
    return memmem(block->about.text ? block->about.text : "", block->about.length, words,
                  sizeof words - 1) != NULL;
}

/* The name that its description gives a block: 1, or 0 when it gives none. */
static int describe(const struct block *block, char name[ESPI_NAME_MAX + 1])
{
    struct espi_span text = {block->about.text, 0}, chip = {block->about.text, 0};
    if (!block->about.length)
        return 0;
    if (espi_span_is(block->kind, "Ca"))
        text = host_word(block->about);
    else
        switch_words(block->about, &text, &chip);
    size_t length = text.length + chip.length;
    if (!text.length || length > ESPI_NAME_MAX)
        return 0;
    memcpy(name, text.text, text.length);
    if (chip.length)
        memcpy(name + text.length, chip.text, chip.length);
    name[length] = '\0';
    return espi_is_printable(name, length);
}

/* The switch that a block's first cable goes to, or NULL. */
static const char *site_of(const struct ibnet *net, int block)
{
    for (size_t i = net->blocks[block].first_port; i < net->n_ports; i++) {
        const struct port *port = &net->ports[i];
        if (port->block != block)
            break;
        int peer = espi_names_find_n(&net->guids, port->peer.text, port->peer.length);
        int node = peer >= 0 ? net->blocks[peer].node : LEFT_OUT;
        if (node >= 0 && node < net->n_switches)
            return espi_names_text(&net->nodes, node);
    }
    return NULL;
}

static esp_status add_named(struct ibnet *net, int block, const char *name,
                            struct esp_err *err)
{
    struct block *is = &net->blocks[block];
    int is_host = espi_span_is(is->kind, "Ca");
    struct esp_node_spec spec = {name, is_host ? site_of(net, block) : NULL,
                                 is_host ? ESP_NODE_HOST : ESP_NODE_SWITCH, ESP_UNSET,
                                 ESP_UNSET};
    esp_status status = esp_builder_add_node(net->b, &spec, &is->node, err);
    /* Only now: the site is a text of this set, which may move. */
    if (!status && espi_names_intern(&net->nodes, name) < 0)
        return espi_err_nomem(err);
    return status;
}

/* The adapters of one host are one node, but not two of the same description: these are
 * two hosts. Switches were added before. */
static esp_status add_block_node(struct ibnet *net, int block, struct esp_err *err)
{
    char name[ESPI_NAME_MAX + 1], about[ESPI_NAME_MAX + 1];
    struct block *is = &net->blocks[block];
    int known = describe(is, name), is_new = 1;
    int node = known ? esp_builder_find_node(net->b, name) : -1;
    if (known && is->about.length <= ESPI_NAME_MAX) {
        memcpy(about, is->about.text, is->about.length);
        about[is->about.length] = '\0';
        is_new = espi_names_find(&net->abouts, about) < 0;
        if (espi_names_intern(&net->abouts, about) < 0)
            return espi_err_nomem(err);
    }
    if (node >= net->n_switches && is_new && espi_span_is(is->kind, "Ca")) {
        is->node = node;
        return ESP_OK;
    }
    if (known && node < 0)
        return add_named(net, block, name, err);
    net->lines.number = is->line;
    if (espi_lines_name(&net->lines, is->guid, name, err))
        return ESP_EINPUT;
    if (esp_builder_find_node(net->b, name) >= 0)
        return espi_lines_err(&net->lines, err, "'%s' is the name of another node", name);
    return add_named(net, block, name, err);
}

static esp_status add_nodes(struct ibnet *net, int hosts, struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < (int)net->n_blocks && !status; i++) {
        struct block *block = &net->blocks[i];
        if (espi_span_is(block->kind, "Ca") != hosts)
            continue;
        if (hosts && is_aggregator(block))
            block->node = LEFT_OUT;
        else
            status = add_block_node(net, i, err);
    }
    return status;
}

/* ---- cables ---- */

static int cable_before(const struct cable *x, const struct cable *y)
{
    const int a[] = {x->a, x->b, x->a_block, x->a_port, x->b_block, x->b_port};
    const int b[] = {y->a, y->b, y->a_block, y->a_port, y->b_block, y->b_port};
    for (size_t k = 0; k < sizeof a / sizeof *a; k++)
        if (a[k] != b[k])
            return a[k] < b[k];
    return x->Bps < y->Bps;
}

ESPI_DEFINE_SORT(sort_cables, struct cable, cable_before)

static int is_same_cable(const struct cable *x, const struct cable *y)
{
    return x->a_block == y->a_block && x->b_block == y->b_block &&
           x->a_port == y->a_port && x->b_port == y->b_port;
}

/* The cables of all ports but those to what is left out, or of a node to itself. */
static esp_status list_cables(struct ibnet *net, struct cable *cables, int *n,
                              struct esp_err *err)
{
    char shown[64];
    *n = 0;
    for (size_t i = 0; i < net->n_ports; i++) {
        const struct port *port = &net->ports[i];
        int peer = espi_names_find_n(&net->guids, port->peer.text, port->peer.length);
        net->lines.number = port->line;
        if (peer < 0)
            return espi_lines_err(&net->lines, err, "there is no block of '%s'",
                                  espi_span_quote(shown, sizeof shown, port->peer));
        struct cable c = {net->blocks[port->block].node,
                          net->blocks[peer].node,
                          port->block,
                          peer,
                          port->number,
                          port->peer_number,
                          port->Bps};
        if (c.a == LEFT_OUT || c.b == LEFT_OUT || c.a == c.b)
            continue;
        cables[(*n)++] =
            c.a < c.b ? c : (struct cable){c.b,      c.a,      c.b_block, c.a_block,
                                           c.b_port, c.a_port, c.Bps};
    }
    return ESP_OK;
}

/* Cables in order to links: of what stands twice the slower counts. */
static esp_status add_links(struct ibnet *net, const struct cable *c, int n,
                            struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int i = 0, next; i < n && !status; i = next) {
        double Bps = 0;
        for (next = i; next < n && c[next].a == c[i].a && c[next].b == c[i].b; next++)
            if (next == i || !is_same_cable(&c[next], &c[next - 1]))
                Bps += c[next].Bps;
        status = esp_builder_add_link(net->b, c[i].a, c[i].b, 0, Bps, NULL, err);
        if (!status)
            status = esp_builder_add_link(net->b, c[i].b, c[i].a, 0, Bps, NULL, err);
    }
    return status;
}

static esp_status add_cables(struct ibnet *net, struct esp_err *err)
{
    int n = 0;
    struct cable *cables = ESPI_NEW(struct cable, 2 * net->n_ports + 1);
    if (!cables)
        return espi_err_nomem(err);
    esp_status status = list_cables(net, cables, &n, err);
    if (!status) {
        sort_cables(cables, cables + net->n_ports, n);
        status = add_links(net, cables, n, err);
    }
    espi_free(cables);
    return status;
}

static void ibnet_done(struct ibnet *net)
{
    espi_names_done(&net->guids);
    espi_names_done(&net->nodes);
    espi_names_done(&net->abouts);
    espi_free(net->blocks);
    espi_free(net->ports);
}

esp_status espi_read_ibnet(const struct espi_source *source, struct esp_platform **out,
                           struct esp_err *err)
{
    struct ibnet net = {0};
    esp_status status = espi_reader_begin(source, ESP_MODEL_CAPACITY, &net.b, err);
    if (status)
        return status;
    espi_lines_init(&net.lines, source->text, source->length, source->where,
                    ESPI_LINE_MAX);
    status = gather_blocks(&net, err);
    if (!status)
        status = add_nodes(&net, 0, err);
    net.n_switches = (int)net.nodes.n;
    if (!status)
        status = add_nodes(&net, 1, err);
    if (!status)
        status = add_cables(&net, err);
    ibnet_done(&net);
    return espi_reader_end(source, net.b, status, out, err);
}
