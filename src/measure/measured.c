/* Sites, ports and rates of single transfers; what is shared stands in subsites.c and
 * cables.c.
 *
 * A port is what a host sends or receives in a round, all transfers together, at the
 * best, for disturbances make it less. */
#include "measure/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "measure/explain.h"
#include "measure/max_min_fair.h"

enum { SITES_MAX = 1500 };

static int descending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

double espi_top_value(double *values, int n)
{
    if (n == 0)
        return -1;
    qsort(values, (size_t)n, sizeof *values, descending);
    int end = 0;
    while (end < n && values[end] >= ESPI_BORNE_OUT * values[0])
        end++;
    return values[(end - 1) / 2];
}

double espi_confirmed_top(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, descending);
    int alone = n >= 3 && values[0] > ESPI_STANDS_ALONE * values[1];
    return espi_top_value(values + alone, n - alone);
}

/* ---- ports ---- */

struct total {
    int host;
    double Bps;
};

static int by_host(const void *x, const void *y)
{
    const struct total *a = x, *b = y;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->Bps < b->Bps) - (a->Bps > b->Bps);
}

/* What each host sent (or received) in each round. */
static int gather_totals(const struct espi_measured *net, int sent, struct total *totals,
                         double *sum)
{
    const struct espi_trial_rounds *r = &net->rounds;
    int n = 0;
    for (int k = 0; k < r->n; k++) {
        for (int i = r->start[k]; i < r->start[k + 1]; i++) {
            const struct espi_trial_flow *f = &r->flows[i];
            sum[sent ? f->from : f->to] += f->Bps;
        }
        for (int i = r->start[k]; i < r->start[k + 1]; i++) {
            int host = sent ? r->flows[i].from : r->flows[i].to;
            if (sum[host] > 0)
                totals[n++] = (struct total){host, sum[host]};
            sum[host] = 0;
        }
    }
    return n;
}

/* For hosts that nothing was seen of: the best of a few packets, or what others have. */
static void fill_gaps(const struct espi_measured *net, double *port, double *best)
{
    const struct espi_samples *s = net->samples;
    double top = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].kind == ESPI_SAMPLE_QUICK) {
            best[s->at[i].from] = fmax(best[s->at[i].from], s->at[i].value);
            best[s->at[i].to] = fmax(best[s->at[i].to], s->at[i].value);
        }
    for (int h = 0; h < net->n_hosts; h++) {
        port[h] = port[h] > 0 ? port[h] : best[h];
        top = fmax(top, port[h]);
    }
    for (int h = 0; h < net->n_hosts; h++)
        port[h] = port[h] > 0 ? port[h] : top;
}

static int find_ports(struct espi_measured *net, int sent, double *port,
                      struct espi_arena *arena)
{
    int room = net->rounds.start[net->rounds.n];
    struct total *totals = ESPI_ARENA_NEW(arena, struct total, (size_t)room + 1);
    double *values = ESPI_ARENA_NEW(arena, double, (size_t)room + 1);
    double *sum = ESPI_ARENA_ZNEW(arena, double, net->n_hosts);
    double *best = ESPI_ARENA_ZNEW(arena, double, net->n_hosts);
    if (!totals || !values || !sum || !best)
        return -1;
    int n = gather_totals(net, sent, totals, sum);
    qsort(totals, (size_t)n, sizeof *totals, by_host);
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && totals[end].host == totals[i].host; end++)
            values[end - i] = totals[end].Bps;
        port[totals[i].host] = espi_top_value(values, end - i);
    }
    fill_gaps(net, port, best);
    return 0;
}

/* ---- one transfer ---- */

static double port_Bps(const struct espi_measured *net, int from, int to)
{
    return fmin(net->out_Bps[from], net->in_Bps[to]);
}

double espi_measured_flow_Bps(const struct espi_measured *net, int from, int to)
{
    int a = net->site[from], b = net->site[to];
    return fmin(port_Bps(net, from, to), net->flow_Bps[a * net->n_sites + b]);
}

/* Whatever limits single transfers is found later, and written here (limit_names.c). */
static int set_flow_limits(struct espi_measured *net, struct espi_arena *arena)
{
    size_t cells = (size_t)net->n_sites * (size_t)net->n_sites;
    net->flow_Bps = ESPI_ARENA_NEW(arena, double, cells);
    if (!net->flow_Bps)
        return -1;
    for (size_t i = 0; i < cells; i++)
        net->flow_Bps[i] = INFINITY;
    return 0;
}

/* Between sites whose transfers were never timed, what a few packets said. */
static int fill_flow_gaps(struct espi_measured *net, struct espi_arena *arena)
{
    int s = net->n_sites;
    unsigned char *timed = ESPI_ARENA_ZNEW(arena, unsigned char, (size_t)s *(size_t)s);
    if (!timed)
        return -1;
    for (int i = 0; i < net->rounds.start[net->rounds.n]; i++) {
        const struct espi_trial_flow *f = &net->rounds.flows[i];
        timed[net->site[f->from] * s + net->site[f->to]] = 1;
    }
    for (int i = 0; i < net->pairs.n; i++) {
        const struct espi_pair *p = &net->pairs.at[i];
        int there = net->site[p->low] * s + net->site[p->high];
        int back = net->site[p->high] * s + net->site[p->low];
        if (there != back && p->rate_Bps > 0 && !timed[there])
            net->flow_Bps[there] = fmin(net->flow_Bps[there], p->rate_Bps);
        if (there != back && p->rate_Bps > 0 && !timed[back])
            net->flow_Bps[back] = fmin(net->flow_Bps[back], p->rate_Bps);
    }
    return 0;
}

/* ---- overheads ---- */

static int by_double(const void *x, const void *y)
{
    return -descending(x, y);
}

static int find_overheads(const struct espi_measured *net, enum espi_sample_kind kind,
                          double *overhead_s, struct espi_arena *arena)
{
    const struct espi_samples *s = net->samples;
    struct total *seen = ESPI_ARENA_NEW(arena, struct total, s->n + 1);
    double *values = ESPI_ARENA_NEW(arena, double, s->n + 1);
    int n = 0;
    if (!seen || !values)
        return -1;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].kind == kind)
            seen[n++] = (struct total){
                kind == ESPI_SAMPLE_SEND ? s->at[i].from : s->at[i].to, s->at[i].value};
    qsort(seen, (size_t)n, sizeof *seen, by_host);
    for (int h = 0; h < net->n_hosts; h++)
        overhead_s[h] = ESP_UNSET;
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && seen[end].host == seen[i].host; end++)
            values[end - i] = seen[end].Bps;
        qsort(values, (size_t)(end - i), sizeof *values, by_double);
        overhead_s[seen[i].host] = values[(end - i) / 2];
    }
    return 0;
}

/* ---- the whole ---- */

static int measure_hosts(struct espi_measured *net, struct espi_arena *arena)
{
    size_t n = (size_t)net->n_hosts;
    net->out_Bps = ESPI_ARENA_ZNEW(arena, double, n);
    net->in_Bps = ESPI_ARENA_ZNEW(arena, double, n);
    net->out_seen_Bps = ESPI_ARENA_NEW(arena, double, n);
    net->in_seen_Bps = ESPI_ARENA_NEW(arena, double, n);
    net->out_tried = ESPI_ARENA_ZNEW(arena, unsigned char, n);
    net->in_tried = ESPI_ARENA_ZNEW(arena, unsigned char, n);
    net->send_s = ESPI_ARENA_NEW(arena, double, n);
    net->recv_s = ESPI_ARENA_NEW(arena, double, n);
    if (!net->out_Bps || !net->in_Bps || !net->out_seen_Bps || !net->in_seen_Bps ||
        !net->out_tried || !net->in_tried || !net->send_s || !net->recv_s)
        return -1;
    if (find_ports(net, 1, net->out_Bps, arena) || find_ports(net, 0, net->in_Bps, arena))
        return -1;
    memcpy(net->out_seen_Bps, net->out_Bps, n * sizeof *net->out_Bps);
    memcpy(net->in_seen_Bps, net->in_Bps, n * sizeof *net->in_Bps);
    return find_overheads(net, ESPI_SAMPLE_SEND, net->send_s, arena) ||
                   find_overheads(net, ESPI_SAMPLE_RECV, net->recv_s, arena)
               ? -1
               : 0;
}

static esp_status digest_samples(struct espi_measured *net, struct espi_arena *arena,
                                 struct esp_err *err)
{
    net->site = ESPI_ARENA_ZNEW(arena, int, net->n_hosts);
    if (!net->site || espi_pairs_gather(&net->pairs, net->samples, arena) ||
        espi_trial_rounds_gather(&net->rounds, net->samples, ESPI_SAMPLE_RATE, arena))
        return espi_err_nomem(err);
    net->n_sites = espi_sites_find(&net->pairs, net->n_hosts, net->site, arena);
    if (net->n_sites > SITES_MAX)
        return espi_err(err, ESP_EINPUT,
                        "the hosts fall into more than %d sites: there are too few "
                        "samples, or they contradict each other",
                        SITES_MAX);
    net->site_latency_s = net->n_sites < 0 ? NULL
                                           : espi_site_latencies(&net->pairs, net->site,
                                                                 net->n_sites, arena);
    if (!net->site_latency_s || espi_measured_name_sites(net, arena) ||
        measure_hosts(net, arena) || set_flow_limits(net, arena) ||
        fill_flow_gaps(net, arena))
        return espi_err_nomem(err);
    if (espi_measured_subsites(net, arena))
        return espi_err_nomem(err);
    if (net->n_subsites > 2 * SITES_MAX)
        return espi_err(err, ESP_EINPUT,
                        "the samples contradict each other: they tell of %d areas of few "
                        "hosts",
                        net->n_subsites);
    return espi_measured_explain(net, arena) ? espi_err_nomem(err) : ESP_OK;
}

esp_status espi_measured_init(struct espi_measured *net, const struct espi_samples *s,
                              struct espi_arena *arena, struct esp_err *err)
{
    struct espi_measured made = {.samples = s, .n_hosts = espi_samples_hosts(s)};
    if (made.n_hosts == 0)
        return espi_err(err, ESP_EINPUT, "the samples name no host");
    esp_status status = digest_samples(&made, arena, err);
    if (status)
        espi_measured_done(&made);
    else
        *net = made;
    return status;
}

void espi_measured_done(struct espi_measured *net)
{
    espi_free(net->shared);
    espi_free(net->subsite_pairs);
    net->shared = NULL;
    net->subsite_pairs = NULL;
    net->n_shared = net->n_subsite_pairs = 0;
}

/* ---- what is shared ---- */

struct espi_shared *espi_measured_add_shared(struct espi_measured *net, double Bps)
{
    if (espi_grow((void **)&net->shared, &net->shared_room, net->n_shared + 1,
                  sizeof *net->shared))
        return NULL;
    struct espi_shared *s = &net->shared[net->n_shared++];
    *s = (struct espi_shared){.Bps = Bps, .first = (int)net->n_subsite_pairs};
    return s;
}

int espi_measured_add_pair(struct espi_measured *net, int from_area, int to_area)
{
    if (espi_grow((void **)&net->subsite_pairs, &net->area_pairs_room,
                  net->n_subsite_pairs + 1, sizeof *net->subsite_pairs))
        return -1;
    net->subsite_pairs[net->n_subsite_pairs++] =
        (struct espi_area_pair){from_area, to_area};
    net->shared[net->n_shared - 1].n_pairs++;
    return 0;
}

int espi_measured_add_sites(struct espi_measured *net, int from_site, int to_site)
{
    for (int a = net->first_subsite[from_site]; a < net->first_subsite[from_site + 1];
         a++)
        for (int b = net->first_subsite[to_site]; b < net->first_subsite[to_site + 1];
             b++)
            if (espi_measured_add_pair(net, a, b))
                return -1;
    return 0;
}

/* ---- prediction ---- */

static int pair_uses(const struct espi_measured *net, const struct espi_shared *s,
                     int from, int to)
{
    for (int k = s->first; k < s->first + s->n_pairs; k++)
        if (net->subsite_pairs[k].from == net->subsite[from] &&
            net->subsite_pairs[k].to == net->subsite[to])
            return 1;
    return 0;
}

/* Resources: send ports, receive ports, what is shared, and each flow's own limit. */
int espi_measured_predict(const struct espi_measured *net,
                          const struct espi_trial_flow *flows, int n, double *Bps,
                          struct espi_arena *arena)
{
    int n_hosts = net->n_hosts, n_shared = (int)net->n_shared;
    int first_own = 2 * n_hosts + n_shared, k = 0;
    size_t room = (size_t)n * (size_t)(n_shared + 3);
    int *start = ESPI_ARENA_NEW(arena, int, (size_t)n + 1);
    int *item = ESPI_ARENA_NEW(arena, int, room + 1);
    double *capacity = ESPI_ARENA_NEW(arena, double, (size_t)first_own + (size_t)n);
    if (!start || !item || !capacity)
        return -1;
    for (int h = 0; h < n_hosts; h++) {
        capacity[h] = net->out_Bps[h];
        capacity[n_hosts + h] = net->in_Bps[h];
    }
    for (int c = 0; c < n_shared; c++)
        capacity[2 * n_hosts + c] = net->shared[c].Bps;
    for (int i = 0; i < n; i++) {
        start[i] = k;
        item[k++] = flows[i].from;
        item[k++] = n_hosts + flows[i].to;
        item[k++] = first_own + i;
        capacity[first_own + i] = espi_measured_flow_Bps(net, flows[i].from, flows[i].to);
        for (int c = 0; c < n_shared; c++)
            if (pair_uses(net, &net->shared[c], flows[i].from, flows[i].to))
                item[k++] = 2 * n_hosts + c;
    }
    start[n] = k;
    struct espi_max_min_fair fair = {n, first_own + n, start, item, capacity};
    return espi_max_min_fair_rates(&fair, Bps, arena);
}
