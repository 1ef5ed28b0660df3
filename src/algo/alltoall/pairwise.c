/* Pairwise: in round k each host sends to the one k after it what is for that one.
 *
 * The MPI libraries' algorithm for long messages (R. Thakur, R. Rabenseifner, W. Gropp,
 * Optimization of collective communication operations in MPICH, 2005). Hosts stand in the
 * order of their numbers. Model: any. Guarantee: on equal machines that are all joined
 * the optimum for long messages: every port is busy all the time with what it has to
 * carry. Complexity: O(n^2) messages of one part. */
#include "algo/exchange.h"
#include "plan/ops.h"

static const struct espi_algo_use uses[] = {
    {.use = ESPI_USE_QUICK, .max_hosts = ESPI_QUICK_ALLTOALL_HOSTS},
    {.use = 0},
};

const struct espi_algo espi_algo_pairwise = {
    .name = "pairwise",
    .family = "alltoall",
    .op = ESP_OP_ALLTOALL,
    .models = ESPI_ALL_MODELS,
    .max_hosts = ESPI_PAIRS_HOSTS,
    .paper = "Thakur, Rabenseifner, Gropp 2005",
    .complexity = "O(n^2)",
    .summary = "in round k each host sends to the one k after it",
    .uses = uses,
    .run = espi_exchange_pairwise,
};
