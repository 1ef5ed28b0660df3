/* The first stage of the probe: who is near whom. */
#include <math.h>

#include "measure/probe_impl.h"

/* Some pairs at a time until all have met. */
static esp_status meet_all(struct espi_probing *p, const int *a, const int *b, int n)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < n && !status; i++) {
        espi_probe_add(p, a[i], b[i]);
        if (p->trial.n == p->meet_at_once || i + 1 == n)
            status = espi_probe_run(p, ESPI_TRIAL_MEET, 0);
    }
    return status;
}

/* ---- 1: who is near whom ---- */

/* Pair k of round r of a tournament, in which n, rounded up to be even, meet each other
 * in one round less than they are; 0 if one of the two is not there. */
static int pair_of_circle(int n, int r, int k, int *a, int *b)
{
    int last = n + n % 2 - 1, x = k ? (r + k) % last : last;
    int y = k ? (r + last - k) % last : r;
    *a = x < y ? x : y;
    *b = x < y ? y : x;
    return *b < n;
}

/* Everybody meets everybody; few hosts do again, for few values tell of a site of two. */
static esp_status meet_in_circle(struct espi_probing *p, int *a, int *b)
{
    int even = p->n + p->n % 2,
        rounds = (p->n <= ESPI_ALL_PAIRS_MAX / 2 ? 2 : 1) * (even - 1);
    esp_status status = ESP_OK;
    for (int r = 0; r < rounds && !status && !espi_probe_is_late(p); r++) {
        int n = 0;
        for (int k = 0; k < even / 2; k++)
            n += pair_of_circle(p->n, r % (even - 1), k, &a[n], &b[n]);
        status = meet_all(p, a, b, n);
        espi_probe_tell(p, (double)(r + 1) / (rounds + 1));
    }
    return status;
}

static esp_status meet_at_random(struct espi_probing *p, int *a, int *b)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < ESPI_RANDOM_MATCHINGS && !status && !espi_probe_is_late(p); r++) {
        for (int h = 0; h < p->n; h++)
            p->order[h] = h;
        espi_rng_shuffle(&p->rng, p->order, p->n);
        for (int i = 0; i < p->n / 2; i++) {
            a[i] = p->order[2 * i];
            b[i] = p->order[2 * i + 1];
        }
        status = meet_all(p, a, b, p->n / 2);
        espi_probe_tell(p, 0.5 * (r + 1) / ESPI_RANDOM_MATCHINGS);
    }
    return status;
}

/* How well two sites know each other. */
struct acquaintance {
    int met;          /* how often their hosts did */
    double latency_s; /* the least */
};

struct meetings {
    struct acquaintance *of; /* by from * n_sites + to, from < to */
    unsigned char *knows;    /* by host * n_sites + site: has it met anybody there? */
    int *size;               /* of sites */
    unsigned char *taken;    /* sites of which a host meets another in this trial */
};

static int meetings_init(struct espi_probing *p, struct meetings *m)
{
    const struct espi_measured *net = &p->net;
    size_t s = (size_t)net->n_sites;
    m->of = ESPI_ARENA_ZNEW(&p->arena, struct acquaintance, s * s);
    m->knows = ESPI_ARENA_ZNEW(&p->arena, unsigned char, s *(size_t)p->n);
    m->size = ESPI_ARENA_ZNEW(&p->arena, int, s);
    m->taken = ESPI_ARENA_ZNEW(&p->arena, unsigned char, s);
    if (!m->of || !m->knows || !m->size || !m->taken)
        return -1;
    for (int h = 0; h < p->n; h++)
        m->size[net->site[h]]++;
    for (int i = 0; i < net->pairs.n; i++) {
        const struct espi_pair *pair = &net->pairs.at[i];
        size_t a = (size_t)net->site[pair->low], b = (size_t)net->site[pair->high];
        struct acquaintance *x = &m->of[a < b ? a * s + b : b * s + a];
        x->latency_s = x->met ? fmin(x->latency_s, pair->latency_s) : pair->latency_s;
        x->met += pair->tests;
        m->knows[(size_t)pair->low * s + b] = m->knows[(size_t)pair->high * s + a] = 1;
    }
    return 0;
}

/* How often two sites should have met: each latency is the least of several, and errors
 * make it longer. */
enum { MEETINGS_ENOUGH = 2 }; /* derived: one of them is not an error */

/* A free host of the site, from a random place on; -1: none. */
static int free_host(struct espi_probing *p, int site, int not_met)
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

/* Lets them meet, unless others of their sites do, which may share an uplink. */
static void add_meeting(struct espi_probing *p, struct meetings *m, int host, int site)
{
    int own = p->net.site[host];
    if (m->taken[own] || m->taken[site] || p->trial.n >= p->meet_at_once)
        return;
    espi_probe_add(p, host, free_host(p, site, host));
    m->taken[own] = m->taken[site] = 1;
}

/* A few hosts that seem to be a site may have nothing in common but that none has met its
 * own site yet. So each of them meets somebody of each other one. */
static void plan_introductions(struct espi_probing *p, struct meetings *m)
{
    int s = p->net.n_sites;
    for (int h = 0; h < p->n; h++) {
        int own = p->net.site[h];
        for (int site = 0; site < s && m->size[own] <= ESPI_FEW_HOSTS_OF_SITE; site++)
            if (site != own && !m->knows[(size_t)h * (size_t)s + (size_t)site])
                add_meeting(p, m, h, site);
    }
}

/* Two of each pair of sites that have hardly met. Gives the number of pairs in the trial.
 */
static int plan_meetings(struct espi_probing *p, struct meetings *m)
{
    int s = p->net.n_sites;
    plan_introductions(p, m);
    for (int need = 0; need < MEETINGS_ENOUGH; need++)
        for (int a = 0; a < s; a++)
            for (int b = a + 1; b < s && p->trial.n < p->meet_at_once; b++) {
                const struct acquaintance *x = &m->of[(size_t)a * (size_t)s + (size_t)b];
                if (x->met == need && !m->taken[a])
                    add_meeting(p, m, free_host(p, a, -1), b);
            }
    return p->trial.n;
}

static esp_status settle_sites(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < ESPI_SITE_ROUNDS_MAX && !status && !espi_probe_is_late(p); r++) {
        struct meetings m;
        status = espi_probe_look(p);
        if (status)
            break;
        if (meetings_init(p, &m))
            return espi_err_nomem(p->err);
        if (!plan_meetings(p, &m))
            break;
        status = espi_probe_run(p, ESPI_TRIAL_MEET, 0);
        espi_probe_tell(p, 0.5 + 0.5 * r / (r + 20));
    }
    return status;
}

esp_status espi_probe_sites(struct espi_probing *p)
{
    size_t room = (size_t)p->n + 1;
    int *a = ESPI_ARENA_NEW(&p->arena, int, room);
    int *b = ESPI_ARENA_NEW(&p->arena, int, room);
    if (!a || !b)
        return espi_err_nomem(p->err);
    esp_status status =
        p->n <= ESPI_ALL_PAIRS_MAX ? meet_in_circle(p, a, b) : meet_at_random(p, a, b);
    if (!status)
        status = settle_sites(p);
    return status ? status : espi_probe_look(p);
}
