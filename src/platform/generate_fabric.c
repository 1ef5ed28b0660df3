/* Clusters of hosts as accelerators are wired: fast links within a cluster, slower ones
 * from each host to the hosts of its number (its rail) in all other clusters.
 *
 * Without `switches` every host has a link to every other of its cluster and of its rail;
 * `outside` is what a host has for all of its rail together. With `switches` the hosts of
 * a cluster hang on one switch, and each host on a switch of its own (its network card)
 * that is joined to all spines, `outside` being shared equally among them: clusters +
 * hosts + spines switches in all. Hosts are numbered first, cluster by cluster: c0-h0,
 * c0-h1, ... Bandwidths are exact unless `spread` is above 1, which multiplies each pair
 * of opposite links by a factor uniform in the logarithm. The model is capacity.
 * O(clusters * hosts * (clusters + hosts)). */
#include <math.h>
#include <stdio.h>

#include "platform/generate_common.h"

struct fabric {
    struct espi_gen *g;
    const struct esp_fabric_options *o;
};

static esp_status join_nodes(struct fabric *f, int u, int v, double Bps)
{
    double factor = f->o->spread > 1
                        ? espi_rng_log_range(&f->g->rng, 1 / f->o->spread, f->o->spread)
                        : 1;
    return espi_gen_duplex(f->g, u, v, f->o->latency_s, Bps * factor);
}

static esp_status add_node(struct fabric *f, const char *name, const char *site,
                           esp_node_kind kind)
{
    struct esp_node_spec spec = {.name = name,
                                 .site = site,
                                 .kind = kind,
                                 .send_s = ESP_UNSET,
                                 .recv_s = ESP_UNSET};
    return esp_builder_add_node(f->g->builder, &spec, NULL, f->g->err);
}

/* Hosts, then switches: of clusters, of hosts, spines. */
static esp_status add_nodes(struct fabric *f)
{
    const struct esp_fabric_options *o = f->o;
    char name[48], site[24];
    esp_status st = ESP_OK;
    for (int kind = 0; kind < 3; kind++) /* host, cluster switch, card */
        for (int c = 0; c < o->clusters; c++)
            for (int h = 0; h < (kind == 1 ? 1 : o->hosts) && !st; h++) {
                if (kind && !o->switches)
                    continue;
                snprintf(site, sizeof site, "c%d", c);
                snprintf(name, sizeof name,
                         kind == 0   ? "c%d-h%d"
                         : kind == 1 ? "c%d-switch"
                                     : "c%d-card%d",
                         c, h);
                st = add_node(f, name, site, kind ? ESP_NODE_SWITCH : ESP_NODE_HOST);
            }
    for (int s = 0; s < o->spines && o->switches && !st; s++) {
        snprintf(name, sizeof name, "spine%d", s);
        st = add_node(f, name, NULL, ESP_NODE_SWITCH);
    }
    return st;
}

static esp_status join_hosts(struct fabric *f)
{
    int n = f->o->hosts, all = n * f->o->clusters;
    double rail_Bps = f->o->outside_Bps / fmax(f->o->clusters - 1, 1);
    esp_status st = ESP_OK;
    for (int u = 0; u < all; u++)
        for (int v = u + 1; v < all && !st; v++) {
            if (u / n == v / n)
                st = join_nodes(f, u, v, f->o->inside_Bps);
            else if (u % n == v % n)
                st = join_nodes(f, u, v, rail_Bps);
        }
    return st;
}

static esp_status join_switches(struct fabric *f)
{
    const struct esp_fabric_options *o = f->o;
    int all = o->hosts * o->clusters, cards = all + o->clusters, spines = cards + all;
    esp_status st = ESP_OK;
    for (int u = 0; u < all && !st; u++) {
        st = join_nodes(f, u, all + u / o->hosts, o->inside_Bps);
        if (!st)
            st = join_nodes(f, u, cards + u, o->outside_Bps);
        for (int s = 0; s < o->spines && !st; s++)
            st = join_nodes(f, cards + u, spines + s, o->outside_Bps / o->spines);
    }
    return st;
}

static esp_status draw_fabric(struct espi_gen *g, const void *options)
{
    struct fabric f = {g, options};
    double hosts = (double)f.o->hosts * f.o->clusters;
    esp_status st = espi_gen_check_links(
        g, f.o->switches ? hosts * (4.0 + 2.0 * f.o->spines)
                         : hosts * (f.o->hosts + (double)f.o->clusters));
    esp_builder_set_model(g->builder, ESP_MODEL_CAPACITY);
    if (!st)
        st = add_nodes(&f);
    if (!st)
        st = f.o->switches ? join_switches(&f) : join_hosts(&f);
    return st;
}

esp_status esp_generate_fabric(const struct esp_fabric_options *options,
                               struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("fabric", options, draw_fabric, out, err);
}
