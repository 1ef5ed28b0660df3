/* What the program takes where nothing is said. */
#include <espalier/simulate.h>

#include "algo/algo.h"
#include "base/options.h"

void esp_request_init_sized(struct esp_request *request, size_t size, int root)
{
    struct esp_request standard;
    espi_request_init(&standard, root);
    standard.judge = esp_judge_by_simulation;
    espi_options_give(request, size, &standard, sizeof standard);
}
