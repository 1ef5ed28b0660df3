/* Builds platforms. The builder keeps growing arrays; build() checks the whole, derives
 * the index arrays and hands everything over. Linear in nodes + links. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/names.h"
#include "platform/platform.h"

struct vec_int {
    int *at;
    size_t n, cap;
};

struct vec_double {
    double *at;
    size_t n, cap;
};

struct vec_size {
    size_t *at;
    size_t n, cap;
};

struct vec_byte {
    unsigned char *at;
    size_t n, cap;
};

struct esp_builder {
    char *name;
    esp_model model;
    struct espi_names nodes, sites, cables;
    struct vec_byte kind;
    struct vec_int site;
    struct vec_double send_s, recv_s;
    int has_send, has_recv;
    struct {
        struct esp_node_rates *at;
        size_t n, cap;
    } rates; /* of the first n nodes; the others have none */
    struct vec_int tail, head;
    struct vec_double latency_s, bandwidth_Bps;
    struct vec_double shared_Bps;
    struct vec_int shared_start, shared_link; /* row ends, links */
    struct espi_certainty certainty;
    struct espi_prices prices;
};

/* Appends to one of the vectors above: -1 when out of memory. */
#define PUSH(vec, value)                                                                 \
    (espi_grow((void **)&(vec).at, &(vec).cap, (vec).n + 1, sizeof *(vec).at)            \
         ? -1                                                                            \
         : ((vec).at[(vec).n++] = (value), 0))

esp_status esp_builder_create(struct esp_builder **out, struct esp_err *err)
{
    struct esp_builder *b = espi_calloc(1, sizeof *b);
    if (!b)
        return espi_err_nomem(err);
    *out = b;
    return ESP_OK;
}

static void builder_clear(struct esp_builder *b)
{
    espi_free(b->name);
    espi_names_done(&b->nodes);
    espi_names_done(&b->sites);
    espi_names_done(&b->cables);
    espi_free(b->kind.at);
    espi_free(b->site.at);
    espi_free(b->send_s.at);
    espi_free(b->recv_s.at);
    espi_free(b->rates.at);
    espi_free(b->tail.at);
    espi_free(b->head.at);
    espi_free(b->latency_s.at);
    espi_free(b->bandwidth_Bps.at);
    espi_free(b->shared_Bps.at);
    espi_free(b->shared_start.at);
    espi_free(b->shared_link.at);
    espi_certainty_done(&b->certainty);
    espi_prices_done(&b->prices);
    memset(b, 0, sizeof *b);
}

void esp_builder_free(struct esp_builder *b)
{
    if (!b)
        return;
    builder_clear(b);
    espi_free(b);
}

esp_status esp_builder_set_name(struct esp_builder *b, const char *name,
                                struct esp_err *err)
{
    char *copy = espi_strdup(name);
    if (!copy)
        return espi_err_nomem(err);
    espi_free(b->name);
    b->name = copy;
    return ESP_OK;
}

void esp_builder_set_model(struct esp_builder *b, esp_model model)
{
    b->model = model;
}

static esp_status check_name(const char *what, const char *name, struct esp_err *err)
{
    if (!name || !name[0])
        return espi_err(err, ESP_EINPUT, "a %s needs a name that is not empty", what);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            char shown[64];
            return espi_err(err, ESP_EINPUT, "%s name '%s': control characters", what,
                            espi_quote(shown, sizeof shown, name));
        }
    return ESP_OK;
}

static int bad_overhead(double s)
{
    return s != ESP_UNSET && !(s >= 0 && isfinite(s));
}

static esp_status check_node(const struct esp_builder *b,
                             const struct esp_node_spec *spec, struct esp_err *err)
{
    char shown[64];
    esp_status st = check_name("node", spec->name, err);
    if (st)
        return st;
    espi_quote(shown, sizeof shown, spec->name);
    if (espi_names_find(&b->nodes, spec->name) >= 0)
        return espi_err(err, ESP_EINPUT, "node '%s' is there twice", shown);
    if (b->nodes.n >= INT32_MAX / 2)
        return espi_err(err, ESP_EINPUT, "too many nodes");
    if (bad_overhead(spec->send_s) || bad_overhead(spec->recv_s))
        return espi_err(err, ESP_EINPUT,
                        "node '%s': send_s and recv_s must be finite and not negative",
                        shown);
    if (spec->site)
        return check_name("site", spec->site, err);
    return ESP_OK;
}

esp_status esp_builder_add_node(struct esp_builder *b, const struct esp_node_spec *spec,
                                int *node, struct esp_err *err)
{
    esp_status st = check_node(b, spec, err);
    if (st)
        return st;
    int site = -1, id;
    if (spec->site && (site = espi_names_intern(&b->sites, spec->site)) < 0)
        return espi_err_nomem(err);
    /* Arrays first, the name last: a failure half-way leaves no node behind. */
    size_t n = b->nodes.n;
    b->kind.n = b->site.n = b->send_s.n = b->recv_s.n = n;
    if (PUSH(b->kind, (unsigned char)spec->kind) || PUSH(b->site, site) ||
        PUSH(b->send_s, spec->send_s) || PUSH(b->recv_s, spec->recv_s) ||
        (id = espi_names_intern(&b->nodes, spec->name)) < 0)
        return espi_err_nomem(err);
    b->has_send |= spec->send_s != ESP_UNSET;
    b->has_recv |= spec->recv_s != ESP_UNSET;
    if (node)
        *node = id;
    return ESP_OK;
}

static int bad_rate(double x)
{
    return !(x >= 0 && isfinite(x));
}

static int fill_rates(struct esp_builder *b, size_t n)
{
    while (b->rates.n < n)
        if (PUSH(b->rates, (struct esp_node_rates){0}))
            return -1;
    return 0;
}

esp_status esp_builder_set_rates(struct esp_builder *b, int node,
                                 const struct esp_node_rates *rates, struct esp_err *err)
{
    if (node < 0 || (size_t)node >= b->nodes.n)
        return espi_err(err, ESP_EUSAGE, "there is no node %d", node);
    if (bad_rate(rates->send_Bps) || bad_rate(rates->recv_Bps) ||
        bad_rate(rates->hold_s) || bad_rate(rates->hold_Bps)) {
        char shown[64];
        return espi_err(
            err, ESP_EINPUT,
            "node '%s': send_Bps, recv_Bps, hold_s and hold_Bps must be "
            "finite and not negative",
            espi_quote(shown, sizeof shown, espi_names_text(&b->nodes, node)));
    }
    if (fill_rates(b, (size_t)node + 1))
        return espi_err_nomem(err);
    b->rates.at[node] = *rates;
    return ESP_OK;
}

int esp_builder_find_node(const struct esp_builder *b, const char *name)
{
    return espi_names_find(&b->nodes, name);
}

static const char *builder_node(const struct esp_builder *b, int node, char *shown,
                                size_t size)
{
    return espi_quote(shown, size, espi_names_text(&b->nodes, node));
}

/* Names are made fit to be shown only where there is something to be said of them:
 * networks have many links. */
static esp_status check_link(const struct esp_builder *b, int from, int to,
                             double latency_s, double bandwidth_Bps, struct esp_err *err)
{
    char u[64], v[64];
    if (from != to && latency_s >= 0 && isfinite(latency_s) && bandwidth_Bps > 0 &&
        isfinite(bandwidth_Bps))
        return ESP_OK;
    builder_node(b, from, u, sizeof u);
    builder_node(b, to, v, sizeof v);
    if (from == to)
        return espi_err(err, ESP_EINPUT, "link %s -> %s: a link to itself", u, v);
    if (!(latency_s >= 0 && isfinite(latency_s)))
        return espi_err(err, ESP_EINPUT,
                        "link %s -> %s: latency %g s must be finite and not negative", u,
                        v, latency_s);
    return espi_err(err, ESP_EINPUT,
                    "link %s -> %s: bandwidth %g B/s must be finite and positive", u, v,
                    bandwidth_Bps);
}

esp_status esp_builder_add_link(struct esp_builder *b, int from, int to, double latency_s,
                                double bandwidth_Bps, int *link, struct esp_err *err)
{
    if (from < 0 || to < 0 || (size_t)from >= b->nodes.n || (size_t)to >= b->nodes.n)
        return espi_err(err, ESP_EINPUT, "link %d -> %d: no such node", from, to);
    esp_status st = check_link(b, from, to, latency_s, bandwidth_Bps, err);
    if (st)
        return st;
    size_t n = b->tail.n;
    if (n >= INT32_MAX / 2)
        return espi_err(err, ESP_EINPUT, "too many links");
    b->head.n = b->latency_s.n = b->bandwidth_Bps.n = n;
    if (PUSH(b->head, to) || PUSH(b->latency_s, latency_s) ||
        PUSH(b->bandwidth_Bps, bandwidth_Bps) || PUSH(b->tail, from))
        return espi_err_nomem(err);
    if (link)
        *link = (int)n;
    return ESP_OK;
}

esp_status esp_builder_add_cable(struct esp_builder *b, const char *name,
                                 double bandwidth_Bps, const int *links, int n_links,
                                 struct esp_err *err)
{
    char shown[64];
    esp_status st = check_name("shared link", name, err);
    if (st)
        return st;
    espi_quote(shown, sizeof shown, name);
    if (espi_names_find(&b->cables, name) >= 0)
        return espi_err(err, ESP_EINPUT, "shared link '%s' is there twice", shown);
    if (!(bandwidth_Bps > 0 && isfinite(bandwidth_Bps)))
        return espi_err(err, ESP_EINPUT,
                        "shared link '%s': bandwidth %g B/s must be finite and positive",
                        shown, bandwidth_Bps);
    for (int i = 0; i < n_links; i++)
        if (links[i] < 0 || (size_t)links[i] >= b->tail.n)
            return espi_err(err, ESP_EINPUT, "shared link '%s': no link %d", shown,
                            links[i]);
    size_t n = b->cables.n, first = n ? (size_t)b->shared_start.at[n - 1] : 0;
    b->shared_Bps.n = b->shared_start.n = n;
    b->shared_link.n = first;
    if (first + (size_t)n_links > INT32_MAX / 2)
        return espi_err(err, ESP_EINPUT, "shared link '%s': too many links", shown);
    for (int i = 0; i < n_links; i++)
        if (PUSH(b->shared_link, links[i]))
            return espi_err_nomem(err);
    if (PUSH(b->shared_Bps, bandwidth_Bps) ||
        PUSH(b->shared_start, (int)b->shared_link.n) ||
        espi_names_intern(&b->cables, name) < 0)
        return espi_err_nomem(err);
    return ESP_OK;
}

/* ---- how sure it is ---- */

esp_status esp_builder_set_link_range(struct esp_builder *b, int link,
                                      const struct esp_rate_range *range,
                                      struct esp_err *err)
{
    if (link < 0 || (size_t)link >= b->tail.n)
        return espi_err(err, ESP_EUSAGE, "there is no link %d", link);
    return espi_ranges_set(&b->certainty.links, link, b->bandwidth_Bps.at[link], range,
                           err);
}

esp_status esp_builder_set_cable_range(struct esp_builder *b, int cable,
                                       const struct esp_rate_range *range,
                                       struct esp_err *err)
{
    if (cable < 0 || (size_t)cable >= b->cables.n)
        return espi_err(err, ESP_EUSAGE, "there is no shared link %d", cable);
    return espi_ranges_set(&b->certainty.cables, cable, b->shared_Bps.at[cable], range,
                           err);
}

esp_status esp_builder_set_measurement(struct esp_builder *b,
                                       const struct esp_measurement *measured,
                                       struct esp_err *err)
{
    esp_status st = espi_measurement_check(measured, err);
    if (!st)
        b->certainty.measured = *measured;
    return st;
}

/* ---- prices ---- */

esp_status esp_builder_set_link_price(struct esp_builder *b, int link, double usd_per_GB,
                                      struct esp_err *err)
{
    if (link < 0 || (size_t)link >= b->tail.n)
        return espi_err(err, ESP_EUSAGE, "there is no link %d", link);
    return espi_price_set(&b->prices.links, link, usd_per_GB, err);
}

esp_status esp_builder_set_cable_price(struct esp_builder *b, int cable,
                                       double usd_per_GB, struct esp_err *err)
{
    if (cable < 0 || (size_t)cable >= b->cables.n)
        return espi_err(err, ESP_EUSAGE, "there is no shared link %d", cable);
    return espi_price_set(&b->prices.cables, cable, usd_per_GB, err);
}

esp_status esp_builder_set_machines(struct esp_builder *b, int node,
                                    const struct esp_machines *machines,
                                    struct esp_err *err)
{
    if (node < 0 || (size_t)node >= b->nodes.n)
        return espi_err(err, ESP_EUSAGE, "there is no node %d", node);
    return espi_machines_set(&b->prices, node, machines, err);
}

/* ---- build ---- */

static esp_status check_whole(const struct esp_builder *b, struct esp_err *err)
{
    if (b->nodes.n == 0)
        return espi_err(err, ESP_EINPUT, "a platform needs at least one node");
    for (size_t i = 0; i < b->nodes.n; i++)
        if (b->kind.at[i] == ESP_NODE_HOST)
            return ESP_OK;
    return espi_err(err, ESP_EINPUT,
                    "a platform needs at least one host, "
                    "not only switches");
}

/* Two links u -> v would make "the link u -> v" ambiguous in every file. */
static esp_status check_parallel(const struct esp_platform *p, struct esp_err *err)
{
    int *seen = ESPI_NEW(int, p->n_nodes);
    esp_status st = ESP_OK;
    if (!seen)
        return espi_err_nomem(err);
    memset(seen, 0xff, (size_t)p->n_nodes * sizeof *seen);
    for (int u = 0; u < p->n_nodes && !st; u++)
        for (int k = p->out.start[u]; k < p->out.start[u + 1] && !st; k++) {
            int v = p->head[p->out.item[k]];
            if (seen[v] == u) {
                char a[64], c[64];
                st = espi_err(err, ESP_EINPUT, "link %s -> %s is there twice",
                              espi_quote(a, sizeof a, espi_node_name(p, u)),
                              espi_quote(c, sizeof c, espi_node_name(p, v)));
            }
            seen[v] = u;
        }
    espi_free(seen);
    return st;
}

static esp_status check_shared_once(const struct esp_platform *p, struct esp_err *err)
{
    if (!p->n_shared)
        return ESP_OK;
    for (int e = 0; e < p->n_links; e++)
        for (int k = p->link_shared.start[e] + 1; k < p->link_shared.start[e + 1]; k++)
            if (p->link_shared.item[k] == p->link_shared.item[k - 1]) {
                char s[64], a[64], c[64];
                return espi_err(
                    err, ESP_EINPUT, "shared link '%s': link %s -> %s is there twice",
                    espi_quote(s, sizeof s, espi_shared_name(p, p->link_shared.item[k])),
                    espi_quote(a, sizeof a, espi_node_name(p, p->tail[e])),
                    espi_quote(c, sizeof c, espi_node_name(p, p->head[e])));
            }
    return ESP_OK;
}

/* rows of `keys` by counting sort: row k lists, in order, the i with keys[i] == k. */
static int make_rows(struct espi_rows *rows, const int *keys, int n_items, int n_rows)
{
    rows->start = ESPI_NEW(int, (size_t)n_rows + 1);
    rows->item = ESPI_NEW(int, n_items);
    if (!rows->start || !rows->item)
        return -1;
    espi_rows_fill(rows, n_rows, n_items, keys);
    return 0;
}

/* link -> cables, the transpose of cable -> links; cables ascend within a link. */
static int transpose_shared(struct esp_platform *p)
{
    const struct espi_rows *by = &p->shared_links;
    int total = by->start[p->n_shared];
    struct espi_rows *rows = &p->link_shared;
    if (make_rows(rows, by->item, total, p->n_links))
        return -1;
    int *cable_of = ESPI_NEW(int, total);
    if (!cable_of)
        return -1;
    for (int s = 0; s < p->n_shared; s++)
        for (int k = by->start[s]; k < by->start[s + 1]; k++)
            cable_of[k] = s;
    for (int k = 0; k < total; k++)
        rows->item[k] = cable_of[rows->item[k]];
    espi_free(cable_of);
    return 0;
}

/* Moves what the builder owns; arrays are cut to size where that frees much. */
static void take_arrays(struct esp_platform *p, struct esp_builder *b)
{
    p->name = b->name;
    p->model = b->model;
    p->nodes = b->nodes;
    p->sites = b->sites;
    p->cables = b->cables;
    p->n_nodes = (int)b->nodes.n;
    p->n_links = (int)b->tail.n;
    p->n_shared = (int)b->cables.n;
    p->n_sites = (int)b->sites.n;
    p->node_kind = b->kind.at;
    p->node_site = b->site.at;
    p->send_s = b->send_s.at;
    p->recv_s = b->recv_s.at;
    p->rates = b->rates.at;
    p->has_send = b->has_send;
    p->has_recv = b->has_recv;
    p->tail = b->tail.at;
    p->head = b->head.at;
    p->latency_s = b->latency_s.at;
    p->bandwidth_Bps = b->bandwidth_Bps.at;
    p->shared_Bps = b->shared_Bps.at;
    p->shared_links.item = b->shared_link.at;
    p->certainty = b->certainty;
    p->prices = b->prices;
    espi_free(b->shared_start.at);
    memset(b, 0, sizeof *b);
    for (int i = 0; i < p->n_nodes; i++)
        p->n_hosts += p->node_kind[i] == ESP_NODE_HOST;
}

static esp_status derive(struct esp_platform *p, struct esp_err *err)
{
    if (make_rows(&p->out, p->tail, p->n_links, p->n_nodes) ||
        make_rows(&p->in, p->head, p->n_links, p->n_nodes) ||
        (p->n_shared && transpose_shared(p)))
        return espi_err_nomem(err);
    esp_status st = check_parallel(p, err);
    return st ? st : check_shared_once(p, err);
}

esp_status esp_builder_build(struct esp_builder *b, struct esp_platform **out,
                             struct esp_err *err)
{
    if ((unsigned)b->model >= ESP_MODEL_COUNT)
        return espi_err(err, ESP_EUSAGE, "there is no model number %d", (int)b->model);
    esp_status st = check_whole(b, err);
    if (st)
        return st;
    struct esp_platform *p = espi_calloc(1, sizeof *p);
    struct espi_platform_turned *turned = espi_calloc(1, sizeof *turned);
    int n_shared = (int)b->cables.n;
    int *start = ESPI_NEW(int, n_shared + 1);
    char *name = b->name ? b->name : espi_strdup("");
    int no_rates = b->rates.n && fill_rates(b, b->nodes.n);
    if (!p || !turned || !start || !name || no_rates) {
        espi_free(p);
        espi_free(turned);
        espi_free(start);
        if (!b->name)
            espi_free(name);
        return espi_err_nomem(err);
    }
    b->name = name;
    start[0] = 0;
    if (n_shared)
        memcpy(start + 1, b->shared_start.at, (size_t)n_shared * sizeof *start);
    take_arrays(p, b);
    p->shared_links.start = start;
    p->turned = turned;
    st = derive(p, err);
    if (st)
        esp_platform_free(p);
    else
        *out = p;
    return st;
}
