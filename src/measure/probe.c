/* Rounds, stage after stage:
 * 1. who is near whom: all pairs of up to 24 hosts; of more, some random pairs, and then
 *    pairs of hosts from different sites as far as sites are known, until no two sites
 *    turn out to be one,
 * 2. ports: every host with one and with two others of its site, out and in,
 * 3. areas: transfers all through a site; further ones only where some are held up,
 * 4. cables: representatives of sites, one transfer a cable, several, all cables at once;
 *    where these are in each other's way, what they share is looked for.
 * Each stage ends early when its part of the time is up; each begins with what matters
 * most. Few transfers run at once (16, or an eighth of the hosts), for on machines that
 * share processors more would measure those; and fewer pairs meet, for uplinks that they
 * share would make them seem far apart. */
#include "measure/probe.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "measure/network.h"

enum {
    ALL_PAIRS_MAX = 24,
    RANDOM_MATCHINGS = 6,
    SITE_ROUNDS_MAX = 400,
    AT_ONCE = 16,
    MEET_AT_ONCE = 6,
    ALONE_MAX = 16
};

#define NEAR_S 0.15 /* how long a transfer within a site lasts, and one between sites */
#define FAR_S  0.5

struct probing {
    const struct espi_prober *prober;
    struct espi_samples *samples;
    struct espi_arena arena;
    struct espi_rng rng;
    int n, at_once, meet_at_once, round;
    double start_s;
    const char *stage;
    double stage_from, stage_to; /* parts of the budget */
    struct espi_network net;     /* as of the last look() */
    struct espi_trial trial;
    unsigned char *busy; /* hosts of the trial; bit 0: sends, bit 1: receives */
    int *order;          /* room for hosts */
    struct esp_err *err;
};

/* ---- time ---- */

static double elapsed_s(const struct probing *p)
{
    return p->prober->now_s(p->prober->context) - p->start_s;
}

static int is_late(const struct probing *p)
{
    return elapsed_s(p) > p->stage_to * p->prober->budget_s;
}

static void begin(struct probing *p, const char *stage, double to)
{
    p->stage = stage;
    p->stage_from = p->stage_to;
    p->stage_to = to;
}

/* Stages rarely need all of their time. */
static void tell(const struct probing *p, double part)
{
    double whole = p->stage_from + (p->stage_to - p->stage_from) * fmin(part, 1);
    double spent_s = elapsed_s(p);
    double pace = fmin(1, spent_s / fmax(1e-3, whole * p->prober->budget_s));
    if (p->prober->progress)
        p->prober->progress(p->prober->context, p->stage, whole,
                            (1 - whole) * p->prober->budget_s * fmax(pace, 0.2));
}

/* ---- trials ---- */

static double expected_Bps(const struct probing *p, int from, int to)
{
    if (!p->net.site)
        return -1;
    int a = p->net.site[from], b = p->net.site[to];
    if (a != b && isinf(p->net.flow_Bps[a * p->net.n_sites + b]))
        return -1;
    double Bps = espi_network_flow_Bps(&p->net, from, to);
    return Bps > 0 && isfinite(Bps) ? Bps : -1;
}

static double seen_latency_s(const struct probing *p, int from, int to)
{
    const struct espi_pair *pair =
        p->net.site ? espi_pairs_find(&p->net.pairs, from, to) : NULL;
    return pair ? pair->latency_s : -1;
}

static void add(struct probing *p, int from, int to)
{
    p->busy[from] |= 1;
    p->busy[to] |= 2;
    p->trial.pairs[p->trial.n++] = (struct espi_trial_pair){
        from, to, expected_Bps(p, from, to), seen_latency_s(p, from, to)};
}

static esp_status run(struct probing *p, enum espi_trial_kind kind, double seconds)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < p->trial.n; i++) /* slow start takes some round trips */
        seconds = fmax(seconds, fmin(2, 20 * p->trial.pairs[i].latency_s));
    p->trial.kind = kind;
    p->trial.seconds = seconds;
    p->trial.round = p->round++;
    if (p->trial.n)
        status = p->prober->run(p->prober->context, &p->trial, p->samples, p->err);
    for (int i = 0; i < p->trial.n; i++)
        p->busy[p->trial.pairs[i].from] = p->busy[p->trial.pairs[i].to] = 0;
    p->trial.n = 0;
    return status;
}

/* Digests what there is so far. */
static esp_status look(struct probing *p)
{
    espi_network_done(&p->net);
    memset(&p->net, 0, sizeof p->net);
    espi_arena_done(&p->arena);
    return espi_network_init(&p->net, p->samples, &p->arena, p->err);
}

/* Some pairs at a time until all have met. */
static esp_status meet_all(struct probing *p, const int *a, const int *b, int n)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < n && !status; i++) {
        add(p, a[i], b[i]);
        if (p->trial.n == p->meet_at_once || i + 1 == n)
            status = run(p, ESPI_TRIAL_MEET, 0);
    }
    return status;
}

/* ---- 1: who is near whom ---- */

/* Everybody meets everybody: the circle of a tournament. */
static esp_status meet_in_circle(struct probing *p, int *a, int *b)
{
    int even = p->n + p->n % 2;
    esp_status status = ESP_OK;
    for (int r = 0; r < even - 1 && !status && !is_late(p); r++) {
        int n = 0;
        for (int k = 0; k < even / 2; k++) {
            int x = k ? (r + k) % (even - 1) : even - 1;
            int y = k ? (r + even - 1 - k) % (even - 1) : r;
            if (x >= p->n || y >= p->n)
                continue;
            a[n] = x < y ? x : y;
            b[n++] = x < y ? y : x;
        }
        status = meet_all(p, a, b, n);
        tell(p, (double)(r + 1) / even);
    }
    return status;
}

static esp_status meet_at_random(struct probing *p, int *a, int *b)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < RANDOM_MATCHINGS && !status && !is_late(p); r++) {
        for (int h = 0; h < p->n; h++)
            p->order[h] = h;
        espi_rng_shuffle(&p->rng, p->order, p->n);
        for (int i = 0; i < p->n / 2; i++) {
            a[i] = p->order[2 * i];
            b[i] = p->order[2 * i + 1];
        }
        status = meet_all(p, a, b, p->n / 2);
        tell(p, 0.5 * (r + 1) / RANDOM_MATCHINGS);
    }
    return status;
}

/* How often hosts of the sites have met, by from * n_sites + to, from < to. */
static int *count_meetings(struct probing *p)
{
    const struct espi_network *net = &p->net;
    int s = net->n_sites, *met = ESPI_ARENA_ZNEW(&p->arena, int, (size_t)s *(size_t)s);
    for (int i = 0; met && i < net->pairs.n; i++) {
        const struct espi_pair *pair = &net->pairs.at[i];
        int a = net->site[pair->low], b = net->site[pair->high];
        met[(a < b ? a : b) * s + (a < b ? b : a)] += pair->tests;
    }
    return met;
}

/* A free host of the site, from a random place on; -1: none. */
static int free_host(struct probing *p, int site, int not_met)
{
    int from = (int)espi_rng_below(&p->rng, (uint32_t)p->n), found = -1;
    for (int i = 0; i < p->n; i++) {
        int h = (from + i) % p->n;
        if (p->net.site[h] != site || p->busy[h])
            continue;
        if (not_met < 0 || !espi_pairs_find(&p->net.pairs, h, not_met))
            return h;
        found = h;
    }
    return found;
}

/* Two of each pair of sites that have hardly met, but no two of one site, which may share
 * its uplink. Gives the number of pairs in the trial. */
static int plan_meetings(struct probing *p, const int *met, const int *size,
                         unsigned char *taken)
{
    int s = p->net.n_sites;
    for (int need = 0; need < 4; need++)
        for (int a = 0; a < s; a++)
            for (int b = a + 1; b < s && p->trial.n < p->meet_at_once; b++) {
                int enough = size[a] > 1 && size[b] > 1 ? 3 : 4;
                if (met[a * s + b] != need || need >= enough || taken[a] || taken[b])
                    continue;
                int x = free_host(p, a, -1);
                add(p, x, free_host(p, b, x));
                taken[a] = taken[b] = 1;
            }
    return p->trial.n;
}

static esp_status settle_sites(struct probing *p)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < SITE_ROUNDS_MAX && !status && !is_late(p); r++) {
        status = look(p);
        if (status)
            break;
        int *met = count_meetings(p);
        int *size = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
        unsigned char *taken = ESPI_ARENA_ZNEW(&p->arena, unsigned char, p->net.n_sites);
        if (!met || !size || !taken)
            return espi_err_nomem(p->err);
        for (int h = 0; h < p->n; h++)
            size[p->net.site[h]]++;
        if (!plan_meetings(p, met, size, taken))
            break;
        status = run(p, ESPI_TRIAL_MEET, 0);
        tell(p, 0.5 + 0.5 * r / (r + 20));
    }
    return status;
}

/* Two of each pair of sites meet alone: nothing that others do makes them seem apart. */
static esp_status meet_alone(struct probing *p)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int a = 0; a < s && s <= ALONE_MAX; a++)
        for (int b = a + 1; b < s && !status && !is_late(p); b++) {
            int x = free_host(p, a, -1);
            add(p, x, free_host(p, b, x));
            status = run(p, ESPI_TRIAL_MEET, 0);
        }
    return status ? status : look(p);
}

/* Once more where sites have turned out to be one. */
static esp_status confirm_sites(struct probing *p)
{
    esp_status status = ESP_OK;
    for (int times = 0, before = -1; times < 4 && !status && !is_late(p); times++) {
        status = settle_sites(p);
        if (!status)
            status = look(p);
        if (status || p->net.n_sites == before)
            break;
        before = p->net.n_sites;
        status = meet_alone(p);
    }
    return status;
}

static esp_status find_sites(struct probing *p)
{
    size_t room = (size_t)p->n + 1;
    int *a = ESPI_ARENA_NEW(&p->arena, int, room);
    int *b = ESPI_ARENA_NEW(&p->arena, int, room);
    if (!a || !b)
        return espi_err_nomem(p->err);
    esp_status status =
        p->n <= ALL_PAIRS_MAX ? meet_in_circle(p, a, b) : meet_at_random(p, a, b);
    if (!status)
        status = confirm_sites(p);
    return status ? status : look(p);
}

/* ---- 2: ports ---- */

/* The members of all sites, one after the other; *start has a place for each site. */
static int *list_members(struct probing *p, int **start)
{
    int s = p->net.n_sites, n = 0;
    int *members = ESPI_ARENA_NEW(&p->arena, int, p->n);
    *start = ESPI_ARENA_NEW(&p->arena, int, (size_t)s + 1);
    if (!members || !*start)
        return NULL;
    for (int site = 0; site < s; site++) {
        (*start)[site] = n;
        for (int h = 0; h < p->n; h++)
            if (p->net.site[h] == site)
                members[n++] = h;
    }
    (*start)[s] = n;
    return members;
}

/* One of the port trials: host number i of a site with its neighbours. */
struct port_trial {
    int host[3];
    int pattern; /* 0: single; 1: out to two; 2: in from two */
};

static int fits(const struct probing *p, const struct port_trial *t)
{
    return p->trial.n + 1 + (t->pattern > 0) <= p->at_once && !p->busy[t->host[0]] &&
           !p->busy[t->host[1]] && (t->pattern == 0 || !p->busy[t->host[2]]);
}

static void add_port_trial(struct probing *p, const struct port_trial *t)
{
    for (int k = 1; k <= 1 + (t->pattern > 0); k++)
        if (t->pattern == 2)
            add(p, t->host[k], t->host[0]);
        else
            add(p, t->host[0], t->host[k]);
}

static int list_port_trials(const struct probing *p, const int *members, const int *start,
                            struct port_trial *trials)
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
static esp_status run_port_trials(struct probing *p, struct port_trial *trials, int n)
{
    int all = n;
    esp_status status = ESP_OK;
    while (n && !status && !is_late(p)) {
        int left = 0;
        for (int i = 0; i < n; i++)
            if (fits(p, &trials[i]))
                add_port_trial(p, &trials[i]);
            else
                trials[left++] = trials[i];
        n = left;
        status = run(p, ESPI_TRIAL_FLOWS, NEAR_S);
        tell(p, 1 - (double)n / all);
    }
    return status;
}

/* The k-th host after number i of a site in the same area; without areas that are large
 * enough, of the site. */
static int mate(const struct probing *p, const int *of, int size, int i, int k)
{
    int left = k;
    for (int step = 1; step < size; step++) {
        int other = of[(i + step) % size];
        if (p->net.area[other] == p->net.area[of[i]] && --left == 0)
            return other;
    }
    return of[(i + k) % size];
}

/* Hosts that seem slower than half of their site are tried again, with others. */
static int list_doubts(struct probing *p, const int *members, const int *start,
                       struct port_trial *trials)
{
    int n = 0;
    double *values = ESPI_ARENA_NEW(&p->arena, double, p->n);
    for (int site = 0; values && site < p->net.n_sites; site++) {
        int size = start[site + 1] - start[site];
        const int *of = &members[start[site]];
        for (int out = 0; out < 2 && size > 2; out++) {
            const double *port = out ? p->net.out_Bps : p->net.in_Bps;
            for (int i = 0; i < size; i++)
                values[i] = port[of[i]];
            double top = espi_top_value(values, size);
            for (int i = 0; i < size; i++)
                if (port[of[i]] < 0.93 * top)
                    trials[n++] = (struct port_trial){
                        {of[i], mate(p, of, size, i, 1), mate(p, of, size, i, 2)},
                        out ? 1 : 2};
        }
    }
    return n;
}

static esp_status retry_ports(struct probing *p)
{
    int *start, *members = list_members(p, &start);
    struct port_trial *trials =
        ESPI_ARENA_NEW(&p->arena, struct port_trial, 2 * (size_t)p->n + 1);
    if (!members || !trials)
        return espi_err_nomem(p->err);
    esp_status status =
        run_port_trials(p, trials, list_doubts(p, members, start, trials));
    return status ? status : look(p);
}

static esp_status find_ports(struct probing *p)
{
    int *start, *members = list_members(p, &start);
    struct port_trial *trials =
        ESPI_ARENA_NEW(&p->arena, struct port_trial, 3 * (size_t)p->n + 1);
    if (!members || !trials)
        return espi_err_nomem(p->err);
    esp_status status =
        run_port_trials(p, trials, list_port_trials(p, members, start, trials));
    if (!status)
        status = look(p);
    return status ? status : retry_ports(p);
}

/* ---- 3: areas ---- */

/* A ring through hosts of the site in random order, in pieces that run one by one. */
static esp_status run_ring(struct probing *p, int site)
{
    int n = 0;
    esp_status status = ESP_OK;
    for (int h = 0; h < p->n; h++)
        if (p->net.site[h] == site)
            p->order[n++] = h;
    espi_rng_shuffle(&p->rng, p->order, n);
    for (int from = 0, pieces = (n + p->at_once - 1) / p->at_once, k = 0; k < pieces;
         k++) {
        int to = (int)((long)n * (k + 1) / pieces), size = to - from;
        for (int i = 0; i < size && size >= 4; i++)
            add(p, p->order[from + i], p->order[from + (i + 1) % size]);
        from = to;
        status = status || is_late(p) ? status : run(p, ESPI_TRIAL_FLOWS, NEAR_S);
        p->trial.n = status ? 0 : p->trial.n;
    }
    memset(p->busy, 0, (size_t)p->n);
    p->trial.n = 0;
    return status;
}

static esp_status run_rings(struct probing *p, int times, int only_shared)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < times; r++)
        for (int site = 0; site < p->net.n_sites && !status && !is_late(p); site++) {
            if (!only_shared || p->net.uneven[site])
                status = run_ring(p, site);
            tell(p, (only_shared ? 0.4 : 0) +
                        0.4 * (r + (double)site / p->net.n_sites) / times);
        }
    return status;
}

/* All hosts of an area with others of the site, out or in. */
static esp_status run_border(struct probing *p, int area, int out)
{
    const struct espi_network *net = &p->net;
    int other = 0;
    for (int h = 0; h < p->n && p->trial.n < p->at_once; h++) {
        if (net->area[h] != area)
            continue;
        while (other < p->n &&
               (net->area[other] == area || net->site[other] != net->area_site[area]))
            other++;
        if (other == p->n)
            break;
        add(p, out ? h : other, out ? other : h);
        other++;
    }
    return run(p, ESPI_TRIAL_FLOWS, NEAR_S);
}

/* Rings through uneven sites until their areas stay the same. */
static esp_status settle_areas(struct probing *p)
{
    esp_status status = ESP_OK;
    for (int times = 0, before = -1; times < 6 && !status && !is_late(p); times++) {
        status = run_rings(p, 4, 1);
        if (!status)
            status = look(p);
        if (p->net.n_areas == before)
            break;
        before = p->net.n_areas;
    }
    return status;
}

static esp_status find_areas(struct probing *p)
{
    esp_status status = run_rings(p, 2, 0);
    int any = 0;
    if (!status)
        status = look(p);
    for (int site = 0; site < p->net.n_sites && !status; site++)
        any |= p->net.uneven[site];
    if (status || !any)
        return status;
    status = settle_areas(p);
    for (int times = 0; times < 2; times++)
        for (int area = 0; area < p->net.n_areas && !status && !is_late(p); area++)
            for (int out = 0; out < 2 && !status; out++)
                if (p->net.uneven[p->net.area_site[area]])
                    status = run_border(p, area, out);
    if (!status)
        status = look(p);
    return status ? status : retry_ports(p);
}

/* ---- 4: cables ---- */

struct reps {
    const int *members, *start;
    int *next_out, *next_in; /* of sites: whose turn it is */
};

static int size_of(const struct reps *r, int site)
{
    return r->start[site + 1] - r->start[site];
}

/* Adds n transfers between different hosts, as far as the sites have them. Senders come
 * from the front, receivers from the back, so that few hosts do both. */
static void add_flows(struct probing *p, struct reps *r, int from, int to, int n)
{
    int senders = size_of(r, from), receivers = size_of(r, to);
    n = n < senders ? n : senders;
    n = n < receivers ? n : receivers;
    for (int i = 0; i < n; i++) {
        int a = r->next_out[from]++ % senders, b = r->next_in[to]++ % receivers;
        add(p, r->members[r->start[from] + a],
            r->members[r->start[to] + receivers - 1 - b]);
    }
}

static void reset_turns(const struct probing *p, struct reps *r)
{
    memset(r->next_out, 0, (size_t)p->net.n_sites * sizeof *r->next_out);
    memset(r->next_in, 0, (size_t)p->net.n_sites * sizeof *r->next_in);
}

/* Each site sends to one and receives from one, but no two to each other at once. */
static esp_status run_shifts(struct probing *p, struct reps *r, int flows, double from,
                             double to)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int shift = 1; shift < s && !status && !is_late(p); shift++) {
        int halves = 2 * shift == s ? 2 : 1;
        for (int half = 0; half < halves && !status; half++) {
            reset_turns(p, r);
            for (int a = half * shift; a < (half + 1) * s / halves; a++)
                add_flows(p, r, a, (a + shift) % s, flows);
            status = run(p, ESPI_TRIAL_FLOWS, FAR_S);
        }
        tell(p, from + (to - from) * shift / s);
    }
    return status;
}

/* All cables at once, of each pair of sites in one direction: in both, acknowledgements
 * that wait behind data would slow transfers down. One site sends to all others, the next
 * to all but that one, and so on. Of many sites, some pairs. */
static esp_status run_all(struct probing *p, struct reps *r, int first)
{
    int s = p->net.n_sites, reach = s <= 8 ? s - 1 : 3;
    reset_turns(p, r);
    for (int i = 0; i < s; i++)
        for (int j = i + 1; j < s && j <= i + reach; j++)
            add_flows(p, r, (first + i) % s, (first + j) % s, 1);
    return run(p, ESPI_TRIAL_FLOWS, FAR_S);
}

/* One cable alone: what all rounds of several have in common shows only so. */
static esp_status run_alone(struct probing *p, struct reps *r, int from)
{
    reset_turns(p, r);
    add_flows(p, r, from, (from + 1) % p->net.n_sites, 1);
    return run(p, ESPI_TRIAL_FLOWS, FAR_S);
}

static esp_status run_fan(struct probing *p, struct reps *r, int site, int out)
{
    reset_turns(p, r);
    for (int other = 0; other < p->net.n_sites && p->trial.n < 4 * AT_ONCE; other++)
        if (other != site)
            add_flows(p, r, out ? site : other, out ? other : site, 1);
    return run(p, ESPI_TRIAL_FLOWS, FAR_S);
}

static esp_status run_there_and_back(struct probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int a = 0; a < s; a++)
        for (int b = a + 1; b < s && !status && !is_late(p); b++) {
            reset_turns(p, r);
            add_flows(p, r, a, b, 1);
            add_flows(p, r, b, a, 1);
            status = run(p, ESPI_TRIAL_FLOWS, FAR_S);
        }
    return status;
}

/* What the cables share: first each of them alone, for the rates so far are of several
 * at once. */
static esp_status look_closer(struct probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int k = 0; k < s * s && !status && !is_late(p); k++) {
        reset_turns(p, r);
        if (k / s != k % s)
            add_flows(p, r, k / s, k % s, 1);
        status = run(p, ESPI_TRIAL_FLOWS, FAR_S);
    }
    for (int out = 0; out < 4 && s > 2; out++)
        for (int site = 0; site < s && !status && !is_late(p); site++)
            status = run_fan(p, r, site, out % 2);
    for (int times = 0; times < 2 && !status; times++)
        status = run_there_and_back(p, r);
    return status;
}

/* Where several transfers got all that they could, more are tried. */
static esp_status try_wider(struct probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int k = 0; k < s * s && !status && !is_late(p); k++) {
        int a = k / s, b = k % s, most = size_of(r, a), known = 0;
        most = most < size_of(r, b) ? most : size_of(r, b);
        for (size_t c = 0; c < p->net.n_shared; c++)
            for (int i = 0; i < p->net.shared[c].n_pairs; i++) {
                const struct espi_area_pair *ab =
                    &p->net.area_pairs[p->net.shared[c].first + i];
                known |= p->net.area_site[ab->from] == a && p->net.area_site[ab->to] == b;
            }
        if (a == b || known || most <= 3)
            continue;
        reset_turns(p, r);
        add_flows(p, r, a, b, most < p->at_once ? most : p->at_once);
        status = run(p, ESPI_TRIAL_FLOWS, FAR_S);
    }
    return status;
}

/* The lists lie in the arena, which look() empties. */
static esp_status list_reps(struct probing *p, struct reps *r)
{
    int *start;
    r->members = list_members(p, &start);
    r->start = start;
    r->next_out = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
    r->next_in = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
    return r->members && r->next_out && r->next_in ? ESP_OK : espi_err_nomem(p->err);
}

static esp_status look_again(struct probing *p, struct reps *r)
{
    esp_status status = look(p);
    return status ? status : list_reps(p, r);
}

static esp_status find_cables(struct probing *p)
{
    struct reps r;
    esp_status status = list_reps(p, &r);
    if (status || p->net.n_sites < 2)
        return status;
    for (int k = 0; k < 4 && !status; k++) /* one transfer, three, and again */
        status = run_shifts(p, &r, k % 2 ? 3 : 1, 0.15 * k, 0.15 * (k + 1));
    for (int k = 0; k < 2 * p->net.n_sites && k < 16 && !status && !is_late(p); k++)
        status = k % 2 ? run_all(p, &r, k / 2) : run_alone(p, &r, k / 2);
    if (!status)
        status = look_again(p, &r);
    if (!status && p->net.crossed)
        status = look_closer(p, &r);
    for (int k = 0; k < 2 && !status && p->net.n_sites == 2; k++)
        status = run_there_and_back(p, &r);
    tell(p, 0.75);
    if (!status)
        status = look_again(p, &r);
    if (!status)
        status = try_wider(p, &r);
    tell(p, 1);
    return status;
}

/* ---- the whole ---- */

static esp_status run_stages(struct probing *p)
{
    begin(p, "who is near whom", 0.4);
    esp_status status = find_sites(p);
    if (!status) {
        begin(p, "ports of hosts", 0.55);
        status = find_ports(p);
    }
    if (!status) {
        begin(p, "borders within sites", 0.7);
        status = find_areas(p);
    }
    if (!status) {
        begin(p, "cables between sites", 1);
        status = find_cables(p);
    }
    return status;
}

esp_status espi_probe(const struct espi_prober *prober, struct espi_samples *samples,
                      struct esp_err *err)
{
    int n = espi_samples_hosts(samples);
    struct probing p = {.prober = prober,
                        .samples = samples,
                        .n = n,
                        .at_once = n / 8 > AT_ONCE ? n / 8 : AT_ONCE,
                        .meet_at_once = n / 16 > MEET_AT_ONCE ? n / 16 : MEET_AT_ONCE,
                        .round = espi_samples_last_round(samples) + 1,
                        .start_s = prober->now_s(prober->context),
                        .err = err};
    struct espi_arena fixed;
    if (n < 2)
        return ESP_OK;
    espi_arena_init(&fixed);
    espi_arena_init(&p.arena);
    espi_rng_seed(&p.rng, 1);
    /* room for every pair of sites and for 16 transfers a cable */
    p.trial.pairs =
        ESPI_ARENA_NEW(&fixed, struct espi_trial_pair, 16 * (size_t)n + 64 * AT_ONCE);
    p.busy = ESPI_ARENA_ZNEW(&fixed, unsigned char, n);
    p.order = ESPI_ARENA_NEW(&fixed, int, n);
    esp_status status =
        p.trial.pairs && p.busy && p.order ? run_stages(&p) : espi_err_nomem(err);
    espi_network_done(&p.net);
    espi_arena_done(&p.arena);
    espi_arena_done(&fixed);
    return status;
}
