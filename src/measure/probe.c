/* Rounds, stage after stage:
 * 1. who is near whom: all pairs of up to 24 hosts; of more, some random pairs, and then
 *    pairs of hosts from different sites as far as sites are known,
 * 2. ports: every host with one and with two others of its site, out and in; those that
 *    were never the reason why transfers were no faster, with more,
 * 3. subsites: transfers all through a site; further ones only where some are held up,
 * 4. cables: the wires that latencies tell of, then rounds that check the network found
 *    so far, until several in a row are no surprise,
 * 5. how well what was found predicts random sets of transfers.
 * Each stage ends early when its part of the time is up; each begins with what matters
 * most. Rounds that the network does not explain are run again (trial_rounds.c says why).
 * Fewer pairs meet at once than transfers run, for uplinks that they share would make
 * them seem far apart. */
#include <math.h>
#include <string.h>

#include "measure/probe_impl.h"

#include "measure/tuning.h"

/* ---- time ---- */

static double elapsed_s(const struct espi_probing *p)
{
    return p->prober->now_s(p->prober->context) - p->start_s;
}

int espi_probe_is_late(const struct espi_probing *p)
{
    return espi_probe_left_s(p) < 0;
}

double espi_probe_left_s(const struct espi_probing *p)
{
    return p->stage_to * p->prober->budget_s - elapsed_s(p);
}

void espi_probe_begin_stage(struct espi_probing *p, const char *stage, double to)
{
    p->stage = stage;
    p->stage_from = p->stage_to;
    p->stage_to = to;
    espi_probe_tell(p, 0);
}

/* Stages rarely need all of their time. */
void espi_probe_tell(const struct espi_probing *p, double part)
{
    double whole = p->stage_from + (p->stage_to - p->stage_from) * fmin(part, 1);
    double spent_s = elapsed_s(p);
    double pace = fmin(1, spent_s / fmax(1e-3, whole * p->prober->budget_s));
    if (p->prober->progress)
        p->prober->progress(p->prober->context, p->stage, whole,
                            (1 - whole) * p->prober->budget_s *
                                fmax(pace, 0.2)); /* looks: of the time left */
}

/* ---- trials ---- */

static double expected_Bps(const struct espi_probing *p, int from, int to)
{
    if (!p->net.site)
        return -1;
    int a = p->net.site[from], b = p->net.site[to];
    if (a != b && isinf(p->net.flow_Bps[a * p->net.n_sites + b]))
        return -1;
    double Bps = espi_measured_flow_Bps(&p->net, from, to);
    return Bps > 0 && isfinite(Bps) ? Bps : -1;
}

static double seen_latency_s(const struct espi_probing *p, int from, int to)
{
    const struct espi_pair *pair =
        p->net.site ? espi_pairs_find(&p->net.pairs, from, to) : NULL;
    return pair ? pair->latency_s : -1;
}

void espi_probe_add(struct espi_probing *p, int from, int to)
{
    p->busy[from] |= 1;
    p->busy[to] |= 2;
    p->trial.pairs[p->trial.n] = (struct espi_trial_pair){
        from, to, expected_Bps(p, from, to), seen_latency_s(p, from, to)};
    p->trial.n++;
}

esp_status espi_probe_run(struct espi_probing *p, enum espi_trial_kind kind,
                          double seconds)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < p->trial.n; i++) /* slow start takes some round trips */
        seconds = fmax(seconds, fmin(2, 20 * p->trial.pairs[i].latency_s));
    p->trial.kind = kind;
    p->trial.seconds = seconds;
    p->trial.round = p->round++;
    if (p->trial.n)
        status = p->prober->run(p->prober->context, &p->trial, p->samples, p->err);
    espi_probe_forget(p);
    return status;
}

void espi_probe_forget(struct espi_probing *p)
{
    for (int i = 0; i < p->trial.n; i++)
        p->busy[p->trial.pairs[i].from] = p->busy[p->trial.pairs[i].to] = 0;
    p->trial.n = 0;
}

/* Digests what there is so far. */
esp_status espi_probe_look(struct espi_probing *p)
{
    espi_measured_done(&p->net);
    memset(&p->net, 0, sizeof p->net);
    espi_arena_done(&p->arena);
    return espi_measured_init(&p->net, p->samples, &p->arena, p->err);
}

/* Runs the transfers of that round once more. */
static esp_status repeat(struct espi_probing *p, int round)
{
    const struct espi_trial_rounds *r = &p->net.rounds;
    double seconds = ESPI_PROBE_NEAR_S;
    if (r->start[round + 1] - r->start[round] > p->room)
        return ESP_OK;
    for (int i = r->start[round]; i < r->start[round + 1]; i++) {
        const struct espi_trial_flow *f = &r->flows[i];
        if (p->net.site[f->from] != p->net.site[f->to])
            seconds = ESPI_PROBE_FAR_S;
        espi_probe_add(p, f->from, f->to);
    }
    return espi_probe_run(p, ESPI_TRIAL_FLOWS, seconds);
}

/* One after the other, and not each several times in a row, for what disturbed a round
 * may last. */
esp_status espi_probe_settle_doubts(struct espi_probing *p)
{
    esp_status status = ESP_OK;
    for (int times = 0, any = 1; times < 2 && any && !status; times++) {
        any = 0;
        for (int k = 0; k < p->net.rounds.n && !status && !espi_probe_is_late(p); k++)
            if (p->net.rounds.doubtful[k]) {
                status = repeat(p, k);
                any = 1;
            }
        if (any && !status)
            status = espi_probe_look(p);
    }
    return status;
}

int *espi_probe_members(struct espi_probing *p, int **start)
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

/* ---- the whole ---- */

static esp_status run_stages(struct espi_probing *p)
{
    espi_probe_begin_stage(p, "who is near whom", ESPI_STAGE_SITES);
    esp_status status = espi_probe_sites(p);
    if (!status) {
        espi_probe_begin_stage(p, "ports of hosts", ESPI_STAGE_PORTS);
        status = espi_probe_ports(p);
    }
    if (!status) {
        int one_site = p->net.n_sites < 2; /* which has no cables between sites */
        espi_probe_begin_stage(p, "borders within sites",
                               one_site ? ESPI_STAGE_CABLES : ESPI_STAGE_AREAS);
        status = espi_probe_areas(p);
    }
    if (!status) {
        espi_probe_begin_stage(p, "cables between sites", ESPI_STAGE_CABLES);
        status = espi_probe_cables(p);
    }
    if (!status) {
        espi_probe_begin_stage(p, "how well this predicts", 1);
        status = espi_probe_self_check(p);
    }
    return status;
}

esp_status espi_probing_init(struct espi_probing *p,
                             const struct espi_probe_driver *prober,
                             struct espi_samples *samples, struct espi_arena *fixed,
                             struct esp_err *err)
{
    int n = espi_samples_hosts(samples);
    *p = (struct espi_probing){
        .prober = prober,
        .samples = samples,
        .n = n,
        .at_once = n / 8 > ESPI_PROBE_AT_ONCE ? n / 8 : ESPI_PROBE_AT_ONCE,
        .meet_at_once = n / 16 > ESPI_MEET_AT_ONCE ? n / 16 : ESPI_MEET_AT_ONCE,
        .round = espi_samples_last_round(samples) + 1,
        .start_s = prober->now_s(prober->context),
        .err = err};
    espi_arena_init(&p->arena);
    espi_rng_seed(&p->rng, 1);
    /* room for every pair of sites and for 16 transfers a cable */
    p->room = 16 * n + 64 * ESPI_PROBE_AT_ONCE;
    p->trial.pairs = ESPI_ARENA_NEW(fixed, struct espi_trial_pair, p->room);
    p->busy = ESPI_ARENA_ZNEW(fixed, unsigned char, n);
    p->order = ESPI_ARENA_NEW(fixed, int, n);
    return p->trial.pairs && p->busy && p->order ? ESP_OK : espi_err_nomem(err);
}

void espi_probing_done(struct espi_probing *p)
{
    espi_measured_done(&p->net);
    espi_arena_done(&p->arena);
}

esp_status espi_probe(const struct espi_probe_driver *prober,
                      struct espi_samples *samples, struct esp_err *err)
{
    struct espi_probing p;
    struct espi_arena fixed;
    if (espi_samples_hosts(samples) < 2)
        return ESP_OK;
    espi_arena_init(&fixed);
    esp_status status = espi_probing_init(&p, prober, samples, &fixed, err);
    if (!status)
        status = run_stages(&p);
    espi_probing_done(&p);
    espi_arena_done(&fixed);
    return status;
}
