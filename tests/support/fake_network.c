#include "support/fake_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RESOURCES = 4 * FAKE_HOSTS + FAKE_SITES * FAKE_SITES + 2 * FAKE_SITES + 1 };

/* The resources of a flow; an unlimited one has no bound. */
static int list_resources(const struct fake_network *net, const struct espi_trial_flow *f,
                          int *list, double *capacity)
{
    int n = 0, a = net->site[f->from], b = net->site[f->to];
    int first = 4 * FAKE_HOSTS;
#define USE(number, Bps) (list[n] = (number), capacity[list[n++]] = (Bps))
    USE(f->from, net->out_Bps[f->from]);
    USE(FAKE_HOSTS + f->to, net->in_Bps[f->to]);
    if (net->cluster[f->from] != net->cluster[f->to]) {
        if (net->uplink_Bps[net->cluster[f->from]] > 0)
            USE(2 * FAKE_HOSTS + net->cluster[f->from],
                net->uplink_Bps[net->cluster[f->from]]);
        if (net->downlink_Bps[net->cluster[f->to]] > 0)
            USE(3 * FAKE_HOSTS + net->cluster[f->to],
                net->downlink_Bps[net->cluster[f->to]]);
    }
    if (a != b) {
        if (net->wan_Bps[a][b] > 0)
            USE(first + a * FAKE_SITES + b, net->wan_Bps[a][b]);
        first += FAKE_SITES * FAKE_SITES;
        if (net->site_out_Bps[a] > 0)
            USE(first + a, net->site_out_Bps[a]);
        if (net->site_in_Bps[b] > 0)
            USE(first + FAKE_SITES + b, net->site_in_Bps[b]);
        if (net->core_Bps > 0)
            USE(first + 2 * FAKE_SITES, net->core_Bps);
    }
#undef USE
    return n;
}

/* How much further all growing flows can grow. */
static double headroom(int (*list)[8], const int *uses, const unsigned char *grows, int n,
                       const double *left, const double *limit, const double *Bps)
{
    static int users[RESOURCES];
    double step = INFINITY;
    for (int r = 0; r < RESOURCES; r++)
        users[r] = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < uses[i] && grows[i]; k++)
            users[list[i][k]]++;
    for (int r = 0; r < RESOURCES; r++)
        if (users[r])
            step = fmin(step, left[r] / users[r]);
    for (int i = 0; i < n; i++)
        if (grows[i] && limit[i] > 0)
            step = fmin(step, limit[i] - Bps[i]);
    return fmax(step, 0);
}

void fake_rates(const struct fake_network *net, const struct espi_trial_flow *flows,
                int n, double *Bps)
{
    static double capacity[RESOURCES], left[RESOURCES];
    int(*list)[8] = calloc((size_t)n, sizeof *list);
    int *uses = calloc((size_t)n, sizeof *uses), growing = n;
    unsigned char *grows = calloc((size_t)n, 1);
    double *limit = calloc((size_t)n, sizeof *limit);
    for (int i = 0; i < n; i++) {
        uses[i] = list_resources(net, &flows[i], list[i], capacity);
        limit[i] = net->flow_Bps[net->site[flows[i].from]][net->site[flows[i].to]];
        grows[i] = 1;
        Bps[i] = 0;
    }
    for (int r = 0; r < RESOURCES; r++)
        left[r] = capacity[r];
    while (growing) {
        double step = headroom(list, uses, grows, n, left, limit, Bps);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < uses[i] && grows[i]; k++)
                left[list[i][k]] -= step;
        for (int i = 0; i < n; i++)
            Bps[i] += grows[i] ? step : 0;
        for (int i = 0; i < n; i++) {
            int full = limit[i] > 0 && Bps[i] >= limit[i] * (1 - 1e-9);
            for (int k = 0; k < uses[i]; k++)
                full |= left[list[i][k]] <= 1e-9 * capacity[list[i][k]];
            growing -= grows[i] && full;
            grows[i] = grows[i] && !full;
        }
    }
    free(list);
    free(uses);
    free(grows);
    free(limit);
}

static double disturbed(struct fake_network *net, double value, double noise)
{
    if (espi_rng_uniform(&net->rng) < net->blunders)
        return value * espi_rng_range(&net->rng, 0.2, 0.8);
    return value * fmax(0.2, espi_rng_gaussian(&net->rng, 1, noise));
}

static void stall(struct fake_network *net, double *Bps, int n)
{
    double left = espi_rng_uniform(&net->rng) < net->stalls
                      ? espi_rng_range(&net->rng, 0.3, 0.9)
                      : 1;
    for (int i = 0; i < n; i++)
        Bps[i] *= left;
}

static double latency_s(const struct fake_network *net, int from, int to)
{
    int a = net->site[from], b = net->site[to];
    return a == b ? net->lan_s : net->wan_s[a][b];
}

static esp_status give(struct espi_samples *s, const struct espi_trial *t,
                       enum espi_sample_kind kind, int from, int to, double value,
                       struct esp_err *err)
{
    struct espi_sample sample = {kind, t->round, from, to, value};
    return espi_samples_add(s, &sample, err);
}

static esp_status meet(struct fake_network *net, const struct espi_trial *t,
                       const double *Bps, struct espi_samples *s, struct esp_err *err)
{
    esp_status status = ESP_OK;
    for (int i = 0; i < t->n && !status; i++) {
        int from = t->pairs[i].from, to = t->pairs[i].to;
        double way_s = latency_s(net, from, to);
        /* disturbances make ways longer */
        double seen_s = way_s / fmin(1, disturbed(net, 1, 0.1));
        status = give(s, t, ESPI_SAMPLE_LATENCY, from, to, seen_s, err);
        if (!status)
            status = give(s, t, ESPI_SAMPLE_SEND, from, to, 5e-6, err);
        if (!status)
            status = give(s, t, ESPI_SAMPLE_RECV, from, to, 7e-6, err);
        for (int back = 0; back < 2 && !status && way_s < ESPI_FAR_S; back++)
            status = give(s, t, ESPI_SAMPLE_QUICK, back ? to : from, back ? from : to,
                          disturbed(net, Bps[i], 0.08), err);
    }
    return status;
}

static esp_status run(void *context, const struct espi_trial *t, struct espi_samples *s,
                      struct esp_err *err)
{
    struct fake_network *net = context;
    struct espi_trial_flow *flows = calloc((size_t)t->n, sizeof *flows);
    double *Bps = calloc((size_t)t->n, sizeof *Bps);
    esp_status status = ESP_OK;
    for (int i = 0; i < t->n; i++)
        flows[i] = (struct espi_trial_flow){t->pairs[i].from, t->pairs[i].to, 0};
    fake_rates(net, flows, t->n, Bps);
    if (net->stalls > 0 && t->kind == ESPI_TRIAL_FLOWS)
        stall(net, Bps, t->n);
    net->rounds++;
    net->flows_most = t->n > net->flows_most ? t->n : net->flows_most;
    net->now_s += 0.01 + (t->kind == ESPI_TRIAL_MEET ? 0.1 : t->seconds);
    if (t->kind == ESPI_TRIAL_MEET)
        status = meet(net, t, Bps, s, err);
    for (int i = 0; i < t->n && t->kind == ESPI_TRIAL_FLOWS && !status; i++)
        status = give(s, t, ESPI_SAMPLE_RATE, flows[i].from, flows[i].to,
                      disturbed(net, Bps[i], net->noise), err);
    free(flows);
    free(Bps);
    return status;
}

static double now_s(void *context)
{
    return ((struct fake_network *)context)->now_s;
}

struct espi_probe_driver fake_prober(struct fake_network *net, double budget_s)
{
    return (struct espi_probe_driver){
        .context = net, .run = run, .now_s = now_s, .budget_s = budget_s};
}

void fake_hosts(const struct fake_network *net, struct espi_samples *samples)
{
    for (int h = 0; h < net->n; h++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", h);
        if (espi_samples_add_host(samples, name, 1, NULL))
            abort();
    }
}
