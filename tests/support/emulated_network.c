#include "support/emulated_network.h"

#include <math.h>
#include <stdlib.h>

struct emulated_network emulate_network(const struct esp_platform *truth, uint64_t seed)
{
    struct emulated_network net = {
        .truth = truth, .noise = 0.02, .blunders = 0.01, .stalls = 0.03, .unfair = 0.1};
    espi_rng_seed(&net.rng, seed);
    return net;
}

/* ---- rates ---- */

struct filling {
    const struct esp_platform *p;
    int n, n_cables;
    int *link;
    const double *weight;
    double *left, *users; /* of cables: capacity, weights of growing transfers */
    unsigned char *grows;
};

static double weight_of(const struct filling *f, int i)
{
    return f->weight ? f->weight[i] : 1;
}

/* How much further the level can rise. */
static double find_step(const struct filling *f, const double *Bps)
{
    double step = INFINITY;
    for (int c = 0; c < f->n_cables; c++)
        f->users[c] = 0;
    for (int i = 0; i < f->n; i++)
        for (int k = 0;
             f->grows[i] && k < esp_platform_link_cable_count(f->p, f->link[i]); k++)
            f->users[esp_platform_link_cable(f->p, f->link[i], k)] += weight_of(f, i);
    for (int c = 0; c < f->n_cables; c++)
        if (f->users[c] > 0)
            step = fmin(step, f->left[c] / f->users[c]);
    for (int i = 0; i < f->n; i++)
        if (f->grows[i])
            step =
                fmin(step, (esp_platform_link_bandwidth_Bps(f->p, f->link[i]) - Bps[i]) /
                               weight_of(f, i));
    return fmax(step, 0);
}

/* Gives how many transfers go on growing. */
static int fill_step(struct filling *f, double step, double *Bps)
{
    int growing = 0;
    for (int i = 0; i < f->n; i++) {
        double more = f->grows[i] ? step * weight_of(f, i) : 0;
        for (int k = 0; k < esp_platform_link_cable_count(f->p, f->link[i]); k++)
            f->left[esp_platform_link_cable(f->p, f->link[i], k)] -= more;
        Bps[i] += more;
    }
    for (int i = 0; i < f->n; i++) {
        int full =
            Bps[i] >= (1 - 1e-9) * esp_platform_link_bandwidth_Bps(f->p, f->link[i]);
        for (int k = 0; k < esp_platform_link_cable_count(f->p, f->link[i]); k++) {
            int c = esp_platform_link_cable(f->p, f->link[i], k);
            full |= f->left[c] <= 1e-9 * esp_platform_cable_bandwidth_Bps(f->p, c);
        }
        f->grows[i] = f->grows[i] && !full;
        growing += f->grows[i];
    }
    return growing;
}

void emulated_rates(const struct esp_platform *p, const struct espi_trial_flow *flows,
                    int n, const double *weight, double *Bps)
{
    struct filling f = {
        .p = p, .n = n, .weight = weight, .n_cables = esp_platform_cable_count(p)};
    f.link = calloc((size_t)n + 1, sizeof *f.link);
    f.left = calloc((size_t)f.n_cables + 1, sizeof *f.left);
    f.users = calloc((size_t)f.n_cables + 1, sizeof *f.users);
    f.grows = calloc((size_t)n + 1, 1);
    if (!f.link || !f.left || !f.users || !f.grows)
        abort();
    for (int c = 0; c < f.n_cables; c++)
        f.left[c] = esp_platform_cable_bandwidth_Bps(p, c);
    for (int i = 0; i < n; i++) {
        f.link[i] = esp_platform_find_link(p, flows[i].from, flows[i].to);
        f.grows[i] = 1;
        Bps[i] = 0;
    }
    while (n && fill_step(&f, find_step(&f, Bps), Bps) > 0)
        ;
    free(f.link);
    free(f.left);
    free(f.users);
    free(f.grows);
}

/* ---- the prober ---- */

static double disturb(struct emulated_network *net, double value, double noise)
{
    if (espi_rng_uniform(&net->rng) < net->blunders)
        return value * espi_rng_range(&net->rng, 0.2, 0.8);
    return value * fmax(0.2, espi_rng_gaussian(&net->rng, 1, noise));
}

static esp_status add_sample(struct espi_samples *s, const struct espi_trial *t,
                             enum espi_sample_kind kind, int from, int to, double value,
                             struct esp_err *err)
{
    struct espi_sample sample = {kind, t->round, from, to, value};
    return espi_samples_add(s, &sample, err);
}

static esp_status let_meet(struct emulated_network *net, const struct espi_trial *t,
                           const double *Bps, struct espi_samples *s, struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < t->n && !status; i++) {
        int from = t->pairs[i].from, to = t->pairs[i].to;
        double way_s = esp_platform_link_latency_s(
            net->truth, esp_platform_find_link(net->truth, from, to));
        /* disturbances make ways longer */
        double seen_s = way_s / fmin(1, disturb(net, 1, 0.05));
        status = add_sample(s, t, ESPI_SAMPLE_LATENCY, from, to, seen_s, err);
        if (!status)
            status = add_sample(s, t, ESPI_SAMPLE_SEND, from, to, 5e-6, err);
        if (!status)
            status = add_sample(s, t, ESPI_SAMPLE_RECV, from, to, 7e-6, err);
        for (int back = 0; back < 2 && !status && way_s < ESPI_FAR_S; back++) {
            double quick_Bps = disturb(net, Bps[i], 0.08);
            status = add_sample(s, t, ESPI_SAMPLE_QUICK, back ? to : from,
                                back ? from : to, quick_Bps, err);
        }
    }
    return status;
}

static esp_status run_trial(void *context, const struct espi_trial *t,
                            struct espi_samples *s, struct esp_err *err)
{
    struct emulated_network *net = context;
    struct espi_trial_flow *flows = calloc((size_t)t->n + 1, sizeof *flows);
    double *Bps = calloc((size_t)t->n + 1, sizeof *Bps);
    double *weight = calloc((size_t)t->n + 1, sizeof *weight);
    esp_status status = ESP_OK;
    if (!flows || !Bps || !weight)
        abort();
    for (int i = 0; i < t->n; i++) {
        flows[i] = (struct espi_trial_flow){t->pairs[i].from, t->pairs[i].to, 0};
        weight[i] = fmax(0.5, espi_rng_gaussian(&net->rng, 1, net->unfair));
    }
    emulated_rates(net->truth, flows, t->n, weight, Bps);
    double part = espi_rng_uniform(&net->rng) < net->stalls
                      ? espi_rng_range(&net->rng, 0.3, 0.9)
                      : 1;
    net->rounds++;
    net->flows_most = t->n > net->flows_most ? t->n : net->flows_most;
    net->now_s += 0.01 + (t->kind == ESPI_TRIAL_MEET ? 0.1 : t->seconds);
    if (t->kind == ESPI_TRIAL_MEET)
        status = let_meet(net, t, Bps, s, err);
    for (int i = 0; i < t->n && t->kind == ESPI_TRIAL_FLOWS && !status; i++)
        status = add_sample(s, t, ESPI_SAMPLE_RATE, flows[i].from, flows[i].to,
                            disturb(net, part * Bps[i], net->noise), err);
    free(flows);
    free(Bps);
    free(weight);
    return status;
}

static double emulated_now_s(void *context)
{
    return ((struct emulated_network *)context)->now_s;
}

static void log_stage(void *context, const char *stage, double part, double left_s)
{
    struct emulated_network *net = context;
    (void)left_s;
    if (!net->log || (net->stage == stage && part < 1))
        return;
    if (net->stage)
        fprintf(net->log, "    %s: %.1f s, %d rounds\n", net->stage,
                net->now_s - net->stage_from_s, net->rounds - net->stage_first);
    net->stage = stage;
    net->stage_from_s = net->now_s;
    net->stage_first = net->rounds;
}

struct espi_probe_driver emulated_prober(struct emulated_network *net, double budget_s)
{
    return (struct espi_probe_driver){.context = net,
                                      .run = run_trial,
                                      .now_s = emulated_now_s,
                                      .progress = log_stage,
                                      .budget_s = budget_s};
}

esp_status emulated_hosts(const struct emulated_network *net,
                          struct espi_samples *samples)
{
    esp_status status = ESP_OK;
    for (int h = 0; h < esp_platform_node_count(net->truth) && !status; h++)
        status = espi_samples_add_host(samples, esp_platform_node_name(net->truth, h), 1,
                                       NULL);
    return status;
}
