/* The first stage of the probe: who is near whom. */
#include "measure/probe_impl.h"

enum { ALL_PAIRS_MAX = 24, RANDOM_MATCHINGS = 6, SITE_ROUNDS_MAX = 400, ALONE_MAX = 16 };

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

/* Everybody meets everybody: the circle of a tournament. */
static esp_status meet_in_circle(struct espi_probing *p, int *a, int *b)
{
    int even = p->n + p->n % 2;
    esp_status status = ESP_OK;
    for (int r = 0; r < even - 1 && !status && !espi_probe_is_late(p); r++) {
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
        espi_probe_tell(p, (double)(r + 1) / even);
    }
    return status;
}

static esp_status meet_at_random(struct espi_probing *p, int *a, int *b)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < RANDOM_MATCHINGS && !status && !espi_probe_is_late(p); r++) {
        for (int h = 0; h < p->n; h++)
            p->order[h] = h;
        espi_rng_shuffle(&p->rng, p->order, p->n);
        for (int i = 0; i < p->n / 2; i++) {
            a[i] = p->order[2 * i];
            b[i] = p->order[2 * i + 1];
        }
        status = meet_all(p, a, b, p->n / 2);
        espi_probe_tell(p, 0.5 * (r + 1) / RANDOM_MATCHINGS);
    }
    return status;
}

/* How often hosts of the sites have met, by from * n_sites + to, from < to. */
static int *count_meetings(struct espi_probing *p)
{
    const struct espi_measured *net = &p->net;
    int s = net->n_sites, *met = ESPI_ARENA_ZNEW(&p->arena, int, (size_t)s *(size_t)s);
    for (int i = 0; met && i < net->pairs.n; i++) {
        const struct espi_pair *pair = &net->pairs.at[i];
        int a = net->site[pair->low], b = net->site[pair->high];
        met[(a < b ? a : b) * s + (a < b ? b : a)] += pair->tests;
    }
    return met;
}

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

/* Two of each pair of sites that have hardly met, but no two of one site, which may share
 * its uplink. Gives the number of pairs in the trial. */
static int plan_meetings(struct espi_probing *p, const int *met, const int *size,
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
                espi_probe_add(p, x, free_host(p, b, x));
                taken[a] = taken[b] = 1;
            }
    return p->trial.n;
}

static esp_status settle_sites(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    for (int r = 0; r < SITE_ROUNDS_MAX && !status && !espi_probe_is_late(p); r++) {
        status = espi_probe_look(p);
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
        status = espi_probe_run(p, ESPI_TRIAL_MEET, 0);
        espi_probe_tell(p, 0.5 + 0.5 * r / (r + 20));
    }
    return status;
}

/* Two of each pair of sites meet alone: nothing that others do makes them seem apart. */
static esp_status meet_alone(struct espi_probing *p)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int a = 0; a < s && s <= ALONE_MAX; a++)
        for (int b = a + 1; b < s && !status && !espi_probe_is_late(p); b++) {
            int x = free_host(p, a, -1);
            espi_probe_add(p, x, free_host(p, b, x));
            status = espi_probe_run(p, ESPI_TRIAL_MEET, 0);
        }
    return status ? status : espi_probe_look(p);
}

/* Once more where sites have turned out to be one. */
static esp_status confirm_sites(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    for (int times = 0, before = -1; times < 4 && !status && !espi_probe_is_late(p);
         times++) {
        status = settle_sites(p);
        if (!status)
            status = espi_probe_look(p);
        if (status || p->net.n_sites == before)
            break;
        before = p->net.n_sites;
        status = meet_alone(p);
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
        p->n <= ALL_PAIRS_MAX ? meet_in_circle(p, a, b) : meet_at_random(p, a, b);
    if (!status)
        status = confirm_sites(p);
    return status ? status : espi_probe_look(p);
}
