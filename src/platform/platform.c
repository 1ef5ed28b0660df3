/* Looking at platforms. */
#include "platform/platform.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "platform/resources.h"

static const char *const model_names[ESP_MODEL_COUNT] = {
    [ESP_MODEL_ONE_PORT] = "one-port",
    [ESP_MODEL_HALF_DUPLEX] = "half-duplex",
    [ESP_MODEL_MULTI_PORT] = "multi-port",
    [ESP_MODEL_CAPACITY] = "capacity",
    [ESP_MODEL_HNOW] = "hnow",
};

const char *esp_model_name(esp_model model)
{
    return (unsigned)model < ESP_MODEL_COUNT ? model_names[model] : "?";
}

int esp_model_parse(const char *text, esp_model *model)
{
    for (int i = 0; i < ESP_MODEL_COUNT; i++)
        if (!strcmp(text, model_names[i])) {
            *model = (esp_model)i;
            return 0;
        }
    return -1;
}

void esp_platform_free(struct esp_platform *p)
{
    if (!p)
        return;
    espi_free(p->name);
    espi_names_done(&p->nodes);
    espi_names_done(&p->sites);
    espi_names_done(&p->cables);
    espi_free(p->node_kind);
    espi_free(p->node_site);
    espi_free(p->send_s);
    espi_free(p->recv_s);
    espi_free(p->rates);
    espi_free(p->tail);
    espi_free(p->head);
    espi_free(p->latency_s);
    espi_free(p->bandwidth_Bps);
    espi_free(p->out.start);
    espi_free(p->out.item);
    espi_free(p->in.start);
    espi_free(p->in.item);
    espi_free(p->shared_Bps);
    espi_free(p->shared_links.start);
    espi_free(p->shared_links.item);
    espi_free(p->link_shared.start);
    espi_free(p->link_shared.item);
    espi_certainty_done(&p->certainty);
    espi_prices_done(&p->prices);
    if (p->turned)
        esp_platform_free(atomic_load(&p->turned->platform));
    espi_free(p->turned);
    espi_free(p);
}

const char *esp_platform_name(const struct esp_platform *p)
{
    return p->name;
}

esp_model esp_platform_model(const struct esp_platform *p)
{
    return p->model;
}

int esp_platform_node_count(const struct esp_platform *p)
{
    return p->n_nodes;
}

int esp_platform_host_count(const struct esp_platform *p)
{
    return p->n_hosts;
}

int esp_platform_link_count(const struct esp_platform *p)
{
    return p->n_links;
}

/* ---- cables ---- */

static int has_cable(const struct esp_platform *p, int cable)
{
    return p && cable >= 0 && cable < p->n_shared;
}

const char *esp_platform_cable_name(const struct esp_platform *p, int cable)
{
    return has_cable(p, cable) ? espi_shared_name(p, cable) : NULL;
}

int esp_platform_find_cable(const struct esp_platform *p, const char *name)
{
    return p && name ? espi_names_find(&p->cables, name) : -1;
}

double esp_platform_cable_bandwidth_Bps(const struct esp_platform *p, int cable)
{
    return has_cable(p, cable) ? p->shared_Bps[cable] : NAN;
}

/* How long row k is, and its item i. */
static int row_length(const struct espi_rows *rows, int k)
{
    return rows->start[k + 1] - rows->start[k];
}

static int row_item(const struct espi_rows *rows, int k, int i)
{
    return i >= 0 && i < row_length(rows, k) ? rows->item[rows->start[k] + i] : -1;
}

int esp_platform_cable_link_count(const struct esp_platform *p, int cable)
{
    return has_cable(p, cable) ? row_length(&p->shared_links, cable) : 0;
}

int esp_platform_cable_link(const struct esp_platform *p, int cable, int i)
{
    return has_cable(p, cable) ? row_item(&p->shared_links, cable, i) : -1;
}

static int link_has_cables(const struct esp_platform *p, int link)
{
    return p && p->n_shared > 0 && link >= 0 && link < p->n_links;
}

int esp_platform_link_cable_count(const struct esp_platform *p, int link)
{
    return link_has_cables(p, link) ? row_length(&p->link_shared, link) : 0;
}

int esp_platform_link_cable(const struct esp_platform *p, int link, int i)
{
    return link_has_cables(p, link) ? row_item(&p->link_shared, link, i) : -1;
}

int esp_platform_cable_count(const struct esp_platform *p)
{
    return p->n_shared;
}

const char *esp_platform_node_name(const struct esp_platform *p, int node)
{
    return espi_node_name(p, node);
}

const char *esp_platform_node_site(const struct esp_platform *p, int node)
{
    int site = p->node_site[node];
    return site < 0 ? NULL : espi_names_text(&p->sites, site);
}

esp_node_kind esp_platform_node_kind(const struct esp_platform *p, int node)
{
    return (esp_node_kind)p->node_kind[node];
}

double esp_platform_node_send_s(const struct esp_platform *p, int node)
{
    return p->send_s[node];
}

struct esp_node_rates esp_platform_node_rates(const struct esp_platform *p, int node)
{
    return p->rates ? p->rates[node] : (struct esp_node_rates){0};
}

double esp_platform_node_recv_s(const struct esp_platform *p, int node)
{
    return p->recv_s[node];
}

int esp_platform_find_node(const struct esp_platform *p, const char *name)
{
    return espi_names_find(&p->nodes, name);
}

int esp_platform_link_from(const struct esp_platform *p, int link)
{
    return p->tail[link];
}

int esp_platform_link_to(const struct esp_platform *p, int link)
{
    return p->head[link];
}

double esp_platform_link_latency_s(const struct esp_platform *p, int link)
{
    return p->latency_s[link];
}

double esp_platform_link_bandwidth_Bps(const struct esp_platform *p, int link)
{
    return p->bandwidth_Bps[link];
}

int esp_platform_find_link(const struct esp_platform *p, int from, int to)
{
    /* Scan the shorter list: hubs have long ones. */
    int outs = p->out.start[from + 1] - p->out.start[from];
    int ins = p->in.start[to + 1] - p->in.start[to];
    if (outs <= ins) {
        for (int k = p->out.start[from]; k < p->out.start[from + 1]; k++)
            if (p->head[p->out.item[k]] == to)
                return p->out.item[k];
        return -1;
    }
    for (int k = p->in.start[to]; k < p->in.start[to + 1]; k++)
        if (p->tail[p->in.item[k]] == from)
            return p->in.item[k];
    return -1;
}

double esp_platform_link_time_s(const struct esp_platform *p, int link, double bytes)
{
    return espi_link_time_s(p, link, bytes);
}

/* What sends cost where links are turned round: no overhead of a receive is none. */
static double reversed_send_s(const struct esp_platform *p, int node)
{
    if (p->recv_s[node] == ESP_UNSET && p->model == ESP_MODEL_MULTI_PORT &&
        p->send_s[node] != ESP_UNSET)
        return 0;
    return p->recv_s[node];
}

/* Sends still follow one another as before: receives that do have no name. */
static esp_status copy_rates(const struct esp_platform *p, int node, int reversed,
                             struct esp_builder *b, struct esp_err *err)
{
    struct esp_node_rates rates = p->rates[node];
    if (reversed) {
        rates.send_Bps = p->rates[node].recv_Bps;
        rates.recv_Bps = p->rates[node].send_Bps;
    }
    return esp_builder_set_rates(b, node, &rates, err);
}

static esp_status copy_certainty(const struct esp_platform *p, struct esp_builder *b,
                                 struct esp_err *err)
{
    const struct espi_certainty *c = &p->certainty;
    esp_status st = ESP_OK;
    for (size_t e = 0; e < c->links.n && !st; e++)
        if (c->links.at[e].confidence != ESP_UNSET)
            st = esp_builder_set_link_range(b, (int)e, &c->links.at[e], err);
    for (size_t s = 0; s < c->cables.n && !st; s++)
        if (c->cables.at[s].confidence != ESP_UNSET)
            st = esp_builder_set_cable_range(b, (int)s, &c->cables.at[s], err);
    if (!st && c->measured.rounds)
        st = esp_builder_set_measurement(b, &c->measured, err);
    return st;
}

/* Feeds a whole platform into a builder, perhaps with its links turned round. */
static esp_status copy_into(const struct esp_platform *p, int reversed,
                            struct esp_builder *b, struct esp_err *err)
{
    esp_status st = esp_builder_set_name(b, p->name, err);
    for (int i = 0; i < p->n_nodes && !st; i++) {
        struct esp_node_spec spec = {espi_node_name(p, i), esp_platform_node_site(p, i),
                                     (esp_node_kind)p->node_kind[i], p->send_s[i],
                                     p->recv_s[i]};
        if (reversed) {
            spec.send_s = reversed_send_s(p, i);
            spec.recv_s = p->send_s[i];
        }
        st = esp_builder_add_node(b, &spec, NULL, err);
        if (!st && p->rates)
            st = copy_rates(p, i, reversed, b, err);
    }
    for (int e = 0; e < p->n_links && !st; e++)
        st = esp_builder_add_link(b, reversed ? p->head[e] : p->tail[e],
                                  reversed ? p->tail[e] : p->head[e], p->latency_s[e],
                                  p->bandwidth_Bps[e], NULL, err);
    for (int s = 0; s < p->n_shared && !st; s++)
        st = esp_builder_add_cable(
            b, espi_shared_name(p, s), p->shared_Bps[s],
            p->shared_links.item + p->shared_links.start[s],
            p->shared_links.start[s + 1] - p->shared_links.start[s], err);
    if (!st)
        st = espi_prices_copy(&p->prices, b, err);
    return st ? st : copy_certainty(p, b, err);
}

esp_status espi_platform_begin_copy(const struct esp_platform *p,
                                    struct esp_builder **out, struct esp_err *err)
{
    struct esp_builder *b;
    esp_status st = esp_builder_create(&b, err);
    if (st)
        return st;
    st = copy_into(p, 0, b, err);
    esp_builder_set_model(b, p->model);
    if (st)
        esp_builder_free(b);
    else
        *out = b;
    return st;
}

static esp_status copy_platform(const struct esp_platform *p, esp_model model,
                                int reversed, struct esp_platform **out,
                                struct esp_err *err)
{
    struct esp_builder *b;
    esp_status st = esp_builder_create(&b, err);
    if (st)
        return st;
    st = copy_into(p, reversed, b, err);
    esp_builder_set_model(b, model);
    if (!st)
        st = esp_builder_build(b, out, err);
    esp_builder_free(b);
    return st;
}

esp_status esp_platform_with_model(const struct esp_platform *p, esp_model model,
                                   struct esp_platform **out, struct esp_err *err)
{
    return copy_platform(p, model, 0, out, err);
}

esp_status esp_platform_reversed(const struct esp_platform *p, struct esp_platform **out,
                                 struct esp_err *err)
{
    return copy_platform(p, p->model, 1, out, err);
}

/* Of two threads that make it at once the later one takes what the other made. */
esp_status espi_platform_turned(const struct esp_platform *p,
                                const struct esp_platform **out, struct esp_err *err)
{
    struct esp_platform *there = atomic_load(&p->turned->platform), *made;
    if (!there) {
        esp_status st = esp_platform_reversed(p, &made, err);
        if (st)
            return st;
        if (atomic_compare_exchange_strong(&p->turned->platform, &there, made))
            there = made;
        else
            esp_platform_free(made);
    }
    *out = there;
    return ESP_OK;
}

esp_status espi_platform_mirrored(const struct esp_platform *p, double slice_bytes,
                                  struct esp_platform **out, struct esp_err *err)
{
    struct esp_platform *mirror;
    esp_status st = esp_platform_reversed(p, &mirror, err);
    if (st)
        return st;
    for (int i = 0; i < p->n_nodes && p->model == ESP_MODEL_MULTI_PORT; i++) {
        if (p->send_s[i] != ESP_UNSET)
            continue;
        mirror->recv_s[i] = espi_send_overhead_s(p, i, slice_bytes);
        mirror->send_s[i] = p->recv_s[i] == ESP_UNSET ? 0 : p->recv_s[i];
    }
    *out = mirror;
    return ESP_OK;
}

esp_status espi_platform_scaled(const struct esp_platform *p, const double *link_factor,
                                const double *cable_factor, struct esp_platform **out,
                                struct esp_err *err)
{
    struct esp_platform *scaled;
    esp_status st = copy_platform(p, p->model, 0, &scaled, err);
    if (st)
        return st;
    for (int e = 0; e < p->n_links; e++) {
        scaled->bandwidth_Bps[e] *= link_factor[e];
        espi_ranges_scale(&scaled->certainty.links, e, link_factor[e]);
    }
    for (int s = 0; s < p->n_shared; s++) {
        scaled->shared_Bps[s] *= cable_factor[s];
        espi_ranges_scale(&scaled->certainty.cables, s, cable_factor[s]);
    }
    *out = scaled;
    return ESP_OK;
}

static int same_ints(const int *a, const int *b, int n)
{
    return n == 0 || !memcmp(a, b, (size_t)n * sizeof *a);
}

static int same_doubles(const double *a, const double *b, int n)
{
    return n == 0 || !memcmp(a, b, (size_t)n * sizeof *a);
}

static int same_names(const struct espi_names *a, const struct espi_names *b)
{
    return a->n == b->n && a->text_size == b->text_size &&
           (a->n == 0 || !memcmp(a->text, b->text, a->text_size));
}

static int same_rates(const struct esp_platform *a, const struct esp_platform *b)
{
    for (int i = 0; (a->rates || b->rates) && i < a->n_nodes; i++) {
        struct esp_node_rates x = esp_platform_node_rates(a, i),
                              y = esp_platform_node_rates(b, i);
        if (x.send_Bps != y.send_Bps || x.recv_Bps != y.recv_Bps ||
            x.hold_s != y.hold_s || x.hold_Bps != y.hold_Bps)
            return 0;
    }
    return 1;
}

int esp_platform_equal(const struct esp_platform *a, const struct esp_platform *b)
{
    int n = a->n_nodes, m = a->n_links, s = a->n_shared;
    return a->model == b->model && m == b->n_links && !strcmp(a->name, b->name) &&
           same_names(&a->nodes, &b->nodes) && same_names(&a->sites, &b->sites) &&
           same_names(&a->cables, &b->cables) &&
           !memcmp(a->node_kind, b->node_kind, (size_t)n) &&
           same_ints(a->node_site, b->node_site, n) &&
           same_doubles(a->send_s, b->send_s, n) &&
           same_doubles(a->recv_s, b->recv_s, n) && same_rates(a, b) &&
           same_ints(a->tail, b->tail, m) && same_ints(a->head, b->head, m) &&
           same_doubles(a->latency_s, b->latency_s, m) &&
           same_doubles(a->bandwidth_Bps, b->bandwidth_Bps, m) &&
           same_doubles(a->shared_Bps, b->shared_Bps, s) &&
           same_ints(a->shared_links.start, b->shared_links.start, s + 1) &&
           same_ints(a->shared_links.item, b->shared_links.item,
                     a->shared_links.start[s]) &&
           espi_ranges_equal(&a->certainty.links, &b->certainty.links, m) &&
           espi_ranges_equal(&a->certainty.cables, &b->certainty.cables, s) &&
           espi_measurement_equal(&a->certainty.measured, &b->certainty.measured) &&
           espi_prices_equal(&a->prices, &b->prices, n, m, s);
}
