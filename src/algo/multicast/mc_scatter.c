/* The multicast that sends every target its own copy, along the routes of the best
 * scatter.
 *
 * Reference: Multicast-UB of Beaumont, Legrand, Marchal, Robert 2004. Model: any, by its
 * resources. Guarantee: reaches 1/targets of the optimum. Complexity: a linear program of
 * links + 1 variables. */
#include "algo/multicast/multicast.h"

const struct espi_algo espi_algo_mc_scatter = {
    .name = "mc-scatter",
    .family = "multicast",
    .op = ESP_OP_MULTICAST,
    .models = ESPI_ALL_MODELS,
    .flags = ESPI_ALGO_NEEDS_LP,
    .paper = "Beaumont, Legrand, Marchal, Robert 2004, Multicast-UB",
    .complexity = "a linear program, m variables",
    .summary =
        "every target gets a copy of its own, along the routes of the best scatter",
    .run = espi_run_scatter,
};
