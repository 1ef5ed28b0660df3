/* k-nomial tree over ranks: a binomial tree with digits of another base in place of bits.
 *
 * Rank 0 is the root, the other hosts follow by number. A rank hears from the one without
 * its lowest digit, and serves the farthest first. A larger base is flatter: fewer
 * latencies, more sends of each. Reference: the k-nomial trees of MPI libraries (Open
 * MPI, coll/base). Model: equal links. Guarantee: the depth is the number of digits of n
 * - 1. Complexity: O(m) when all links exist, else O(n m log n). */
#include "algo/atomic/ranks.h"

enum { OPTION_RADIX };

static const struct espi_algo_option options[] = {
    {.name = "radix", .standard = 4, .min = 2, .max = 1024, .meaning = "the base"},
    {0},
};

static esp_status run_knomial(const struct espi_task *task, struct esp_plan *plan,
                              struct esp_err *err)
{
    struct espi_transfers t;
    const int *hosts;
    esp_status st = espi_ranks_begin(task, &hosts, &t, err);
    if (!st)
        st = espi_add_knomial(&t, hosts, task->view->g.n, (int)task->option[OPTION_RADIX],
                              err);
    return st ? st : espi_transfers_plan(&t, plan, err);
}

const struct espi_algo espi_algo_knomial = {
    .name = "knomial",
    .family = "atomic",
    .op = ESP_OP_BCAST,
    .models = ESPI_ALL_MODELS,
    .whole_message = 1,
    .paper = "MPI libraries",
    .complexity = "O(n m log n)",
    .summary = "a flatter binomial tree, by digits of another base",
    .options = options,
    .run = run_knomial,
};
