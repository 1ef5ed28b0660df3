/* Platforms described by two matrices, latency and bandwidth: those of the simulations of
 * Cha, Han, Yu and Byeon, "Two-tree collective communication in distributed heterogeneous
 * systems", after Bhat, Raghavendra and Prasanna, "Efficient collective communication in
 * distributed heterogeneous systems" (ICDCS 1999): a complete graph, latency from 10 us
 * to 1 ms, bandwidth from 10 kB/s to 200 MB/s. The paper does not name the distribution;
 * it is uniform here, or uniform in the logarithm when asked. Uniform, half of all
 * bandwidths lie above 100 MB/s; in the logarithm, above 1.4 MB/s. One-port. O(nodes^2).
 */
#include "platform/generate_common.h"

static double draw_value(struct espi_rng *r, double lo, double hi, int in_log)
{
    if (!in_log)
        return espi_rng_range(r, lo, hi);
    double value = espi_rng_log_range(r, lo, hi);
    return value < lo ? lo : value > hi ? hi : value; /* exp(log(lo)) is not quite lo */
}

static esp_status add_pair(struct espi_gen *g, const struct esp_matrix_options *o, int u,
                           int v)
{
    double latency_s = 0, bandwidth = 0;
    esp_status status = ESP_OK;
    for (int way = 0; way < 2 && status == ESP_OK; way++) {
        if (way == 0 || !o->symmetric) {
            latency_s = draw_value(&g->rng, o->latency_min_s, o->latency_max_s, o->log);
            bandwidth =
                draw_value(&g->rng, o->bandwidth_min_Bps, o->bandwidth_max_Bps, o->log);
        }
        status = esp_builder_add_link(g->builder, way ? v : u, way ? u : v, latency_s,
                                      bandwidth, NULL, g->err);
    }
    return status;
}

static esp_status check_order(const struct esp_matrix_options *o, struct esp_err *err)
{
    if (o->latency_min_s > o->latency_max_s)
        return espi_err(err, ESP_EUSAGE,
                        "matrix: latency-min is %g s, but must not be larger than "
                        "latency-max, %g s",
                        o->latency_min_s, o->latency_max_s);
    if (o->bandwidth_min_Bps > o->bandwidth_max_Bps)
        return espi_err(err, ESP_EUSAGE,
                        "matrix: bandwidth-min is %g B/s, but must not be larger than "
                        "bandwidth-max, %g B/s",
                        o->bandwidth_min_Bps, o->bandwidth_max_Bps);
    if (o->log && o->latency_min_s <= 0)
        return espi_err(err, ESP_EUSAGE,
                        "matrix: latency-min is 0 s, but must be above 0 for values "
                        "uniform in the logarithm");
    return ESP_OK;
}

static esp_status draw_matrix(struct espi_gen *g, const void *options)
{
    const struct esp_matrix_options *o = options;
    esp_status status = check_order(o, g->err);
    if (status == ESP_OK)
        status = espi_gen_hosts(g, o->nodes);
    for (int u = 0; u < o->nodes; u++)
        for (int v = u + 1; v < o->nodes && status == ESP_OK; v++)
            status = add_pair(g, o, u, v);
    return status;
}

esp_status esp_generate_matrix(const struct esp_matrix_options *options,
                               struct esp_platform **out, struct esp_err *err)
{
    return espi_generate("matrix", options, draw_matrix, out, err);
}
