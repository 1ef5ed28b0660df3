/* Networks as `espalier measure` writes them, drawn from a seed: links from host to host,
 * and cables for the ports of all hosts and for whatever the transfers between areas
 * share. The model is capacity.
 *
 * Kinds: flat, hosts on one switch, with ports of their own rates; racks, areas of one
 * site, each with an uplink; full, chain, ring and star, two to eight sites of unequal
 * size with a wire between all of them, or those next to each other. Transfers take the
 * way over the fewest wires (of equal ones that over the sites drawn first), and all over
 * a wire share it: `wan:A>B` is what a pair of sites has, `wan:A:out` and `wan:A:in` what
 * all from or to a site share, `wan:core1`, ... what others do. What ports and single
 * transfers alone limit as much is left out, as measuring would not find it.
 *
 * Each network is drawn in itself alike: one rate of ports (uniform in the logarithm)
 * from which those of areas and wires follow, one latency within sites. Half of the
 * networks have wires that differ by direction, half of them areas with unequal ports; in
 * half of them a host out of twelve is slow; in a quarter of them one transfer alone does
 * not fill a long wire, as with TCP's windows. `noise` disturbs all, for no two ports
 * measure the same.
 *
 * Presets: four small networks with round numbers and without noise.
 *
 * Complexity: O(hosts^2 + areas^4). */
#include "platform/generate_measured.h"

#include <math.h>
#include <stdio.h>

#include "platform/measured_net.h"

/* What presets give instead of having it drawn. */
struct esp_measured_table {
    int kind, n_hosts, n_areas;
    int hosts[ESPI_NET_SITES_MAX];        /* of areas */
    double port_Bps[24];                  /* of areas; flat: of hosts */
    double cable_Bps[ESPI_NET_SITES_MAX]; /* of the wires in their order, of racks */
};

/* What joins two areas, or, of racks, an area and the rest. */
struct wire {
    int a, b;
    double Bps[2]; /* there, back; uplink, downlink */
    double latency_s;
};

struct drawing {
    struct espi_gen *g;
    const struct esp_measured_options *o;
    struct espi_measured_net net;
    double base_Bps, lan_s; /* of ports; within a site */
    double area_Bps[ESPI_NET_SITES_MAX];
    struct wire wires[ESPI_NET_SITES_MAX * ESPI_NET_SITES_MAX];
    int n_wires;
};

static double chance(struct drawing *d, double yes, double no, uint32_t one_of)
{
    return espi_rng_below(&d->g->rng, one_of) == 0 ? yes : no;
}

static double noisy(struct drawing *d, double value)
{
    double noise = d->o->noise;
    return noise > 0 ? value * espi_rng_range(&d->g->rng, 1 - noise, 1 + noise) : value;
}

static double in_range(const struct drawing *d, double Bps)
{
    return fmin(fmax(Bps, d->o->bandwidth_min_Bps), d->o->bandwidth_max_Bps);
}

/* ---- areas ---- */

static int count_areas(struct drawing *d)
{
    const struct esp_measured_options *o = d->o;
    if (o->kind == ESP_MEASURED_FLAT)
        return 1;
    if (o->areas)
        return o->areas;
    int least = o->kind == ESP_MEASURED_RING || o->kind == ESP_MEASURED_STAR ? 3 : 2;
    int most = o->hosts / 2 < ESPI_NET_SITES_MAX ? o->hosts / 2 : ESPI_NET_SITES_MAX;
    if (most <= least)
        return most < 2 ? 1 + (o->hosts > 1) : most;
    return least + (int)espi_rng_below(&d->g->rng, (uint32_t)(most - least + 1));
}

/* Every area gets a host; the others fall to areas by weights that differ by up to 8. */
static void draw_members(struct drawing *d)
{
    struct espi_measured_net *net = &d->net;
    int count[ESPI_NET_SITES_MAX] = {0}, host = 0;
    double weight[ESPI_NET_SITES_MAX] = {0}, all = 0;
    for (int a = 0; a < net->n_areas; a++) {
        count[a] = d->o->table ? d->o->table->hosts[a] : 1;
        weight[a] = espi_rng_log_range(&d->g->rng, 1, 8);
        all += weight[a];
    }
    for (int left = net->n_hosts - net->n_areas; left > 0 && !d->o->table; left--) {
        double at = espi_rng_range(&d->g->rng, 0, all);
        int a = 0;
        for (; a < net->n_areas - 1 && at >= weight[a]; a++)
            at -= weight[a];
        count[a]++;
    }
    for (int a = 0; a < net->n_areas; a++)
        for (int i = 0; i < count[a]; i++)
            net->area[host++] = a;
}

/* ---- hosts ---- */

static void draw_ports(struct drawing *d)
{
    static const double spreads[] = {1, 2, 8};
    const struct esp_measured_table *table = d->o->table;
    struct espi_measured_net *net = &d->net;
    struct espi_rng *r = &d->g->rng;
    int flat = d->o->kind == ESP_MEASURED_FLAT;
    d->base_Bps = espi_rng_log_range(r, d->o->bandwidth_min_Bps, d->o->bandwidth_max_Bps);
    double areas = chance(d, 8, 1, 2);
    double slow = chance(d, 12, 0, 2);
    double hosts = flat ? spreads[espi_rng_below(r, 3)] : 1;
    double receive = chance(d, 4, 1, 4); /* hosts receive up to so much faster */
    for (int a = 0; a < net->n_areas; a++) {
        double part = espi_rng_log_range(r, 1, areas);
        d->area_Bps[a] =
            table ? table->port_Bps[a] : in_range(d, d->base_Bps / (flat ? 1 : part));
    }
    for (int h = 0; h < net->n_hosts; h++) {
        double Bps = d->area_Bps[net->area[h]] / espi_rng_log_range(r, 1, hosts);
        if (slow > 0 && espi_rng_below(r, (uint32_t)slow) == 0)
            Bps /= espi_rng_log_range(r, 2, 20);
        double in_Bps = Bps * espi_rng_log_range(r, 1, receive);
        Bps = table && flat ? table->port_Bps[h] : Bps;
        double sends_Bps = noisy(d, Bps);
        double receives_Bps = noisy(d, in_Bps);
        net->out_Bps[h] = table ? Bps : in_range(d, sends_Bps);
        net->in_Bps[h] = table ? Bps : in_range(d, receives_Bps);
    }
}

/* What a message takes of the processors. */
static void draw_overheads(struct drawing *d)
{
    double send_s = espi_rng_log_range(&d->g->rng, 1e-6, 10e-6);
    double recv_s = espi_rng_log_range(&d->g->rng, 1e-6, 10e-6);
    for (int h = 0; h < d->net.n_hosts && !d->o->table; h++) {
        double own_send_s = noisy(d, send_s);
        double own_recv_s = noisy(d, recv_s);
        d->net.send_s[h] = own_send_s;
        d->net.recv_s[h] = own_recv_s;
    }
}

/* ---- wires ---- */

static void add_wire(struct drawing *d, int a, int b)
{
    d->wires[d->n_wires++] = (struct wire){.a = a, .b = b};
}

/* In which order sites stand along a chain or ring, and which is the hub of a star, is
 * drawn: the first host is not always at an end. */
static void place_wires(struct drawing *d)
{
    int n = d->net.n_areas, at[ESPI_NET_SITES_MAX];
    for (int i = 0; i < n; i++)
        at[i] = i;
    if (!d->o->table)
        espi_rng_shuffle(&d->g->rng, at, n);
    switch (d->o->kind) {
    case ESP_MEASURED_RACKS:
        for (int i = 0; i < n; i++)
            add_wire(d, i, i);
        break;
    case ESP_MEASURED_FULL:
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                add_wire(d, i, j);
        break;
    case ESP_MEASURED_CHAIN:
    case ESP_MEASURED_RING:
        for (int i = 0; i + 1 < n; i++)
            add_wire(d, at[i], at[i + 1]);
        if (d->o->kind == ESP_MEASURED_RING && n > 2)
            add_wire(d, at[n - 1], at[0]);
        break;
    case ESP_MEASURED_STAR:
        for (int i = 1; i < n; i++)
            add_wire(d, at[0], at[i]);
        break;
    default:
        break;
    }
}

/* Uplinks carry a sixteenth up to all of the ports behind them; wires between sites a
 * twentieth of a port up to four ports. */
static double draw_rate(struct drawing *d, const struct wire *w)
{
    double ports = 0;
    if (d->o->kind != ESP_MEASURED_RACKS)
        return in_range(d, d->base_Bps * espi_rng_log_range(&d->g->rng, 0.05, 4));
    for (int h = 0; h < d->net.n_hosts; h++)
        ports += d->net.area[h] == w->a ? d->net.out_Bps[h] : 0;
    return in_range(d, ports / espi_rng_log_range(&d->g->rng, 1, 16));
}

static void draw_wires(struct drawing *d)
{
    const struct esp_measured_table *table = d->o->table;
    int unlike = chance(d, 1, 0, 2) > 0;
    place_wires(d);
    d->lan_s = table ? 100e-6 : espi_rng_log_range(&d->g->rng, 20e-6, 200e-6);
    for (int i = 0; i < d->n_wires; i++) {
        struct wire *w = &d->wires[i];
        double there = draw_rate(d, w);
        double back = draw_rate(d, w);
        double far_s = d->o->kind == ESP_MEASURED_RACKS
                           ? espi_rng_range(&d->g->rng, 0, d->lan_s)
                           : espi_rng_log_range(&d->g->rng, 1e-3, 50e-3);
        w->Bps[0] = table ? table->cable_Bps[i] : there;
        w->Bps[1] = table ? table->cable_Bps[i] : unlike ? back : there;
        w->latency_s = !table ? far_s : d->o->kind == ESP_MEASURED_RACKS ? 0 : 10e-3;
    }
}

/* ---- routes ---- */

/* Over which wire each area is reached from `from` by the fewest, -1 where none leads. */
static void find_routes(const struct drawing *d, int from, int *over)
{
    int queue[ESPI_NET_SITES_MAX], n = 0;
    for (int a = 0; a < d->net.n_areas; a++)
        over[a] = -1;
    queue[n++] = from;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < d->n_wires; k++) {
            const struct wire *w = &d->wires[k];
            int next = w->a == queue[i] ? w->b : w->b == queue[i] ? w->a : from;
            if (next != from && over[next] < 0) {
                over[next] = k;
                queue[n++] = next;
            }
        }
}

/* What a pair of sites has, and over which wires, there or back, its transfers go. */
struct route {
    double Bps, latency_s;
    unsigned char uses[2 * ESPI_NET_SITES_MAX * ESPI_NET_SITES_MAX];
};

static struct route follow_route(const struct drawing *d, const int *over, int from,
                                 int to)
{
    struct route r = {.Bps = INFINITY};
    while (to != from) {
        const struct wire *w = &d->wires[over[to]];
        int back = w->a == to;
        r.uses[2 * over[to] + back] = 1;
        r.Bps = fmin(r.Bps, w->Bps[back]);
        r.latency_s += w->latency_s;
        to = back ? w->b : w->a;
    }
    return r;
}

static void name_pair(struct espi_measured_net *net, double Bps, int from, int to)
{
    struct espi_net_shared *s = espi_measured_net_share(net, Bps);
    s->pairs[from * net->n_areas + to] = 1;
    snprintf(s->name, sizeof s->name, "wan:%s>%s", espi_measured_net_site(net, from),
             espi_measured_net_site(net, to));
    espi_measured_net_settle(net);
}

/* Are just these pairs all from a site, or all to it? Gives the site, or -1. */
static int around_site(const struct espi_measured_net *net, const unsigned char *pairs,
                       int from)
{
    int n = net->n_areas;
    for (int site = 0; site < n; site++) {
        int same = 1;
        for (int k = 0; k < n * n && same; k++)
            same = pairs[k] == (k / n != k % n && (from ? k / n : k % n) == site);
        if (same)
            return site;
    }
    return -1;
}

static void name_wire(struct espi_measured_net *net, struct espi_net_shared *s,
                      int *cores)
{
    int out = around_site(net, s->pairs, 1), in = around_site(net, s->pairs, 0);
    int before = net->n_shared;
    if (out >= 0 || in >= 0)
        snprintf(s->name, sizeof s->name, "wan:%s:%s",
                 espi_measured_net_site(net, out >= 0 ? out : in),
                 out >= 0 ? "out" : "in");
    else
        snprintf(s->name, sizeof s->name, "wan:core%d", *cores + 1);
    espi_measured_net_settle(net);
    *cores += before == net->n_shared && out < 0 && in < 0;
}

static void share_sites(struct drawing *d, const struct route *routes)
{
    struct espi_measured_net *net = &d->net;
    int n = net->n_areas, cores = 0;
    for (int k = 0; k < n * n; k++)
        if (k / n != k % n)
            name_pair(net, routes[k].Bps, k / n, k % n);
    for (int i = 0; i < 2 * d->n_wires; i++) {
        int pairs = 0;
        for (int k = 0; k < n * n; k++)
            pairs += routes[k].uses[i];
        if (pairs < 2) /* it is the pair's own */
            continue;
        struct espi_net_shared *s =
            espi_measured_net_share(net, d->wires[i / 2].Bps[i % 2]);
        for (int k = 0; k < n * n; k++)
            s->pairs[k] = routes[k].uses[i];
        name_wire(net, s, &cores);
    }
}

/* One transfer gets no more than the wires have, nor, in some networks, than a window of
 * bytes on their way allows. */
static void limit_flows(struct drawing *d, const struct route *routes)
{
    double window = espi_rng_log_range(&d->g->rng, 256e3, 16e6);
    if (d->o->table || espi_rng_below(&d->g->rng, 4) != 0)
        window = INFINITY;
    for (int k = 0; k < d->net.n_areas * d->net.n_areas; k++)
        if (routes[k].latency_s > 0)
            d->net.flow_Bps[k] =
                fmin(routes[k].Bps,
                     fmax(window / (2 * routes[k].latency_s), d->o->bandwidth_min_Bps));
}

/* ---- the whole ---- */

static void share_racks(struct drawing *d)
{
    struct espi_measured_net *net = &d->net;
    for (int i = 0; i < 2 * d->n_wires && net->n_areas > 1; i++) {
        int rack = i / 2, out = i % 2 == 0;
        struct espi_net_shared *s =
            espi_measured_net_share(net, d->wires[rack].Bps[!out]);
        for (int other = 0; other < net->n_areas; other++)
            if (other != rack)
                s->pairs[out ? rack * net->n_areas + other
                             : other * net->n_areas + rack] = 1;
        snprintf(s->name, sizeof s->name, "%s/%d:%s", espi_measured_net_site(net, rack),
                 rack + 1, out ? "out" : "in");
        espi_measured_net_settle(net);
    }
}

static void set_latencies(struct drawing *d, const struct route *routes)
{
    struct espi_measured_net *net = &d->net;
    int n = net->n_hosts;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            int a = net->area[i], b = net->area[j];
            double latency_s = d->lan_s;
            if (a != b)
                latency_s += net->one_site ? d->wires[a].latency_s + d->wires[b].latency_s
                                           : routes[a * net->n_areas + b].latency_s;
            net->latency_s[i * n + j] = net->latency_s[j * n + i] = noisy(d, latency_s);
        }
}

static esp_status join_areas(struct drawing *d)
{
    int n = d->net.n_areas, over[ESPI_NET_SITES_MAX];
    struct route *routes = ESPI_ARENA_ZNEW(&d->g->arena, struct route, n * n);
    if (!routes)
        return espi_err_nomem(d->g->err);
    for (int a = 0; a < n && !d->net.one_site; a++) {
        find_routes(d, a, over);
        for (int b = 0; b < n; b++)
            routes[a * n + b] = follow_route(d, over, a, b);
    }
    if (d->net.one_site) {
        share_racks(d);
    } else {
        limit_flows(d, routes);
        share_sites(d, routes);
    }
    set_latencies(d, routes);
    return ESP_OK;
}

static esp_status check_areas(const struct drawing *d)
{
    const struct esp_measured_options *o = d->o;
    const struct esp_measured_table *t = o->table;
    if (o->bandwidth_min_Bps > o->bandwidth_max_Bps)
        return espi_err(d->g->err, ESP_EUSAGE,
                        "measured: bandwidth-min is above bandwidth-max");
    if (t && (o->kind != t->kind || o->hosts != t->n_hosts || o->areas != t->n_areas))
        return espi_err(d->g->err, ESP_EUSAGE,
                        "measured: kind, hosts and areas of a preset cannot be changed");
    if (o->areas > o->hosts)
        return espi_err(d->g->err, ESP_EUSAGE,
                        "measured: areas is %d, but there are only %d hosts", o->areas,
                        o->hosts);
    return ESP_OK;
}

static esp_status draw_measured(struct espi_gen *g, const void *options)
{
    struct drawing d = {.g = g, .o = options};
    esp_status status = check_areas(&d);
    if (status)
        return status;
    /* networks of different kinds have nothing in common */
    uint64_t drawn = espi_rng_next(&g->rng);
    espi_rng_seed(&g->rng, drawn + (uint64_t)d.o->kind);
    int areas = count_areas(&d);
    status = espi_measured_net_init(&d.net, g, d.o->hosts, areas, 3 * areas * areas);
    if (status)
        return status;
    d.net.one_site = areas == 1 || d.o->kind == ESP_MEASURED_RACKS;
    draw_members(&d);
    draw_ports(&d);
    draw_overheads(&d);
    draw_wires(&d);
    status = join_areas(&d);
    return status ? status : espi_measured_net_build(&d.net, g);
}

esp_status esp_generate_measured(const struct esp_measured_options *options,
                                 struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("measured", options, draw_measured, out, err);
}

/* ---- presets ---- */

static void set_table(struct esp_measured_options *o,
                      const struct esp_measured_table *table)
{
    o->kind = table->kind;
    o->hosts = table->n_hosts;
    o->areas = table->n_areas;
    o->noise = 0;
    o->table = table;
}

void espi_measured_three_sites(void *options)
{
    static const struct esp_measured_table table = {.kind = ESP_MEASURED_FULL,
                                                    .n_hosts = 24,
                                                    .n_areas = 3,
                                                    .hosts = {8, 8, 8},
                                                    .port_Bps = {12e6, 12e6, 12e6},
                                                    .cable_Bps = {4e6, 4e6, 4e6}};
    set_table(options, &table);
}

void espi_measured_four_racks(void *options)
{
    static const struct esp_measured_table table = {
        .kind = ESP_MEASURED_RACKS,
        .n_hosts = 24,
        .n_areas = 4,
        .hosts = {6, 6, 6, 6},
        .port_Bps = {10e6, 10e6, 10e6, 10e6},
        .cable_Bps = {10e6, 10e6, 10e6, 10e6}};
    set_table(options, &table);
}

void espi_measured_one_switch(void *options)
{
    static const struct esp_measured_table table = {
        .kind = ESP_MEASURED_FLAT,
        .n_hosts = 24,
        .hosts = {24},
        .port_Bps = {12e6,  4.5e6, 8e6,   2e6,   10e6,  6e6,   3e6,    7e6,
                     1.5e6, 9e6,   5e6,   11e6,  2.5e6, 6.5e6, 8.5e6,  3.5e6,
                     12e6,  5.5e6, 1.5e6, 9.5e6, 4e6,   7.5e6, 10.5e6, 2e6}};
    set_table(options, &table);
}

void espi_measured_chain(void *options)
{
    static const struct esp_measured_table table = {.kind = ESP_MEASURED_CHAIN,
                                                    .n_hosts = 28,
                                                    .n_areas = 3,
                                                    .hosts = {16, 8, 4},
                                                    .port_Bps = {12e6, 12e6, 12e6},
                                                    .cable_Bps = {3e6, 1.5e6}};
    set_table(options, &table);
}
