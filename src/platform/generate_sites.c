/* A grid: sites of clusters of hosts, sites joined by WAN cables.
 *
 * Two ways to write the same network down:
 * - host-to-host links (the default): every host has a link to every other. The links
 *   from one site to another share a cable, one for each ordered pair of sites, named
 *   "wan:FROM>TO". Its bandwidth is all that the hosts of the two sites have together.
 * - with `switches`: hosts hang on a switch of their cluster, these on a router of their
 *   site, routers on each other. The latencies along a path add up to those between hosts
 *   (a link that would need a negative part has 0). The links from a cluster to its
 * router are then shared by the cluster's hosts, which the first way leaves out.
 *
 * Hosts are numbered first, site by site. Names: SITE-c3-h1, clusters counted through all
 * sites, from 1. Values are exact unless `spread` is above 1, which multiplies each WAN
 * latency and bandwidth by factors uniform in the logarithm. One-port.
 *
 * Preset teragrid: the emulated TeraGrid of Gupta and Vadhiyar, "Application-oriented
 * adaptive MPI_Bcast for grids": sites SDSC, ANL, NCSA and PSC, clusters C1 to C8 (C2 at
 * SDSC), 64 hosts, 100 Mbit/s within clusters. Its figure 6 gives the rest and is not at
 * hand, so these are assumptions: two clusters a site, eight hosts a cluster; 30 Mbit/s
 * between sites, a thousandth of the 30 Gbit/s by which TeraGrid sites were connected;
 * latencies of the order that the distances of the cities give; 100 us within a cluster
 * and 500 us within a site.
 *
 * Preset testbed: the same sites and hosts for `espalier testbed`, with cables of unequal
 * rates that one machine can carry while all hosts receive at the bound, latencies that
 * are, as on the faster cables, short beside the time of a slice, and clusters joined by
 * ten times what a host has.
 *
 * Complexity: O(hosts^2), with switches O(hosts + sites^2). */
#include "platform/generate_sites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "platform/generate_common.h"

#define SITE_NAME_MAX 64

struct grid {
    struct espi_gen *g;
    const struct esp_sites_options *o;
    int site_hosts, n_hosts, n_clusters;
    double *wan_latency_s, *wan_Bps; /* sites x sites */
};

/* ---- preset ---- */

static const char *const teragrid_names[] = {"sdsc", "anl", "ncsa", "psc"};
static const double teragrid_latency_s[] = {
    0,     0.028, 0.029, 0.036, /* San Diego */
    0.028, 0,     0.002, 0.008, /* Chicago */
    0.029, 0.002, 0,     0.009, /* Urbana */
    0.036, 0.008, 0.009, 0,     /* Pittsburgh */
};
static const struct esp_site_table teragrid = {
    .count = 4, .names = teragrid_names, .wan_latency_s = teragrid_latency_s};

void espi_sites_teragrid(void *options)
{
    struct esp_sites_options *o = options;
    o->sites = 4;
    o->clusters = 2;
    o->hosts = 8;
    o->lan_Bps = o->site_Bps = 100e6 / 8;
    o->wan_Bps = 30e6 / 8;
    o->lan_latency_s = 100e-6;
    o->site_latency_s = 500e-6;
    o->table = &teragrid;
}

#define MBPS (1e6 / 8) /* derived: bytes a second */
static const double testbed_latency_s[] = {
    0,      0.0028, 0.0029, 0.0036, /* San Diego */
    0.0028, 0,      0.0010, 0.0012, /* Chicago */
    0.0029, 0.0010, 0,      0.0013, /* Urbana */
    0.0036, 0.0012, 0.0013, 0,      /* Pittsburgh */
};
static const double testbed_Bps[] = {
    0,         16 * MBPS, 12 * MBPS, 8 * MBPS,  /* San Diego */
    16 * MBPS, 0,         20 * MBPS, 14 * MBPS, /* Chicago */
    12 * MBPS, 20 * MBPS, 0,         10 * MBPS, /* Urbana */
    8 * MBPS,  14 * MBPS, 10 * MBPS, 0,         /* Pittsburgh */
};
static const struct esp_site_table testbed = {.count = 4,
                                              .names = teragrid_names,
                                              .wan_latency_s = testbed_latency_s,
                                              .wan_Bps = testbed_Bps};

void espi_sites_testbed(void *options)
{
    struct esp_sites_options *o = options;
    espi_sites_teragrid(o);
    o->site_Bps = 1000 * MBPS;
    o->site_latency_s = 200e-6;
    o->table = &testbed;
}

/* ---- values ---- */

static esp_status check_value(struct espi_gen *g, const char *what, double value,
                              double min, double max)
{
    if (value >= min && value <= max)
        return ESP_OK;
    return espi_err(g->err, ESP_EUSAGE,
                    "sites: a %s of the table is %g, but must lie between %g and %g",
                    what, value, min, max);
}

static esp_status check_table(struct espi_gen *g, const struct esp_sites_options *o)
{
    const struct esp_site_table *t = o->table;
    if (!t)
        return ESP_OK;
    if (t->count != o->sites)
        return espi_err(g->err, ESP_EUSAGE,
                        "sites: sites is %d, but the table (or preset) describes %d",
                        o->sites, t->count);
    esp_status status = ESP_OK;
    for (int i = 0; t->names && i < t->count; i++)
        if (!t->names[i][0] || strlen(t->names[i]) >= SITE_NAME_MAX)
            return espi_err(g->err, ESP_EUSAGE,
                            "sites: the name of site %d must have 1 to %d characters", i,
                            SITE_NAME_MAX - 1);
    for (int i = 0; i < t->count * t->count && status == ESP_OK; i++) {
        int used = i / t->count != i % t->count;
        if (used && t->wan_latency_s)
            status = check_value(g, "wan_latency_s", t->wan_latency_s[i], 0, 1e6);
        if (used && t->wan_Bps && status == ESP_OK)
            status = check_value(g, "wan_Bps", t->wan_Bps[i], 1, 1e15);
    }
    return status;
}

static double spread_value(struct espi_rng *r, double value, double by)
{
    return by > 1 ? value * espi_rng_log_range(r, 1 / by, by) : value;
}

static esp_status draw_wan(struct grid *n)
{
    const struct esp_site_table *t = n->o->table;
    int s = n->o->sites;
    n->wan_latency_s = ESPI_ARENA_ZNEW(&n->g->arena, double, s *s);
    n->wan_Bps = ESPI_ARENA_ZNEW(&n->g->arena, double, s *s);
    if (!n->wan_latency_s || !n->wan_Bps)
        return espi_err_nomem(n->g->err);
    for (int i = 0; i < s * s; i++) {
        double latency_s =
            t && t->wan_latency_s ? t->wan_latency_s[i] : n->o->wan_latency_s;
        double bandwidth = t && t->wan_Bps ? t->wan_Bps[i] : n->o->wan_Bps;
        if (i / s == i % s)
            continue;
        n->wan_latency_s[i] = spread_value(&n->g->rng, latency_s, n->o->spread);
        n->wan_Bps[i] = spread_value(&n->g->rng, bandwidth, n->o->spread);
    }
    return ESP_OK;
}

/* ---- nodes ---- */

static const char *site_name(const struct grid *n, int site, char *room)
{
    if (n->o->table && n->o->table->names)
        return n->o->table->names[site];
    snprintf(room, SITE_NAME_MAX, "s%d", site + 1);
    return room;
}

static esp_status add_node(struct grid *n, int site, const char *rest, esp_node_kind kind)
{
    char room[SITE_NAME_MAX], name[SITE_NAME_MAX + 64];
    const char *at = site_name(n, site, room);
    snprintf(name, sizeof name, "%s-%s", at, rest);
    struct esp_node_spec spec = {
        .name = name, .site = at, .kind = kind, .send_s = ESP_UNSET, .recv_s = ESP_UNSET};
    return esp_builder_add_node(n->g->builder, &spec, NULL, n->g->err);
}

static esp_status add_hosts(struct grid *n)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < n->n_hosts && status == ESP_OK; i++) {
        char rest[48];
        snprintf(rest, sizeof rest, "c%d-h%d", i / n->o->hosts + 1, i % n->o->hosts + 1);
        status = add_node(n, i / n->site_hosts, rest, ESP_NODE_HOST);
    }
    return status;
}

/* ---- host-to-host links ---- */

static esp_status add_site_links(struct grid *n, int site)
{
    const struct esp_sites_options *o = n->o;
    int begin = site * n->site_hosts, end = begin + n->site_hosts;
    esp_status status = ESP_OK;
    for (int u = begin; u < end; u++)
        for (int v = u + 1; v < end && status == ESP_OK; v++)
            status = u / o->hosts == v / o->hosts
                         ? espi_gen_duplex(n->g, u, v, o->lan_latency_s, o->lan_Bps)
                         : espi_gen_duplex(n->g, u, v, o->site_latency_s,
                                           fmin(o->lan_Bps, o->site_Bps));
    return status;
}

/* All links from site a to site b, and the cable they share. */
static esp_status add_cable(struct grid *n, int a, int b, int *links)
{
    char room_a[SITE_NAME_MAX], room_b[SITE_NAME_MAX], name[2 * SITE_NAME_MAX + 8];
    int cable = a * n->o->sites + b, size = n->site_hosts;
    double host_Bps = fmin(n->o->lan_Bps, n->o->site_Bps);
    esp_status status = ESP_OK;
    for (int i = 0; i < size * size && status == ESP_OK; i++)
        status =
            esp_builder_add_link(n->g->builder, a * size + i / size, b * size + i % size,
                                 n->wan_latency_s[cable],
                                 fmin(host_Bps, n->wan_Bps[cable]), &links[i], n->g->err);
    if (status != ESP_OK)
        return status;
    snprintf(name, sizeof name, "wan:%s>%s", site_name(n, a, room_a),
             site_name(n, b, room_b));
    return esp_builder_add_cable(n->g->builder, name, n->wan_Bps[cable], links,
                                 size * size, n->g->err);
}

static esp_status add_direct_links(struct grid *n)
{
    int s = n->o->sites;
    int *links = ESPI_ARENA_NEW(&n->g->arena, int, n->site_hosts * n->site_hosts);
    esp_status status = links ? ESP_OK : espi_err_nomem(n->g->err);
    for (int a = 0; a < s && status == ESP_OK; a++)
        status = add_site_links(n, a);
    for (int i = 0; i < s * s && status == ESP_OK; i++)
        if (i / s != i % s)
            status = add_cable(n, i / s, i % s, links);
    return status;
}

/* ---- switches and routers ---- */

static esp_status add_switch_nodes(struct grid *n)
{
    esp_status status = ESP_OK;
    for (int c = 0; c < n->n_clusters && status == ESP_OK; c++) {
        char rest[48];
        snprintf(rest, sizeof rest, "c%d-switch", c + 1);
        status = add_node(n, c / n->o->clusters, rest, ESP_NODE_SWITCH);
    }
    for (int a = 0; a < n->o->sites && status == ESP_OK; a++)
        status = add_node(n, a, "router", ESP_NODE_SWITCH);
    return status;
}

static esp_status add_switch_links(struct grid *n)
{
    const struct esp_sites_options *o = n->o;
    int s = o->sites, first_switch = n->n_hosts;
    int first_router = first_switch + n->n_clusters;
    double up_s = fmax(0, (o->site_latency_s - o->lan_latency_s) / 2);
    esp_status status = ESP_OK;
    for (int h = 0; h < n->n_hosts && status == ESP_OK; h++)
        status = espi_gen_duplex(n->g, h, first_switch + h / o->hosts,
                                 o->lan_latency_s / 2, o->lan_Bps);
    for (int c = 0; c < n->n_clusters && status == ESP_OK; c++)
        status = espi_gen_duplex(n->g, first_switch + c, first_router + c / o->clusters,
                                 up_s, o->site_Bps);
    for (int i = 0; i < s * s && status == ESP_OK; i++)
        if (i / s != i % s)
            status = esp_builder_add_link(
                n->g->builder, first_router + i / s, first_router + i % s,
                fmax(0, n->wan_latency_s[i] - fmax(o->site_latency_s, o->lan_latency_s)),
                n->wan_Bps[i], NULL, n->g->err);
    return status;
}

/* ---- the whole ---- */

static esp_status check_size(struct espi_gen *g, const struct esp_sites_options *o)
{
    double s = o->sites, hosts = s * o->clusters * o->hosts;
    double links = o->switches ? 2 * hosts + 2 * s * o->clusters + s * s : hosts * hosts;
    return espi_gen_check_links(g, links);
}

static esp_status draw_sites(struct espi_gen *g, const void *options)
{
    const struct esp_sites_options *o = options;
    struct grid n = {.g = g, .o = o};
    esp_status status = check_size(g, o);
    if (status == ESP_OK)
        status = check_table(g, o);
    if (status != ESP_OK)
        return status;
    n.site_hosts = o->clusters * o->hosts;
    n.n_hosts = o->sites * n.site_hosts;
    n.n_clusters = o->sites * o->clusters;
    status = draw_wan(&n);
    if (status == ESP_OK)
        status = add_hosts(&n);
    if (status == ESP_OK && o->switches)
        status = add_switch_nodes(&n);
    if (status != ESP_OK)
        return status;
    return o->switches ? add_switch_links(&n) : add_direct_links(&n);
}

esp_status esp_generate_sites(const struct esp_sites_options *options,
                              struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("sites", options, draw_sites, out, err);
}
