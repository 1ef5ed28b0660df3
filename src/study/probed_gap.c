#include "study/probed_gap.h"

#include <math.h>

#include "channel/prober.h"
#include "platform/platform.h"

/* Of the experiment, not tuned. */
#define WAY_BYTES   65536 /* by which the fastest way is chosen where there are several */
#define PROBE_NOISE 0.1
#define LOOK_S      0.1 /* the advisor looks as often whether one is due */

esp_status espi_probed_net_init(struct espi_probed_net *w, const struct esp_platform *p,
                                struct espi_advisor *advisor, uint64_t seed,
                                struct esp_err *err)
{
    espi_arena_init(&w->arena);
    espi_rng_seed(&w->noise, seed);
    for (int i = 0; i < p->n_nodes; i++)
        espi_advisor_set_prober(advisor, i, 1);
    return espi_view_init(&w->ways, p, WAY_BYTES, &w->arena, err);
}

void espi_probed_net_done(struct espi_probed_net *w)
{
    espi_arena_done(&w->arena);
}

/* How fast a train comes from one host to another at that time. */
static double train_Bps(struct espi_probed_net *net, const struct espi_probe_order *order,
                        double now_s, double *latency_s)
{
    const struct espi_view *w = &net->ways;
    int from = w->host[order->from], to = w->host[order->to];
    double Bps = INFINITY;

    for (int k = w->g.in.start[to]; k < w->g.in.start[to + 1]; k++) {
        int arc = w->g.in.item[k];
        if (w->g.tail[arc] != from)
            continue;
        *latency_s = w->latency_s[arc];
        for (int i = w->hop_start[arc]; i < w->hop_start[arc + 1]; i++)
            Bps = fmin(Bps, net->link_Bps(net->arg, w->hops[i], now_s));
    }
    return Bps * espi_rng_range(&net->noise, 1 - PROBE_NOISE, 1 + PROBE_NOISE);
}

esp_status espi_probe_gap(struct espi_probed_net *w, struct espi_advisor *advisor,
                          struct espi_probed_gap *gap, struct esp_err *err)
{
    struct espi_probe_order order;
    esp_status status = ESP_OK;
    double now_s = gap->from_s, latency_s = 0;
    int changed;

    gap->probes = 0;
    gap->late_s = 0;
    while (now_s < gap->until_s && status == ESP_OK) {
        if (!espi_advisor_next_probe(advisor, now_s, &order)) {
            now_s += LOOK_S;
            continue;
        }
        double Bps = train_Bps(w, &order, now_s, &latency_s);
        double came_s = now_s + latency_s + ESPI_TRAIN_BYTES / Bps;
        gap->probes++;
        gap->late_s = fmax(came_s - gap->until_s, 0);
        now_s = came_s + latency_s; /* of the answer */
        status = espi_advisor_probed(advisor, order.number, ESPI_PROBE_RATE, Bps, now_s,
                                     &changed, err);
    }
    return status;
}
