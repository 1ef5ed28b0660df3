#include "study/platforms.h"

#include <espalier/algo.h>
#include <espalier/bound.h>

/* Only ratios matter, and latencies are 0. */
#define SLICE_BYTES 65536.0

static esp_status find_optimum(const struct esp_platform *p, int root, double *Bps,
                               struct esp_err *err)
{
    struct esp_platform *one_port = NULL;
    struct esp_bound *bound = NULL;
    struct esp_request request;
    esp_status status = esp_platform_with_model(p, ESP_MODEL_ONE_PORT, &one_port, err);

    esp_request_init(&request, root);
    request.slice_bytes = SLICE_BYTES;
    if (status == ESP_OK)
        status = esp_bound_compute(one_port, &request, NULL, &bound, err);
    if (status == ESP_OK)
        *Bps = bound->throughput_Bps;
    esp_bound_free(bound);
    esp_platform_free(one_port);
    return status;
}

static esp_status find_throughput(const struct esp_platform *p, int root,
                                  const char *algo, double *Bps, struct esp_err *err)
{
    struct esp_request request;
    struct esp_plan *plan = NULL;

    esp_request_init(&request, root);
    request.algo = algo;
    request.slice_bytes = SLICE_BYTES;
    request.size_bytes = 1000 * SLICE_BYTES;
    esp_status status = esp_plan_make(p, &request, &plan, err);
    if (status == ESP_OK)
        *Bps = plan->throughput_Bps;
    esp_plan_free(plan);
    return status;
}

esp_status espi_study_ratios(const struct esp_platform *p, int root, int n_algos,
                             const char *const *algos, double *ratios,
                             struct esp_err *err)
{
    double optimum = 0;
    esp_status status = find_optimum(p, root, &optimum, err);

    for (int i = 0; status == ESP_OK && i < n_algos; i++) {
        double Bps = 0;
        status = find_throughput(p, root, algos[i], &Bps, err);
        ratios[i] = Bps / optimum;
    }
    return status;
}
