/* The second and the third stage of the probe: ports of hosts, and borders of subsites
 * within sites. */
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

/* The k-th host after number i of a site in the same subsite; without subsites that are
 * large enough, of the site. */
static int mate(const struct espi_probing *p, const int *of, int size, int i, int k)
{
    int left = k;
    for (int step = 1; step < size; step++) {
        int other = of[(i + step) % size];
        if (p->net.subsite[other] == p->net.subsite[of[i]] && --left == 0)
            return other;
    }
    return of[(i + k) % size];
}

/* Hosts that seem slower than half of their site are tried again, with others; -1 when
 * out of memory. */
static int list_slow(struct espi_probing *p, const int *members, const int *start,
                     struct port_trial *trials)
{
    int n = 0;
    double *values = ESPI_ARENA_NEW(&p->arena, double, p->n);
    if (!values)
        return -1;
    for (int site = 0; site < p->net.n_sites; site++) {
        int size = start[site + 1] - start[site];
        const int *of = &members[start[site]];
        for (int out = 0; out < 2 && size > 2; out++) {
            const double *port = out ? p->net.out_Bps : p->net.in_Bps;
            for (int i = 0; i < size; i++)
                values[i] = port[of[i]];
            double top = espi_top_value(values, size);
            for (int i = 0; i < size; i++)
                if (port[of[i]] < ESPI_FILLED * top)
                    trials[n++] = (struct port_trial){
                        {of[i], mate(p, of, size, i, 1), mate(p, of, size, i, 2)},
                        out ? 1 : 2};
        }
    }
    return n;
}

/* Up to three times, for what is to correct errors may be one. */
esp_status espi_probe_retry_ports(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    for (int times = 0, n = 1; times < 3 && n && !status; times++) {
        int *start, *members = espi_probe_members(p, &start);
        struct port_trial *trials =
            ESPI_ARENA_NEW(&p->arena, struct port_trial, 2 * (size_t)p->n + 1);
        if (!members || !trials)
            return espi_err_nomem(p->err);
        n = list_slow(p, members, start, trials);
        status = n < 0 ? espi_err_nomem(p->err) : run_port_trials(p, trials, n);
        if (!status)
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
    return status ? status : espi_probe_retry_ports(p);
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

/* Two rings through the site. On the first hosts are in random order; those of two
 * subsites may each lie together, so that only one transfer leaves either, and none is
 * held up. On the second they then do not. */
static esp_status run_two_rings(struct espi_probing *p, int site)
{
    int n = 0;
    for (int h = 0; h < p->n; h++)
        if (p->net.site[h] == site)
            p->order[n++] = h;
    espi_rng_shuffle(&p->rng, p->order, n);
    esp_status status = run_ring(p, n, 0);
    return status ? status : run_ring(p, n, 1);
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

/* All hosts of an subsite with others of the site, out or in. */
static esp_status run_border(struct espi_probing *p, int subsite, int out)
{
    const struct espi_measured *net = &p->net;
    int other = 0;
    for (int h = 0; h < p->n && p->trial.n < p->at_once; h++) {
        if (net->subsite[h] != subsite)
            continue;
        while (other < p->n && (net->subsite[other] == subsite ||
                                net->site[other] != net->subsite_site[subsite]))
            other++;
        if (other == p->n)
            break;
        espi_probe_add(p, out ? h : other, out ? other : h);
        other++;
    }
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_NEAR_S);
}

/* Rings through uneven sites until their subsites stay the same, and all have met. */
static esp_status settle_areas(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    for (int times = 0, before = -1; times < 6 && !status && !espi_probe_is_late(p);
         times++) {
        status = run_rings(p, 2, 1);
        if (!status)
            status = espi_probe_look(p);
        if (!status)
            status = espi_probe_settle_doubts(p);
        if (p->net.n_subsites == before && !p->net.subsites_unsure)
            break;
        before = p->net.n_subsites;
    }
    return status;
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
        return status;
    status = settle_areas(p);
    for (int times = 0; times < 2; times++)
        for (int subsite = 0;
             subsite < p->net.n_subsites && !status && !espi_probe_is_late(p); subsite++)
            for (int out = 0; out < 2 && !status; out++)
                if (p->net.uneven[p->net.subsite_site[subsite]])
                    status = run_border(p, subsite, out);
    if (!status)
        status = espi_probe_look(p);
    return status ? status : espi_probe_retry_ports(p);
}
