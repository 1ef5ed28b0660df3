/* The last stage of the probe: cables between sites.
 *
 * First the wires that latencies tell of, as many at once as have no site in common, by
 * one transfer and by several. Then rounds of all kinds whose outcome the network so far
 * predicts: what comes out otherwise is tried alone. It ends when several rounds in a row
 * were no surprise, so that a network that is understood takes a few rounds a wire, and
 * those that check it. */
#include <math.h>
#include <string.h>

#include "base/portable_math.h"
#include "measure/probe_impl.h"
#include "measure/routes.h"

struct reps {
    const int *members, *start;
    int *next_out, *next_in; /* of sites: whose turn it is */
};

static int size_of(const struct reps *r, int site)
{
    return r->start[site + 1] - r->start[site];
}

/* Adds n transfers of different pairs of hosts, so that a host which is alone at its site
 * has several. Senders come from the front, receivers from the back, so that few hosts do
 * both. */
static void add_flows(struct espi_probing *p, struct reps *r, int from, int to, int n)
{
    int senders = size_of(r, from), receivers = size_of(r, to);
    int most = senders > receivers ? senders : receivers;
    n = n < most ? n : most;
    for (int i = 0; i < n && p->trial.n < p->room; i++) {
        int a = r->next_out[from]++ % senders, b = r->next_in[to]++ % receivers;
        espi_probe_add(p, r->members[r->start[from] + a],
                       r->members[r->start[to] + receivers - 1 - b]);
    }
}

/* The lists lie in the arena, which espi_probe_look() empties. */
static esp_status list_reps(struct espi_probing *p, struct reps *r)
{
    int *start;
    r->members = espi_probe_members(p, &start);
    r->start = start;
    r->next_out = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
    r->next_in = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
    if (!r->members || !r->next_out || !r->next_in)
        return espi_err_nomem(p->err);
    for (int site = 0; site < p->net.n_sites; site++) /* not always the same hosts */
        r->next_out[site] = r->next_in[site] =
            (int)espi_rng_below(&p->rng, (uint32_t)size_of(r, site));
    return ESP_OK;
}

static esp_status look_again(struct espi_probing *p, struct reps *r)
{
    esp_status status = espi_probe_look(p);
    if (!status)
        status = espi_probe_settle_doubts(p);
    return status ? status : list_reps(p, r);
}

static esp_status run_far(struct espi_probing *p)
{
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
}

/* ---- wires ---- */

/* Every wire in every direction; at once those of which no two begin or end at the same
 * site. */
static esp_status run_wires(struct espi_probing *p, struct reps *r, int flows)
{
    int s = p->net.n_sites, left = 0;
    struct espi_site_routes routes;
    unsigned char *untried = ESPI_ARENA_ZNEW(&p->arena, unsigned char, s *s);
    unsigned char *taken = ESPI_ARENA_NEW(&p->arena, unsigned char, s);
    esp_status status = ESP_OK;
    if (!untried || !taken || espi_site_routes_find(&routes, &p->net, 0, &p->arena))
        return espi_err_nomem(p->err);
    for (int k = 0; k < s * s; k++) {
        untried[k] = (unsigned char)espi_site_routes_adjacent(&routes, k / s, k % s);
        left += untried[k];
    }
    for (int all = left; left && !status && !espi_probe_is_late(p);) {
        memset(taken, 0, (size_t)s);
        for (int k = 0; k < s * s; k++) {
            int a = k / s, b = k % s;
            if (!untried[k] || taken[a] & 1 || taken[b] & 2)
                continue;
            taken[a] |= 1;
            taken[b] |= 2;
            untried[k] = 0;
            left--;
            add_flows(p, r, a, b, flows);
        }
        status = run_far(p);
        espi_probe_tell(p, 0.5 * (1 - (double)left / all)); /* looks: of the progress */
    }
    return status;
}

/* ---- ports of lone hosts ---- */

/* Transfers between the site and all others, out of it or into it. */
static void add_all_ways(struct espi_probing *p, struct reps *r, int site, int out)
{
    int s = p->net.n_sites, each = p->at_once / (s - 1) > 1 ? p->at_once / (s - 1) : 1;
    for (int other = 0; other < s && p->trial.n < p->at_once; other++)
        if (other != site)
            add_flows(p, r, out ? site : other, out ? other : site, each);
}

/* A host that is alone at its site has nobody near to fill its port with. The wires alone
 * do not tell whether one of them is what holds it up, or its port: all of them do. */
static esp_status fill_lone_ports(struct espi_probing *p, struct reps *r)
{
    esp_status status = ESP_OK;
    for (int k = 0; k < 2 * p->net.n_sites && !status && !espi_probe_is_late(p); k++)
        if (size_of(r, k / 2) == 1) {
            add_all_ways(p, r, k / 2, k % 2 == 0);
            status = run_far(p);
        }
    return status;
}

/* ---- rounds that check ---- */

static void add_fan_of_site(struct espi_probing *p, struct reps *r, int site, int out)
{
    for (int other = 0; other < p->net.n_sites && p->trial.n < 4 * p->at_once; other++)
        if (other != site)
            add_flows(p, r, out ? site : other, out ? other : site, 2);
}

/* Each site sends to another one, drawn at random. */
static void add_random_pairs(struct espi_probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    for (int a = 0; a < s; a++) {
        int b = (int)espi_rng_below(&p->rng, (uint32_t)s - 1);
        add_flows(p, r, a, b + (b >= a), 1 + (int)espi_rng_below(&p->rng, 3));
    }
}

static void add_check(struct espi_probing *p, struct reps *r, int kind)
{
    int s = p->net.n_sites, a = (int)espi_rng_below(&p->rng, (uint32_t)s);
    int b = (a + 1 + (int)espi_rng_below(&p->rng, (uint32_t)s - 1)) % s;
    switch (kind % 4) {
    case 0:
        add_random_pairs(p, r);
        break;
    case 1:
        add_fan_of_site(p, r, kind / 4 % s, 1);
        break;
    case 2:
        add_fan_of_site(p, r, kind / 4 % s, 0);
        break;
    default:
        add_flows(p, r, a, b, 2);
        add_flows(p, r, b, a, 2);
    }
}

/* Runs the trial, again if it is a surprise, and marks the pairs of sites whose transfers
 * came out otherwise than the network known so far predicts. Gives how many there are, or
 * -1. */
static int run_and_compare(struct espi_probing *p, unsigned char *pairs,
                           esp_status *status)
{
    int s = p->net.n_sites, n = p->trial.n, surprises = 0;
    struct espi_trial_flow *flows = ESPI_ARENA_NEW(&p->arena, struct espi_trial_flow, n);
    double *expected = ESPI_ARENA_NEW(&p->arena, double, n);
    size_t first = p->samples->n;
    memset(pairs, 0, (size_t)s * (size_t)s);
    if (!flows || !expected)
        return -1;
    for (int i = 0; i < n; i++)
        flows[i] =
            (struct espi_trial_flow){p->trial.pairs[i].from, p->trial.pairs[i].to, 0};
    if (espi_measured_predict(&p->net, flows, n, expected, &p->arena))
        return -1;
    *status = run_far(p);
    for (size_t k = first; k < p->samples->n; k++) {
        const struct espi_sample *sample = &p->samples->at[k];
        int at = -1;
        for (int i = 0; i < n && sample->kind == ESPI_SAMPLE_RATE; i++)
            if (flows[i].from == sample->from && flows[i].to == sample->to)
                at = i;
        if (at < 0 || fabs(espi_log(sample->value / expected[at])) < ESPI_SURPRISE)
            continue;
        int key = p->net.site[sample->from] * s + p->net.site[sample->to];
        surprises += !pairs[key];
        pairs[key] = 1;
    }
    for (int i = 0; i < n && surprises && !*status; i++) /* limits come again */
        espi_probe_add(p, flows[i].from, flows[i].to);
    if (surprises && !*status)
        *status = run_far(p);
    return surprises;
}

/* Have transfers of this pair of sites alone been tried? */
static int ran_alone(const struct espi_probing *p, int key)
{
    const struct espi_trial_rounds *r = &p->net.rounds;
    int s = p->net.n_sites;
    for (int k = 0; k < r->n; k++) {
        int alone = 1;
        for (int i = r->start[k]; i < r->start[k + 1] && alone; i++)
            alone =
                p->net.site[r->flows[i].from] * s + p->net.site[r->flows[i].to] == key;
        if (alone)
            return 1;
    }
    return 0;
}

/* Each of them alone, by several transfers. */
static esp_status run_alone(struct espi_probing *p, struct reps *r,
                            const unsigned char *pairs)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int k = 0; k < s * s && !status && !espi_probe_is_late(p); k++)
        if (pairs[k] && k / s != k % s && !ran_alone(p, k)) {
            add_flows(p, r, k / s, k % s, 4);
            status = run_far(p);
        }
    return status;
}

/* Rounds of all kinds, until several in a row came out as predicted. What does not is
 * tried alone, and the network is digested anew. */
static esp_status check_network(struct espi_probing *p, struct reps *r)
{
    int s = p->net.n_sites, calm = 0;
    esp_status status = ESP_OK;
    unsigned char *pairs = NULL;
    for (int k = 0; calm < ESPI_CALM_ROUNDS + s && !status && !espi_probe_is_late(p);
         k++) {
        if (!pairs)
            pairs = ESPI_ARENA_NEW(&p->arena, unsigned char, s *s);
        add_check(p, r, k);
        int n = pairs ? run_and_compare(p, pairs, &status) : -1;
        if (n < 0)
            return espi_err_nomem(p->err);
        calm = n ? 0 : calm + 1;
        if (n && !status)
            status = run_alone(p, r, pairs);
        if (n && !status)
            status = espi_probe_look(p);
        if (n && !status)
            status = espi_probe_test_limits(p, 1);
        if (n && !status) {
            status = list_reps(p, r);
            s = p->net.n_sites;
            pairs = NULL; /* it lay in the arena */
        }
        espi_probe_tell(p, 0.5 + 0.5 * k / (k + 20)); /* looks: of the progress */
    }
    return status;
}

esp_status espi_probe_cables(struct espi_probing *p)
{
    struct reps r;
    esp_status status = list_reps(p, &r);
    if (status || p->net.n_sites < 2)
        return status;
    status = run_wires(p, &r, 4);
    if (!status)
        status = run_wires(p, &r, 1);
    if (!status)
        status = fill_lone_ports(p, &r);
    if (!status)
        status = espi_probe_look(p);
    for (int times = 0, filled = 1; filled && !status; times++) {
        status = espi_probe_fill_ways(p, &filled);
        if (status || (times && !filled))
            break;
        status = espi_probe_unsure_ports(p, ESPI_FAN_FAR);
        if (!status)
            status = espi_probe_test_limits(p, 1);
        if (!status)
            status = list_reps(p, &r);
        if (!status)
            status = check_network(p, &r);
        if (!status)
            status = espi_probe_unsure_ports(p, ESPI_FAN_FAR);
        if (!status)
            status = look_again(p, &r);
        if (!status)
            status = espi_probe_test_limits(p, 1);
    }
    espi_probe_tell(p, 1);
    return status;
}
