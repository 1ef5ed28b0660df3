/* A network of fast and slow workstations, as measured by Wu and Yeh, "Efficient
 * all-to-all broadcast in heterogeneous network of workstations" (8 UltraSparc machines,
 * four of each kind, on Fast Ethernet).
 *
 * T_send and T_recv of a workstation become its send_s and recv_s, T_end of a pair the
 * latency_s of its links. T_end is the whole time of a short message (32 bytes in the
 * paper) and so holds the receiver's T_recv; what a longer message adds is the part of
 * `bandwidth`, which is so large by default (1 TB/s) that times are the paper's; likewise
 * what it takes of processors and wires, `fast-rate`, `slow-rate` and `wire`, is nothing.
 * The model is hnow. The paper prints "T_send (slow node)" twice; the second, 130 us, is
 * taken for T_recv. Fast ones (f0, f1, ...) come first, nothing is random. O(n^2). */
#include <stdio.h>

#include "platform/generate_common.h"

static esp_status add_workstation(struct espi_gen *g, const struct esp_hnow_options *o,
                                  int i)
{
    char name[16];
    int fast = i < o->fast;
    snprintf(name, sizeof name, fast ? "f%d" : "s%d", fast ? i : i - o->fast);
    struct esp_node_spec spec = {.name = name,
                                 .site = NULL,
                                 .kind = ESP_NODE_HOST,
                                 .send_s = fast ? o->fast_send_s : o->slow_send_s,
                                 .recv_s = fast ? o->fast_recv_s : o->slow_recv_s};
    double Bps = fast ? o->fast_Bps : o->slow_Bps;
    struct esp_node_rates rates = {
        .send_Bps = Bps, .recv_Bps = Bps, .hold_Bps = o->wire_Bps};
    int node;
    esp_status status = esp_builder_add_node(g->builder, &spec, &node, g->err);
    if (!status && (Bps > 0 || o->wire_Bps > 0))
        status = esp_builder_set_rates(g->builder, node, &rates, g->err);
    return status;
}

static esp_status draw_hnow(struct espi_gen *g, const void *options)
{
    const struct esp_hnow_options *o = options;
    int n = o->fast + o->slow;
    const double end_s[] = {o->end_slow_s, o->end_mixed_s, o->end_fast_s};
    if (n == 0)
        return espi_err(
            g->err, ESP_EUSAGE,
            "hnow: fast and slow are both 0, but there must be a workstation");

    esp_status status = ESP_OK;
    esp_builder_set_model(g->builder, ESP_MODEL_HNOW);
    for (int i = 0; i < n && status == ESP_OK; i++)
        status = add_workstation(g, o, i);
    for (int u = 0; u < n; u++)
        for (int v = u + 1; v < n && status == ESP_OK; v++)
            status = espi_gen_duplex(g, u, v, end_s[(u < o->fast) + (v < o->fast)],
                                     o->bandwidth_Bps);
    return status;
}

esp_status esp_generate_hnow(const struct esp_hnow_options *options,
                             struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("hnow", options, draw_hnow, out, err);
}
