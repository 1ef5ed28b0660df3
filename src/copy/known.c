#include "copy/known.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "copy/tuning.h"
#include "measure/sites.h"

enum { STEM_MAX = 256 }; /* limit: of a name's stem; longer ones are cut */

void espi_known_init(struct espi_known *k)
{
    *k = (struct espi_known){0};
}

void espi_known_done(struct espi_known *k)
{
    for (int i = 0; i < k->n_hosts; i++)
        espi_free(k->host[i].name);
    espi_free(k->host);
    espi_free(k->cable);
    espi_free(k->latency_s);
    espi_known_init(k);
}

/* ---- hosts ---- */

static int find_known(const struct espi_known *k, const char *name)
{
    for (int i = 0; i < k->n_hosts; i++)
        if (strcmp(k->host[i].name, name) == 0)
            return i;
    return -1;
}

static esp_status append_host(struct espi_known *k, const char *name, struct esp_err *err)
{
    void *grown = k->host;
    char *own = espi_strdup(name);
    if (!own || espi_grow(&grown, &k->room, (size_t)k->n_hosts + 1, sizeof *k->host)) {
        espi_free(own);
        return espi_err_nomem(err);
    }
    k->host = grown;
    k->host[k->n_hosts++] =
        (struct espi_known_host){.name = own, .site = -1, .is_new = 1};
    k->version++;
    return ESP_OK;
}

esp_status espi_known_add(struct espi_known *k, const char *name, int *host,
                          struct esp_err *err)
{
    int i = find_known(k, name);
    esp_status status = i < 0 ? append_host(k, name, err) : ESP_OK;
    if (status)
        return status;
    *host = i < 0 ? k->n_hosts - 1 : i;
    k->host[*host].is_here = 1;
    return ESP_OK;
}

int espi_known_has_all(const struct espi_known *k)
{
    for (int i = 0; i < k->n_hosts; i++)
        if (k->host[i].is_here && k->host[i].is_new)
            return 0;
    return 1;
}

/* ---- sites ---- */

/* So many sites, those of the file with what it says of them. */
static esp_status set_sites(struct espi_known *k, int n, struct esp_err *err)
{
    size_t cells = (size_t)n * (size_t)n + 1;
    struct espi_known_rate *cable = espi_calloc(cells, sizeof *cable);
    double *latency_s = espi_malloc(cells * sizeof *latency_s);
    if (!cable || !latency_s) {
        espi_free(cable);
        espi_free(latency_s);
        return espi_err_nomem(err);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int is_old = a < k->n_old_sites && b < k->n_old_sites;
            if (is_old)
                cable[a * n + b] = k->cable[a * k->n_sites + b];
            latency_s[a * n + b] = is_old ? k->latency_s[a * k->n_sites + b] : -1;
        }
    espi_free(k->cable);
    espi_free(k->latency_s);
    k->cable = cable;
    k->latency_s = latency_s;
    k->n_sites = n;
    k->version++;
    return ESP_OK;
}

static int is_address(const char *name)
{
    return name[strspn(name, "0123456789.")] == '\0' || strchr(name, ':') != NULL;
}

void espi_known_stem(const char *name, char *stem, size_t size)
{
    const char *end = is_address(name) ? name + strlen(name) : strchr(name, '.');
    if (!end)
        end = name + strlen(name);
    const char *at = end;
    while (at > name && (at[-1] < '0' || at[-1] > '9'))
        at--;
    const char *after = at;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (after == name) /* there is none */
        at = after = end;
    snprintf(stem, size, "%.*s#%s", (int)(at - name), name, after);
}

static int have_same_stem(const char *a, const char *b)
{
    char one[STEM_MAX], two[STEM_MAX];
    espi_known_stem(a, one, sizeof one);
    espi_known_stem(b, two, sizeof two);
    return strcmp(one, two) == 0;
}

/* Of those who take part, by what latencies say; -1: nothing is known of it. */
struct groups {
    struct espi_arena arena;
    int *of; /* by host */
    struct espi_site_pairs pairs;
};

static int find_groups_of(struct groups *g, const struct espi_known *k,
                          const struct espi_samples *samples)
{
    g->of = ESPI_ARENA_NEW(&g->arena, int, (size_t)k->n_hosts + 1);
    if (!g->of)
        return -1;
    for (int i = 0; i < k->n_hosts; i++)
        g->of[i] = -1;
    if (!samples)
        return 0;
    int n = (int)samples->hosts.n;
    int *site = ESPI_ARENA_NEW(&g->arena, int, (size_t)n + 1);
    if (!site || espi_pairs_gather(&g->pairs, samples, &g->arena) ||
        espi_sites_find(&g->pairs, n, site, &g->arena) < 0)
        return -1;
    for (int s = 0; s < n; s++) {
        int host = find_known(k, espi_names_text(&samples->hosts, s));
        if (host >= 0)
            g->of[host] = site[s];
    }
    return 0;
}

/* A host that is together with this one, and before it; -1: none. */
static int find_neighbour(const struct espi_known *k, const struct groups *g, int host)
{
    for (int i = 0; i < k->n_hosts; i++) {
        const struct espi_known_host *h = &k->host[i];
        if (i != host && h->site >= 0 && h->is_here && g->of[i] == g->of[host] &&
            have_same_stem(h->name, k->host[host].name))
            return i;
    }
    return -1;
}

/* The least latency that was seen between two sites. */
static void note_latencies(struct espi_known *k, const struct groups *g,
                           const struct espi_samples *samples)
{
    for (int i = 0; samples && i < g->pairs.n; i++) {
        const struct espi_pair *pair = &g->pairs.at[i];
        int a = find_known(k, espi_names_text(&samples->hosts, pair->low));
        int b = find_known(k, espi_names_text(&samples->hosts, pair->high));
        if (a < 0 || b < 0 || pair->latency_s < 0)
            continue;
        int from = k->host[a].site, to = k->host[b].site;
        double *up = &k->latency_s[from * k->n_sites + to];
        double *down = &k->latency_s[to * k->n_sites + from];
        if (*up < 0 || *up > pair->latency_s)
            *up = *down = pair->latency_s;
    }
}

static esp_status assign_sites(struct espi_known *k, const struct groups *g,
                               struct esp_err *err)
{
    int n = k->n_old_sites;
    for (int i = 0; i < k->n_hosts; i++)
        if (k->host[i].is_new)
            k->host[i].site = -1;
    for (int i = 0; i < k->n_hosts; i++) {
        if (k->host[i].site >= 0)
            continue;
        int other = find_neighbour(k, g, i);
        k->host[i].site = other < 0 ? n++ : k->host[other].site;
    }
    return set_sites(k, n, err);
}

esp_status espi_known_settle(struct espi_known *k, const struct espi_samples *samples,
                             struct esp_err *err)
{
    struct groups g = {.of = NULL};
    espi_arena_init(&g.arena);
    esp_status status = ESP_OK;
    if (find_groups_of(&g, k, samples))
        status = espi_err_nomem(err);
    if (!status)
        status = assign_sites(k, &g, err);
    if (!status)
        note_latencies(k, &g, samples);
    espi_arena_done(&g.arena);
    return status;
}

/* ---- what transfers show ---- */

/* Resources: ports out, ports in, cables. */
static struct espi_known_rate *rate_at(const struct espi_known *k, int resource)
{
    if (resource < k->n_hosts)
        return &k->host[resource].out;
    if (resource < 2 * k->n_hosts)
        return &k->host[resource - k->n_hosts].in;
    return &k->cable[resource - 2 * k->n_hosts];
}

enum { PASSES = 3 }; /* code: a cable, a port out, a port in, as they are suspected */

/* -1: no cable. */
static void list_passed(const struct espi_known *k, const struct espi_known_flow *f,
                        int passed[PASSES])
{
    int from = k->host[f->from].site, to = k->host[f->to].site;
    passed[0] = from == to ? -1 : 2 * k->n_hosts + from * k->n_sites + to;
    passed[1] = f->from;
    passed[2] = k->n_hosts + f->to;
}

/* It gave so much: more than was believed is news, and what was told of it before was
 * about another. */
static void hear_least(struct espi_known_rate *r, double Bps)
{
    if (r->times > 0 && Bps > ESPI_COPY_SURPRISE * r->high_Bps)
        *r = (struct espi_known_rate){0};
    if (r->times == 0 && Bps > r->low_Bps)
        r->low_Bps = Bps;
}

static void hear_full(struct espi_known_rate *r, double Bps)
{
    if (r->times == 0)
        *r = (struct espi_known_rate){Bps, Bps, Bps, 0};
    if (r->times < ESPI_COPY_MEMORY)
        r->times++;
    r->mean_Bps += (Bps - r->mean_Bps) / r->times;
    r->low_Bps = Bps < r->low_Bps ? Bps : r->low_Bps;
    r->high_Bps = Bps > r->high_Bps ? Bps : r->high_Bps;
}

/* How much more it was seen to give than these transfers get together: no more than
 * chance may do, or it is hardly what holds them up. */
static double excess_of(const struct espi_known_rate *r, double Bps)
{
    double excess = (r->times > 0 ? r->mean_Bps : r->low_Bps) / Bps;
    return excess > ESPI_COPY_SURPRISE ? excess : ESPI_COPY_SURPRISE;
}

struct hearing {
    struct espi_known *k;
    const struct espi_known_flow *flow;
    int n;
    double *sum; /* of each resource */
    int *count;  /* transfers that are held up, and not explained yet */
    char *open;  /* such a transfer */
};

static void sum_flows(struct hearing *h)
{
    for (int i = 0; i < h->n; i++) {
        int passed[PASSES];
        list_passed(h->k, &h->flow[i], passed);
        h->open[i] = h->flow[i].is_held_up != 0;
        for (int j = 0; j < PASSES; j++)
            if (passed[j] >= 0)
                h->sum[passed[j]] += h->flow[i].Bps;
    }
    for (int i = 0; i < h->n; i++) {
        int passed[PASSES];
        list_passed(h->k, &h->flow[i], passed);
        for (int j = 0; j < PASSES; j++)
            if (passed[j] >= 0)
                hear_least(rate_at(h->k, passed[j]), h->sum[passed[j]]);
    }
}

static void count_open(struct hearing *h)
{
    memset(h->count, 0,
           ((size_t)h->k->n_hosts * 2 + (size_t)h->k->n_sites * (size_t)h->k->n_sites) *
               sizeof *h->count);
    for (int i = 0; i < h->n; i++) {
        int passed[PASSES];
        list_passed(h->k, &h->flow[i], passed);
        for (int j = 0; h->open[i] && j < PASSES; j++)
            if (passed[j] >= 0)
                h->count[passed[j]]++;
    }
}

/* What could hold most of the transfers up of those that are left; where all that they
 * pass gave more before, that which gave least too much: it has become slower. -1: none
 * is left. */
static int find_culprit(struct hearing *h)
{
    int best = -1, most = 0;
    double least = INFINITY;
    count_open(h);
    for (int j = 0; j < PASSES; j++)
        for (int i = 0; i < h->n; i++) {
            int passed[PASSES];
            list_passed(h->k, &h->flow[i], passed);
            int r = passed[j];
            if (!h->open[i] || r < 0 || (h->flow[i].is_choked && j != PASSES - 1))
                continue;
            double excess = excess_of(rate_at(h->k, r), h->sum[r]);
            if (excess > least || (excess == least && h->count[r] <= most))
                continue;
            best = r;
            most = h->count[r];
            least = excess;
        }
    return best;
}

static void find_culprits(struct hearing *h)
{
    int r;
    while ((r = find_culprit(h)) >= 0) {
        hear_full(rate_at(h->k, r), h->sum[r]);
        for (int i = 0; i < h->n; i++) {
            int passed[PASSES];
            list_passed(h->k, &h->flow[i], passed);
            for (int j = 0; j < PASSES; j++)
                if (passed[j] == r)
                    h->open[i] = 0;
        }
    }
}

esp_status espi_known_hear(struct espi_known *k, const struct espi_known_flow *flow,
                           int n, struct esp_err *err)
{
    size_t resources =
        (size_t)k->n_hosts * 2 + (size_t)k->n_sites * (size_t)k->n_sites + 1;
    struct hearing h = {.k = k, .flow = flow, .n = n};
    struct espi_arena arena;
    espi_arena_init(&arena);
    h.sum = ESPI_ARENA_ZNEW(&arena, double, resources);
    h.count = ESPI_ARENA_NEW(&arena, int, resources);
    h.open = ESPI_ARENA_NEW(&arena, char, (size_t)n + 1);
    int enough = h.sum && h.count && h.open;
    if (enough) {
        sum_flows(&h);
        find_culprits(&h);
        k->version++;
    }
    espi_arena_done(&arena);
    return enough ? ESP_OK : espi_err_nomem(err);
}

/* ---- what transfers would take ---- */

double espi_known_load_s(const struct espi_known *k, const struct espi_known_flow *flow,
                         int n)
{
    size_t resources = (size_t)k->n_hosts * 2 + (size_t)k->n_sites * (size_t)k->n_sites;
    double *load_s = espi_calloc(resources + 1, sizeof *load_s);
    double most_s = 0;
    for (int i = 0; load_s && i < n; i++) {
        int passed[PASSES];
        list_passed(k, &flow[i], passed);
        for (int j = 0; j < PASSES; j++) {
            if (passed[j] < 0)
                continue;
            double *at = &load_s[passed[j]];
            *at += flow[i].Bps / espi_known_expect_Bps(rate_at(k, passed[j]));
            most_s = *at > most_s ? *at : most_s;
        }
    }
    espi_free(load_s);
    return most_s;
}
