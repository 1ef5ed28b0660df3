/* Requests: their defaults, and those of other versions. */
#include "algo/algo.h"
#include "algo/tuning.h"
#include "base/options.h"

void espi_request_init(struct esp_request *request, int root)
{
    *request = (struct esp_request){
        .size = sizeof *request,
        .op = ESP_OP_BCAST,
        .root = root,
        .algo = "auto",
        .size_bytes = ESPI_SIZE_STANDARD,
        .slice_bytes = ESP_SLICE_AUTO,
        .seed = 1,
    };
}

esp_status espi_request_take(struct esp_request *ours, const struct esp_request *given,
                             struct esp_err *err)
{
    if (!given)
        return espi_err(err, ESP_EUSAGE, "there is no request");
    espi_request_init(ours, 0);
    esp_status st = espi_options_take(ours, sizeof *ours, given,
                                      ESPI_SIZE_UP_TO(struct esp_request, judge_arg),
                                      "esp_request", err);
    if (!st && (unsigned)ours->op >= ESP_OP_COUNT)
        return espi_err(err, ESP_EUSAGE, "there is no operation number %d",
                        (int)ours->op);
    if (!st && !ours->algo)
        return espi_err(err, ESP_EUSAGE, "the request names no algorithm");
    return st;
}
