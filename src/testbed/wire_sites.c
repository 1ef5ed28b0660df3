/* A platform of host-to-host links built as what such links are measured on. A host's
 * wire is as fast as its fastest link in that direction. The hosts of a site hang on one
 * router; between the routers of two sites is a wire as fast as the cable that the links
 * between the two share. Latencies below half a millisecond are the machine's. */
#include <math.h>

#include "base/err.h"
#include "testbed/wiring.h"

int espi_wiring_is_direct(const struct esp_platform *p)
{
    if (p->n_hosts < p->n_nodes)
        return 0;
    for (int u = 0; u < p->n_nodes; u++)
        for (int v = 0; v < p->n_nodes; v++)
            if (u != v && esp_platform_find_link(p, u, v) < 0)
                return 0;
    return 1;
}

struct town {
    struct espi_grid *g;
    int n_sites;
    int *router; /* site -> box, -1: has no host; site n_sites holds those without one */
    int *link;   /* from site * n_sites + to site -> the link of least latency, or -1 */
};

static int site_of(const struct town *t, int node)
{
    int site = t->g->p->node_site[node];

    return site < 0 ? t->n_sites - 1 : site;
}

static esp_status add_routers(struct town *t, struct espi_arena *arena,
                              struct esp_err *err)
{
    const struct esp_platform *p = t->g->p;

    for (int s = 0; s < t->n_sites; s++)
        t->router[s] = -1;
    for (int node = 0; node < p->n_nodes; node++) {
        int s = site_of(t, node);
        if (t->router[s] >= 0)
            continue;
        const char *site = p->node_site[node] < 0 ? "" : espi_names_text(&p->sites, s);
        const char *name = espi_grid_text(arena, site, *site ? ":router" : "router");
        if (!name)
            return espi_err_nomem(err);
        t->router[s] = espi_grid_add_box(t->g, name, -1);
    }
    return ESP_OK;
}

static void wire_host(struct town *t, int node)
{
    const struct esp_platform *p = t->g->p;
    const struct espi_rows *rows[] = {&p->out, &p->in};
    struct espi_testbed_wire *w =
        espi_grid_add_wire(t->g, node, t->router[site_of(t, node)]);

    for (int dir = 0; dir < 2; dir++) {
        double rate = 0;
        for (int k = rows[dir]->start[node]; k < rows[dir]->start[node + 1]; k++)
            rate = fmax(rate, p->bandwidth_Bps[rows[dir]->item[k]]);
        espi_wire_set(w, dir, rate, 0);
    }
}

static void find_links(struct town *t)
{
    const struct esp_platform *p = t->g->p;

    for (int i = 0; i < t->n_sites * t->n_sites; i++)
        t->link[i] = -1;
    for (int e = 0; e < p->n_links; e++) {
        int *link =
            &t->link[site_of(t, p->tail[e]) * t->n_sites + site_of(t, p->head[e])];
        if (*link < 0 || p->latency_s[e] < p->latency_s[*link])
            *link = e;
    }
}

/* The slowest cable of the link; all that share it must join the same two sites. */
static esp_status cable_of(const struct town *t, int link, int *cable,
                           struct esp_err *err)
{
    const struct esp_platform *p = t->g->p;

    *cable = -1;
    if (!p->n_shared)
        return ESP_OK;
    for (int k = p->link_shared.start[link]; k < p->link_shared.start[link + 1]; k++) {
        int c = p->link_shared.item[k];
        if (*cable < 0 || p->shared_Bps[c] < p->shared_Bps[*cable])
            *cable = c;
        for (int i = p->shared_links.start[c]; i < p->shared_links.start[c + 1]; i++) {
            int e = p->shared_links.item[i];
            if (site_of(t, p->tail[e]) != site_of(t, p->tail[link]) ||
                site_of(t, p->head[e]) != site_of(t, p->head[link]))
                return espi_err(
                    err, ESP_EINPUT,
                    "%s: cable %s is shared by links of several pairs of sites; "
                    "describe this network with switches to build it",
                    esp_platform_name(p), espi_shared_name(p, c));
        }
    }
    return ESP_OK;
}

static esp_status wire_two_sites(struct town *t, int a, int b, struct esp_err *err)
{
    const struct esp_platform *p = t->g->p;
    int between[2] = {t->link[a * t->n_sites + b], t->link[b * t->n_sites + a]};
    struct espi_testbed_wire *w = espi_grid_add_wire(t->g, t->router[a], t->router[b]);

    for (int dir = 0; dir < 2; dir++) {
        int cable;
        esp_status status = cable_of(t, between[dir], &cable, err);
        if (status)
            return status;
        espi_wire_set(w, dir, cable < 0 ? 0 : p->shared_Bps[cable],
                      p->latency_s[between[dir]]);
        w->cable[dir] = cable < 0 ? NULL : espi_shared_name(p, cable);
    }
    return ESP_OK;
}

esp_status espi_wire_sites(struct espi_grid *g, struct espi_arena *arena,
                           struct esp_err *err)
{
    const struct esp_platform *p = g->p;
    struct town t = {.g = g, .n_sites = p->n_sites + 1};

    t.router = ESPI_ARENA_NEW(arena, int, t.n_sites);
    t.link = ESPI_ARENA_NEW(arena, int, t.n_sites *t.n_sites);
    if (!t.router || !t.link)
        return espi_err_nomem(err);
    for (int node = 0; node < p->n_nodes; node++)
        espi_grid_add_box(g, espi_node_name(p, node), node);
    esp_status status = add_routers(&t, arena, err);
    if (status)
        return status;
    for (int node = 0; node < p->n_nodes; node++)
        wire_host(&t, node);
    find_links(&t);
    for (int a = 0; a < t.n_sites && status == ESP_OK; a++)
        for (int b = a + 1; b < t.n_sites && status == ESP_OK; b++)
            if (t.router[a] >= 0 && t.router[b] >= 0)
                status = wire_two_sites(&t, a, b, err);
    return status;
}
