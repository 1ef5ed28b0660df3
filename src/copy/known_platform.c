/* What is known of a network as a platform: to plan for, and as a file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/known.h"
#include "copy/tuning.h"

enum {
    NAME_MAX_BYTES = 320, /* limit: of what we call cables and switches; longer is cut */
    /* limit: of a file, so that it stays a matter of megabytes; hosts of the copy of now
     * come first */
    FILE_HOSTS_MAX = 1024,
    FILE_SITES_MAX = 128,
};

double espi_known_expect_Bps(const struct espi_known_rate *r)
{
    return r->times > 0 ? r->mean_Bps : fmax(r->low_Bps, ESPI_COPY_UNIFORM_BPS);
}

static double expect_latency_s(const struct espi_known *k, int from, int to)
{
    double latency_s = k->latency_s[from * k->n_sites + to];
    return latency_s < 0 ? ESPI_COPY_UNIFORM_LATENCY_S : latency_s;
}

/* ---- to plan for ---- */

struct mesh {
    const struct espi_known *k;
    struct esp_builder *b;
    int *host; /* node -> host */
    int n, *links;
};

static esp_status add_mesh_nodes(struct mesh *m, struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int i = 0; !status && i < m->k->n_hosts; i++) {
        struct esp_node_spec spec = {.name = m->k->host[i].name,
                                     .kind = ESP_NODE_HOST,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        if (!m->k->host[i].is_here)
            continue;
        m->host[m->n++] = i;
        status = esp_builder_add_node(m->b, &spec, NULL, err);
    }
    return status;
}

static const struct espi_known_rate *cable_of(const struct espi_known *k, int from,
                                              int to)
{
    int a = k->host[from].site, b = k->host[to].site;
    return a == b ? NULL : &k->cable[a * k->n_sites + b];
}

/* Links from each node to each other, row by row. */
static esp_status add_mesh_links(struct mesh *m, struct esp_err *err)
{
    const struct espi_known *k = m->k;
    esp_status status = ESP_OK;
    for (int u = 0; !status && u < m->n; u++)
        for (int v = 0; !status && v < m->n; v++) {
            int from = m->host[u], to = m->host[v];
            if (u == v)
                continue;
            const struct espi_known_rate *cable = cable_of(k, from, to);
            double Bps = fmin(espi_known_expect_Bps(&k->host[from].out),
                              espi_known_expect_Bps(&k->host[to].in));
            if (cable)
                Bps = fmin(Bps, espi_known_expect_Bps(cable));
            status = esp_builder_add_link(
                m->b, u, v, expect_latency_s(k, k->host[from].site, k->host[to].site),
                Bps, NULL, err);
        }
    return status;
}

static int mesh_link(const struct mesh *m, int u, int v)
{
    return u * (m->n - 1) + (v > u ? v - 1 : v);
}

static esp_status add_ports(const struct mesh *m, struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int out = 1; out >= 0; out--)
        for (int u = 0; !status && u < m->n; u++) {
            char name[NAME_MAX_BYTES];
            const struct espi_known_host *h = &m->k->host[m->host[u]];
            int n = 0;
            for (int v = 0; v < m->n; v++)
                if (v != u)
                    m->links[n++] = out ? mesh_link(m, u, v) : mesh_link(m, v, u);
            snprintf(name, sizeof name, "%s %s", out ? "out of" : "into", h->name);
            if (n > 0)
                status = esp_builder_add_cable(
                    m->b, name, espi_known_expect_Bps(out ? &h->out : &h->in), m->links,
                    n, err);
        }
    return status;
}

static int list_crossing(const struct mesh *m, int a, int b)
{
    int n = 0;
    for (int u = 0; u < m->n; u++)
        for (int v = 0; v < m->n; v++)
            if (u != v && m->k->host[m->host[u]].site == a &&
                m->k->host[m->host[v]].site == b)
                m->links[n++] = mesh_link(m, u, v);
    return n;
}

static esp_status add_site_cables(const struct mesh *m, struct esp_err *err)
{
    const struct espi_known *k = m->k;
    esp_status status = ESP_OK;
    for (int a = 0; a < k->n_sites; a++)
        for (int b = 0; !status && b < k->n_sites; b++) {
            char name[NAME_MAX_BYTES];
            int n = a == b ? 0 : list_crossing(m, a, b);
            snprintf(name, sizeof name, "site %d to %d", a, b);
            if (n > 1) /* one link says it itself */
                status = esp_builder_add_cable(
                    m->b, name, espi_known_expect_Bps(&k->cable[a * k->n_sites + b]),
                    m->links, n, err);
        }
    return status;
}

esp_status espi_known_platform(const struct espi_known *k, struct esp_platform **out,
                               struct esp_err *err)
{
    struct mesh m = {.k = k};
    m.host = ESPI_NEW(int, k->n_hosts + 1);
    m.links = ESPI_NEW(int, (size_t)k->n_hosts *(size_t)k->n_hosts + 1);
    esp_status status =
        m.host && m.links ? esp_builder_create(&m.b, err) : espi_err_nomem(err);
    if (!status) {
        esp_builder_set_model(m.b, ESP_MODEL_CAPACITY);
        status = add_mesh_nodes(&m, err);
    }
    if (!status)
        status = add_mesh_links(&m, err);
    if (!status)
        status = add_ports(&m, err);
    if (!status)
        status = add_site_cables(&m, err);
    if (!status)
        status = esp_builder_build(m.b, out, err);
    esp_builder_free(m.b);
    espi_free(m.host);
    espi_free(m.links);
    return status;
}

/* ---- as a file ---- */

struct keeping {
    const struct espi_known *k;
    struct esp_builder *b;
    int *host; /* -> node; -1: it is left out */
    int *hub;  /* site -> node; -1 */
    int n;
};

static void site_name(char *name, size_t size, int site)
{
    snprintf(name, size, "(site %d)", site);
}

static esp_status keep_host(struct keeping *g, int i, struct esp_err *err)
{
    char name[NAME_MAX_BYTES];
    const struct espi_known_host *h = &g->k->host[i];
    struct esp_node_spec spec = {
        .name = name, .kind = ESP_NODE_SWITCH, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
    esp_status status = ESP_OK;
    site_name(name, sizeof name, h->site);
    if (g->hub[h->site] < 0)
        status = esp_builder_add_node(g->b, &spec, &g->hub[h->site], err);
    spec.kind = ESP_NODE_HOST;
    spec.name = h->name;
    spec.site = name;
    if (!status)
        status = esp_builder_add_node(g->b, &spec, &g->host[i], err);
    g->n++;
    return status;
}

static esp_status keep_hosts(struct keeping *g, struct esp_err *err)
{
    const struct espi_known *k = g->k;
    esp_status status = ESP_OK;
    int sites = 0;
    for (int s = 0; s < k->n_sites; s++)
        g->hub[s] = -1;
    for (int i = 0; i < k->n_hosts; i++)
        g->host[i] = -1;
    for (int here = 1; here >= 0; here--)
        for (int i = 0; !status && i < k->n_hosts; i++) {
            int is_first = g->hub[k->host[i].site] < 0;
            if (k->host[i].is_here != here || g->n >= FILE_HOSTS_MAX ||
                sites + is_first > FILE_SITES_MAX)
                continue;
            sites += is_first;
            status = keep_host(g, i, err);
        }
    return status;
}

/* The share of times that it was so, as the rule of succession has it. */
static double confidence_of(const struct espi_known_rate *r)
{
    return r->times > 0 ? (r->times + 1.0) / (r->times + 2.0) : 1;
}

static esp_status keep_link(const struct keeping *g, int from, int to, double latency_s,
                            const struct espi_known_rate *r, struct esp_err *err)
{
    int link;
    struct esp_rate_range range = {r->low_Bps, r->times > 0 ? r->high_Bps : INFINITY,
                                   confidence_of(r)};
    esp_status status = esp_builder_add_link(g->b, from, to, latency_s,
                                             espi_known_expect_Bps(r), &link, err);
    if (!status && r->low_Bps > 0)
        status = esp_builder_set_link_range(g->b, link, &range, err);
    return status;
}

static esp_status keep_rates(const struct keeping *g, struct esp_err *err)
{
    const struct espi_known *k = g->k;
    esp_status status = ESP_OK;
    for (int i = 0; !status && i < k->n_hosts; i++) {
        const struct espi_known_host *h = &k->host[i];
        if (g->host[i] < 0)
            continue;
        double half_s = expect_latency_s(k, h->site, h->site) / 2;
        status = keep_link(g, g->host[i], g->hub[h->site], half_s, &h->out, err);
        if (!status)
            status = keep_link(g, g->hub[h->site], g->host[i], half_s, &h->in, err);
    }
    for (int a = 0; a < k->n_sites; a++)
        for (int b = 0; !status && b < k->n_sites; b++)
            if (a != b && g->hub[a] >= 0 && g->hub[b] >= 0)
                status = keep_link(g, g->hub[a], g->hub[b], expect_latency_s(k, a, b),
                                   &k->cable[a * k->n_sites + b], err);
    return status;
}

static esp_status build_file(const struct espi_known *k, struct esp_platform **out,
                             struct esp_err *err)
{
    struct keeping g = {.k = k};
    g.host = ESPI_NEW(int, k->n_hosts + 1);
    g.hub = ESPI_NEW(int, k->n_sites + 1);
    esp_status status =
        g.host && g.hub ? esp_builder_create(&g.b, err) : espi_err_nomem(err);
    if (!status) {
        esp_builder_set_model(g.b, ESP_MODEL_CAPACITY);
        status = esp_builder_set_name(g.b, "what copies have learned", err);
    }
    if (!status)
        status = keep_hosts(&g, err);
    if (!status)
        status = keep_rates(&g, err);
    if (!status)
        status = esp_builder_build(g.b, out, err);
    esp_builder_free(g.b);
    espi_free(g.host);
    espi_free(g.hub);
    return status;
}

esp_status espi_known_write(const struct espi_known *k, const char *path,
                            struct esp_err *err)
{
    struct esp_platform *p = NULL;
    esp_status status = build_file(k, &p, err);
    if (!status)
        status = esp_platform_write(p, path, err);
    esp_platform_free(p);
    return status;
}

/* ---- from a file ---- */

/* The one switch that the host has links to and from; -1. */
static int switch_of(const struct esp_platform *p, int node)
{
    int found = -1;
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int from = esp_platform_link_from(p, e), to = esp_platform_link_to(p, e);
        int other = from == node ? to : to == node ? from : -1;
        if (other < 0)
            continue;
        if (esp_platform_node_kind(p, other) != ESP_NODE_SWITCH ||
            (found >= 0 && found != other))
            return -1;
        found = other;
    }
    return found;
}

static struct espi_known_rate take_rate(const struct esp_platform *p, int link)
{
    struct esp_rate_range range = esp_platform_link_range(p, link);
    double c = range.confidence;
    struct espi_known_rate r = {.mean_Bps = esp_platform_link_bandwidth_Bps(p, link),
                                .low_Bps = range.low_Bps,
                                .high_Bps = range.high_Bps};
    if (c < 0) /* nothing was said */
        return (struct espi_known_rate){0};
    if (isinf(range.high_Bps))
        return (struct espi_known_rate){.low_Bps = range.low_Bps};
    double times = c < 1 ? round((2 * c - 1) / (1 - c)) : ESPI_COPY_MEMORY;
    r.times = (int)fmin(fmax(times, 1), ESPI_COPY_MEMORY);
    return r;
}

static esp_status take_hosts(struct espi_known *k, const struct esp_platform *p,
                             int *site_of, struct esp_err *err)
{
    esp_status status = ESP_OK;
    int sites = 0, room = esp_platform_node_count(p);
    for (int v = 0; v < room; v++)
        site_of[v] = -1;
    for (int v = 0; !status && v < room && k->n_hosts < FILE_HOSTS_MAX; v++) {
        int host,
            at = esp_platform_node_kind(p, v) == ESP_NODE_HOST ? switch_of(p, v) : -1;
        int out = at < 0 ? -1 : esp_platform_find_link(p, v, at);
        int in = at < 0 ? -1 : esp_platform_find_link(p, at, v);
        if (out < 0 || in < 0 || (site_of[at] < 0 && sites >= FILE_SITES_MAX))
            continue;
        status = espi_known_add(k, esp_platform_node_name(p, v), &host, err);
        if (status)
            break;
        if (site_of[at] < 0)
            site_of[at] = sites++;
        k->host[host] = (struct espi_known_host){.name = k->host[host].name,
                                                 .site = site_of[at],
                                                 .out = take_rate(p, out),
                                                 .in = take_rate(p, in)};
    }
    k->n_sites = k->n_old_sites = sites;
    return status;
}

static void take_latencies(struct espi_known *k, const struct esp_platform *p,
                           const int *site_of)
{
    for (int e = 0; e < esp_platform_link_count(p); e++) {
        int from = esp_platform_link_from(p, e), to = esp_platform_link_to(p, e);
        double latency_s = esp_platform_link_latency_s(p, e);
        if (site_of[from] >= 0 && site_of[to] >= 0) {
            k->cable[site_of[from] * k->n_sites + site_of[to]] = take_rate(p, e);
            k->latency_s[site_of[from] * k->n_sites + site_of[to]] = latency_s;
        } else if (site_of[from] >= 0) { /* to a host: half of what is within */
            k->latency_s[site_of[from] * k->n_sites + site_of[from]] = 2 * latency_s;
        }
    }
}

esp_status espi_known_take(struct espi_known *k, const struct esp_platform *p,
                           struct esp_err *err)
{
    int *site_of = ESPI_NEW(int, esp_platform_node_count(p) + 1);
    esp_status status = site_of ? ESP_OK : espi_err_nomem(err);
    if (!status)
        status = take_hosts(k, p, site_of, err);
    if (!status) {
        size_t cells = (size_t)k->n_sites * (size_t)k->n_sites + 1;
        k->cable = espi_calloc(cells, sizeof *k->cable);
        k->latency_s = espi_calloc(cells, sizeof *k->latency_s);
        status = k->cable && k->latency_s ? ESP_OK : espi_err_nomem(err);
    }
    if (!status) {
        for (int i = 0; i < k->n_sites * k->n_sites; i++)
            k->latency_s[i] = -1;
        take_latencies(k, p, site_of);
    }
    espi_free(site_of);
    if (status) {
        espi_known_done(k);
        espi_known_init(k);
    }
    return status;
}
