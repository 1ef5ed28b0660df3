/* The second and the third stage of the probe: ports of hosts, and borders of subsites
 * within sites. */
#include <math.h>
#include <string.h>

#include "measure/probe_impl.h"

/* ---- 2: ports ---- */

/* One of the port trials: host number i of a site with its neighbours. */
struct port_trial {
    int host[3];
    int pattern; /* 0: single; 1: out to two; 2: in from two */
};

static int trial_fits(const struct espi_probing *p, const struct port_trial *t)
{
    return p->trial.n + 1 + (t->pattern > 0) <= p->at_once && !p->busy[t->host[0]] &&
           !p->busy[t->host[1]] && (t->pattern == 0 || !p->busy[t->host[2]]);
}

static void add_port_trial(struct espi_probing *p, const struct port_trial *t)
{
    for (int k = 1; k <= 1 + (t->pattern > 0); k++)
        if (t->pattern == 2)
            espi_probe_add(p, t->host[k], t->host[0]);
        else
            espi_probe_add(p, t->host[0], t->host[k]);
}

static int list_port_trials(const struct espi_probing *p, const int *members,
                            const int *start, struct port_trial *trials)
{
    int n = 0;
    for (int pattern = 0; pattern < 3; pattern++)
        for (int site = 0; site < p->net.n_sites; site++) {
            int size = start[site + 1] - start[site];
            const int *of = &members[start[site]];
            /* two hosts have but each other: often enough to see errors */
            int kind = size == 2 ? 0 : pattern;
            for (int i = 0; i < size && size > 1; i++)
                trials[n++] = (struct port_trial){
                    {of[i], of[(i + 1) % size], of[(i + 2) % size]}, kind};
        }
    return n;
}

/* Runs them all, in each round as many of different hosts as fit. */
static esp_status run_port_trials(struct espi_probing *p, struct port_trial *trials,
                                  int n)
{
    int all = n;
    esp_status status = ESP_OK;
    while (n && !status && !espi_probe_is_late(p)) {
        int left = 0;
        for (int i = 0; i < n; i++)
            if (trial_fits(p, &trials[i]))
                add_port_trial(p, &trials[i]);
            else
                trials[left++] = trials[i];
        n = left;
        status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_NEAR_S);
        espi_probe_tell(p, 1 - (double)n / all);
    }
    return status;
}

/* ---- fans ---- */

/* Everybody that a host could fill its port with, and what each would get if the port
 * were no limit. */
struct fan {
    struct espi_trial_flow *flows;
    double *Bps;
    int n;
    double sum;
};

/* The fans of one round. */
struct fans {
    int out; /* do their hosts send? */
    int n, *host;
    double *least_Bps; /* less than this would not fill the port */
};

/* What transfers would get if these ports were no limits. */
static int predict_open(struct espi_probing *p, const struct fans *open,
                        const struct espi_trial_flow *flows, int n, double *Bps)
{
    struct espi_measured seen = p->net; /* open ports have at least what was seen */
    double *ports = ESPI_ARENA_NEW(&p->arena, double, p->n);
    const double *kept = open->out ? p->net.out_seen_Bps : p->net.in_seen_Bps;
    if (!ports)
        return -1;
    memcpy(ports, kept, (size_t)p->n * sizeof *ports);
    for (int i = 0; i < open->n; i++)
        ports[open->host[i]] *= 1e6; /* rounding: as good as none */
    seen.out_Bps = open->out ? ports : p->net.out_seen_Bps;
    seen.in_Bps = open->out ? p->net.in_seen_Bps : ports;
    return espi_measured_predict(&seen, flows, n, Bps, &p->arena);
}

/* With hosts of its site, or of all sites. */
static int list_fan(struct espi_probing *p, int host, int out, enum espi_fan_reach reach,
                    struct fan *fan)
{
    struct fans one = {.out = out, .n = 1, .host = &host};
    fan->flows = ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, p->n);
    fan->Bps = ESPI_ARENA_NEW(&p->arena, double, p->n);
    fan->n = 0;
    fan->sum = 0;
    if (!fan->flows || !fan->Bps)
        return -1;
    for (int h = 0; h < p->n; h++)
        if (h != host && !(p->busy[h] & (out ? 2 : 1)) &&
            (reach == ESPI_FAN_FAR || p->net.site[h] == p->net.site[host]))
            fan->flows[fan->n++] =
                (struct espi_trial_flow){out ? host : h, out ? h : host, 0};
    int status = predict_open(p, &one, fan->flows, fan->n, fan->Bps);
    for (int i = 0; i < fan->n; i++)
        fan->sum += fan->Bps[i];
    return status;
}

/* Adds those of the fan that get most, until the port would be filled so many times. 0:
 * none. */
static int add_fan(struct espi_probing *p, const struct fan *fan, double enough_Bps)
{
    int first = p->trial.n;
    double sum = 0;
    while (sum < enough_Bps && p->trial.n < p->at_once) {
        int best = -1;
        for (int i = 0; i < fan->n; i++)
            if (fan->Bps[i] > 0 && (best < 0 || fan->Bps[i] > fan->Bps[best]))
                best = i;
        if (best < 0)
            break;
        espi_probe_add(p, fan->flows[best].from, fan->flows[best].to);
        sum += fan->Bps[best];
        fan->Bps[best] = 0;
    }
    return p->trial.n > first;
}

static double sum_of_host(const struct espi_trial_flow *flows, const double *Bps, int n,
                          int host, int out)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (out ? flows[i].from : flows[i].to) == host ? Bps[i] : 0;
    return sum;
}

/* Would each of them fill its port while the others run? -1 when out of memory. */
static int all_fans_tell(struct espi_probing *p, const struct fans *fans)
{
    int n = p->trial.n, tell = 1;
    struct espi_arena_mark mark = espi_arena_mark(&p->arena);
    struct espi_trial_flow *flows = ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, n);
    double *Bps = ESPI_ARENA_NEW(&p->arena, double, n);
    if (!flows || !Bps)
        return -1;
    for (int i = 0; i < n; i++)
        flows[i] =
            (struct espi_trial_flow){p->trial.pairs[i].from, p->trial.pairs[i].to, 0};
    if (predict_open(p, fans, flows, n, Bps))
        return -1;
    for (int i = 0; i < fans->n && tell; i++)
        tell = sum_of_host(flows, Bps, n, fans->host[i], fans->out) >= fans->least_Bps[i];
    espi_arena_release(&p->arena, mark);
    return tell;
}

/* Takes the last fan out of the trial. */
static void take_back(struct espi_probing *p, struct fans *fans, int first)
{
    for (int i = first; i < p->trial.n; i++) {
        p->busy[p->trial.pairs[i].from] &= (unsigned char)~1;
        p->busy[p->trial.pairs[i].to] &= (unsigned char)~2;
    }
    p->trial.n = first;
    fans->n--;
}

/* Adds the host's fan to the trial, if all of them then still fill their ports: 1. Gives
 * -1 when out of memory. */
static int try_fan(struct espi_probing *p, struct fans *fans, int host, double port_Bps,
                   const struct fan *fan)
{
    int first = p->trial.n;
    fans->host[fans->n] = host;
    fans->least_Bps[fans->n++] = (1 - ESPI_SPREAD) * fmin(3 * port_Bps, fan->sum);
    int added = add_fan(p, fan, 3 * port_Bps);
    if (added && fans->n > 1)
        added = all_fans_tell(p, fans);
    if (added < 1)
        take_back(p, fans, first);
    return added;
}

/* May the host's fan run beside the others of the trial? */
static int is_free(const struct espi_probing *p, const struct fans *fans, int host,
                   enum espi_fan_reach reach)
{
    const int *site = p->net.site;
    if (p->busy[host] & (fans->out ? 1 : 2))
        return 0;
    for (int h = 0; h < p->n && reach == ESPI_FAN_ALONE; h++)
        if (p->busy[h] && site[h] == site[host])
            return 0;
    for (int i = 0; i < fans->n && reach == ESPI_FAN_FAR; i++)
        if (site[fans->host[i]] == site[host])
            return 0; /* they may share what is on the way to other sites */
    return 1;
}

/* As many of the fans that are left as can run at once. -1 when out of memory. */
static int add_fans(struct espi_probing *p, struct fans *fans, enum espi_fan_reach reach,
                    unsigned char *done)
{
    const double *port_Bps = fans->out ? p->net.out_seen_Bps : p->net.in_seen_Bps;
    fans->n = 0;
    for (int h = 0; h < p->n; h++) {
        struct espi_arena_mark mark = espi_arena_mark(&p->arena);
        struct fan fan;
        int added = 0;
        if (done[h] || !is_free(p, fans, h, reach))
            continue;
        if (list_fan(p, h, fans->out, reach, &fan))
            return -1;
        if (fan.sum >= port_Bps[h] * (1 + 2 * ESPI_SPREAD))
            added = try_fan(p, fans, h, port_Bps[h], &fan);
        else if (p->trial.n == 0)
            added = 1; /* nobody could tell */
        if (added < 0)
            return -1;
        done[h] = (unsigned char)added;
        espi_arena_release(&p->arena, mark);
    }
    return 0;
}

/* Fans of all hosts whose port was never the reason why transfers were no faster, as far
 * as there is anybody to fill it. Gives how many rounds ran, -1 when out of memory. */
static int run_fans(struct espi_probing *p, int out, enum espi_fan_reach reach,
                    esp_status *status)
{
    const unsigned char *tried = out ? p->net.out_tried : p->net.in_tried;
    unsigned char *done = ESPI_ARENA_ZNEW(&p->arena, unsigned char, p->n);
    struct fans fans = {.out = out};
    int ran = 0;
    fans.host = ESPI_ARENA_NEW(&p->arena, int, p->n);
    fans.least_Bps = ESPI_ARENA_NEW(&p->arena, double, p->n);
    if (!done || !fans.host || !fans.least_Bps)
        return -1;
    memcpy(done, tried, (size_t)p->n);
    for (int any = 1; any && !*status && !espi_probe_is_late(p); ran += any) {
        if (add_fans(p, &fans, reach, done))
            return -1;
        any = p->trial.n > 0;
        if (any)
            *status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_NEAR_S);
    }
    return ran;
}

esp_status espi_probe_unsure_ports(struct espi_probing *p, enum espi_fan_reach reach)
{
    esp_status status = ESP_OK;
    for (int times = 0, ran = 1; times < 3 && ran && !status && !espi_probe_is_late(p);
         times++) {
        ran = 0;
        for (int out = 0; out < 2 && !status; out++) {
            int more = run_fans(p, out, reach, &status);
            if (more < 0)
                return espi_err_nomem(p->err);
            ran += more;
        }
        if (ran && !status)
            status = espi_probe_look(p);
    }
    return status;
}

esp_status espi_probe_ports(struct espi_probing *p)
{
    int *start, *members = espi_probe_members(p, &start);
    struct port_trial *trials =
        ESPI_ARENA_NEW(&p->arena, struct port_trial, 3 * (size_t)p->n + 1);
    if (!members || !trials)
        return espi_err_nomem(p->err);
    esp_status status =
        run_port_trials(p, trials, list_port_trials(p, members, start, trials));
    if (!status)
        status = espi_probe_look(p);
    if (!status)
        status = espi_probe_settle_doubts(p);
    /* what hosts of a site share is not known yet, so that ports of it are filled one by
     * one: of one site only, that is better done when it is known (settle_ports) */
    return status || p->net.n_sites < 2 ? status
                                        : espi_probe_unsure_ports(p, ESPI_FAN_ALONE);
}

/* ---- 3: subsites ---- */

/* Host number i of a ring through the n hosts in order; if crossed, of one that takes
 * turns between its halves. */
static int on_ring(const struct espi_probing *p, int n, int i, int crossed)
{
    return p->order[crossed ? i / 2 + i % 2 * ((n + 1) / 2) : i];
}

/* A ring through n hosts, in pieces that run one by one. */
static esp_status run_ring(struct espi_probing *p, int n, int crossed)
{
    esp_status status = ESP_OK;
    for (int from = 0, pieces = (n + p->at_once - 1) / p->at_once, k = 0; k < pieces;
         k++) {
        int to = (int)((long)n * (k + 1) / pieces), size = to - from;
        for (int i = 0; i < size && size >= 4; i++)
            espi_probe_add(p, on_ring(p, n, from + i, crossed),
                           on_ring(p, n, from + (i + 1) % size, crossed));
        from = to;
        status = status || espi_probe_is_late(p)
                     ? status
                     : espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_NEAR_S);
        p->trial.n = status ? 0 : p->trial.n;
    }
    memset(p->busy, 0, (size_t)p->n);
    p->trial.n = 0;
    return status;
}

/* Makes neighbours of every two hosts of an area, in random order: half of a ring then
 * stays within areas while the other half fills what is between them. */
static void pair_up_areas(struct espi_probing *p, int n)
{
    const int *area = p->net.subsite;
    for (int i = 0; i + 1 < n; i++) {
        int k = i + 1;
        while (k < n && area[p->order[k]] != area[p->order[i]])
            k++;
        if (k == n)
            continue;
        int other = p->order[k];
        p->order[k] = p->order[i + 1];
        p->order[++i] = other;
    }
}

/* Two rings through the site. On the first hosts are in random order; those of two
 * subsites may each lie together, so that only one transfer leaves either, and none is
 * held up. On the second they then do not. Once areas are known, the second one puts
 * them to the test. */
static esp_status run_two_rings(struct espi_probing *p, int site)
{
    int n = 0, first = p->net.first_subsite[site];
    int areas = p->net.first_subsite[site + 1] - first;
    for (int h = 0; h < p->n; h++)
        if (p->net.site[h] == site)
            p->order[n++] = h;
    espi_rng_shuffle(&p->rng, p->order, n);
    esp_status status = run_ring(p, n, 0);
    if (status)
        return status;
    if (areas > 1) {
        espi_rng_shuffle(&p->rng, p->order, n);
        pair_up_areas(p, n);
    }
    return run_ring(p, n, areas == 1);
}

static esp_status run_rings(struct espi_probing *p, int pairs, int only_shared)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < pairs; r++)
        for (int site = 0; site < p->net.n_sites && !status && !espi_probe_is_late(p);
             site++) {
            if (!only_shared || p->net.uneven[site])
                status = run_two_rings(p, site);
            const double half = 0.4; /* looks: parts of the progress */
            espi_probe_tell(p, (only_shared ? half : 0) +
                                   half * (r + (double)site / p->net.n_sites) / pairs);
        }
    return status;
}

/* All hosts of an area with others of the site, drawn at random, out or in. */
static esp_status run_border(struct espi_probing *p, int subsite, int out)
{
    const struct espi_measured *net = &p->net;
    int others = 0, next = 0;
    for (int h = 0; h < p->n; h++)
        if (net->subsite[h] != subsite && net->site[h] == net->subsite_site[subsite])
            p->order[others++] = h;
    espi_rng_shuffle(&p->rng, p->order, others);
    for (int h = 0; h < p->n && p->trial.n < p->at_once && next < others; h++)
        if (net->subsite[h] == subsite) {
            int other = p->order[next++];
            espi_probe_add(p, out ? h : other, out ? other : h);
        }
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_NEAR_S);
}

/* Of the same areas it is the same, of others hardly ever. */
static uint64_t hash_areas(const struct espi_probing *p)
{
    uint64_t hash = 0;
    for (int h = 0; h < p->n; h++) {
        hash ^= (uint64_t)p->net.subsite[h];
        hash *= UINT64_C(0x9e3779b97f4a7c15); /* published: 2^64 over the golden ratio */
        hash ^= hash >> 32;
    }
    return hash;
}

/* Rings through uneven sites until their subsites stay the same, and all have met. */
static esp_status settle_areas(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    uint64_t before = 0;
    for (int times = 0; times < 8 && !status && !espi_probe_is_late(p); times++) {
        status = run_rings(p, 2, 1);
        if (!status)
            status = espi_probe_look(p);
        uint64_t now = hash_areas(p);
        if (now == before && !p->net.subsites_unsure)
            break;
        before = now;
    }
    return status;
}

/* Ports are filled once it is known what their hosts share. Those that rest on one round
 * are tried again here where no other stage will. */
static esp_status settle_ports(struct espi_probing *p)
{
    esp_status status = espi_probe_unsure_ports(p, ESPI_FAN_NEAR);
    return status || p->net.n_sites > 1 ? status : espi_probe_settle_doubts(p);
}

esp_status espi_probe_areas(struct espi_probing *p)
{
    esp_status status = run_rings(p, 1, 0);
    int any = 0;
    if (!status)
        status = espi_probe_look(p);
    if (!status)
        status = espi_probe_settle_doubts(p);
    for (int site = 0; site < p->net.n_sites && !status; site++)
        any |= p->net.uneven[site];
    if (status || !any)
        return status ? status : settle_ports(p);
    status = settle_areas(p);
    for (int times = 0; times < 2; times++)
        for (int subsite = 0;
             subsite < p->net.n_subsites && !status && !espi_probe_is_late(p); subsite++)
            for (int out = 0; out < 2 && !status; out++)
                if (p->net.uneven[p->net.subsite_site[subsite]])
                    status = run_border(p, subsite, out);
    if (!status)
        status = espi_probe_look(p);
    if (!status)
        status = espi_probe_test_limits(p, 0);
    return status ? status : settle_ports(p);
}
