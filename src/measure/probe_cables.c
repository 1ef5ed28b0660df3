/* The last stage of the probe: cables between sites. */
#include <string.h>

#include "measure/probe_impl.h"

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
static void add_flows(struct espi_probing *p, struct reps *r, int from, int to, int n)
{
    int senders = size_of(r, from), receivers = size_of(r, to);
    n = n < senders ? n : senders;
    n = n < receivers ? n : receivers;
    for (int i = 0; i < n; i++) {
        int a = r->next_out[from]++ % senders, b = r->next_in[to]++ % receivers;
        espi_probe_add(p, r->members[r->start[from] + a],
                       r->members[r->start[to] + receivers - 1 - b]);
    }
}

static void reset_turns(const struct espi_probing *p, struct reps *r)
{
    memset(r->next_out, 0, (size_t)p->net.n_sites * sizeof *r->next_out);
    memset(r->next_in, 0, (size_t)p->net.n_sites * sizeof *r->next_in);
}

/* Each site sends to one and receives from one, but no two to each other at once. */
static esp_status run_shifts(struct espi_probing *p, struct reps *r, int flows,
                             double from, double to)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int shift = 1; shift < s && !status && !espi_probe_is_late(p); shift++) {
        int halves = 2 * shift == s ? 2 : 1;
        for (int half = 0; half < halves && !status; half++) {
            reset_turns(p, r);
            for (int a = half * shift; a < (half + 1) * s / halves; a++)
                add_flows(p, r, a, (a + shift) % s, flows);
            status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
        }
        espi_probe_tell(p, from + (to - from) * shift / s);
    }
    return status;
}

/* All cables at once, of each pair of sites in one direction: in both, acknowledgements
 * that wait behind data would slow transfers down. One site sends to all others, the next
 * to all but that one, and so on. Of many sites, some pairs. */
static esp_status run_all(struct espi_probing *p, struct reps *r, int first)
{
    int s = p->net.n_sites, reach = s <= 8 ? s - 1 : 3;
    reset_turns(p, r);
    for (int i = 0; i < s; i++)
        for (int j = i + 1; j < s && j <= i + reach; j++)
            add_flows(p, r, (first + i) % s, (first + j) % s, 1);
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
}

/* One cable alone: what all rounds of several have in common shows only so. */
static esp_status run_alone(struct espi_probing *p, struct reps *r, int from)
{
    reset_turns(p, r);
    add_flows(p, r, from, (from + 1) % p->net.n_sites, 1);
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
}

/* One transfer a cable, three, and some cables alone. */
static esp_status run_each(struct espi_probing *p, struct reps *r, double from, double to)
{
    double middle = (from + to) / 2;
    esp_status status = run_shifts(p, r, 1, from, middle);
    if (!status)
        status = run_shifts(p, r, 3, middle, to);
    for (int k = 0;
         k < p->net.n_sites && k < ESPI_SOME_CABLES && !status && !espi_probe_is_late(p);
         k++)
        status = run_alone(p, r, k);
    return status;
}

static esp_status run_fan(struct espi_probing *p, struct reps *r, int site, int out)
{
    reset_turns(p, r);
    for (int other = 0; other < p->net.n_sites && p->trial.n < 4 * ESPI_PROBE_AT_ONCE;
         other++)
        if (other != site)
            add_flows(p, r, out ? site : other, out ? other : site, 1);
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
}

static esp_status run_there_and_back(struct espi_probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int a = 0; a < s; a++)
        for (int b = a + 1; b < s && !status && !espi_probe_is_late(p); b++) {
            reset_turns(p, r);
            add_flows(p, r, a, b, 1);
            add_flows(p, r, b, a, 1);
            status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
        }
    return status;
}

/* The lists lie in the arena, which espi_probe_look() empties. */
static esp_status list_reps(struct espi_probing *p, struct reps *r)
{
    int *start;
    r->members = espi_probe_members(p, &start);
    r->start = start;
    r->next_out = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
    r->next_in = ESPI_ARENA_ZNEW(&p->arena, int, p->net.n_sites);
    return r->members && r->next_out && r->next_in ? ESP_OK : espi_err_nomem(p->err);
}

static esp_status look_again(struct espi_probing *p, struct reps *r)
{
    esp_status status = espi_probe_look(p);
    if (!status)
        status = espi_probe_settle_doubts(p);
    return status ? status : list_reps(p, r);
}

static int ran_alone(const struct espi_probing *p, int from, int to)
{
    const struct espi_trial_rounds *r = &p->net.rounds;
    for (int k = 0; k < r->n; k++) {
        const struct espi_trial_flow *f = &r->flows[r->start[k]];
        if (r->start[k + 1] - r->start[k] == 1 && p->net.site[f->from] == from &&
            p->net.site[f->to] == to)
            return 1;
    }
    return 0;
}

/* What the cables share: first each of them alone, for the rates so far are of several
 * at once. */
static esp_status look_closer(struct espi_probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int k = 0; k < s * s && !status && !espi_probe_is_late(p); k++) {
        int a = k / s, b = k % s;
        reset_turns(p, r);
        if (a != b && !ran_alone(p, a, b))
            add_flows(p, r, a, b, 1);
        status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
    }
    if (!status)
        status = look_again(p, r);
    for (int out = 0; out < 4 && s > 2; out++)
        for (int site = 0; site < s && !status && !espi_probe_is_late(p); site++)
            status = run_fan(p, r, site, out % 2);
    for (int times = 0; times < 2 && !status; times++)
        status = run_there_and_back(p, r);
    return status;
}

/* Where several transfers got all that they could, more are tried. */
static esp_status try_wider(struct espi_probing *p, struct reps *r)
{
    int s = p->net.n_sites;
    esp_status status = ESP_OK;
    for (int k = 0; k < s * s && !status && !espi_probe_is_late(p); k++) {
        int a = k / s, b = k % s, most = size_of(r, a), known = 0;
        most = most < size_of(r, b) ? most : size_of(r, b);
        for (size_t c = 0; c < p->net.n_shared; c++)
            for (int i = 0; i < p->net.shared[c].n_pairs; i++) {
                const struct espi_area_pair *ab =
                    &p->net.subsite_pairs[p->net.shared[c].first + i];
                known |= p->net.subsite_site[ab->from] == a &&
                         p->net.subsite_site[ab->to] == b;
            }
        if (a == b || known || most <= 3)
            continue;
        reset_turns(p, r);
        add_flows(p, r, a, b, most < p->at_once ? most : p->at_once);
        status = espi_probe_run(p, ESPI_TRIAL_FLOWS, ESPI_PROBE_FAR_S);
    }
    return status;
}

esp_status espi_probe_cables(struct espi_probing *p)
{
    struct reps r;
    esp_status status = list_reps(p, &r);
    if (status || p->net.n_sites < 2)
        return status;
    status = run_each(p, &r, 0, 0.3); /* looks: parts of the progress */
    for (int k = 0;
         k < p->net.n_sites && k < ESPI_SOME_CABLES && !status && !espi_probe_is_late(p);
         k++)
        status = run_all(p, &r, k);
    if (!status)
        status = look_again(p, &r);
    int closer = p->net.crossed;
    if (!status)
        /* looks: parts of the progress */
        status = closer ? look_closer(p, &r) : run_each(p, &r, 0.4, 0.7);
    for (int k = 0; k < 2 && !status && p->net.n_sites == 2; k++)
        status = run_there_and_back(p, &r);
    espi_probe_tell(p, 0.75); /* looks: parts of the progress */
    if (!status)
        status = look_again(p, &r);
    if (!status && p->net.crossed && !closer) { /* it shows only now */
        status = look_closer(p, &r);
        status = status ? status : look_again(p, &r);
    }
    if (!status)
        status = try_wider(p, &r);
    espi_probe_tell(p, 1);
    return status;
}
