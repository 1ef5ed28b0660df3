/* Reads the native format, espalier-platform/1. Links may stand before nodes in the text,
 * so members are found first and read in the order we need them. Linear in the text. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_pull.h"
#include "base/units.h"
#include "platform/platform.h"
#include "platform/readers.h"

struct reader {
    struct espi_json json;
    struct esp_builder *builder;
    char *name; /* a node's or cable's name, ended by '\0' */
    size_t name_cap;
    char *name2;
    size_t name2_cap;
    struct link_index {
        int *slot; /* hash of (from, to) -> link + 1, for the shared cables */
        size_t slots;
    } links;
    int n_links, n_cables;
    int *tails, *heads;
    size_t tails_cap, heads_cap;
};

static esp_status fail_nomem(struct reader *r)
{
    r->json.status = ESP_ENOMEM;
    return espi_err_nomem(r->json.err);
}

/* Copies text into a buffer of ours, ended by '\0'. */
static esp_status keep_text(struct reader *r, const struct espi_json_text *t,
                            char **buffer, size_t *cap)
{
    if (espi_grow((void **)buffer, cap, t->length + 1, 1))
        return fail_nomem(r);
    memcpy(*buffer, t->at, t->length);
    (*buffer)[t->length] = '\0';
    return ESP_OK;
}

static esp_status read_text(struct reader *r, char **buffer, size_t *cap)
{
    struct espi_json_text t;
    esp_status st = espi_json_string(&r->json, &t);
    return st ? st : keep_text(r, &t, buffer, cap);
}

/* A number, or a string with a unit. */
static esp_status read_quantity(struct reader *r, enum espi_quantity what, double *out)
{
    if (espi_json_peek(&r->json) != ESPI_JSON_STRING)
        return espi_json_number(&r->json, out);
    struct espi_json_text t;
    esp_status st = espi_json_string(&r->json, &t);
    if (st)
        return st;
    if (espi_parse_quantity(what, t.at, t.length, out)) {
        char why[256];
        return espi_json_fail(
            &r->json, "%s",
            espi_quantity_complaint(why, sizeof why, what, t.at, t.length));
    }
    return ESP_OK;
}

/* The builder's complaint, with our place in front. */
static esp_status built(struct reader *r, esp_status st, struct esp_err *why)
{
    if (st == ESP_OK)
        return st;
    if (st == ESP_ENOMEM)
        return fail_nomem(r);
    return espi_json_fail(&r->json, "%s", why->text);
}

/* ---- nodes ---- */

static esp_status node_kind(struct reader *r, esp_node_kind *kind)
{
    struct espi_json_text t;
    if (espi_json_string(&r->json, &t))
        return r->json.status;
    if (espi_json_is(&t, "switch"))
        *kind = ESP_NODE_SWITCH;
    else if (espi_json_is(&t, "host"))
        *kind = ESP_NODE_HOST;
    else
        return espi_json_fail(&r->json, "kind is \"host\" or \"switch\"");
    return ESP_OK;
}

/* A time that is not negative: -1, our word for "not given", must not come from a file.
 */
static esp_status read_overhead(struct reader *r, double *out)
{
    double s = 0;
    if (read_quantity(r, ESPI_TIME, &s))
        return r->json.status;
    if (s < 0)
        return espi_json_fail(&r->json, "a time must not be negative");
    *out = s;
    return ESP_OK;
}

static double *rate_of(struct esp_node_rates *rates, const struct espi_json_text *key)
{
    return espi_json_is(key, "send_Bps")   ? &rates->send_Bps
           : espi_json_is(key, "recv_Bps") ? &rates->recv_Bps
           : espi_json_is(key, "hold_Bps") ? &rates->hold_Bps
                                           : NULL;
}

static esp_status read_count(struct reader *r, int *out)
{
    double value = 0;
    if (espi_json_number(&r->json, &value))
        return r->json.status;
    if (!(value >= 0 && value <= INT_MAX) || value != floor(value))
        return espi_json_fail(&r->json, "%g is not a whole number from 0 up", value);
    *out = (int)value;
    return ESP_OK;
}

static esp_status read_node(struct reader *r)
{
    struct esp_node_spec spec = {NULL, NULL, ESP_NODE_HOST, ESP_UNSET, ESP_UNSET};
    struct espi_json_text key;
    struct esp_node_rates rates = {0};
    struct esp_machines machines = {0, 1};
    int has_name = 0, has_site = 0, has_rates = 0, node;
    espi_json_open_object(&r->json);
    while (espi_json_key(&r->json, &key)) {
        if (espi_json_is(&key, "name"))
            has_name = !read_text(r, &r->name, &r->name_cap);
        else if (espi_json_is(&key, "site"))
            has_site = !read_text(r, &r->name2, &r->name2_cap);
        else if (espi_json_is(&key, "kind"))
            node_kind(r, &spec.kind);
        else if (espi_json_is(&key, "send_s"))
            read_overhead(r, &spec.send_s);
        else if (espi_json_is(&key, "recv_s"))
            read_overhead(r, &spec.recv_s);
        else if (espi_json_is(&key, "hold_s"))
            has_rates = !read_overhead(r, &rates.hold_s);
        else if (rate_of(&rates, &key))
            has_rates = !read_quantity(r, ESPI_BANDWIDTH, rate_of(&rates, &key));
        else if (espi_json_is(&key, "usd_per_hour"))
            espi_json_number(&r->json, &machines.usd_per_hour);
        else if (espi_json_is(&key, "max_count"))
            read_count(r, &machines.max_count);
        else
            espi_json_skip(&r->json);
    }
    if (r->json.status)
        return r->json.status;
    if (!has_name)
        return espi_json_fail(&r->json, "this node has no \"name\"");
    spec.name = r->name;
    spec.site = has_site ? r->name2 : NULL;
    struct esp_err why;
    esp_status st = esp_builder_add_node(r->builder, &spec, &node, &why);
    if (!st && has_rates)
        st = esp_builder_set_rates(r->builder, node, &rates, &why);
    if (!st)
        st = esp_builder_set_machines(r->builder, node, &machines, &why);
    return built(r, st, &why);
}

/* A node by name; -1 and an error when there is none. */
static int read_node_name(struct reader *r)
{
    if (read_text(r, &r->name, &r->name_cap))
        return -1;
    int node = esp_builder_find_node(r->builder, r->name);
    if (node < 0) {
        char shown[64];
        espi_json_fail(&r->json, "no node named '%s'",
                       espi_quote(shown, sizeof shown, r->name));
    }
    return node;
}

/* ---- how sure rates are ---- */

/* low_Bps, high_Bps and confidence of a link or cable. */
struct range {
    struct esp_rate_range is;
    int has_low, has_high, has_confidence;
};

static const struct range no_range = {{0, INFINITY, 0}, 0, 0, 0};

/* Reads the value if the key is one of these: 1. */
static int read_range_member(struct reader *r, const struct espi_json_text *key,
                             struct range *range)
{
    if (espi_json_is(key, "low_Bps"))
        range->has_low = !read_quantity(r, ESPI_BANDWIDTH, &range->is.low_Bps);
    else if (espi_json_is(key, "high_Bps"))
        range->has_high = !read_quantity(r, ESPI_BANDWIDTH, &range->is.high_Bps);
    else if (espi_json_is(key, "confidence"))
        range->has_confidence = !espi_json_number(&r->json, &range->is.confidence);
    else
        return 0;
    return 1;
}

/* Is there one? Not half of it. */
static int has_range(struct reader *r, const struct range *range)
{
    if (range->has_low && range->has_confidence)
        return 1;
    if (range->has_low || range->has_high || range->has_confidence)
        espi_json_fail(&r->json, "a range has \"low_Bps\" and \"confidence\"");
    return 0;
}

static esp_status read_measurement(struct reader *r)
{
    struct esp_measurement m = {0};
    struct espi_json_text key;
    struct esp_err why;
    espi_json_open_object(&r->json);
    while (espi_json_key(&r->json, &key)) {
        if (espi_json_is(&key, "rounds"))
            read_count(r, &m.rounds);
        else if (espi_json_is(&key, "disturbed"))
            read_count(r, &m.disturbed);
        else if (espi_json_is(&key, "transfers"))
            read_count(r, &m.transfers);
        else if (espi_json_is(&key, "off_median"))
            espi_json_number(&r->json, &m.off_median);
        else if (espi_json_is(&key, "off_95"))
            espi_json_number(&r->json, &m.off_95);
        else
            espi_json_skip(&r->json);
    }
    if (r->json.status)
        return r->json.status;
    return built(r, esp_builder_set_measurement(r->builder, &m, &why), &why);
}

/* ---- links ---- */

static esp_status add_link(struct reader *r, int from, int to, double latency_s,
                           double bandwidth_Bps, const struct esp_rate_range *range,
                           double usd_per_GB)
{
    struct esp_err why;
    int link;
    esp_status st =
        esp_builder_add_link(r->builder, from, to, latency_s, bandwidth_Bps, &link, &why);
    if (!st && range)
        st = esp_builder_set_link_range(r->builder, link, range, &why);
    if (!st)
        st = esp_builder_set_link_price(r->builder, link, usd_per_GB, &why);
    if ((st = built(r, st, &why)) != ESP_OK)
        return st;
    size_t n = (size_t)r->n_links;
    if (espi_grow((void **)&r->tails, &r->tails_cap, n + 1, sizeof(int)) ||
        espi_grow((void **)&r->heads, &r->heads_cap, n + 1, sizeof(int)))
        return fail_nomem(r);
    r->tails[n] = from;
    r->heads[n] = to;
    r->n_links++;
    return ESP_OK;
}

static esp_status read_link(struct reader *r)
{
    struct espi_json *j = &r->json;
    struct espi_json_text key;
    int from = -1, to = -1, duplex = 0, has_bandwidth = 0;
    double latency_s = 0, bandwidth_Bps = 0, usd = 0;
    struct range range = no_range;
    espi_json_open_object(j);
    while (espi_json_key(j, &key)) {
        if (espi_json_is(&key, "from"))
            from = read_node_name(r);
        else if (espi_json_is(&key, "to"))
            to = read_node_name(r);
        else if (espi_json_is(&key, "latency_s"))
            read_quantity(r, ESPI_TIME, &latency_s);
        else if (espi_json_is(&key, "bandwidth_Bps"))
            has_bandwidth = !read_quantity(r, ESPI_BANDWIDTH, &bandwidth_Bps);
        else if (espi_json_is(&key, "duplex"))
            espi_json_bool(j, &duplex);
        else if (espi_json_is(&key, "usd_per_GB"))
            espi_json_number(j, &usd);
        else if (!read_range_member(r, &key, &range))
            espi_json_skip(j);
    }
    if (j->status)
        return j->status;
    if (from < 0 || to < 0)
        return espi_json_fail(j, "this link has no \"%s\"", from < 0 ? "from" : "to");
    if (!has_bandwidth)
        return espi_json_fail(j, "this link has no \"bandwidth_Bps\"");
    const struct esp_rate_range *is = has_range(r, &range) ? &range.is : NULL;
    if (j->status)
        return j->status;
    esp_status st = add_link(r, from, to, latency_s, bandwidth_Bps, is, usd);
    return st || !duplex ? st : add_link(r, to, from, latency_s, bandwidth_Bps, is, usd);
}

/* ---- shared cables ---- */

static size_t link_hash(int from, int to)
{
    return ((size_t)from * 0x9e3779b97f4a7c15u) ^ ((size_t)to * 0xc2b2ae3d27d4eb4fu);
}

/* The slot of link from -> to, or the empty one where it would go. */
static size_t link_slot(const struct reader *r, int from, int to)
{
    size_t mask = r->links.slots - 1, h = link_hash(from, to), i = (h ^ h >> 32) & mask;
    for (;; i = (i + 1) & mask) {
        int link = r->links.slot[i] - 1;
        if (link < 0 || (r->tails[link] == from && r->heads[link] == to))
            return i;
    }
}

static esp_status index_links(struct reader *r)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)r->n_links)
        slots *= 2;
    r->links.slots = slots;
    r->links.slot = espi_calloc(slots, sizeof(int));
    if (!r->links.slot)
        return fail_nomem(r);
    for (int e = 0; e < r->n_links; e++)
        r->links.slot[link_slot(r, r->tails[e], r->heads[e])] = e + 1;
    return ESP_OK;
}

/* ["from", "to"] -> link number, or -1 and an error. */
static int read_link_ref(struct reader *r)
{
    struct espi_json *j = &r->json;
    int ends[2] = {-1, -1}, n = 0;
    espi_json_open_array(j);
    while (espi_json_item(j)) {
        if (n == 2) {
            espi_json_fail(j, "a link is given as [\"from\", \"to\"]");
            return -1;
        }
        ends[n++] = read_node_name(r);
    }
    if (j->status)
        return -1;
    int link = n == 2 ? r->links.slot[link_slot(r, ends[0], ends[1])] - 1 : -1;
    if (link < 0)
        espi_json_fail(j, n == 2 ? "there is no such link"
                                 : "a link is given as [\"from\", \"to\"]");
    return link;
}

struct link_list {
    int *at;
    size_t n, cap;
};

static esp_status read_link_refs(struct reader *r, struct link_list *list)
{
    list->n = 0;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json)) {
        int link = read_link_ref(r);
        if (r->json.status)
            break;
        if (espi_grow((void **)&list->at, &list->cap, list->n + 1, sizeof(int)))
            return fail_nomem(r);
        list->at[list->n++] = link;
    }
    return r->json.status;
}

static esp_status read_cable(struct reader *r, struct link_list *list)
{
    struct espi_json *j = &r->json;
    struct espi_json_text key;
    int has_name = 0, has_bandwidth = 0;
    double bandwidth_Bps = 0, usd_per_GB = 0;
    struct range range = no_range;
    list->n = 0;
    espi_json_open_object(j);
    while (espi_json_key(j, &key)) {
        if (espi_json_is(&key, "name"))
            has_name = !read_text(r, &r->name2, &r->name2_cap);
        else if (espi_json_is(&key, "bandwidth_Bps"))
            has_bandwidth = !read_quantity(r, ESPI_BANDWIDTH, &bandwidth_Bps);
        else if (espi_json_is(&key, "links"))
            read_link_refs(r, list);
        else if (espi_json_is(&key, "usd_per_GB"))
            espi_json_number(j, &usd_per_GB);
        else if (!read_range_member(r, &key, &range))
            espi_json_skip(j);
    }
    if (j->status)
        return j->status;
    if (!has_name || !has_bandwidth)
        return espi_json_fail(j, "this shared link has no \"%s\"",
                              has_name ? "bandwidth_Bps" : "name");
    int ranged = has_range(r, &range);
    if (j->status)
        return j->status;
    struct esp_err why;
    esp_status st = esp_builder_add_cable(r->builder, r->name2, bandwidth_Bps, list->at,
                                          (int)list->n, &why);
    if (!st && ranged)
        st = esp_builder_set_cable_range(r->builder, r->n_cables, &range.is, &why);
    if (!st)
        st = esp_builder_set_cable_price(r->builder, r->n_cables, usd_per_GB, &why);
    r->n_cables++;
    return built(r, st, &why);
}

static esp_status read_cables(struct reader *r)
{
    struct link_list list = {0};
    esp_status st = index_links(r);
    if (st)
        return st;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json))
        read_cable(r, &list);
    espi_free(list.at);
    return r->json.status;
}

/* ---- the whole ---- */

struct members {
    const char *nodes, *links, *shared; /* where the values start, NULL: absent */
};

static esp_status read_model(struct reader *r)
{
    esp_model model;
    if (read_text(r, &r->name, &r->name_cap))
        return r->json.status;
    if (esp_model_parse(r->name, &model)) {
        char shown[64];
        return espi_json_fail(&r->json,
                              "no model '%s' (there are one-port, half-duplex, "
                              "multi-port and capacity)",
                              espi_quote(shown, sizeof shown, r->name));
    }
    esp_builder_set_model(r->builder, model);
    return ESP_OK;
}

static esp_status check_format(struct reader *r)
{
    struct espi_json_text t;
    if (espi_json_string(&r->json, &t))
        return r->json.status;
    if (!espi_json_is(&t, "espalier-platform/1"))
        return espi_json_fail(&r->json,
                              "\"format\" is not \"espalier-platform/1\": this is "
                              "no platform, or one of a newer espalier");
    return ESP_OK;
}

static esp_status platform_name(struct reader *r)
{
    if (read_text(r, &r->name, &r->name_cap))
        return r->json.status;
    return esp_builder_set_name(r->builder, r->name, NULL) ? fail_nomem(r) : ESP_OK;
}

/* Remembers where a member starts and steps over it. */
static void note_member(struct reader *r, const char **place, const char *name)
{
    if (*place) {
        espi_json_fail(&r->json, "\"%s\" is there twice", name);
        return;
    }
    espi_json_peek(&r->json);
    *place = r->json.at;
    espi_json_skip(&r->json);
}

static esp_status find_members(struct reader *r, struct members *m)
{
    struct espi_json *j = &r->json;
    struct espi_json_text key;
    int has_format = 0;
    espi_json_open_object(j);
    while (espi_json_key(j, &key)) {
        if (espi_json_is(&key, "format"))
            has_format = !check_format(r);
        else if (espi_json_is(&key, "name"))
            platform_name(r);
        else if (espi_json_is(&key, "model"))
            read_model(r);
        else if (espi_json_is(&key, "nodes"))
            note_member(r, &m->nodes, "nodes");
        else if (espi_json_is(&key, "links"))
            note_member(r, &m->links, "links");
        else if (espi_json_is(&key, "shared"))
            note_member(r, &m->shared, "shared");
        else if (espi_json_is(&key, "measured"))
            read_measurement(r);
        else
            espi_json_skip(j);
    }
    if (espi_json_end(j))
        return j->status;
    if (!has_format)
        return espi_json_fail(j, "there is no \"format\": \"espalier-platform/1\"");
    return m->nodes ? ESP_OK : espi_json_fail(j, "there are no \"nodes\"");
}

static void read_list(struct reader *r, const char *at,
                      esp_status (*read)(struct reader *))
{
    r->json.at = at;
    espi_json_open_array(&r->json);
    while (espi_json_item(&r->json))
        read(r);
}

static esp_status read_members(struct reader *r, const struct members *m)
{
    read_list(r, m->nodes, read_node);
    if (m->links && !r->json.status)
        read_list(r, m->links, read_link);
    if (m->shared && !r->json.status) {
        r->json.at = m->shared;
        read_cables(r);
    }
    return r->json.status;
}

static void reader_done(struct reader *r)
{
    espi_json_done(&r->json);
    esp_builder_free(r->builder);
    espi_free(r->name);
    espi_free(r->name2);
    espi_free(r->links.slot);
    espi_free(r->tails);
    espi_free(r->heads);
}

esp_status espi_read_json(const char *text, size_t length, const char *where,
                          struct esp_platform **out, struct esp_err *err)
{
    struct reader r = {0};
    struct members m = {0};
    struct esp_err why = {0};
    esp_status st = esp_builder_create(&r.builder, err);
    if (st)
        return st;
    espi_json_init(&r.json, text, length, where, err);
    st = find_members(&r, &m);
    if (!st)
        st = read_members(&r, &m);
    if (!st) {
        st = esp_builder_build(r.builder, out, &why);
        if (st) {
            char shown[128];
            espi_err(err, st, "%s: %s", espi_quote(shown, sizeof shown, where), why.text);
        }
    }
    reader_done(&r);
    return st;
}
