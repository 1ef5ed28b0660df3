/* Kinds of networks that the generator has not, each made of one that it has: for judging
 * what measuring makes of networks that it was not written on. Seeds as in networks.h. */
#ifndef BENCH_ZOO_H
#define BENCH_ZOO_H

#include <math.h>

#include "networks.h"

enum { ZOO_AREAS_MAX = 8, ZOO_HOSTS_MAX = 1024 };

struct zoo {
    const struct esp_platform *from;
    struct esp_builder *to;
    struct espi_rng rng;
    struct esp_err err;
    int *links; /* room for all */
};

/* The host whose port the cable is, or -1; *out: its port for sending? */
static inline int zoo_port(const struct esp_platform *p, int cable, int *out)
{
    char name[128];
    snprintf(name, sizeof name, "%s", esp_platform_cable_name(p, cable));
    char *end = strrchr(name, ':');
    if (!end)
        return -1;
    *out = !strcmp(end, ":out");
    *end = 0;
    return esp_platform_find_node(p, name);
}

static inline void zoo_copy_hosts_and_links(struct zoo *z)
{
    const struct esp_platform *p = z->from;
    for (int h = 0; h < esp_platform_node_count(p); h++) {
        struct esp_node_spec spec = {
            esp_platform_node_name(p, h), esp_platform_node_site(p, h),
            esp_platform_node_kind(p, h), esp_platform_node_send_s(p, h),
            esp_platform_node_recv_s(p, h)};
        bench_stop_if(esp_builder_add_node(z->to, &spec, NULL, &z->err), &z->err);
    }
    for (int e = 0; e < esp_platform_link_count(p); e++)
        bench_stop_if(esp_builder_add_link(
                          z->to, esp_platform_link_from(p, e), esp_platform_link_to(p, e),
                          esp_platform_link_latency_s(p, e),
                          esp_platform_link_bandwidth_Bps(p, e), NULL, &z->err),
                      &z->err);
}

/* Ports slower by up to so much, each by itself. */
static inline void zoo_copy_cables(struct zoo *z, double slower)
{
    const struct esp_platform *p = z->from;
    for (int c = 0; c < esp_platform_cable_count(p); c++) {
        int n = esp_platform_cable_link_count(p, c), out;
        double Bps = esp_platform_cable_bandwidth_Bps(p, c);
        if (zoo_port(p, c, &out) >= 0)
            Bps /= espi_rng_log_range(&z->rng, 1, slower);
        for (int i = 0; i < n; i++)
            z->links[i] = esp_platform_cable_link(p, c, i);
        bench_stop_if(esp_builder_add_cable(z->to, esp_platform_cable_name(p, c), Bps,
                                            z->links, n, &z->err),
                      &z->err);
    }
}

/* One medium that all transfers share: a part of what all hosts could send at once. */
static inline void zoo_add_bus(struct zoo *z)
{
    const struct esp_platform *p = z->from;
    int n = esp_platform_link_count(p), out;
    double sum = 0;
    for (int c = 0; c < esp_platform_cable_count(p); c++)
        sum +=
            zoo_port(p, c, &out) >= 0 && out ? esp_platform_cable_bandwidth_Bps(p, c) : 0;
    for (int e = 0; e < n; e++)
        z->links[e] = e;
    double Bps = sum / espi_rng_log_range(&z->rng, 2, 16);
    bench_stop_if(esp_builder_add_cable(z->to, "bus", Bps, z->links, n, &z->err),
                  &z->err);
}

/* Which uplink each host is behind; gives how many there are, their rates in Bps. */
static inline int zoo_find_racks(const struct esp_platform *p, int *rack, double *Bps)
{
    int n = 0, out;
    for (int c = 0; c < esp_platform_cable_count(p) && n < ZOO_AREAS_MAX; c++) {
        const char *name = esp_platform_cable_name(p, c), *end = strrchr(name, ':');
        if (zoo_port(p, c, &out) >= 0 || !end || strcmp(end, ":out") != 0)
            continue;
        for (int i = 0; i < esp_platform_cable_link_count(p, c); i++)
            rack[esp_platform_link_from(p, esp_platform_cable_link(p, c, i))] = n;
        Bps[n++] = esp_platform_cable_bandwidth_Bps(p, c);
    }
    return n;
}

/* Racks, every other one, stand in two rows, each behind an uplink of its own. */
static inline void zoo_add_rows(struct zoo *z)
{
    const struct esp_platform *p = z->from;
    int rack[ZOO_HOSTS_MAX] = {0};
    double rack_Bps[ZOO_AREAS_MAX], Bps[2] = {0, 0};
    for (int k = zoo_find_racks(p, rack, rack_Bps) - 1; k >= 0; k--)
        Bps[k % 2] += rack_Bps[k];
    for (int side = 0; side < 4; side++) {
        int row = side / 2, in = side % 2, n = 0;
        char name[32];
        for (int e = 0; e < esp_platform_link_count(p); e++) {
            int from = rack[esp_platform_link_from(p, e)] % 2;
            int to = rack[esp_platform_link_to(p, e)] % 2;
            if (from != to && (in ? to : from) == row)
                z->links[n++] = e;
        }
        snprintf(name, sizeof name, "row/%d:%s", row + 1, in ? "in" : "out");
        double rate_Bps = Bps[row] / espi_rng_log_range(&z->rng, 1, 8);
        if (n)
            bench_stop_if(
                esp_builder_add_cable(z->to, name, rate_Bps, z->links, n, &z->err),
                &z->err);
    }
}

/* A network as the generator draws it, changed; frees it. */
static inline struct esp_platform *zoo_change(struct esp_platform *from, const char *kind,
                                              uint64_t seed)
{
    struct zoo z = {.from = from};
    struct esp_platform *p = NULL;
    z.links = calloc((size_t)esp_platform_link_count(from) + 1, sizeof *z.links);
    if (!z.links)
        bench_stop("out of memory");
    espi_rng_seed(&z.rng, seed);
    bench_stop_if(esp_builder_create(&z.to, &z.err), &z.err);
    esp_builder_set_model(z.to, esp_platform_model(from));
    zoo_copy_hosts_and_links(&z);
    zoo_copy_cables(&z, strcmp(kind, "cards") ? 1 : 8);
    if (!strcmp(kind, "bus"))
        zoo_add_bus(&z);
    if (!strcmp(kind, "rows"))
        zoo_add_rows(&z);
    bench_stop_if(esp_builder_build(z.to, &p, &z.err), &z.err);
    esp_builder_free(z.to);
    free(z.links);
    esp_platform_free(from);
    return p;
}

/* bus: hosts on one medium; rows: racks in two rows; lone: each host a site of its own;
 * cards: any kind of the generator with unequal ports. */
static inline int zoo_has(const char *kind)
{
    return !strcmp(kind, "bus") || !strcmp(kind, "rows") || !strcmp(kind, "lone") ||
           !strcmp(kind, "cards");
}

static inline struct esp_platform *zoo_network(const char *kind, uint64_t seed, int least,
                                               int most)
{
    struct esp_measured_options o;
    struct esp_platform *p = NULL;
    struct esp_err err;
    struct espi_rng r;
    esp_measured_options_defaults(&o);
    espi_rng_seed(&r, seed * 31 + (unsigned char)kind[0]);
    o.hosts = (int)espi_rng_log_range(&r, least, most + 1);
    o.seed = seed;
    o.kind = ESP_MEASURED_RACKS + (int)espi_rng_below(&r, 5); /* any with areas */
    if (!strcmp(kind, "bus"))
        o.kind = ESP_MEASURED_FLAT;
    if (!strcmp(kind, "rows")) {
        o.kind = ESP_MEASURED_RACKS;
        o.areas = 4 + (int)espi_rng_below(&r, ZOO_AREAS_MAX - 3);
        o.hosts = o.hosts < 2 * o.areas ? 2 * o.areas : o.hosts;
    }
    if (!strcmp(kind, "lone")) {
        o.kind = ESP_MEASURED_FULL + (int)espi_rng_below(&r, 4);
        o.hosts = o.areas = 4 + (int)espi_rng_below(&r, ZOO_AREAS_MAX - 3);
    }
    bench_stop_if(esp_generate_measured(&o, &p, &err), &err);
    return zoo_change(p, kind, seed);
}

#endif
