/* The network as a platform that plans can be made for.
 *
 * Model: capacity, whose links hold nothing but themselves, and cables for all that is
 * shared: the ports of hosts (HOST:out, HOST:in), since a network card divides its rate
 * among the transfers of its host whatever else limits them; uplinks within sites; and
 * what lies between sites. A plan computed for this promises what TCP delivers, where a
 * one-port model would let a slow transfer to another site keep the card for itself.
 *
 * Few hosts are linked directly, each pair with its own latency and rate. Of many hosts
 * that would be a large file: then a switch stands for each subsite and for each site. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "measure/certainty_of_rates.h"
#include "measure/measured.h"
#include "measure/self_check.h"
#include "platform/platform.h"

struct building {
    const struct espi_measured *net;
    struct espi_arena *arena;
    struct esp_builder *b;
    double *latency_s;  /* subsite * n_areas + subsite, the middle one; -1: none */
    double *shared_Bps; /* the same: the least of what is shared; INFINITY: nothing */
    int *links;         /* room for the members of a cable */
    struct esp_err *err;
};

/* ---- latencies ---- */

struct seen {
    int key;
    double latency_s;
};

static int by_key(const void *x, const void *y)
{
    const struct seen *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->latency_s > b->latency_s) - (a->latency_s < b->latency_s);
}

static void set_both(struct building *m, int key, double latency_s)
{
    int n = m->net->n_subsites;
    m->latency_s[key] = m->latency_s[key % n * n + key / n] = latency_s;
}

static void middle_latencies(struct building *m, struct seen *seen, int n)
{
    qsort(seen, (size_t)n, sizeof *seen, by_key);
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && seen[end].key == seen[i].key;)
            end++;
        set_both(m, seen[i].key, seen[i + (end - i) / 2].latency_s);
    }
}

/* Between subsites without a sample of their own: as between their sites, or anywhere. */
static int fill_latencies(struct building *m)
{
    const struct espi_measured *net = m->net;
    int n = net->n_subsites, s = net->n_sites;
    double *of_sites = ESPI_ARENA_NEW(m->arena, double, (size_t)s *(size_t)s);
    double any = -1;
    if (!of_sites)
        return -1;
    for (int k = 0; k < s * s; k++)
        of_sites[k] = -1;
    for (int k = 0; k < n * n; k++) {
        double *of = &of_sites[net->subsite_site[k / n] * s + net->subsite_site[k % n]];
        *of = fmax(*of, m->latency_s[k]);
        any = fmax(any, m->latency_s[k]);
    }
    for (int k = 0; k < n * n; k++) {
        double of = of_sites[net->subsite_site[k / n] * s + net->subsite_site[k % n]];
        if (m->latency_s[k] < 0)
            m->latency_s[k] = of >= 0 ? of : fmax(any, 0);
    }
    return 0;
}

static int find_latencies(struct building *m)
{
    const struct espi_measured *net = m->net;
    size_t cells = (size_t)net->n_subsites * (size_t)net->n_subsites;
    struct seen *seen = ESPI_ARENA_NEW(m->arena, struct seen, (size_t)net->pairs.n + 1);
    m->latency_s = ESPI_ARENA_NEW(m->arena, double, cells);
    int n = 0;
    if (!seen || !m->latency_s)
        return -1;
    for (size_t i = 0; i < cells; i++)
        m->latency_s[i] = -1;
    for (int i = 0; i < net->pairs.n; i++) {
        const struct espi_pair *p = &net->pairs.at[i];
        int a = net->subsite[p->low], b = net->subsite[p->high];
        if (p->latency_s >= 0)
            seen[n++] = (struct seen){(a < b ? a : b) * net->n_subsites + (a < b ? b : a),
                                      p->latency_s};
    }
    middle_latencies(m, seen, n);
    return fill_latencies(m);
}

static int find_shared(struct building *m)
{
    const struct espi_measured *net = m->net;
    size_t cells = (size_t)net->n_subsites * (size_t)net->n_subsites;
    m->shared_Bps = ESPI_ARENA_NEW(m->arena, double, cells);
    if (!m->shared_Bps)
        return -1;
    for (size_t i = 0; i < cells; i++)
        m->shared_Bps[i] = INFINITY;
    for (size_t c = 0; c < net->n_shared; c++)
        for (int k = net->shared[c].first;
             k < net->shared[c].first + net->shared[c].n_pairs; k++) {
            const struct espi_area_pair *pair = &net->subsite_pairs[k];
            double *least = &m->shared_Bps[pair->from * net->n_subsites + pair->to];
            *least = fmin(*least, net->shared[c].Bps);
        }
    return 0;
}

/* ---- nodes ---- */

static esp_status add_hosts(struct building *m)
{
    const struct espi_measured *net = m->net;
    esp_status status = ESP_OK;
    for (int h = 0; h < net->n_hosts && !status; h++) {
        struct esp_node_spec spec = {.name = espi_names_text(&net->samples->hosts, h),
                                     .site = net->site_name[net->site[h]],
                                     .kind = ESP_NODE_HOST,
                                     .send_s = net->send_s[h],
                                     .recv_s = net->recv_s[h]};
        status = esp_builder_add_node(m->b, &spec, NULL, m->err);
    }
    return status;
}

/* Gives the first of them in *first. */
static esp_status add_switches(struct building *m, int of_sites, int *first)
{
    const struct espi_measured *net = m->net;
    int n = of_sites ? net->n_sites : net->n_subsites;
    esp_status status = ESP_OK;
    for (int i = 0; i < n && !status; i++) {
        char name[128];
        int site = of_sites ? i : net->subsite_site[i], node;
        if (of_sites)
            snprintf(name, sizeof name, "%s:router", net->site_name[site]);
        else
            snprintf(name, sizeof name, "%s/%d:switch", net->site_name[site],
                     i - net->first_subsite[site] + 1);
        struct esp_node_spec spec = {.name = name,
                                     .site = net->site_name[site],
                                     .kind = ESP_NODE_SWITCH,
                                     .send_s = ESP_UNSET,
                                     .recv_s = ESP_UNSET};
        status = esp_builder_add_node(m->b, &spec, &node, m->err);
        if (!status && i == 0)
            *first = node;
    }
    return status;
}

/* ---- from host to host ---- */

/* Links are numbered from * (n - 1) + to, the host itself left out. */
static int link_number(const struct building *m, int from, int to)
{
    return from * (m->net->n_hosts - 1) + to - (to > from);
}

static esp_status add_direct_links(struct building *m)
{
    const struct espi_measured *net = m->net;
    esp_status status = ESP_OK;
    for (int i = 0; i < net->n_hosts; i++)
        for (int j = 0; j < net->n_hosts && !status; j++) {
            if (i == j)
                continue;
            const struct espi_pair *p = espi_pairs_find(&net->pairs, i, j);
            double latency_s =
                p && p->latency_s >= 0
                    ? p->latency_s
                    : m->latency_s[net->subsite[i] * net->n_subsites + net->subsite[j]];
            double Bps =
                fmin(espi_measured_flow_Bps(net, i, j),
                     m->shared_Bps[net->subsite[i] * net->n_subsites + net->subsite[j]]);
            status = esp_builder_add_link(m->b, i, j, latency_s, Bps, NULL, m->err);
        }
    return status;
}

static esp_status add_ports(struct building *m, int out)
{
    const struct espi_measured *net = m->net;
    esp_status status = ESP_OK;
    for (int h = 0; h < net->n_hosts && !status; h++) {
        char name[300];
        int n = 0;
        for (int other = 0; other < net->n_hosts; other++)
            if (other != h)
                m->links[n++] = link_number(m, out ? h : other, out ? other : h);
        snprintf(name, sizeof name, "%s:%s", espi_names_text(&net->samples->hosts, h),
                 out ? "out" : "in");
        status = esp_builder_add_cable(m->b, name, out ? net->out_Bps[h] : net->in_Bps[h],
                                       m->links, n, m->err);
    }
    return status;
}

static int compare_ints(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return (a > b) - (a < b);
}

static esp_status add_direct_shared(struct building *m)
{
    const struct espi_measured *net = m->net;
    esp_status status = ESP_OK;
    for (size_t c = 0; c < net->n_shared && !status; c++) {
        const struct espi_shared *s = &net->shared[c];
        int n = 0;
        for (int k = s->first; k < s->first + s->n_pairs; k++)
            for (int i = 0; i < net->n_hosts; i++)
                for (int j = 0;
                     net->subsite[i] == net->subsite_pairs[k].from && j < net->n_hosts;
                     j++)
                    if (i != j && net->subsite[j] == net->subsite_pairs[k].to)
                        m->links[n++] = link_number(m, i, j);
        qsort(m->links, (size_t)n, sizeof *m->links, compare_ints);
        if (n)
            status = esp_builder_add_cable(m->b, s->name, s->Bps, m->links, n, m->err);
    }
    return status;
}

static esp_status build_direct(struct building *m)
{
    size_t n = (size_t)m->net->n_hosts;
    m->links = ESPI_ARENA_NEW(m->arena, int, n *n);
    esp_status status = m->links ? add_direct_links(m) : espi_err_nomem(m->err);
    if (!status && n > 2)
        status = add_ports(m, 1);
    if (!status && n > 2)
        status = add_ports(m, 0);
    return status ? status : add_direct_shared(m);
}

/* ---- with switches ---- */

static esp_status join_nodes(struct building *m, int low, int high, double latency_s,
                             double up_Bps, double down_Bps)
{
    esp_status status =
        esp_builder_add_link(m->b, low, high, latency_s, up_Bps, NULL, m->err);
    return status
               ? status
               : esp_builder_add_link(m->b, high, low, latency_s, down_Bps, NULL, m->err);
}

/* What is shared by just the crossings from one subsite, or to one; else all ports. */
static double border_Bps(const struct building *m, int subsite, int out)
{
    const struct espi_measured *net = m->net;
    double sum = 0;
    for (size_t c = 0; c < net->n_shared; c++) {
        const struct espi_shared *s = &net->shared[c];
        int one = s->n_pairs == net->n_subsites - 1 && strchr(s->name, '/') != NULL;
        for (int k = s->first; k < s->first + s->n_pairs; k++)
            one &=
                (out ? net->subsite_pairs[k].from : net->subsite_pairs[k].to) == subsite;
        if (one)
            return s->Bps;
    }
    for (int h = 0; h < net->n_hosts; h++)
        if (net->subsite[h] == subsite)
            sum += out ? net->out_Bps[h] : net->in_Bps[h];
    return sum;
}

/* Between routers; the links of what is shared by sites are noted for later. */
static esp_status add_wan(struct building *m, int first_router, int *wan)
{
    const struct espi_measured *net = m->net;
    int s = net->n_sites;
    esp_status status = ESP_OK;
    for (int k = 0; k < s * s && !status; k++) {
        int a = k / s, b = k % s;
        if (a == b)
            continue;
        int from = net->first_subsite[a], to = net->first_subsite[b];
        double latency_s = m->latency_s[from * net->n_subsites + to];
        double inside_s = fmin(m->latency_s[from * net->n_subsites + from],
                               m->latency_s[to * net->n_subsites + to]);
        double Bps = fmin(border_Bps(m, from, 1), border_Bps(m, to, 0));
        status =
            esp_builder_add_link(m->b, first_router + a, first_router + b,
                                 fmax(0, latency_s - inside_s), Bps, &wan[k], m->err);
    }
    return status;
}

static esp_status add_switch_shared(struct building *m, const int *wan)
{
    const struct espi_measured *net = m->net;
    esp_status status = ESP_OK;
    for (size_t c = 0; c < net->n_shared && !status; c++) {
        const struct espi_shared *s = &net->shared[c];
        int n = 0;
        if (strncmp(s->name, "wan:", 4) != 0)
            continue;
        for (int k = s->first; k < s->first + s->n_pairs; k++) {
            int a = net->subsite_site[net->subsite_pairs[k].from];
            int b = net->subsite_site[net->subsite_pairs[k].to];
            if (net->first_subsite[a] == net->subsite_pairs[k].from &&
                net->first_subsite[b] == net->subsite_pairs[k].to)
                m->links[n++] = wan[a * net->n_sites + b];
        }
        qsort(m->links, (size_t)n, sizeof *m->links, compare_ints);
        status = esp_builder_add_cable(m->b, s->name, s->Bps, m->links, n, m->err);
    }
    return status;
}

static esp_status build_switched(struct building *m)
{
    const struct espi_measured *net = m->net;
    int first_subsite = 0, first_router = 0, n = net->n_subsites;
    size_t cells = (size_t)net->n_sites * (size_t)net->n_sites;
    int *wan = ESPI_ARENA_NEW(m->arena, int, cells);
    m->links = ESPI_ARENA_NEW(m->arena, int, cells);
    if (!wan || !m->links)
        return espi_err_nomem(m->err);
    esp_status status = add_switches(m, 0, &first_subsite);
    if (!status)
        status = add_switches(m, 1, &first_router);
    for (int h = 0; h < net->n_hosts && !status; h++)
        status = join_nodes(m, h, first_subsite + net->subsite[h],
                            m->latency_s[net->subsite[h] * n + net->subsite[h]] / 2,
                            net->out_Bps[h], net->in_Bps[h]);
    for (int a = 0; a < n && !status; a++)
        status = join_nodes(m, first_subsite + a, first_router + net->subsite_site[a], 0,
                            border_Bps(m, a, 1), border_Bps(m, a, 0));
    if (!status)
        status = add_wan(m, first_router, wan);
    return status ? status : add_switch_shared(m, wan);
}

/* ---- how sure it is ---- */

static esp_status find_certainty(const struct espi_measured *net, struct esp_platform *p,
                                 struct espi_arena *arena, struct esp_err *err)
{
    struct espi_certainty *c = &p->certainty; /* nobody has seen the platform yet */
    esp_status status = espi_certainty_of_rates(p, net->samples, c, arena, err);
    if (!status && espi_self_check(p, net->samples, &c->measured, NULL, arena))
        status = espi_err_nomem(err);
    return status;
}

/* ---- the whole ---- */

esp_status espi_measured_platform(const struct espi_measured *net, const char *name,
                                  int direct_max, struct esp_platform **out,
                                  struct espi_arena *arena, struct esp_err *err)
{
    struct building m = {.net = net, .arena = arena, .err = err};
    if (net->n_hosts > 1 && !(net->out_Bps[0] > 0)) /* none has, see fill_gaps */
        return espi_err(err, ESP_EINPUT, "the samples hold no rate of any transfer");
    esp_status status = esp_builder_create(&m.b, err);
    if (status)
        return status;
    esp_builder_set_model(m.b, ESP_MODEL_CAPACITY);
    status = esp_builder_set_name(m.b, name, err);
    if (!status && (find_latencies(&m) || find_shared(&m)))
        status = espi_err_nomem(err);
    if (!status)
        status = add_hosts(&m);
    if (!status && net->n_hosts > 1)
        status = net->n_hosts <= direct_max ? build_direct(&m) : build_switched(&m);
    struct esp_platform *made = NULL;
    if (!status)
        status = esp_builder_build(m.b, &made, err);
    esp_builder_free(m.b);
    if (!status)
        status = find_certainty(net, made, arena, err);
    if (status)
        esp_platform_free(made);
    else
        *out = made;
    return status;
}
