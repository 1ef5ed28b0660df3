/* Rounds that put limits to the test.
 *
 * A limit is found by what it explains, and often something else would explain that as
 * well: two cables of one rate look like one that is shared, as long as they are not
 * filled at the same time. So each limit gets a round of its own, in which transfers
 * between all that share it run at once, as many as would get clearly more without it.
 * If it is there, they get what it lets through, and it has one more witness; if it is
 * not, they get more, and no fit can keep it. Limits whose transfers do not hinder each
 * other by what is known are tried in one round. */
#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "measure/probe_impl.h"

enum { PASSES_MAX = 4 }; /* limit: transfers of one pair in a round */

struct tests {
    const int *members, *start; /* of areas */
    int *next_out, *next_in;    /* of areas: whose turn it is */
    struct espi_trial_flow *flows;
    double *Bps;
    int *of; /* flow -> limit that it is for */
    int n_flows, n_limits, room;
    int *limits;               /* of this round */
    unsigned char *pairs_done; /* of sites, while transfers are listed */
};

/* Areas change little from look to look: a limit of the same transfers is the same. */
static uint64_t hash_limit(const struct espi_measured *net, const struct espi_shared *s)
{
    uint64_t hash = 0;
    for (int k = s->first; k < s->first + s->n_pairs; k++) {
        const struct espi_area_pair *pair = &net->subsite_pairs[k];
        hash ^= (uint64_t)pair->from * (uint64_t)net->n_subsites + (uint64_t)pair->to;
        hash *= UINT64_C(0x9e3779b97f4a7c15); /* published: 2^64 over the golden ratio */
        hash ^= hash >> 32;
    }
    return hash;
}

static int is_tested(const struct espi_probing *p, uint64_t hash)
{
    for (int i = 0; i < p->n_tested; i++)
        if (p->tested[i] == hash)
            return 1;
    return 0;
}

static int is_far(const struct espi_measured *net, const struct espi_shared *s)
{
    const struct espi_area_pair *pair = &net->subsite_pairs[s->first];
    return net->subsite_site[pair->from] != net->subsite_site[pair->to];
}

/* ---- transfers of one limit ---- */

static int is_listed(const struct tests *t, int from, int to)
{
    for (int i = 0; i < t->n_flows; i++)
        if (t->flows[i].from == from && t->flows[i].to == to)
            return 1;
    return 0;
}

/* One more transfer from area to area, by hosts whose turn it is. */
static void list_transfer(struct tests *t, int limit, int a, int b)
{
    int senders = t->start[a + 1] - t->start[a];
    int receivers = t->start[b + 1] - t->start[b];
    for (int tries = 0; tries < senders * receivers && t->n_flows < t->room; tries++) {
        int from = t->members[t->start[a] + t->next_out[a]++ % senders];
        int back = receivers - 1 - t->next_in[b]++ % receivers;
        int to = t->members[t->start[b] + back];
        t->next_in[b] += senders == receivers && tries % senders == senders - 1;
        if (from == to || is_listed(t, from, to))
            continue;
        t->of[t->n_flows] = limit;
        t->flows[t->n_flows++] = (struct espi_trial_flow){from, to, 0};
        return;
    }
}

/* One more for each pair of sites, or of areas of a site. */
static void list_pass(const struct espi_measured *net, struct tests *t, int limit)
{
    const struct espi_shared *s = &net->shared[limit];
    memset(t->pairs_done, 0, (size_t)net->n_sites * (size_t)net->n_sites);
    for (int k = s->first; k < s->first + s->n_pairs; k++) {
        const struct espi_area_pair *pair = &net->subsite_pairs[k];
        int from = net->subsite_site[pair->from], to = net->subsite_site[pair->to];
        unsigned char *done = &t->pairs_done[from * net->n_sites + to];
        if (from == to || !*done)
            list_transfer(t, limit, pair->from, pair->to);
        *done = 1;
    }
}

/* What the transfers of the limit get beside all others, with it or without; -1 when out
 * of memory. */
static double predict_limit(struct espi_probing *p, struct tests *t, int limit,
                            int without)
{
    struct espi_measured *net = &p->net;
    struct espi_arena_mark mark = espi_arena_mark(&p->arena);
    double kept = net->shared[limit].Bps, sum = 0;
    net->shared[limit].Bps *= without ? 1e6 : 1; /* rounding: as good as none */
    int status = espi_measured_predict(net, t->flows, t->n_flows, t->Bps, &p->arena);
    net->shared[limit].Bps = kept;
    espi_arena_release(&p->arena, mark);
    for (int i = 0; i < t->n_flows; i++)
        sum += t->of[i] == limit ? t->Bps[i] : 0;
    return status ? -1 : sum;
}

/* Does the round tell of the limit? -1 when out of memory. */
static int tells(struct espi_probing *p, struct tests *t, int limit)
{
    double with = predict_limit(p, t, limit, 0);
    double without = predict_limit(p, t, limit, 1);
    if (with < 0 || without < 0)
        return -1;
    return without > with * (1 + 3 * ESPI_SPREAD) &&
           with > p->net.shared[limit].Bps * (1 - ESPI_SPREAD);
}

/* Adds transfers until they tell of the limit, and those of the limits before still do:
 * 1, or 0 and nothing is added; -1 when out of memory. */
static int add_limit(struct espi_probing *p, struct tests *t, int limit)
{
    int before = t->n_flows, told = 0;
    for (int pass = 0; pass < PASSES_MAX && !told; pass++) {
        list_pass(&p->net, t, limit);
        told = tells(p, t, limit);
    }
    for (int i = 0; i < t->n_limits && told > 0; i++)
        told = tells(p, t, t->limits[i]);
    if (told > 0)
        t->limits[t->n_limits++] = limit;
    else
        t->n_flows = before;
    return told;
}

/* ---- rounds ---- */

static int tests_init(struct espi_probing *p, struct tests *t)
{
    const struct espi_measured *net = &p->net;
    size_t areas = (size_t)net->n_subsites, sites = (size_t)net->n_sites;
    int *members = ESPI_ARENA_NEW(&p->arena, int, p->n), n = 0;
    int *start = ESPI_ARENA_NEW(&p->arena, int, areas + 1);
    *t = (struct tests){.members = members, .start = start, .room = 4 * p->at_once};
    t->next_out = ESPI_ARENA_ZNEW(&p->arena, int, areas);
    t->next_in = ESPI_ARENA_ZNEW(&p->arena, int, areas);
    t->flows = ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, t->room);
    t->Bps = ESPI_ARENA_NEW(&p->arena, double, t->room);
    t->of = ESPI_ARENA_NEW(&p->arena, int, t->room);
    t->limits = ESPI_ARENA_NEW(&p->arena, int, net->n_shared + 1);
    t->pairs_done = ESPI_ARENA_NEW(&p->arena, unsigned char, sites *sites);
    if (!members || !start || !t->next_out || !t->next_in || !t->flows || !t->Bps ||
        !t->of || !t->limits || !t->pairs_done)
        return -1;
    for (int a = 0; a < net->n_subsites; a++) {
        start[a] = n;
        for (int h = 0; h < p->n; h++)
            if (net->subsite[h] == a)
                members[n++] = h;
    }
    start[net->n_subsites] = n;
    return 0;
}

/* Lists transfers for as many limits as go together; what never tells is done. */
static int list_tests(struct espi_probing *p, struct tests *t, int far)
{
    for (size_t c = 0; c < p->net.n_shared; c++) {
        const struct espi_shared *s = &p->net.shared[c];
        uint64_t hash = hash_limit(&p->net, s);
        if (is_tested(p, hash) || is_far(&p->net, s) != far ||
            p->n_tested == ESPI_TESTED_MAX)
            continue;
        int alone = t->n_limits == 0, told = add_limit(p, t, (int)c);
        if (told < 0)
            return -1;
        if (told || alone)
            p->tested[p->n_tested++] = hash;
    }
    return 0;
}

/* Runs them, again if that was a surprise, for limits come again; was it one? */
static int run_tests(struct espi_probing *p, struct tests *t, int far, esp_status *status)
{
    size_t first = p->samples->n;
    int surprise = 0;
    if (espi_measured_predict(&p->net, t->flows, t->n_flows, t->Bps, &p->arena))
        return -1;
    for (int times = 0; times < 2 && !*status && times <= surprise; times++) {
        for (int i = 0; i < t->n_flows; i++)
            espi_probe_add(p, t->flows[i].from, t->flows[i].to);
        *status = espi_probe_run(p, ESPI_TRIAL_FLOWS,
                                 far ? ESPI_PROBE_FAR_S : ESPI_PROBE_NEAR_S);
        for (size_t k = first; k < p->samples->n; k++)
            for (int i = 0; i < t->n_flows; i++)
                if (p->samples->at[k].kind == ESPI_SAMPLE_RATE &&
                    p->samples->at[k].from == t->flows[i].from &&
                    p->samples->at[k].to == t->flows[i].to)
                    surprise |= fabs(espi_log(p->samples->at[k].value / t->Bps[i])) >
                                ESPI_SURPRISE;
    }
    return surprise;
}

esp_status espi_probe_test_limits(struct espi_probing *p, int far)
{
    esp_status status = ESP_OK;
    struct tests t;
    for (int fresh = 0; !status && !espi_probe_is_late(p);) {
        if (!fresh && tests_init(p, &t))
            return espi_err_nomem(p->err);
        fresh = 1;
        t.n_flows = t.n_limits = 0;
        if (list_tests(p, &t, far))
            return espi_err_nomem(p->err);
        if (t.n_flows == 0)
            return status;
        int surprise = run_tests(p, &t, far, &status);
        if (surprise < 0)
            return espi_err_nomem(p->err);
        if (surprise && !status) {
            status = espi_probe_look(p);
            fresh = 0;
        }
    }
    return status;
}
